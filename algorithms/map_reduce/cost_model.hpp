// What a kernel will take, and so which one is taken. Plain C++.
//
// The model. A kernel cuts the rows into blocks of block_rows, and the columns into `parts` of
// `span`. The multiprocessor that gets most blocks decides; it holds resident_blocks of them at
// once, and takes those that it gets in rounds. A round of k blocks takes
//
//   block_ns + span (block_rows pair_ns + column_ns) max(k, busy_blocks)
//
// where busy_blocks keep its units busy, and fewer take as long. Partial results are merged in
// merge_ns, and merge_step_ns for each batch of merge_batch that a thread waits for. A launch takes
// launch_ns; and whatever is done, the columns come from memory once.
//
// The figures were fitted to sweeps over M, N and the parts on one NVIDIA H200 (README.md); other
// devices differ by their number of multiprocessors only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "map_reduce/tuning.hpp"

namespace warpath::map_reduce {

/// Where a part may have any number of columns.
inline constexpr std::int64_t any_span = std::int64_t{1} << 62;

/// One kernel of one shape.
struct KernelCost {
  std::int64_t block_rows;
  std::int64_t tile;  ///< the span is a multiple of it
  double pair_ns;     ///< on one multiprocessor
  double column_ns;   ///< that a block loads, on one multiprocessor
  double busy_blocks;
  std::int64_t resident_blocks;
  double block_ns;  ///< to start and to end
  double merge_ns;
  double merge_step_ns;
  std::int64_t merge_batch;
  double column_bytes;
  std::int64_t most_span = any_span;  ///< columns of a part at most
};

inline constexpr double launch_ns = 2700;
inline constexpr double memory_bytes_per_ns = 4100;

/// How the pairs are cut, and what that is expected to take.
struct Cut {
  std::int64_t parts;
  std::int64_t span;
  double expected_ns;
};

/// As many parts as wanted, or fewer.
inline Cut cut_of(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                  std::int64_t wanted_parts, int processors) {
  const std::int64_t span = divide_up(divide_up(columns, wanted_parts), cost.tile) * cost.tile;
  const std::int64_t parts = divide_up(columns, span);
  const std::int64_t blocks = divide_up(divide_up(rows, cost.block_rows) * parts, processors);
  const auto columns_here = static_cast<double>(std::min(span, columns));
  const double work =
      columns_here * (static_cast<double>(cost.block_rows) * cost.pair_ns + cost.column_ns);
  const auto round = [&](std::int64_t at_once) {
    if (at_once == 0) return 0.0;
    return cost.block_ns + work * std::max(static_cast<double>(at_once), cost.busy_blocks);
  };
  const auto rounds = static_cast<double>(blocks / cost.resident_blocks);
  const double computing =
      rounds * round(cost.resident_blocks) + round(blocks % cost.resident_blocks);
  const double loading = static_cast<double>(columns) * cost.column_bytes / memory_bytes_per_ns;
  const double batches =
      static_cast<double>(std::min(parts, cost.merge_batch) + divide_up(parts, cost.merge_batch)) /
      static_cast<double>(cost.merge_batch);
  const double merging = parts > 1 ? cost.merge_ns + batches * cost.merge_step_ns : 0;
  return {parts, span, launch_ns + std::max(computing, loading) + merging};
}

/// The cut that is expected to take least: of those that give every multiprocessor 1, 2, ...
/// blocks, since one more block than that is a round more.
inline Cut best_cut(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                    int processors) {
  constexpr std::int64_t most_parts = 4096;
  constexpr std::int64_t most_blocks_each = 32;
  const std::int64_t row_blocks = divide_up(rows, cost.block_rows);
  const std::int64_t least_parts = divide_up(columns, cost.most_span);
  Cut best = cut_of(cost, rows, columns, least_parts, processors);
  for (std::int64_t each = 1; each <= most_blocks_each; ++each) {
    const std::int64_t parts = std::min(most_parts, each * processors / row_blocks);
    if (parts <= least_parts) continue;
    const Cut cut = cut_of(cost, rows, columns, parts, processors);
    const double allowance = each <= cost.resident_blocks ? 1.02 : 1;
    if (cut.expected_ns < best.expected_ns * allowance) best = cut;
    if (cut.span == cost.tile) break;  // there are no more parts than that
  }
  return best;
}

}  // namespace warpath::map_reduce
