"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "segment: one item beyond the end",
        "if ((IsFull || <<<i + k < count ||| i + k <= count>>>) &&",
    ),
    (
        "copy out: the first item is left out",
        "if (<<<i >= 0 ||| i > 0>>>) to[i] = from[i];",
    ),
    (
        "single pass: no barrier before the counts",
        "{{{__syncthreads();  // the warps' counts are there ||| ;}}}",
    ),
    (
        "single pass: no barrier before the place",
        "{{{__syncthreads();  // the place is there ||| ;}}} std::int64_t place = shared.place;",
        "{{{__syncthreads();  // the place is there ||| ;}}} return",
    ),
    (
        "single pass: count from the first tile",
        "if (<<<ticket.tile == look_back.tiles() - 1 ||| ticket.tile == 0>>>) *kept = place + tile_kept;",
        "if (lane_index() == 0 && <<<ticket.tile == look_back.tiles() - 1 ||| ticket.tile == 0>>>) *total = place + own_sum;",
    ),
    (
        "pipeline: loads into a stage in use",
        "if (tile >= Shape::stages) {{{hopper::wait(stage.taken, position.parity ^ 1); ||| ;}}}",
    ),
    (
        "pipeline: the ring overflows by a warp",
        "while (<<<end - begin_ > Shape::ring_items ||| end - begin_ > Shape::ring_items + 32>>>) free_oldest();",
    ),
    (
        "pipeline: a short first tile is as long as the others",
        "missing_(<<<head > 0 ? Shape::tile_items - head : 0 ||| 0>>>) {}",
    ),
    (
        "pipeline: no halo in front of the first whole tile",
        "const bool has_halo = <<<!Rule::reads_previous ||| true>>> || i == 0 ||",
    ),
    (
        "staged: the bytes before the first line are left out",
        "{{{if (const int i = begin + thread; i < min(lines_begin, end)) bytes[i] = source[i]; ||| ;}}}",
    ),
    (
        "staged: the bytes after the last line are left out",
        "{{{if (const int i = max(lines_begin, lines_end) + thread; i < end) bytes[i] = source[i]; ||| ;}}}",
    ),
    (
        "staged: a word has bytes of one element only",
        "const int own = <<<min(4, size - i % size) ||| 4>>>;",
    ),
    (
        "staged: no barrier before the tile is read",
        "{{{__syncthreads();  // the tile is there ||| ;}}}",
    ),
    (
        "pipeline: a stage is free while what it keeps is copied",
        "static constexpr bool leaves_its_stage = <<<false ||| true>>>;",
    ),
    (
        "pipeline: bytes that are copied by words are not shifted",
        "target_words[w] = __funnelshift_r(low, high, <<<shift ||| 0>>>);",
    ),
    (
        "pipeline: no slot stays free",
        "while (<<<held_slots_ >= Shape::slots - 1 ||| held_slots_ >= Shape::slots>>>) free_oldest();",
    ),
    (
        "two pass: writes before its place",
        "if (<<<i >= begin_ && i < end ||| i < end>>>) out_[i] = buffer_.elements[slot(i)];",
    ),
    (
        "two pass: no barrier after the staged row",
        "{{{__syncwarp();  // the row is staged ||| ;}}}",
    ),
    (
        "two pass: the last row is left out",
        "const std::int64_t rows = <<<divide_up(n, warp_threads) ||| n / warp_threads>>>;",
        "const std::int64_t rows = <<<divide_up(n, warp_threads) ||| n / warp_threads>>>;",
    ),
    (
        "duplicates: ties from coordinate 0 on",
        "const int coordinate = <<<(primary + k) % dimensions ||| k % dimensions>>>; const Coordinate x = tuples[",
        "const int coordinate = <<<(primary + k) % dimensions ||| k % dimensions>>>; const Coordinate x = a[coordinate];",
        "const int coordinate = <<<primary_ + k ||| k>>>; return coordinate < dimensions_",
    ),
]
