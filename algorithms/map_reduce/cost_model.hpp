// What a kernel will take, and so which one is taken. Plain C++.
//
// The model. A kernel cuts the rows into blocks of `block_rows`, and the columns into `parts` of
// `span`. On a multiprocessor
//   - a pair of a row and a column takes pair_ns, and a column that a block loads column_ns, where
//     enough warps run to keep its units busy: `busy_blocks` blocks; fewer take as much longer;
//   - the blocks that come to it, the most loaded one decides, share it;
//   - a block starts and ends in block_ns, which blocks that run at once do at once;
//   - the last block reads the `parts` partial results of its rows, merge_ns each.
// A launch takes launch_ns. The figures are those of one NVIDIA H200 (README.md says how they were
// measured); other devices differ by their number of multiprocessors only, which is what the choice
// of the parts depends on most.
#pragma once

#include <algorithm>
#include <cstdint>

namespace warpath::map_reduce {

/// One kernel of one shape.
struct KernelCost {
  std::int64_t block_rows;
  std::int64_t tile;  ///< the span is a multiple of it
  double pair_ns;
  double column_ns;
  double busy_blocks;
  double resident_blocks;  ///< that a multiprocessor holds at once
  double block_ns;
  double merge_ns;
};

inline constexpr double launch_ns = 2500;

/// How the pairs are cut, and what that is expected to take.
struct Cut {
  std::int64_t parts;
  std::int64_t span;
  double expected_ns;
};

inline Cut cut_of(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                  std::int64_t wanted_parts, int processors) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t span = up(up(columns, wanted_parts), cost.tile) * cost.tile;
  const std::int64_t parts = up(columns, span);
  const std::int64_t blocks = up(rows, cost.block_rows) * parts;
  const auto mine = static_cast<double>(up(blocks, processors));
  const auto columns_here = static_cast<double>(std::min(span, columns));
  const double block_work =
      columns_here * (static_cast<double>(cost.block_rows) * cost.pair_ns + cost.column_ns);
  const double at_once = std::min(mine, cost.resident_blocks);
  const double share = std::min(1.0, at_once / cost.busy_blocks);
  const double rounds = std::max(1.0, mine / cost.resident_blocks);
  const double merge = parts > 1 ? 1000 + static_cast<double>(parts) * cost.merge_ns : 0;
  return {parts, span, launch_ns + mine * block_work / share + rounds * cost.block_ns + merge};
}

/// The cut that is expected to take least, of 1 to most_parts parts.
inline Cut best_cut(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                    std::int64_t most_parts, int processors) {
  Cut best = cut_of(cost, rows, columns, 1, processors);
  const std::int64_t tiles = (columns + cost.tile - 1) / cost.tile;
  const std::int64_t row_blocks = (rows + cost.block_rows - 1) / cost.block_rows;
  // So many that every multiprocessor gets 1, 2, ... blocks, and no more.
  for (std::int64_t each = 1; each <= 32; ++each) {
    const std::int64_t parts =
        std::min({most_parts, tiles, std::max<std::int64_t>(1, each * processors / row_blocks)});
    const Cut cut = cut_of(cost, rows, columns, parts, processors);
    if (cut.expected_ns < best.expected_ns) best = cut;
  }
  return best;
}

}  // namespace warpath::map_reduce
