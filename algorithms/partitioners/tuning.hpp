// Block shapes of the partitioners.
#pragma once

#include <algorithm>
#include <cstddef>

namespace warpath::partitioners::detail {

/// The source's kernels: warps a block, and rows of 32 references that a warp reads at once.
inline constexpr int source_block_warps = 8;
inline constexpr int source_block_threads = source_block_warps * 32;
inline constexpr int source_rows_at_once = 4;

/// Threads a block of kernels that loop over places or elements.
inline constexpr int loop_threads = 256;

/// A level in one pass: a tile is some rows of 32 references for each warp of a block.
struct LevelShape {
  static constexpr int warps = 8;
  static constexpr int threads = warps * 32;
  static constexpr int rows = 8;
  static constexpr int warp_items = rows * 32;
  static constexpr int tile_items = warps * warp_items;
};

/// A partition of plain elements of `Bytes` bytes: a tile of about 16 KiB, at least a row for each
/// warp.
template <std::size_t Bytes>
struct PartitionShape {
  static constexpr int warps = 8;
  static constexpr int threads = warps * 32;
  static constexpr int rows = static_cast<int>(std::clamp<std::size_t>(64 / Bytes, 1, 16));
  static constexpr int warp_items = rows * 32;
  static constexpr int tile_items = warps * warp_items;
};

}  // namespace warpath::partitioners::detail
