"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "warp scan: wrong lane bound",
        "if (<<<lane_index() >= distance ||| lane_index() > distance>>>) value += below;",
    ),
    (
        "lanes below: own lane too",
        "return <<<(1u << lane_index()) - 1 ||| (2u << lane_index()) - 1>>>;",
    ),
    (
        "warp sum of 64 bits: a digit misplaced",
        "return low + (middle << <<<21 ||| 20>>>) + (high << 42);",
    ),
    (
        "block scan: no barrier before the total",
        "{{{__syncthreads();  // the sums through each warp are there ||| ;}}}",
    ),
    (
        "block scan: no barrier at the end",
        "{{{__syncthreads();  // all threads have read the sums ||| ;}}} return before_warp + through - value;",
    ),
    (
        "block scan: total of the first warp",
        "total = <<<shared.of_warp[warps - 1] ||| shared.of_warp[0]>>>;",
    ),
    (
        "look-back: the half never changes",
        "if (<<<number == draws - 1 ||| number == draws>>> && lane_index() == 0) {",
    ),
    (
        "look-back: the half changes too early or late where a block draws once",
        "const std::int64_t draws = <<<(draws_once() ? 0 : tiles_) ||| (draws_once() ? 1 : tiles_)>>> + gridDim.x;",
    ),
    (
        "look-back: blocks draw once though there is a tile more than blocks",
        "bool draws_once() const { return <<<tiles_ <= gridDim.x ||| tiles_ <= gridDim.x + 1>>>; }",
    ),
    (
        "look-back: counts its own tile",
        "const bool is_before = <<<lane_index() < place_in_row ||| lane_index() <= place_in_row>>>;",
    ),
    (
        "look-back: does not wait for whole rows",
        "(is_row_counted && <<<row_sum / one_tile != warp_threads ||| row_sum / one_tile == 0>>>)",
    ),
    (
        "look-back: nothing is cleared",
        "if (ticket.tile < used) {{{clear_row(other, ticket.tile); ||| ;}}}",
    ),
    (
        "look-back: only the rows of the first sum are cleared",
        "header()[1 + ticket.half] = static_cast<std::uint64_t>(first_row(<<<sums_ ||| 1>>>));",
    ),
    (
        "look-back: the second sum begins where the first ends, and not in a row of its own",
        "const { return which * <<<rows(tiles_) ||| divide_up(tiles_, warp_threads)>>>; }",
    ),
    (
        "look-back: the rows of the first sum come before the second",
        "const bool is_row_before = lane_index() < <<<ticket.tile / warp_threads ||| row>>>;",
    ),
    (
        "look-back: a second sum has no room",
        "return tiles + <<<(sums - 1) * rows(tiles) * warp_threads ||| 0>>>;",
    ),
    (
        "merge path: ties the other way",
        "if (<<<less(b[diagonal - 1 - middle], a[middle]) ||| !less(a[middle], b[diagonal - 1 - middle])>>>) {",
    ),
    (
        "bounded merge path: a step short",
        "if (<<<step <= left ||| step < left>>> && !less(",
    ),
    # x86 CPUs keep this order by themselves: only ThreadSanitizer sees the mutation.
    (
        "last block: no fence",
        "counter.fetch_add(1, <<<cuda::memory_order_acq_rel ||| cuda::memory_order_relaxed>>>) ==",
    ),
    (
        "biased search: equal keys come after",
        "bound == Bound::upper ? !less(key, data[middle]) : <<<less(data[middle], key) ||| !less(key, data[middle])>>>;",
    ),
    (
        "biased search: the first step is too long",
        "const Wide scale = <<<(Wide{1} << shift) - 1 ||| Wide{1} << shift>>>;",
    ),
    (
        "partition point near a guess: a number after the last probe that is before is lost",
        "max(<<<probe_of(probes - 1) + 1 ||| probe_of(probes - 1) + 2>>>, std::int64_t{0});",
    ),
    (
        "superkey: begins with coordinate 0",
        "const int turned = <<<primary + k ||| k>>>;",
    ),
]
