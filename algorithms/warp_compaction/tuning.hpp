// Block shapes of the compaction kernels. They are types and not values, since they parametrise
// kernels.
#pragma once

#include <cstddef>

namespace warpath::warp_compaction {

/// Rows that a warp compacts at once: their counts ride in the four bytes of one word.
inline constexpr int batch_rows = 4;

/// How a tile is divided: each warp takes a segment of consecutive items, some batches of rows; in
/// a row, each lane takes a vector of items, 16 bytes if it can.
template <std::size_t ItemBytes, int Warps, int Batches>
struct TileShape {
  static constexpr int warps = Warps;
  static constexpr int width = ItemBytes <= 4 ? 4 : ItemBytes == 8 ? 2 : 1;  ///< items of a vector
  static constexpr int batch_items = batch_rows * 32 * width;
  static constexpr int segment_items = Batches * batch_items;
  static constexpr int tile_items = Warps * segment_items;
};

/// `single_pass`, the plain kernel.
template <std::size_t ItemBytes, int Warps, int Batches>
struct PlainShape : TileShape<ItemBytes, Warps, Batches> {
  static constexpr int threads = Warps * 32;
};

/// `single_pass`, the Hopper pipeline: beside the compacting warps there are copying ones, a
/// placer, a publisher and a loader.
template <std::size_t ItemBytes, int Warps, int Batches, int Copiers, int Stages, int InFlight>
struct PipelineShape : TileShape<ItemBytes, Warps, Batches> {
  static constexpr int copiers = Copiers;
  static constexpr int stages = Stages;       ///< tiles that a block holds
  static constexpr int in_flight = InFlight;  ///< tiles of them that may be being loaded
  static constexpr int threads = (Warps + Copiers + 3) * 32;
};

/// Shape of the source's two passes: 1024 threads in 64 blocks, whatever n is.
struct TwoPassShape {
  static constexpr unsigned blocks = 64;
  static constexpr unsigned threads = 1024;
  static constexpr int warps = blocks * threads / 32;
};

/// Which shapes single_pass takes for items of so many bytes, with their companions'.
template <std::size_t ItemBytes>
struct SinglePassTuning {
  using Small = PlainShape<ItemBytes, 16, 1>;  ///< inputs that fill the GPU no more than once
  using Plain = PlainShape<ItemBytes, 16, 2>;  ///< larger ones
  using Pipeline = PipelineShape<ItemBytes, 8, 2, 8, 6, 2>;  ///< on Hopper, from pipeline_bytes on
  static constexpr long long small_bytes = 8ll << 20;
  static constexpr long long pipeline_bytes = 32ll << 20;
};

}  // namespace warpath::warp_compaction
