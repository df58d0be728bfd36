// Block shapes of the tuned kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/divide_up.hpp"

namespace warpath::map_reduce::detail {

/// Bytes of shared memory that a block of every device has.
inline constexpr std::size_t shared_bytes_everywhere = 96 * 1024;

/// Columns of a tile in shared memory, by the bytes of one: 256, or as many as leave room for
/// several blocks; but 32 at least, if every device has room for those.
constexpr int columns_of_tile(std::size_t bytes) {
  const auto fit = [bytes](std::size_t most) { return static_cast<int>(most / bytes); };
  const int several_blocks = fit(24 * 1024) / 32 * 32;
  if (several_blocks >= 32) return several_blocks > 256 ? 256 : several_blocks;
  return fit(shared_bytes_everywhere) > 32 ? 32 : fit(shared_bytes_everywhere);
}

/// rows_kernel: Rows rows a thread, and so many blocks at least a multiprocessor.
template <int Rows, int Blocks>
struct RowsShape {
  static constexpr int threads = 128;
  static constexpr int rows_per_thread = Rows;
  static constexpr int blocks = Blocks;
  static constexpr int block_rows = threads * Rows;
};

/// columns_kernel: Teams teams of threads in a block, Rows rows in the registers of every thread of
/// a team, and so many blocks at least a multiprocessor.
template <int Rows, int Teams, int Blocks>
struct ColumnsShape {
  static constexpr int threads = 256;
  static constexpr int rows_per_thread = Rows;
  static constexpr int teams = Teams;
  static constexpr int team_threads = threads / Teams;
  static constexpr int blocks = Blocks;
  static constexpr int block_rows = Rows * Teams;
};

/// staged_columns_kernel: Teams teams of TeamThreads threads, of which each has Rows rows, and of
/// each tile Columns columns; Stages tiles at once.
template <int Rows, int Teams, int TeamThreads, int Columns, int Stages>
struct StagedShape {
  static constexpr int team_threads = TeamThreads;
  static constexpr int thread_columns = Columns;
  static constexpr int tile = TeamThreads * Columns;
  static constexpr int threads = team_threads * Teams;
  static constexpr int rows_per_thread = Rows;
  static constexpr int teams = Teams;
  static constexpr int stages = Stages;
  static constexpr int block_rows = Rows * Teams;
};

/// tensor kernels: a warp has RowTiles tiles of 16 rows; RowWarps warps divide the block's rows,
/// ColumnWarps the columns of a tile, by eights. With RowWarps = 2 and ColumnWarps = 2:
///
///                       columns of a tile
///                       0     8     16    24    32
///                  0    +-----+-----+-----+-----+--
///      block's          | w 0 | w 2 | w 0 | w 2 |       one square: warp_rows x 8 pairs, the
///      rows   warp_rows +-----+-----+-----+-----+--     product of one multiply()
///                       | w 1 | w 3 | w 1 | w 3 |
///            block_rows +-----+-----+-----+-----+--
///
/// Of each 16 rows and 8 columns of a square, lane 4 g + t has rows g and g + 8 at columns 2 t and
/// 2 t + 1 (tensor_fragments.cuh). So four neighbouring lanes have the sums, or the least values,
/// of the same rows, and the ColumnWarps warps of those rows leave theirs in shared memory; both
/// are merged once, after the last tile. tensor_least_kernel gives a warp four or eight
/// neighbouring eights (least_eights in tensor_least.cuh) where tensor_sum_kernel gives it one.
template <int RowTiles, int RowWarps, int ColumnWarps, int Blocks>
struct TensorShape {
  static constexpr int row_tiles = RowTiles;
  static constexpr int row_warps = RowWarps;
  static constexpr int column_warps = ColumnWarps;
  static constexpr int warps = RowWarps * ColumnWarps;
  static constexpr int threads = 32 * warps;
  static constexpr int blocks = Blocks;
  static constexpr int warp_rows = 16 * RowTiles;
  static constexpr int block_rows = warp_rows * RowWarps;
};

}  // namespace warpath::map_reduce::detail
