// Block shapes of the compaction kernels. They are types and not values, since they parametrise
// kernels.
#pragma once

#include <cstddef>

namespace warpath::warp_compaction {

/// Rows that a warp compacts at once: their counts ride in the four bytes of one word.
inline constexpr int batch_rows = 4;

/// How a tile is divided: each warp takes a segment of consecutive items, some batches of rows; in
/// a row, each lane takes a vector of `Width` items.
template <int Width, int Warps, int Batches>
struct TileShape {
  static constexpr int warps = Warps;
  static constexpr int width = Width;
  static constexpr int batch_items = batch_rows * 32 * Width;
  static constexpr int segment_items = Batches * batch_items;
  static constexpr int tile_items = Warps * segment_items;
};

/// `single_pass`, the plain kernel.
template <int Width, int Warps, int Batches>
struct PlainShape : TileShape<Width, Warps, Batches> {
  static constexpr int threads = Warps * 32;
};

/// `single_pass`, the Hopper pipeline: beside the compacting warps there are copying ones, a
/// placer, a publisher and a loader.
template <int Width, int Warps, int Batches, int Copiers, int Stages>
struct PipelineShape : TileShape<Width, Warps, Batches> {
  static constexpr int copiers = Copiers;
  static constexpr int stages = Stages;  ///< tiles that a block holds
  static constexpr int threads = (Warps + Copiers + 3) * 32;
};

/// Shape of the source's two passes: 1024 threads in 64 blocks, whatever n is.
struct TwoPassShape {
  static constexpr unsigned blocks = 64;
  static constexpr unsigned threads = 1024;
  static constexpr int warps = blocks * threads / 32;
};

/// Which shapes single_pass takes for elements of so many bytes in all their columns, and for
/// inputs of how many bytes.
template <std::size_t Bytes>
struct SinglePassTuning {
  // A vector is an access of 16 bytes over all columns, if it can be; flags beside 4-byte items do
  // not count.
  static constexpr int width = Bytes < 8 ? 4 : Bytes < 16 ? 2 : 1;
  // As many stages as the shared memory of a Hopper multiprocessor has room for, of at most about
  // 32 KiB each.
  static constexpr int pipeline_warps = 8;
  static constexpr int pipeline_batches = 2;
  static constexpr std::size_t stage_bytes =
      Bytes * pipeline_warps * pipeline_batches * batch_rows * 32 * width + 512;
  static constexpr int stages =
      stage_bytes * 8 < (227 << 10) ? 8 : static_cast<int>((227 << 10) / stage_bytes);

  using Small = PlainShape<width, 8, 1>;
  using Medium = PlainShape<width, 16, 1>;
  using Plain = PlainShape<width, 16, 2>;
  using Pipeline = PipelineShape<width, pipeline_warps, pipeline_batches, 8, stages>;
  static constexpr long long small_bytes = 2 << 20;
  static constexpr long long medium_bytes = 8 << 20;
  static constexpr long long pipeline_bytes = 96 << 20;
};

}  // namespace warpath::warp_compaction
