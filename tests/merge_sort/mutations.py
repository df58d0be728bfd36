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
        "partition: the item after the window is skipped",
        "} else if (is_right) { {{{low = right + 1; ||| low = right + 2;}}} } else {",
    ),
    (
        "merge: the last tile of a group ends where the next group begins",
        "return {group, rank, <<<left <= tile_items ||| left < tile_items>>>};",
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
        "shared.begins[lane] = <<<min(before, count) ||| before>>>;",
    ),
    (
        "passes: the first one goes to the wrong side",
        "Columns from = between_passes(<<<passes.merges % 2 == 0 ||| passes.merges % 2 != 0>>> ? home : spare);",
    ),
    (
        "positions: always of 4 bytes",
        "return <<<n >= Tuning::least_for_wide_positions ||| false>>>;",
    ),
    (
        "superkeys: ties from coordinate 0 on",
        "const int turned = <<<primary + k ||| k>>>; const int coordinate = turned < dimensions ? turned : turned - dimensions; return key_bits(",
    ),
    (
        "superkeys: equal tuples in any order",
        "return <<<a < b ||| false>>>;  // equal tuples",
    ),
    (
        "superkeys: the last coordinate does not decide",
        "for (int k = known; k < <<<dimensions ||| dimensions - 1>>>; ++k) {",
    ),
    (
        "superkeys: the last coordinate may be NaN",
        "for (int coordinate = 0; coordinate < <<<in.dimensions ||| in.dimensions - 1>>>; ++coordinate) {",
    ),
    (
        "ties: a run that begins in the tile before is sorted again",
        "if (<<<range.begin < 0 ||| range.begin < -1>>> || range.begin >= count_) continue;",
    ),
    (
        "ties: a run that begins in the next tile is sorted here",
        "|| <<<range.begin >= count_ ||| false>>>) continue; items.own |= 1u << k;",
    ),
    (
        "ties: a run of just most_ranked is long",
        "if (<<<range.count() > most_ranked ||| range.count() >= most_ranked>>>) { if (i < count_",
    ),
    (
        "ties: a run that goes on to the left is taken for short",
        "if (goes_on_left) low_ = place_of(max(tied.begin, <<<begin - most_ranked ||| begin - most_ranked + 1>>>));",
    ),
    (
        "ties: no barrier after the tile is loaded",
        "{{{__syncthreads();  // the tile is there, and its neighbours ||| ;}}}",
    ),
    (
        "ties: no barrier after what lies beyond the tile is loaded",
        "{{{__syncthreads();  // so much of the runs that cross its ends as decides whether they are long ||| ;}}}",
    ),
    (
        "ties: no barrier after the dense list is made",
        "{{{__syncthreads();  // the dense list is there ||| ;}}}",
    ),
    (
        "ties: no barrier after the next coordinates",
        "{{{__syncthreads();  // the next coordinates are there ||| ;}}}",
    ),
    (
        "ties: only one coordinate more is looked at",
        "if (__syncthreads_or(<<<longest > 1 ||| false>>>) == 0) break;",
    ),
    (
        "ties: of equal coordinates, later places first",
        "equal_before += bits == own && <<<other < d ||| other > d>>> ? 1 : 0;",
    ),
    (
        "ties: by a merge sort, no barrier after the coordinates are read",
        "{{{__syncthreads();  // they are read ||| ;}}}",
    ),
    (
        "ties: by a merge sort, those of other runs tie",
        "return <<<packed >> 16 == other.packed >> 16 ||| (packed >> 16 & 0xFFFFFFFFu) == (other.packed >> 16 & 0xFFFFFFFFu)>>>;",
    ),
    (
        "ties: what stays is not copied",
        "if (first_place() + k < count_ && <<<(in_short_run >> k & 1) == 0 ||| (tied >> k & 1) == 0>>>) tied_.to[i] = tied_.from[i];",
    ),
    (
        "ties: a part of the list ends within a run",
        "{{{atomicMin(&shared_.list_end, run + begin); ||| ;}}}",
    ),
    (
        "ties: no barrier before the end of a part is lowered",
        "{{{__syncthreads();  // the end can be lowered ||| ;}}}",
    ),
    (
        "ties: in two coordinates, the last is not looked at",
        "for (int k = tied.known; <<<k < tied.depth ||| k < tied.depth - 1>>>; ++k) { const bool is_first",
    ),
    (
        "long ties: a tile's share ends too early",
        "[[nodiscard]] __device__ std::int64_t part_end() const { return <<<(number_ + 1) * count_ / tiles_ ||| min(part_begin() + MergeShape::tile_items, count_)>>>; }",
    ),
    (
        "long ties: a merge does not wait for the stage before",
        "progress_.wait_for(<<<tiles_ * stage ||| tiles_ * (stage - 1)>>>);",
    ),
    (
        "long ties: the last stage does not wait for the last merge",
        "progress_.wait_for(<<<tiles_ * (passes_.merges + 2) ||| tiles_ * (passes_.merges + 1)>>>);",
    ),
    (
        "long ties: the flags are taken before all tiles have looked",
        "progress_.wait_for(<<<tiles_ ||| 1>>>); if (!take_flags()) {",
    ),
    (
        "long ties: no barrier after the positions",
        "{{{__syncthreads();  // the positions are there ||| ;}}}",
    ),
    (
        "long ties: a run of one tile is not sorted before its ties are",
        "{{{__syncthreads();  // the run is sorted ||| ;}}}",
    ),
    (
        "long ties: runs whose coordinate says nothing are dropped",
        "if (threadIdx.x != 0 || <<<(flags_ & RunProgress::is_unordered) == 0 ||| true>>>) return;",
    ),
    (
        "long ties: what is in order by one coordinate is in order",
        "if (<<<ties_.superkeys.is_less(b, a, ties_.known) ||| b_bits < a_bits>>>) flags |= RunProgress::is_unordered;",
    ),
    (
        "long ties: neighbours in two tiles are not compared",
        "const std::int64_t end = <<<min(part_end() + 1, count_) ||| part_end()>>>;",
    ),
    (
        "long ties: the values stay what merges have made of them",
        "{{{home.values[i] = value; ||| ;}}}",
    ),
    (
        "long ties: the next coordinate begins before this one is done",
        "wait_until([&] { return <<<Counter(finished).load(cuda::memory_order_acquire) >= all ||| true>>>; });",
    ),
    (
        "long ties: one list is lost",
        "for (int known = 1; <<<known < depth ||| known < depth - 1>>>; ++known) {",
    ),
    (
        "radix first: ties in the order of the input",
        "const int depth = is_source ? 1 : is_radix ? <<<dimensions + 1 ||| dimensions>>> : dimensions;",
    ),
    (
        "positions: a tile may begin anywhere",
        "if (<<<missed_by <= runs.slack ||| missed_by <= 2 * runs.slack + 2>>>) return before;",
    ),
    (
        "positions: the first tile of a group begins a little later",
        "{{{if (rank == 0) return 0; ||| ;}}}",
    ),
    (
        "positions: no position lies beyond the rank",
        "std::int64_t high = lane < runs.ways ? <<<runs.run_count(run) ||| min(runs.run_count(run), rank)>>> : 0;",
    ),
    (
        "merge: lanes without a run have positions",
        "{{{if (lane >= runs.ways) from = to = 0; ||| ;}}}",
    ),
    (
        "ties: no barrier after the ties are noted",
        "{{{__syncthreads();  // who ties with the place before is known ||| ;}}}",
    ),
    (
        "ties: the last place that is loaded is not compared",
        "const bool ties = i > low_ && <<<i < high_ ||| i < high_ - 1>>> && found_by(i - 1) == found_by(i);",
    ),
    (
        "ties: a run ends with its word",
        "while (<<<end == 0 ||| false>>>) end = ~ties_on[++end_word];",
    ),
    (
        "ties: lists lie where positions do not end",
        "stream, spare_count, spare_count, <<<std::max(sort_bytes, list_bytes) ||| sort_bytes>>>, words);",
    ),
    (
        "tile sort: always in order",
        "if (__syncthreads_and(<<<is_after_others ||| true>>>) != 0) return;",
    ),
    (
        "merge: pieces are always in order",
        "if (__syncthreads_and(<<<is_after_others ||| true>>>) == 0) {",
    ),
    (
        "superkeys: any NaN, and not the first",
        "{{{atomicMin(first_nan, index); ||| *first_nan = index;}}}",
    ),
    (
        "slice: its ends are found give or take",
        "runs.slack = static_cast<int>(<<<min(static_cast<std::int64_t>(runs.slack), to_end) ||| runs.slack>>>);",
    ),
    (
        "slice: goes to the places of the whole",
        "columns.store(<<<i - first ||| i>>>, item);",
    ),
    (
        "slice: the end of all runs is searched for like any rank",
        "const std::int64_t position = <<<rank == all ? own : warp_find_position(runs, runs, 0, rank, less) ||| warp_find_position(runs, runs, 0, rank == all ? 0 : rank, less)>>>;\n  if (lane < runs.ways) positions",
    ),
    (
        "splits: runs without items are not counted",
        "ranks_.number_of[kept_] = <<<number ||| kept_>>>;",
    ),
    (
        "runs to merge: those without items are kept",
        "const int number = added_++; {{{if (keys.count == 0) return; ||| ;}}}",
    ),
]
