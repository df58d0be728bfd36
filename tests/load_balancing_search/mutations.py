"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
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
        "output aligned: no barrier after the heads",
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
        "if (has_items && <<<place < static_cast<Place>(count) ||| place <= static_cast<Place>(count)>>>) {",
    ),
    (
        "output aligned: values of 8 bytes from a wrong lane",
        "const int lane = <<<part * warp_threads / 2 + lane_index() / 2 ||| lane_index() / 2>>>;",
    ),
    (
        "guessed shares: the first object that is loaded may be the share's first one",
        "const bool has_begin = <<<before_begin > 0 || first <= 0 ||| true>>>;",
    ),
    (
        "guessed shares: the object after the share is not loaded",
        "const bool has_end = <<<first + before_end <= last ||| true>>>;",
    ),
    (
        "guessed shares: no barrier after the counts",
        "{{{__syncthreads();  // what the warps count is there ||| ;}}}",
    ),
    (
        "guessed shares: the last lane's next object is its neighbour's",
        "const int next = <<<lane_index() == warp_threads - 1 ? next_[v] : neighbour ||| neighbour>>>;",
    ),
    (
        "guessed shares: objects before the first one have work items",
        "if (<<<of_warp >= 0 && of_warp + 4 * warp_threads < static_cast<int>(work.objects) ||| of_warp + 4 * warp_threads < static_cast<int>(work.objects)>>>) {",
    ),
    (
        "copies: no barrier before a tile's heads are read",
        "{{{__syncthreads();  // the heads are there with their objects, and the tile before is done ||| ;}}}",
    ),
    (
        "copies: does not wait for the objects of a tile",
        "{{{__pipeline_wait_prior(0); ||| ;}}}",
    ),
    (
        "copies: an object of an earlier tile is not moved on",
        "copies.later(objects[begin], <<<Shape::tile_items - static_cast<int>(begin) ||| Shape::tile_items>>>)",
    ),
    (
        "copies: a run where there are two objects",
        "if (Copies::are_runs && <<<heads[0] == heads[warp_items - 1] ||| heads[0] == heads[warp_items / 2]>>>) {",
    ),
    (
        "copies: vectors without alignment",
        "if (<<<addresses % 16 == 0 ||| addresses % 8 == 0>>>) {",
    ),
]
