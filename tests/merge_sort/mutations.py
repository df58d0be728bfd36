"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "thread merge: of equal items, those of b first",
        "const bool takes_a = b == b_end || (a < a_end && <<<!less(b_item, a_item) ||| less(a_item, b_item)>>>);",
    ),
    (
        "thread merge: the last item of b is not searched",
        "merge_path(View{tile, a}, a_end - a, View{tile, b}, <<<b_end - b ||| b_end - b - 1>>>, first - a, less);",
    ),
    (
        "thread merge: the pair's end is not seen",
        "while (<<<a == a_end && b == b_end ||| a == a_end && b == b_end && run < 0>>>) {",
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
        "tile sort: a thread with few items is not filled up",
        "if (<<<first + Shape::items > count ||| false>>>) fill_up(items, count - first, less);",
    ),
    (
        "fill up: by the first of the greatest items",
        "<<<!less(items[i], greatest) ||| less(items[i], greatest)>>>",
    ),
    (
        "tile sort: the last round is left out",
        "<<<Shape::items << level < count ||| Shape::items << (level + 1) < count>>>; ++level",
    ),
    (
        "partition: equal items of later runs first",
        "const bool is_before = <<<lane < lane_of_pivot ||| lane > lane_of_pivot>>> ? !less(pivot, item) : less(item, pivot);",
    ),
    (
        "partition: the pivot stays undecided",
        "if (<<<lane == lane_of_pivot ||| false>>>) ++low;",
    ),
    (
        "partition: one item too many",
        "if (<<<warp_sum(static_cast<std::uint64_t>(before)) < static_cast<std::uint64_t>(rank) ||| warp_sum(static_cast<std::uint64_t>(before)) <= static_cast<std::uint64_t>(rank)>>>) {",
    ),
    (
        "merge: the last tile of a group ends where the next group begins",
        "const bool is_last = <<<tile_begin + count == group + runs.group_items(group) ||| tile_begin + count == runs.n>>>;",
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
        "begins[lane] = <<<min(before, count) ||| before>>>;",
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
        "for (int k = 0; k < <<<dimensions ||| dimensions - 1>>>; ++k) { const C coordinate = coordinates[begin + k];",
    ),
    (
        "superkeys: any NaN, and not the first",
        "{{{atomicMin(first_nan, static_cast<unsigned long long>(begin + k)); ||| *first_nan = static_cast<unsigned long long>(begin + k);}}}",
    ),
]
