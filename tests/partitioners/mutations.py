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
        "const bool is_there = <<<place < part.end ||| place <= part.end>>> && first_array + i < arrays.count;",
    ),
    (
        "multi_warp: the greater side begins a place late",
        "to[<<<greater_begin[i] - 1 - own_rank(is_greater) ||| greater_begin[i] - own_rank(is_greater)>>>] = reference;",
    ),
    (
        "multi_warp: a row of a part is left out",
        "const std::int64_t rows = <<<divide_up(segment.count(), warp_threads) ||| segment.count() / warp_threads>>>;",
    ),
    (
        "close gaps: the greater side is not turned round",
        "return from[<<<share.places.end - 1 - i ||| share.places.end - own->greater + i>>>];",
    ),
    (
        "close gaps: only 32 lower warps are counted",
        "for (int part = lane_index(); <<<part < share.part ||| part < share.part && part < 32>>>; part += warp_threads) {",
    ),
    (
        "warp_per_array: the greater side at the median",
        ": <<<segment.median() + 1 ||| segment.median()>>> + greater[i] + own_rank(is_greater); arrays.out[first + i][place] = reference;",
    ),
    (
        "sub_warp: arrays beyond the last one are written",
        "const bool is_there = has_element && <<<first_array + i < arrays.count ||| true>>>;",
    ),
    (
        "copy: a reference too many",
        "if (<<<i < count ||| i <= count>>>) to[i] = references[row];",
    ),
    (
        "warp_per_array: the less side does not go on",
        "{{{less[i] += __popc(is_less); ||| ;}}} greater[i] += __popc(is_greater);",
    ),
    (
        "sub_warp: sees the ballot of its neighbours",
        "const unsigned is_greater = __ballot_sync(full_warp, side[i] == Side::greater) & <<<group ||| full_warp>>>;",
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
        "if (at.has(place) && <<<place > at.segment.median() ||| place + 1 >= at.segment.median()>>>) references[row] = primary[place];",
    ),
    (
        "side bits: not cleared",
        "{{{WARPATH_CUDA_CHECK(cudaMemsetAsync(greater_bits, 0, words * sizeof(std::uint32_t), stream)); ||| ;}}}",
    ),
    (
        "side bits: no atomic",
        "{{{atomicOr(greater_bits + reference / 32, 1u << reference % 32); ||| greater_bits[reference / 32] |= 1u << reference % 32;}}}",
    ),
    (
        "tiles: the pivot is not counted",
        "return less * units_of_less + <<<pivots ||| 0>>> * units_of_pivot;",
    ),
    (
        "tiles: all segments before have the same size",
        "static_cast<std::int64_t>(larger) * units_of_segment(<<<least + 1 ||| least>>>);",
    ),
    (
        "warp sides: rows before are not counted",
        "before += <<<side_counts(__popc(less), __popc(greater)) ||| 0>>>;",
    ),
    (
        "warp sides: ranks of the other side",
        "const unsigned below = (is_less ? <<<less ||| greater>>> : greater) & lanes_below();",
    ),
    (
        "warp sides: both sides are kept",
        "{{{sides_ &= ~((both_sides ^ side) << 2 * row); ||| ;}}}",
    ),
    (
        "block counts: no barrier before the counts",
        "if (lane_index() == 0) shared[warp_index()] = counts; {{{__syncthreads();  // the warps' counts are there ||| ;}}}",
    ),
    (
        "side tables: not cleared",
        "{{{for (std::uint32_t i = threadIdx.x; i < size_.words() / 4; i += blockDim.x) lines[i] = Line{}; ||| ;}}}",
    ),
    (
        "side tables: nothing is noted again",
        "if (<<<read(first_, first_cell(reference)) != both_sides ||| true>>>) return;",
    ),
    (
        "side tables: the second is not asked",
        "return side == both_sides ? <<<read(second_, second_cell(reference)) ||| side_less>>> : side;",
    ),
    (
        "block: comparisons the wrong way round",
        "return <<<side == Side::less ||| side != Side::less>>> ? side_less : side_greater;",
    ),
    (
        "block: what the tables do not tell is greater",
        "sides.keep(row, <<<compare(row) ||| side_greater>>>);",
    ),
    (
        "block segments: no barrier after clearing",
        "tables.block_clear(); {{{__syncthreads();  // the tables are empty ||| ;}}} const std::uint32_t own = warp_index() * Shape::warp_items + lane_index(); #pragma unroll 1",
    ),
    (
        "block segments: no barrier between the steps",
        "{{{__syncthreads();  // all sides are noted, in one table or in both ||| ;}}}",
    ),
    (
        "block segments: counts of two tiles in one place",
        "turn = <<<1 - turn ||| turn>>>;",
    ),
    (
        "block segments: tiles before are not counted",
        "{{{less += less_of(counts.all); ||| ;}}}",
    ),
    (
        "block ranges: a gap has an element",
        "const bool has_element = <<<place + 1 < share.begin + share.length ||| place < share.begin + share.length>>> && place < count_;",
    ),
    (
        "block ranges: larger shares before are not counted",
        "const std::uint32_t larger = <<<share.begin - share.number * least_ ||| 0>>>;  // shares before this one",
    ),
    (
        "block ranges: a warp's node goes too deep",
        "if (first_of_warp < greater && <<<first_of_warp + Rows * warp_threads > greater ||| first_of_warp + Rows * warp_threads > greater + 1>>>) break;",
    ),
    (
        "block ranges: no barrier before the nodes are read",
        "{{{__syncthreads();  // the nodes are there, and all sides in the first table ||| ;}}}",
    ),
    (
        "block ranges: no barrier before sides are looked up",
        "= nodes[i]; } {{{__syncthreads();  // all sides are noted ||| ;}}} for (int array = 0;",
    ),
    (
        "block ranges: counts of two arrays in one place",
        "shared.warp_counts[<<<array % 2 ||| 0>>>]",
    ),
    (
        "source: sides are not noted",
        "{{{run_note_sides(a, tuple_count, greater_bits, stream); ||| ;}}} run_partitioner(a, LookUpSides{greater_bits}, options, temporary, counts, stream);",
    ),
    (
        "partition: no barrier before the counts",
        "if (lane_index() == 0) shared.warp_counts[c][warp] = members; } {{{__syncthreads();  // the warps' counts are there ||| ;}}}",
    ),
    (
        "partition: no barrier before the tile is written",
        "{{{__syncthreads();  // the tile is staged, and its places are there ||| ;}}}",
    ),
    (
        "partition: the rest ignores where it begins",
        "std::int64_t last_place = <<<last_begin + index ||| index>>>;",
    ),
    (
        "partition: only the first class is published",
        "if (warp == c && lane_index() == 0) { look_back.publish(ticket, static_cast<unsigned>(ranks.class_count(<<<c ||| 0>>>)), c);",
    ),
    (
        "partition: the count leaves out a part that is not full",
        "if (left >= Shape::warp_items) { part.template load<true>(in + index, Shape::warp_items); part.template classify<true>(classes, Shape::warp_items); } else { part.template load<false>(in + index, static_cast<int>(left)); part.template classify<false>(classes, <<<static_cast<int>(left) ||| 0>>>);",
    ),
    (
        "tile part: an element beyond the end is counted",
        "const bool exists = IsFull || <<<own(row, k) < count ||| own(row, k) <= count>>>;",
    ),
    (
        "tile part: the last class ignores the others",
        "for (int c = 0; c < last_class; ++c) place -= <<<before[c] ||| c == 0 ? before[c] : 0>>>;",
    ),
    (
        "tile part: a row does not add to the next ones",
        "ranks.before[c] += <<<row_count(totals_[c], row) ||| row == 0 ? 0 : row_count(totals_[c], row)>>>;",
    ),
    (
        "tile part: a vector from memory that is not aligned to it",
        "if (<<<reinterpret_cast<std::uintptr_t>(part) % sizeof(uint4) == 0 ||| reinterpret_cast<std::uintptr_t>(part) % 4 == 0>>>) {",
    ),
    (
        "tile part: an element is loaded from beyond the end",
        "const Access access = <<<a / accesses_each < count ||| a / accesses_each <= count>>> ? accesses[a] : Access{};",
    ),
    (
        "tile part: bytes of a word in the wrong order",
        "static_cast<Access>(__byte_perm(words_[byte / 4], 0, <<<0x3210 >> byte % 4 * 4 ||| 0x3210>>>));",
    ),
    (
        "tile part: a warp counts itself",
        "if (<<<w < warp ||| w <= warp>>>) before[c] += warp_counts[c][w];",
    ),
    (
        "copies: words begin a byte early",
        "auto* target = reinterpret_cast<unsigned*>(to + <<<head ||| (head == 3 ? -1 : head)>>>);",
    ),
    (
        "copies: the bytes after the last word are left out",
        "{{{if (tail + lane < bytes) to[tail + lane] = from[tail + lane]; ||| ;}}}",
    ),
    (
        "copies: more bytes before the first word than there are",
        "const int head = <<<min(static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) % 4), bytes) ||| static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) % 4)>>>;",
    ),
    (
        "copies: no shift",
        "const unsigned shift = <<<static_cast<unsigned>(source % 4) * 8 ||| 0>>>;",
    ),
    (
        "copies: elements before the first",
        "for (int i = copier * warp_threads + lane_index() - phase; i < count; i += Copiers * warp_threads) { {{{if (i >= 0) to[i] = from[i]; ||| to[i] = from[i];}}}",
    ),
    (
        "pipeline: loads into a stage in use",
        "if (tile >= Shape::stages) {{{hopper::wait(stage.copied, position.parity ^ 1); ||| ;}}}",
    ),
    (
        "pipeline: sorts a stage that is not loaded",
        "{{{hopper::wait(stage.loaded, position.parity); ||| ;}}}",
    ),
    (
        "pipeline: a sorter writes before all have read",
        "{{{hopper::wait(stage.counted, parity);  // and so the tile is in registers ||| ;}}}",
    ),
    (
        "pipeline: copies a stage that is not written",
        "{{{hopper::wait(stage.written, position.parity); ||| ;}}}",
    ),
    (
        "pipeline: copies a stage that is not placed",
        "{{{hopper::wait(stage.placed, position.parity); ||| ;}}}",
    ),
    (
        "pipeline: one placer's place is enough",
        "hopper::init(stage.placed, <<<last_class ||| 1>>>);",
    ),
    (
        "pipeline: one copier fewer is waited for",
        "hopper::init(stage.copied, <<<Shape::copiers + 1 ||| Shape::copiers>>>);",
    ),
    (
        "pipeline: a stage is free before its sum is published",
        "// A tile can be placed and copied before its own sum is published: the stage is not free yet. {{{arrive(stage.copied); ||| ;}}}",
    ),
    (
        "pipeline: the rest ignores where it begins",
        "std::int64_t last_place = <<<last_begin + begin(ticket) ||| begin(ticket)>>>;",
    ),
    (
        "pipeline: the sums of the first class for all",
        "const unsigned sum = members(stage, <<<c ||| 0>>>); if (lane_index() == 0) look_back_.publish(ticket, sum, c);",
    ),
    (
        "pipeline: the tile lies elsewhere in its line",
        "return reinterpret_cast<T*>(stage.bytes + <<<address % hopper::cache_line_bytes ||| 0>>>);",
    ),
    (
        "load of lines: a line beyond the array is read",
        "if (<<<end > bytes_left ||| false>>>) end = max(end - line, begin);",
    ),
    (
        "load of lines: bytes before the first line are left out",
        "{{{if (lane < min(begin, bytes)) to[lane] = from[lane]; ||| ;}}}",
    ),
    (
        "load of lines: bytes after the last line are left out",
        "{{{if (end + lane < bytes) to[end + lane] = from[end + lane]; ||| ;}}}",
    ),
    (
        "load of lines: arrives before the lanes' bytes",
        "stage.loaded); {{{__syncwarp();  // the bytes that lanes have copied are there before the arrival says so ||| ;}}} if (lane_index() == 0) hopper::arrive_expect(stage.loaded, bytes);",
    ),
    (
        "path: a device that cannot run the pipeline gets it",
        "return <<<can_pipeline ||| true>>> ? PartitionPath::pipeline : PartitionPath::plain;",
    ),
]
