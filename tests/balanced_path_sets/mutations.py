"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "balanced path: a star without a partner",
        "return {a_begin + a_advance, <<<a_advance == b_advance + 1 && b_advance < b_run ||| a_advance == b_advance + 1>>>};",
    ),
    (
        "galloping: a step is left out",
        "for (step = end > 0 ? <<<step / 2 ||| step / 4>>> : 0; step > 0; step /= 2) {",
    ),
    (
        "thread part: the last element is left out",
        "min((thread + 1) * Shape::items - star, <<<count ||| count - 1>>>)}",
    ),
    (
        "set operation: ties belong to a alone",
        "const bool only_a = !has_b || (has_a && <<<less(a_key, b_key) ||| !less(b_key, a_key)>>>);",
    ),
    (
        "block store: no barrier before the indices",
        "{{{__syncthreads();  // and is stored ||| ;}}}",
    ),
    (
        "single pass: loads into a stage in use",
        "if (k >= 2) {{{hopper::wait(shared_.stored, (k - 2) % 2); ||| ;}}}",
    ),
    (
        "single pass: the last key of a line is not loaded",
        "if (<<<end + lane < count ||| end + lane < count - 1>>>) to[end + lane] = from[end + lane];",
    ),
    (
        "scan of counts: the last one is left out",
        "block_exclusive_sum(<<<mine < tiles ||| mine + 1 < tiles>>> ? counts[mine] : 0",
        "block_exclusive_sum(<<<mine < count ||| mine + 1 < count>>> ? counts[mine] : 0",
    ),
    (
        "close gaps: the last tile from the wrong end",
        "const std::int64_t count = (<<<tile + 1 < tiles ||| tile + 2 < tiles>>> ? places[tile + 1] : *total) - place;",
    ),
]
