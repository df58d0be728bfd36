"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
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
        "{{{__syncthreads();  // all threads are done with the last tile ||| ;}}} for (int t = threadIdx.x; t < width; t += Shape::threads) { tile[t]",
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
        "split: a bundle's result is not stored",
        "if (bundles > 1) { {{{store_as(first); ||| ;}}} if (!is_last_block(",
    ),
    (
        "tensor: no barrier before the squares",
        "{{{__syncthreads();  // the parts of the squares are there ||| ;}}}",
    ),
    (
        "tensor, least: no barrier before the tile",
        "has_changed = false; } {{{__syncthreads();  // the tile is there ||| ;}}} fetched.fetch(",
    ),
    (
        "lists: columns that wait are taken twice",
        "counts -= <<<static_cast<unsigned>(takes[n]) ||| 16u>>> << 16 * (lanes[n] % 4);",
    ),
    (
        "lists: of equal values the last column",
        "const int is_equal = static_cast<int>(a.value == b.value) & static_cast<int>(<<<a.j < b.j ||| a.j > b.j>>>);",
    ),
    (
        "lists: an infinite value finds no room",
        "if (<<<!(least < lasts[r].value) && !has_room ||| !(least < lasts[r].value)>>>) continue;",
    ),
    (
        "lists: of merged parts only the first 32 entries",
        "for (int begin = 0; begin < <<<K ||| min(K, 32)>>>; begin += warp_threads) {",
    ),
    (
        "staged columns: a stage is overwritten too early",
        "{{{__syncthreads();  // tile n is there, and all threads are done with the one before it ||| ;}}}",
    ),
    (
        "staged columns: the padding is left out where lines are copied",
        "const int place = is_padded ? <<<l * line + l / (bytes / line) * line ||| l * line>>> : l * line;",
    ),
    (
        "staged columns: numbers of an array that begins within a line lie without padding",
        "memcpy(numbers + <<<n / D * stride ||| n / D * bytes>>> + n % D * sizeof(T), &number, sizeof number);",
    ),
    (
        "signals: the next tile is copied over the one that is worked on",
        "{{{fetching ^= 1; ||| ;}}}",
    ),
    (
        "signals: those of the tile before are multiplied",
        "const Source& signals = weights.stages[<<<here ||| here ^ 1>>>];",
    ),
    (
        "signals: exponentials are rounded to a half",
        "multiply(<<<low ||| high>>>, 0, true);",
    ),
    (
        "signals: the last share is not added",
        "{{{signals.finish(totals); ||| ;}}}",
    ),
    (
        "signals: a tile's largest number is taken for the largest of all floats",
        "{{{atomicMax(&shared.most[e], most); ||| atomicMax(&shared.most[e], 0x7E000000u);}}}",
    ),
    (
        "merged numbers: only of the first eight parts",
        "for (std::int64_t n = 0; n < <<<count ||| std::min<std::int64_t>(count, 8)>>>; n += batch) {",
    ),
    (
        "merged numbers: a row keeps its own part",
        "{{{are_merged = true; ||| ;}}}",
    ),
    (
        "signals: the last columns of a tile are left out",
        "for (int group = warp_index() / Shape::row_warps; 32 * group < <<<width ||| width - 31>>>;",
    ),
    (
        "warpgroup sums: a stage is loaded before all warps are done with it",
        "{{{hopper::wait(barriers_.empty[(n - 1) % Stages], (n - 1) / Stages % 2); ||| ;}}}",
    ),
    (
        "warpgroup sums: a tile is read before it is there",
        "{{{hopper::wait(barriers_.full[n % Stages], n / Stages % 2); ||| ;}}}",
    ),
    (
        "far tiles: what is left of a part is its last far tile only",
        "return <<<count == Far::most_tiles ||| false>>>;",
    ),
    (
        "far tiles: near columns of the part are left out",
        "state = has_partials ? <<<partials_of_part[i] ||| problem.reduction.neutral()>>> : problem.reduction.neutral();",
    ),
    (
        "far tiles: a thread's rows are neighbours",
        "rows_[r] = problem.row(first_row + min(<<<row_of(r) ||| static_cast<int>(threadIdx.x) % group_threads_ * rows + r>>>, count_ - 1));",
    ),
    (
        "far tiles: groups of threads have the same columns",
        "thread_reduce_tile<rows>(problem, rows_, states_, columns + <<<group() * share ||| 0>>>, 0, min(share, width - from));",
    ),
    (
        "far tiles: few rows have no more groups than many",
        "for (int g = 0; g < <<<groups() ||| Threads * rows / BlockRows>>>; ++g) {",
    ),
    (
        "far tiles: partial results that no kernel has written are read",
        "const bool has_partials = <<<far.rest > range.begin ||| true>>>;",
    ),
    (
        "far points: a far row's pairs with far columns count twice",
        "if (<<<!far.has_row(row) ||| true>>>) problem.reduction.merge(states[r], state);",
    ),
    (
        "far points: far columns of tiles that are left count twice",
        "if (is_far && <<<!is_left(j) ||| true>>>) own |= 1u << n;",
    ),
    (
        "far points: a far column stays in the products",
        "{{{Signals::take_out(t, gram.columns, gram.weights); ||| ;}}}",
    ),
    (
        "far points: far columns that another warp has found are lost",
        "{{{if (warp < warp_index()) to += shared.found_by_warp[warp]; ||| ;}}}",
    ),
    (
        "far points: only the first four far rows are summed",
        "return <<<lane_index() % lanes_ * R + r ||| r>>>;",
    ),
    (
        "far points: far rows get one warp's columns",
        "for (int warp = 0; warp < <<<Threads / warp_threads ||| 1>>>; ++warp) { if (warp == warp_index() && lane_index() < lanes_) {",
    ),
    (
        "warpgroup sums: tiles that are far count twice",
        "if (<<<!is_far ||| true>>>) { columns.for_each_column([&](int t, std::int64_t j, float square) {",
    ),
    (
        "warpgroups: tiles that are far are left out",
        "{{{has_far_tiles |= tiles[n].is_far; ||| ;}}}",
    ),
    (
        "warpgroups: near tiles between far ones count twice",
        "return n < tile_count && (all_are_far || <<<tiles[n].is_far ||| true>>>);",
    ),
    (
        "warpgroup sums: columns are rounded to a half",
        "warpgroup_multiply(row, <<<columns.low_of(step, first_column) ||| columns.high_of(step, first_column)>>>, sums, false);",
    ),
    (
        "warpgroup sums: all groups of warps have the same rows",
        "if (!all_are_far) { stream.start(); const int group_row = warp_index() / <<<4 ||| 16>>> * warpgroup_rows;",
    ),
    (
        "warpgroup sums: steps of 16 coordinates replace each other",
        "for (int q = 0; q < 4; ++q) {{{products[e][q] += sums[e][q]; ||| products[e][q] = sums[e][q];}}}",
    ),
    (
        "least by warpgroups: rows lose nothing as halves",
        "return <<<lost[half] * reach ||| 0>>> +",
    ),
    (
        "least by warpgroups: columns lose nothing as halves",
        "(2 * lengths[half] + lost[half]) * <<<lost_of_columns ||| 0>>> +",
    ),
    (
        "least by warpgroups: all candidates have the first column",
        "const int column = first_column + <<<c / 2 * 8 + c % 2 ||| 0>>>; shared.candidates",
    ),
    (
        "least by warpgroups: candidates without room are forgotten",
        "if (place >= Storage::most_candidates) {{{break; ||| candidates[r] = 0; break;}}}",
    ),
    (
        "least by warpgroups: a row has one candidate",
        "place < <<<shared.counts[row] ||| min(shared.counts[row], 1u)>>>; place += 2)",
    ),
    (
        "least by warpgroups: of squares that are infinite, any is the least",
        "if (has_many_far || <<<!(Least::bound(state) < infinity) ||| false>>>) {",
    ),
    (
        "least by warpgroups: rows that give up are believed",
        "if (rows.is_near(r) && <<<left >= 0 ||| true>>>) continue;",
    ),
    (
        "least by warpgroups: far columns of the second half of the threads are left out",
        "{{{problem.reduction.merge(state, shared.states[1][thread]); ||| ;}}}",
    ),
    (
        "nearest by warpgroups: rows that are far are taken for near ones",
        "return <<<lengths[half] <= farthest_column ||| true>>>;",
    ),
    (
        "nearest by warpgroups: columns that are far are taken for near ones",
        "if (<<<square <= most ||| true>>>) { tile.squares[t] = square;",
    ),
    (
        "lists by warpgroups: columns without room are forgotten",
        "if (note_listed(rows[r], place, values[c / 2][2 * r + c % 2], column, shared)) { "
        "candidates[r] &= ~(1u << c); } {{{++place; ||| ++place; candidates[r] &= ~(1u << c);}}}",
    ),
    (
        "lists by warpgroups: all columns have the lane's least value",
        "if (note_listed(rows[r], place, <<<values[c / 2][2 * r + c % 2] ||| least[r]>>>, column, shared))",
    ),
    (
        "lists by warpgroups: the limit has no error",
        "const float limit = shared.noted.ends[row] + <<<2 * rows.error(r, reach, lost) ||| 0>>>;",
    ),
    (
        "lists by warpgroups: columns count from the part's first",
        "static_cast<ListedColumn>(<<<range.begin ||| 0>>> + column + lane % 4 * 2);",
    ),
    (
        "noted columns: a selection has no error",
        "const float limit = end + <<<noted.errors[row] ||| 0>>>;",
    ),
    (
        "noted columns: an end has one column less than are wanted",
        "const bool has_enough = up_to >= <<<K ||| K - 1>>>;",
    ),
    (
        "noted columns: a part has room for all of them",
        "const bool is_decided = noted.notes(row) && <<<count <= NotedOfPart<K>::most ||| true>>>;",
    ),
    (
        "noted columns: those of all parts have room",
        "const bool has_room = <<<noted.counts[row] + OfPart::most <= Storage::room ||| true>>>;",
    ),
    (
        "noted columns: infinite distances are believed",
        "shared.noted.ends[rows[n]] < infinity && <<<!(shared.lists.values[rows[n]][K - 1] < infinity) ||| false>>>;",
    ),
    (
        "noted columns: those that are far are left out",
        "if (<<<shared.far > 0 ||| false>>> && !has_many_far)",
    ),
    (
        "noted columns: the last part has all that are far",
        "{{{far += of_part.far; ||| far = of_part.far;}}}",
    ),
    (
        "undecided rows: a square that is left over is rounded twice",
        "const bool is_one = <<<D % Storage::step == 1 ||| false>>> && first_k == D - 1;",
    ),
    (
        "undecided rows: there are columns beyond the last one",
        "if (<<<c * warp_threads + lane_index() < width ||| true>>>) continue;",
    ),
    (
        "undecided rows: of equal distances the last column",
        "if (<<<lanes != 0 ||| lanes != 0 && j < 0>>>) j = first + c * warp_threads",
    ),
    (
        "undecided rows: an infinite distance is none",
        "return <<<least.j < 0 ||| false>>>;",
    ),
    (
        "undecided rows: of two rows one gets its columns",
        "if (<<<has_other ||| false>>>) entries[1] = entry_of(of_rows[other][c], c);",
    ),
    (
        "undecided rows: they are the first ones of all",
        "return <<<shared.numbers[row] ||| first_row + row>>>;",
    ),
    (
        "undecided rows: the last block that has all columns has all of its rows",
        "const std::int64_t whole_rows = <<<min(whole.row_blocks * block_rows, count) ||| whole.row_blocks * block_rows>>>;",
    ),
    (
        "undecided rows: the rest are those that all blocks have searched",
        "problem, undecided.rows + (is_whole ? 0 : <<<whole_rows ||| 0>>>),",
    ),
    (
        "lists: of parts that are merged at once the first counts",
        "const auto& state = partials[(first + (n + <<<which ||| 0>>>) * step) * problem.rows + i];",
    ),
    (
        "signals by warpgroups: those of other columns are multiplied",
        "Tile::Parts::multiply(rows[k], operand_of(step + <<<k ||| (k ^ 1)>>>), sums, is_first && k == 0);",
    ),
    (
        "signals by warpgroups: exponentials are rounded to a half",
        "multiply(<<<p.low ||| p.high>>>, high_of, true);",
    ),
    (
        "signals by warpgroups: |v|^2 is left out",
        "set[q] = is_far ? 0.0f : Tile::has_squares && 4 * c + q == <<<D ||| 99>>> ? columns.square_of(t) : v[q];",
    ),
    (
        "signals by warpgroups: the low halves of signals are left out",
        "if constexpr (takes_both) {{{sums[e][q] += sums[eights + e][q]; ||| ;}}}",
    ),
    (
        "signals by warpgroups: sums of tiles that are far replace the others",
        "shared.sums[thread][e] = <<<state.sum[e] ||| far_state.sum[e]>>>;",
    ),
    (
        "signals in many dimensions: |v|^2 is left out",
        "return Tile::has_squares ? number : <<<exp2_of(-columns.square_of(t)) ||| 1>>> * number;",
    ),
    (
        "signals in many dimensions: even and odd columns change places",
        "const float number = number_of(line / 2 * 8 + word * 2 + <<<line % 2 ||| 1 - line % 2>>>, e);",
    ),
    (
        "signals in many dimensions: exponentials have one part",
        "low[step][r] = <<<__float_as_uint(power - high_of_tf32(power)) ||| 0>>>;",
    ),
    (
        "signals in many dimensions: signals have one part",
        "low = <<<__float_as_uint(number - high_of_tf32(number)) ||| 0>>>;",
    ),
    (
        "signals by warpgroups: the last share is not added",
        "add_share(share, totals); share.set_zero(); } } {{{add_share(share, totals); ||| ;}}} }",
    ),
    (
        "exponentials of doubles: the product is rounded",
        "const double f = <<<fma(a, b, -exponent) ||| a * b - exponent>>>;",
    ),
    (
        "exponentials of doubles: less than the least is not 0",
        "return <<<is_small ||| is_small && upper == 0>>> ? 0.0 : power.value;",
    ),
    (
        "tensor, least: a row that is not finite has the limit of infinity",
        "return isfinite(row_square) && limit > 0 ? __float_as_int(limit) : <<<std::numeric_limits<int>::max() ||| 0x7f800000>>>;",
    ),
    (
        "tensor, least: a limit without the values' offset",
        "(distance * (1 + 0x1p-20f) - row_square) * (scale * scale) + <<<(value_offset + 0x1p-20f) ||| 0>>>;",
    ),
    (
        "tensor, least: the last value of a row is left out",
        "return <<<min(least, value_of(Count - 1)) ||| least>>>;",
    ),
    (
        "tensor, least: columns that are far have a bound",
        "if (<<<is_far ||| is_far && t < 0>>>) bound = -beyond_all;",
    ),
    (
        "tensor, least: limits that are negative",
        "isfinite(row_square) && <<<limit > 0 ||| true>>> ? __float_as_int(limit)",
    ),
]
