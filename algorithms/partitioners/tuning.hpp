// Block shapes of the partitioners.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpath::partitioners::detail {

/// The source's kernels: warps a block, and what a warp reads at once: rows of 32 references, of so
/// many arrays.
inline constexpr int source_block_warps = 8;
inline constexpr int source_block_threads = source_block_warps * 32;
inline constexpr int source_rows_at_once = 4;
inline constexpr int source_arrays_at_once = 3;

/// Threads a block of kernels that loop over places or elements.
inline constexpr int loop_threads = 256;
/// Rows of 32 references that a warp notes the sides of at once.
inline constexpr int note_rows = 8;

/// A level in one pass: a tile is some rows of 32 references for each warp of a block.
struct LevelShape {
  static constexpr int warps = 8;
  static constexpr int threads = warps * 32;
  static constexpr int rows = 8;
  static constexpr int warp_items = rows * 32;
  static constexpr int tile_items = warps * warp_items;
};

/// A tile of `side_bits`; `Blocks` blocks shall share a multiprocessor.
template <int Threads, int Rows, int Blocks>
struct SideShape {
  static constexpr int threads = Threads;
  static constexpr int warps = threads / 32;
  static constexpr int rows = Rows;
  static constexpr int warp_items = rows * 32;
  static constexpr int tile_items = warps * warp_items;
  static constexpr int blocks = Blocks;
};
using SegmentTileShape = SideShape<256, 16, 4>;

/// The same where sides are held in shared memory: cells of the first table for each tuple, and the
/// most bytes that a block shall have.
template <int Threads, int Rows, int Blocks, int Cells, std::size_t BlockBytes>
struct SideTableShape : SideShape<Threads, Rows, Blocks> {
  static constexpr int cells = Cells;
  static constexpr std::size_t block_bytes = BlockBytes;
};
using LargeSegmentShape = SideTableShape<1024, 8, 1, 24, std::size_t{256} * 1024>;
using SegmentShape = SideTableShape<256, 8, 4, 48, std::size_t{56} * 1024>;
using RangeShape = SideTableShape<256, 8, 4, 48, std::size_t{56} * 1024>;
/// The largest segments that the last two are for.
inline constexpr std::uint32_t most_of_segment_store = 16384;
inline constexpr std::uint32_t most_of_range_store = 1024;

/// Which kernel partitions plain elements; tests ask for one.
enum class PartitionPath { automatic, plain, pipeline };

/// How a tile of elements of `Bytes` bytes is divided: each warp takes some rows, and in a row each
/// lane takes as many elements as are one access of 16 bytes, if that is possible. A lane has 128
/// bytes; fewer of elements that are smaller than a word, each of which takes as long as a word.
template <std::size_t Bytes, int Warps>
struct TileShape {
  static constexpr std::size_t lane_bytes = Bytes >= 4 ? 128 : Bytes == 3 ? 32 : 64;
  static constexpr int warps = Warps;
  static constexpr int width = 16 % Bytes == 0 ? 16 / Bytes : 1;
  static constexpr int rows =
      static_cast<int>(std::max<std::size_t>(lane_bytes / (width * Bytes), 1));
  static constexpr int warp_items = rows * 32 * width;
  static constexpr int tile_items = warps * warp_items;
};

/// A partition of plain elements by the plain kernel.
template <std::size_t Bytes>
struct PartitionShape : TileShape<Bytes, Bytes <= 128 ? 8 : 4> {
  static constexpr int threads = PartitionShape::warps * 32;
};

/// The same by the pipeline, where beside the sorters there are copiers, a loader, a publisher and
/// at most two placers. Of a Hopper multiprocessor's 227 KiB of shared memory, all goes to stages,
/// each a tile of about 32 KiB and up to 256 bytes more.
template <std::size_t Bytes>
    struct PipelineShape : TileShape < Bytes,
    Bytes<4              ? 16
          : Bytes <= 128 ? 8
                         : 4> {
  static constexpr int copiers = 8;
  static constexpr int stages =
      static_cast<int>((std::size_t{227} << 10) / (PipelineShape::tile_items * Bytes + 384));
  static constexpr int threads = (PipelineShape::warps + copiers + 4) * 32;
};

/// From how many bytes of input on the pipeline is the faster one.
inline constexpr long long pipeline_least_bytes = 20 << 20;

}  // namespace warpath::partitioners::detail
