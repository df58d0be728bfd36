"""The bugs that mutate.py plants, one a line of kernel code.

A text is the code at the place, as written there (line breaks do not matter), with the change marked:
<<<old ||| new>>> for an expression, {{{old ||| new}}} for a statement. Later texts are tried where
the earlier ones stand nowhere.
"""

# ruff: noqa: E501  (a mutation is a line)
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """One planted bug: its name, the test program that must see it, and where it stands."""

    name: str
    test: str
    texts: tuple[str, ...]


def _of(test: str, *named: tuple[str, ...]) -> list[Mutation]:
    return [Mutation(name, test, tuple(texts)) for name, *texts in named]


MUTATIONS = [
    *_of(
        "core",
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
            "{{{__syncthreads();  // and the sums up to each of them ||| ;}}}",
        ),
        (
            "block scan: no barrier at the end",
            "{{{__syncthreads();  // and read ||| ;}}} return before_warp + through - value;",
        ),
        (
            "block scan: total of the first warp",
            "total = <<<shared.of_warp[warps - 1] ||| shared.of_warp[0]>>>;",
        ),
        (
            "look-back: the half never changes",
            "if (<<<number == tiles_ + gridDim.x - 1 ||| number == tiles_ + gridDim.x>>> && lane_index() == 0) {",
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
            "merge path: ties the other way",
            "if (<<<less(b[diagonal - 1 - middle], a[middle]) ||| !less(a[middle], b[diagonal - 1 - middle])>>>) {",
        ),
        ("bounded merge path: a step short", "if (<<<step <= left ||| step < left>>> && !less("),
    ),
    *_of(
        "warp_compaction",
        (
            "segment: one item beyond the end",
            "if ((IsFull || <<<i + k < count ||| i + k <= count>>>) &&",
        ),
        ("copy out: the first item is left out", "if (<<<i >= 0 ||| i > 0>>>) to[i] = from[i];"),
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
            "pipeline: no slot stays free",
            "while (<<<held_slots_ >= Shape::slots - 1 ||| held_slots_ >= Shape::slots>>>) free_oldest();",
        ),
        (
            "two pass: writes before its place",
            "if (<<<i >= begin_ && i < end ||| i < end>>>) out_[i] = buffer_.elements[slot(i)];",
        ),
        (
            "two pass: no barrier behind the staged row",
            "{{{__syncwarp();  // the row is staged ||| ;}}}",
        ),
        (
            "two pass: the last row is left out",
            "const std::int64_t rows = <<<(n + warp_threads - 1) / warp_threads ||| n / warp_threads>>>;",
            "const std::int64_t rows = <<<divide_up(n, warp_threads) ||| n / warp_threads>>>;",
        ),
        (
            "duplicates: ties from coordinate 0 on",
            "const int coordinate = <<<(primary + k) % dimensions ||| k % dimensions>>>; const Coordinate x = tuples[",
            "const int coordinate = <<<(primary + k) % dimensions ||| k % dimensions>>>; const Coordinate x = a[coordinate];",
            "const int coordinate = <<<primary_ + k ||| k>>>; return coordinate < dimensions_",
        ),
    ),
    *_of(
        "load_balancing_search",
        (
            "thread search: one object too many",
            "is_item = a < a_end && (<<<b >= b_end ||| b > b_end>>> || is_item);",
        ),
        (
            "block search: no range check at the end of the objects",
            "const bool is_extended = <<<range.a1 < work.items && range.b1 < work.objects ||| range.a1 < work.items>>>;",
        ),
        (
            "upper bound: objects begin one late",
            "if (<<<item < static_cast<std::int64_t>(work.scan[middle]) ||| item <= static_cast<std::int64_t>(work.scan[middle])>>>) {",
        ),
        (
            "output aligned: no barrier behind the heads",
            "{{{__syncthreads();  // the warps' last heads are there, and all heads are read ||| ;}}}",
        ),
        (
            "output aligned: waits for a batch too few",
            "__pipeline_wait_prior(<<<Shape::stages - 2 ||| Shape::stages - 1>>>);",
        ),
        (
            "output aligned: stores before its share",
            "if (<<<place + k >= share.begin && place + k < share.end ||| place + k < share.end>>>) {",
        ),
        (
            "output aligned: heads beyond the tile",
            "if (has_items && <<<place < tile_end - tile ||| place <= tile_end - tile>>>) {",
        ),
    ),
    *_of(
        "biased_binary_search",
        (
            "search: equal keys are behind",
            "bound == Bound::upper ? !less(key, data[middle]) : <<<less(data[middle], key) ||| !less(key, data[middle])>>>;",
        ),
        (
            "search: the first step is too long",
            "const Wide scale = <<<(Wide{1} << shift) - 1 ||| Wide{1} << shift>>>;",
        ),
        (
            "run starts: searches one key too few",
            "starts[i] = biased_search<Bound::lower>(keys, <<<position ||| position - 1>>>, keys[position]",
            "starts[i] = warpath::biased_search<Bound::lower>(keys, <<<position ||| position - 1>>>, keys[position]",
        ),
        (
            "run starts: the last position is left out",
            "blockIdx.x) * blockDim.x + threadIdx.x; <<<i < count ||| i + 1 < count>>>; i += stride) { const Index position",
        ),
    ),
    *_of(
        "balanced_path_sets",
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
    ),
    *_of(
        "map_reduce",
        (
            "last block: no fence",
            "counter.fetch_add(1, <<<cuda::memory_order_acq_rel ||| cuda::memory_order_relaxed>>>) ==",
        ),
        (
            "last block: partial results not yet written",
            "{{{__syncthreads();  // the block's partial results are written ||| ;}}}",
        ),
        (
            "merge of parts: the last one is left out",
            "for (; <<<n < count ||| n + 1 < count>>>; ++n) problem.reduction.merge(state, state_of(n));",
        ),
        (
            "merge of lanes: gives away what it keeps",
            "const State given = is_upper ? <<<states[r] ||| states[r + half]>>> : states[r + half];",
        ),
        (
            "rows: the tile is overwritten too early",
            "{{{__syncthreads();  // nobody needs the last tile any more ||| ;}}} for (int t = threadIdx.x; t < width; t += Shape::threads) {",
            "{{{__syncthreads();  // all threads are done with the last tile ||| ;}}} for (int t = threadIdx.x; t < width; t += Shape::threads) {",
        ),
        (
            "columns: the rest belongs to part 1",
            "if (Batch > 1 && <<<part == split.parts - 1 ||| part == 1>>> && j < problem.columns) {",
        ),
        (
            "nearest: ties take the last column",
            "const bool is_first = best.j < 0 || <<<other.j < best.j ||| other.j > best.j>>>;",
        ),
        (
            "gpu_1d: a whole tile at the end",
            "const int width = static_cast<int>(<<<min(K, problem.columns - first) ||| K>>>); if (has_row)",
        ),
        (
            "naive: a warp's state is left out",
            "for (unsigned warp = <<<1 ||| 2>>>; warp < blockDim.x / warp_threads; ++warp) {",
        ),
        (
            "split: a group's result is not stored",
            "if (groups > 1) { {{{store_as(first); ||| ;}}} if (!is_last_block(",
        ),
        (
            "tensor: no barrier before the squares",
            "{{{__syncthreads();  // the parts of the squares are there ||| ;}}}",
        ),
        (
            "tensor, least: no barrier before the tile",
            "{{{__syncthreads();  // the tile is there ||| ;}}} fetched.fetch(",
        ),
    ),
]
