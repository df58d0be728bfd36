"""Bugs to plant in kd_tree (tests/mutations/mutate.py)."""

MUTATIONS = [
    (
        "nodes: the last level has children",
        "of_level, entries, <<<level + 1 < levels ? of_level + entries : nullptr ||| of_level + entries>>>, nodes.data",
    ),
    (
        "verify: of equal tuples, any order",
        "return order < 0 || <<<(order == 0 && a.number < b.number) ||| order == 0>>>;",
    ),
    (
        "verify: only the parent is compared with",
        "below = above; if (<<<!verified.is_tuple(ancestor) ||| !verified.is_tuple(ancestor) || above != (i - 1) / 2>>>) continue;",
    ),
    (
        "verify: a block's subtree may have nodes anywhere",
        "if (<<<!has_entry(verified.medians.nodes, shape.above + level, (subtree << level) + static_cast<unsigned>(j - first_entry(level))) ||| false>>>) {",
    ),
    (
        "verify on the host: nodes may lie anywhere in the last level",
        "if (<<<!has_entry(expected_, level, entry) ||| false>>>) return Flaw::too_deep;",
    ),
    (
        "verify: what lies above a block's subtree is not compared with",
        "if (t == 0) above.needed = <<<needed ||| 0>>>;",
    ),
    (
        "verify: of the ancestors above, the nearest of either side is enough",
        "is_needed = k_of(nearer) != k_of(t) || <<<is_greater_than(nearer) != is_greater_than(t) ||| false>>>;",
    ),
    (
        "verify: inside a block's subtree, only the parent is compared with",
        "if (<<<!verified.is_tuple(numbers[ancestor]) ||| !verified.is_tuple(numbers[ancestor]) || ancestor != (j - 1) / 2>>>) continue;",
    ),
    (
        "verify: the parent of a subtree's root is not asked for",
        "const std::uint32_t parent = <<<j > 0 ? numbers[(j - 1) / 2] : above.numbers[0] ||| j > 0 ? numbers[(j - 1) / 2] : 0>>>;",
    ),
    (
        "verify: a tuple may have two entries",
        "if (<<<(atomicOr(&seen[number / 32], bit) & bit) != 0 ||| false>>>) atomicExch(twice, 1ULL);",
    ),
    (
        "verify: the second entry of a tuple is the first",
        "if (<<<tuple < tuples && first_entries[tuple] != i ||| tuple < tuples && first_entries[tuple] == i>>>)",
    ),
    (
        "search: the farther side is never entered",
        "const WaitingSide& side = sides[--waiting]; if (<<<!visit.wants(side.distance) ||| true>>>) continue;",
    ),
    (
        "search in order: the farther side is never entered",
        "const WaitingPart& side = sides[--waiting]; if (<<<!visit.wants(side.distance) ||| true>>>) continue;",
    ),
    (
        "search by a warp: a box is farther than it is",
        "const Distance<C> side_there = lane == part.k ? <<<max(side, to_node) ||| side + to_node>>> : side;",
    ),
    (
        "search by a warp: the sides of a box are not kept",
        "if (has_side) <<<side = storage.sides[waiting][lane] ||| side += storage.sides[waiting][lane]>>>;",
    ),
    (
        "in order: the path of a row's entry turns the wrong way",
        "entry = 2 * entry + <<<(is_greater ? 2 : 1) ||| (is_greater ? 1 : 2)>>>; count",
    ),
    (
        "queries: answers stay in the order of the tree",
        "answer(tree, i, <<<queries.numbers == nullptr ? i : std::int64_t{queries.numbers[i]} ||| i>>>);",
    ),
    (
        "nearest: ties go to whom comes first",
        "return <<<tree.number(place) < tree.number(other.place) ||| false>>>;",
    ),
    (
        "nearest: sides as near as the best are left out",
        "&& <<<distance <= list_.farthest() ||| distance < list_.farthest()>>>;",
    ),
    (
        "nearest: what is as far as the farthest around is left out",
        "return <<<distance <= limit_ ||| distance < limit_>>> &&",
    ),
    (
        "nearest by a warp: ties go to whom comes first",
        "return distances_[slot] < distance || <<<(distances_[slot] == distance && tuples_[slot] < tuple) ||| distances_[slot] == distance>>>;",
    ),
    (
        "nearest by a warp: what moves to the next slot is lost",
        "carried_tuple = <<<__shfl_sync(full_warp, tuples_[below], last) ||| tuple>>>;",
    ),
    (
        "k nearest: a heap of one less",
        "sink(found, <<<output_.k ||| output_.k - 1>>>, tree);",
    ),
    (
        "radius: what is as far as the radius is left out",
        "if (<<<query_.squared_distance_to(tuple) <= squared_radius_ ||| query_.squared_distance_to(tuple) < squared_radius_>>>) take_(place);",
    ),
    (
        "box: the corner is outside",
        "const bool is_reached = is_greater ? <<<coordinate <= high_[k] ||| coordinate < high_[k]>>> : low_[k] <= coordinate;",
    ),
    (
        "lists: answers are not sorted",
        "{{{merge_sort::sort_keys(answers, asking.memory.sort, stream); ||| ;}}}",
    ),
    (
        "lists: they go on beyond their room",
        "if (<<<next < end ||| true>>>) out.data[next++] = query | tree.number(row);",
    ),
    (
        "fast build: both lists lie in the same place",
        "selection_.lists[1] = {<<<to_.bits + listed_ ||| to_.bits>>>, to_.references + listed_};",
    ),
    (
        "fast build: where segments begin is where the last level's began",
        "std::swap(next_begins_, <<<spare_begins_ ||| next_begins_>>>);",
    ),
    (
        "fast build: tuples of a part lie where they lay in the tile",
        "shared.shifts[part] = (all > 0 ? take(part, all) : 0) - <<<next ||| 0>>>;",
    ),
    (
        "fast build: what is before a bracket counts as inside, too",
        "unsigned listed = exist & <<<~before & ~after ||| ~after>>>;",
    ),
    (
        "fast build: a median above is counted, too",
        "on_median(above, segment, places.place(t)); <<<exist &= ~(1u << t) ||| exist &= ~0u>>>;",
    ),
    (
        "fast build: lists lie among the tuples",
        "selection_.lists[0] = {<<<to_.bits ||| from_.bits>>>, to_.references};",
    ),
    (
        "host build: of equal tuples, any order",
        "return order < 0 || <<<(order == 0 && t < median) ||| order == 0>>>;",
    ),
    (
        "host build: a less side reads the first array where it lay before splits",
        "build(segment.less_side(), level + 1, 2 * entry, <<<in_second ||| in_second & ~1u>>>);",
    ),
    (
        "host build: arrays whose turn comes last are left as they are",
        "const int turns = std::min(<<<dimensions_ - 1 ||| dimensions_ - 2>>>, partitioners::leaf_level(segment.count()));",
    ),
    (
        "host build: duplicates are in the tree",
        "return before.bits != item.bits || <<<compare_superkeys(tuple(before.reference), tuple(item.reference), dimensions_, 0) != 0 ||| true>>>;",
    ),
    (
        "host sort: ties stay in the order of their numbers",
        "{{{for (const Items run : few) sort_few(run, known_equal); ||| ;}}}",
    ),
    (
        "host sort: long runs of ties stay in the order of their numbers",
        "for (const Items run : <<<many ||| std::vector<Items>{}>>>) {",
    ),
    (
        "host verification: a tuple may have several nodes",
        "if (<<<has_node_[tuple].exchange(true, std::memory_order_relaxed) ||| false>>>) return",
    ),
    (
        "host verification: what the greater side finds comes first",
        "<<<less.finding.is_right() ? greater.finding : less.finding ||| greater.finding.is_right() ? less.finding : greater.finding>>>",
    ),
    (
        "devices: subtrees begin with the first coordinate",
        "return <<<(first_level_ + level) % points_.dimensions ||| (level + points_.dimensions) % points_.dimensions>>>;",
    ),
    (
        "devices: of equal tuples on two devices both stay",
        "if (<<<kept.first == last ||| false>>>) {",
    ),
    (
        "devices: duplicates leave devices with unequal shares",
        "const std::vector<std::int64_t> shares = <<<tree_shares(nodes_, devices_.count()) ||| counts>>>;\n    devices_.meet();",
    ),
    (
        "devices: swapped tuples are not put in order",
        "if (<<<is_last && options_.sort == multi_gpu_sort::Variant::splitter_merge ||| is_last>>>) return;",
    ),
    (
        "devices: a median stays among the tuples of its subtree",
        "own.tuples > own.count ? <<<own.references + own.count ||| nullptr>>> : nullptr;",
    ),
    (
        "devices: a digit is that of all tuples",
        "if (bits_left < word_bits && <<<(key ^ words[word]) >> bits_left != 0 ||| false>>>) return -1;",
    ),
    (
        "devices: words that are known are not compared",
        "if (<<<tuples.key(place, primary, k) != words[k] ||| false>>>) return -1;\n    }\n    const Bits key",
    ),
    (
        "devices: columns begin with the first coordinate",
        "to.first = <<<depth_ % dimensions_ ||| 0>>>;",
    ),
    (
        "devices: all devices' tuples go to the same places",
        "const auto& begin = begins[<<<static_cast<std::size_t>(i) ||| 0>>>];",
    ),
    (
        "devices: tuples arrive before there is memory for them",
        "{{{devices_.meet();  // all columns may be written ||| ;}}}",
    ),
    (
        "devices: subtrees are built before all tuples have come",
        "{{{devices_.synchronize();  // all tuples are there, and `begins` is read ||| devices_.for_each([](int, cudaStream_t) {});}}}",
    ),
    (
        "tree on devices: parts are copied before they are there",
        "{{{devices.meet();  // all parts and the stores are there ||| ;}}}",
    ),
    (
        "tree on devices: each part goes to the first place",
        "<<<first += part.count; ||| ;>>>\n      }\n      devices.copy(own.medians",
    ),
    (
        "devices: a subtree's levels are one too high",
        "medians[first_entry(<<<level + own_level ||| level + own_level - 1>>>) + root * of_level",
    ),
]
