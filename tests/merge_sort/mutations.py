"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "thread merge: of equal items, those of b first",
        "const bool takes_a = (b >= part.end) | ((a < part.middle) & <<<!less(b_item, a_item) ||| less(a_item, b_item)>>>);",
    ),
    (
        "thread merge: the last item of b is not searched",
        "<<<part.end - part.middle ||| part.end - part.middle - 1>>>, part.first, less);",
    ),
    (
        "thread merge: what lies behind the second run is taken",
        "const bool takes_a = (<<<b >= part.end ||| b > part.end>>>) | (",
    ),
    (
        "runs: a pair's last, short part has no thread",
        "const int threads_of_pair = (begin(run + 2) - begin(run) + <<<Items - 1 ||| 0>>>) / Items;",
    ),
    (
        "rank search: of equal items, both runs search alike",
        "const bool is_before = <<<is_first ||| true>>> ? less(tile[middle], item) : !less(item, tile[middle]);",
    ),
    (
        "block merge: no barrier after the runs are read",
        "{{{__syncthreads();  // the runs are read ||| ;}}}",
    ),
    (
        "block merge by rank: no barrier after the search",
        "{{{__syncthreads();  // all items have their places ||| ;}}}",
    ),
    (
        "block merge: no barrier after the runs are merged",
        "{{{__syncthreads();  // the merged runs are there ||| ;}}}",
    ),
    (
        "tile sort: no barrier after the load",
        "{{{__syncthreads();  // the items are there ||| ;}}}",
    ),
    (
        "tile sort: no barrier after the threads' sorts",
        "{{{__syncthreads();  // each thread's items are sorted ||| ;}}}",
    ),
    (
        "insertion sort: of equal items, the later one first",
        "place > first && <<<less(item, tile[place - 1]) ||| !less(tile[place - 1], item)>>>; --place",
    ),
    (
        "tile sort: the last round is left out",
        "<<<Shape::items << level < count ||| Shape::items << (level + 1) < count>>>; ++level",
    ),
    (
        "partition: equal items of later runs first",
        "return <<<lane < lane_of_pivot ||| lane > lane_of_pivot>>> ? !less(pivot, item) : less(item, pivot);",
    ),
    (
        "partition: the pivot is counted twice",
        "if (lane == lane_of_pivot) {{{++low; ||| low += 2;}}}",
    ),
    (
        "partition: one item too many",
        "if (<<<warp_sum(static_cast<std::uint64_t>(before)) < static_cast<std::uint64_t>(tile.rank) ||| warp_sum(static_cast<std::uint64_t>(before)) <= static_cast<std::uint64_t>(tile.rank)>>>) {",
    ),
    (
        "partition: a guess beyond the interval",
        "const std::int64_t left = <<<guess - spread ||| guess>>>;",
    ),
    (
        "merge: the last tile of a group ends where the next group begins",
        "return {group, rank, static_cast<int>(min(std::int64_t{tile_items}, left)), <<<left <= tile_items ||| left < tile_items>>>};",
    ),
    (
        "merge: a piece goes on behind the warp's share",
        "const int piece_end = min(begins[piece + 1], <<<end ||| end + 1>>>);",
    ),
    (
        "merge: no barrier after the pieces are found",
        "{{{__syncthreads();  // the pieces are known ||| ;}}}",
    ),
    (
        "merge: no barrier after the pieces are loaded",
        "{{{__syncthreads();  // the pieces are there ||| ;}}}",
    ),
    (
        "merge: pieces are not cut off at the tile's end",
        "begins[lane] = <<<min(before, tile.count) ||| before>>>;",
    ),
    (
        "passes: the first one goes to the wrong side",
        "Columns from = <<<passes.merges % 2 == 0 ||| passes.merges % 2 != 0>>> ? home : spare;",
    ),
    (
        "positions: always of 4 bytes",
        "return <<<n >= Tuning::least_for_wide_positions ||| false>>>;",
    ),
    (
        "superkeys: ties from coordinate 0 on",
        "const int turned = <<<primary + k ||| k>>>; const int coordinate = turned < dimensions ? turned : turned - dimensions; const C x =",
    ),
    (
        "superkeys: equal tuples in any order",
        "return <<<a < b ||| false>>>;  // equal tuples",
    ),
    (
        "superkeys: NaN ties with everything",
        "if (<<<key_bits(x) != key_bits(y) ||| x < y || y < x>>>) return key_bits(x) < key_bits(y);",
    ),
    (
        "superkeys: the last coordinate may be NaN",
        "for (int k = 0; k < <<<dimensions ||| dimensions - 1>>>; ++k) is_broken |= tuple[k] != tuple[k];",
    ),
    (
        "ties: long ones that are not in order are not seen",
        "if (<<<order.is_tied_less(references[1], references[0]) ||| false>>>) atomicExch(is_needed, 1U);",
    ),
    (
        "ties: the last of a run is left out",
        "for (int next = 1; <<<next <= after ||| next < after>>>; ++next) { const std::uint32_t reference = references[next];",
    ),
    (
        "ties: of two coordinates, the tuples are not read",
        "return <<<rest.is_tied_less(a.reference, b.reference) ||| a.reference < b.reference>>>;",
    ),
    (
        "superkeys: any NaN, and not the first",
        "{{{atomicMin(first_nan, static_cast<unsigned long long>(begin + k)); ||| *first_nan = static_cast<unsigned long long>(begin + k);}}}",
    ),
]
