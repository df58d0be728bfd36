"""Bugs to plant in kd_tree (tests/mutations/mutate.py)."""

MUTATIONS = [
    (
        "nodes: the last level has children",
        "of_level, entries, <<<level + 1 < levels ? of_level + entries : nullptr ||| of_level + entries>>>, nodes.data",
    ),
    (
        "verify: of equal tuples, any order",
        "const int order = compare_superkeys(own, other, dimensions, level % dimensions); const bool is_less = order < 0 || <<<(order == 0 && tuple < ancestor) ||| order == 0>>>;",
    ),
    (
        "verify: only the parent is compared with",
        "below = above; if (<<<ancestor >= tuples ||| ancestor >= tuples || level + 2 < level_count(i + 1)>>>) continue;",
    ),
    (
        "verify: a tuple may have two entries",
        "if (<<<first_entries[tuple] != i ||| false>>>) return Flaw::twice;",
    ),
    (
        "search: the farther side is never entered",
        "if (<<<!visit.wants(k, side.coordinate, side.is_greater) ||| true>>>) continue;",
    ),
    (
        "nearest: ties go to whom comes first",
        "if (distance < best || <<<(distance == best && tuple < nearest) ||| false>>>) {",
    ),
    (
        "nearest: sides as near as the best are left out",
        "return <<<distance_to_side(query_[k], coordinate, is_greater) <= best ||| distance_to_side(query_[k], coordinate, is_greater) < best>>>;",
    ),
    (
        "k nearest: ties go to whom comes first",
        "return a.distance < b.distance || <<<(a.distance == b.distance && a.tuple < b.tuple) ||| false>>>;",
    ),
    (
        "k nearest: a heap of one less",
        "sink(found, <<<k_ ||| k_ - 1>>>);",
    ),
    (
        "radius: what is as far as the radius is left out",
        "if (<<<squared_distance(query_, coordinates, dimensions_) <= squared_radius_ ||| squared_distance(query_, coordinates, dimensions_) < squared_radius_>>>) take_(tuple);",
    ),
    (
        "box: the corner is outside",
        "return is_greater ? <<<coordinate <= high_[k] ||| coordinate < high_[k]>>> : low_[k] <= coordinate;",
    ),
    (
        "lists: answers are not sorted",
        "{{{merge_sort::sort_keys(DeviceSpan<std::uint64_t>{answers, tuples.count}, memory.sort, stream); ||| ;}}}",
    ),
    (
        "lists: they go on beyond their room",
        "if (<<<place < end ||| true>>>) out[place++] = query | tuple;",
    ),
]
