"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "levels: the upper median",
        "return begin + <<<(count() - 1) / 2 ||| count() / 2>>>;",
    ),
    (
        "levels: the pivot stays",
        "return {<<<median() + 1 ||| median()>>>, end};",
    ),
    (
        "selection: multi_warp on one level more",
        "if (<<<static_cast<std::int64_t>(of.segments()) < warps ||| static_cast<std::int64_t>(of.segments()) <= warps>>>) return Partitioner::multi_warp;",
    ),
    (
        "selection: sub_warp below sixteen",
        "if (<<<of.largest_segment() <= sub_warp_segment ||| of.largest_segment() < sub_warp_segment>>>)",
    ),
    (
        "sides: equal tuples are greater",
        "const bool is_less = rest != 0 ? rest < 0 : <<<reference < pivot.reference ||| false>>>;",
    ),
    (
        "sides: ties are compared from the wrong coordinate on",
        "compare_superkeys(tuple, order.at(pivot.reference), order.dimensions, <<<order.primary ||| 0>>>, 1);",
    ),
    (
        "rows: a reference beyond the end",
        "references[row] = <<<place < part.end ||| place <= part.end>>> ? in[place] : pivot.reference;",
    ),
    (
        "multi_warp: the greater side begins a place late",
        "to[<<<greater_begin - 1 - own_rank(is_greater) ||| greater_begin - own_rank(is_greater)>>>] = reference;",
    ),
    (
        "multi_warp: a row of a part is left out",
        "const std::int64_t rows = <<<divide_up(segment.count(), warp_threads) ||| segment.count() / warp_threads>>>;",
    ),
    (
        "close gaps: the greater side is not turned round",
        "greater[i] = from[<<<share.places.end - 1 - i ||| share.places.end - own->greater + i>>>];",
    ),
    (
        "close gaps: only 32 lower warps are counted",
        "for (int part = lane_index(); <<<part < share.part ||| part < share.part && part < 32>>>; part += warp_threads) {",
    ),
    (
        "warp_per_array: the greater side at the median",
        "std::uint32_t* greater = arrays.out[array] + <<<segment.median() + 1 ||| segment.median()>>>;",
    ),
    (
        "warp_per_array: the less side does not go on",
        "{{{less += __popc(is_less); ||| ;}}} greater += __popc(is_greater);",
    ),
    (
        "sub_warp: sees the ballot of its neighbours",
        "const unsigned is_greater = __ballot_sync(full_warp, side == Side::greater) & <<<group ||| full_warp>>>;",
    ),
    (
        "sub_warp: a lane more",
        "const bool has_element = <<<segment.begin + lane < segment.end ||| segment.begin + lane <= segment.end>>>;",
    ),
    (
        "sub_warp: groups for eight take nine",
        ": largest <= <<<8 ||| 9>>> ? sub_warp_kernel<8, Sides>",
    ),
    (
        "leaf: children exchanged",
        "next_medians[<<<2 * k + 1 ||| 2 * k>>>] = node_of(segment.greater_side(), primary);",
    ),
    (
        "places: a gap belongs to the segment after it",
        "if (<<<place <= median ||| place < median>>>) { segment = less;",
    ),
    (
        "places: the units of another depth",
        "units_before += units_of_subtree(less.count(), <<<level.number - depth ||| level.number - depth + 1>>>);",
    ),
    (
        "places: empty segments have a pivot",
        "return count == 0 ? <<<0 ||| 1>>> : (count - 1) / 2 * units_of_less + units_of_pivot;",
    ),
    (
        "level: the pivot is not counted",
        "const std::uint32_t greater = place(row) - at.segment.begin - less - <<<pivots ||| 0>>>;",
    ),
    (
        "level: the array before is not subtracted",
        "before -= <<<array ||| 0>>> * units_of_subtree(level.n, level.number);",
    ),
    (
        "level: no barrier before the counts",
        "if (lane_index() == 0) shared.warp_units[warp_index()] = units; {{{__syncthreads();  // the warps' counts are there ||| ;}}}",
    ),
    (
        "side bits: the last one that is less is noted as greater",
        "if (!at.has(place) || <<<place <= at.segment.median() ||| place + 1 < at.segment.median()>>>) continue;",
    ),
    (
        "side bits: not cleared",
        "{{{WARPATH_CUDA_CHECK(cudaMemsetAsync( greater_bits, 0, static_cast<std::size_t>(words) * sizeof(std::uint32_t), stream)); ||| ;}}}",
    ),
    (
        "side bits: no atomic",
        "{{{atomicOr(greater_bits + reference / 32, 1u << reference % 32); ||| greater_bits[reference / 32] |= 1u << reference % 32;}}}",
    ),
    (
        "partition: no barrier before the counts",
        "rows.store_counts(shared.warp_counts); {{{__syncthreads();  // the warps' counts are there ||| ;}}}",
    ),
    (
        "partition: no barrier before the tile is written",
        "{{{__syncthreads();  // the tile is staged, and its places are there ||| ;}}}",
    ),
    (
        "partition: an element beyond the end is counted",
        "return IsFull || <<<i < count_ ||| i <= count_>>>;",
    ),
    (
        "partition: the rest ignores where it begins",
        "const std::int64_t last_begin = out.last_begin == nullptr ? 0 : <<<*out.last_begin ||| 0>>>;",
    ),
    (
        "partition: the second look-back is not cleared",
        "{{{WARPATH_CUDA_CHECK( cudaMemsetAsync(memory, 0, static_cast<std::size_t>(LookBack::bytes(tiles)), stream)); ||| ;}}}",
    ),
    (
        "partition: the rank ignores other classes",
        "const int rest = class_begin + i - <<<others ||| 0>>>;",
    ),
]
