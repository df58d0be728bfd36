// Block shapes of the compaction kernels. They are types and not values, since they parametrise
// kernels.
#pragma once

#include <algorithm>
#include <bit>
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
template <int Width, int Warps, int Batches, int Copiers, int Stages, int RingItems>
struct PipelineShape : TileShape<Width, Warps, Batches> {
  static constexpr int batches = Batches;
  static constexpr int copiers = Copiers;
  static constexpr int stages = Stages;  ///< tiles that a block holds before they are counted
  static constexpr int ring_items = RingItems;  ///< kept items that it holds; a power of two
  static constexpr int slots = 16;              ///< tiles that it holds after they are counted
  static constexpr int threads = (Warps + Copiers + 3) * 32;
  static_assert(RingItems >= TileShape<Width, Warps, Batches>::tile_items &&
                (RingItems & (RingItems - 1)) == 0);
};

/// Shape of the source's two passes: 1024 threads in 64 blocks, whatever n is.
struct TwoPassShape {
  static constexpr unsigned blocks = 64;
  static constexpr unsigned threads = 1024;
  static constexpr int warps = blocks * threads / 32;
};

/// Which shapes single_pass takes for elements of `Bytes` in all their columns, `WrittenBytes` of
/// which are written, and for inputs of how many bytes.
template <std::size_t Bytes, std::size_t WrittenBytes = Bytes>
struct SinglePassTuning {
  // A vector is an access of 16 bytes over all columns, if it can be; flags beside 4-byte items do
  // not count.
  static constexpr int width = Bytes < 8 ? 4 : Bytes < 16 ? 2 : 1;

  // Of a Hopper multiprocessor's 227 KiB, the pipeline gives 128 to the ring, 2 to the slots, and
  // the rest to stages. Tiles of about 32 KiB are the smallest that do not wait for their places.
  static constexpr int pipeline_warps = 8;
  static constexpr int pipeline_batches = Bytes <= 24 ? 2 : 1;
  static constexpr int ring_items = static_cast<int>(std::max(
      std::bit_floor((std::size_t{128} << 10) / WrittenBytes),
      std::bit_ceil(std::size_t{pipeline_warps * pipeline_batches * batch_rows * 32 * width})));
  static constexpr std::size_t stage_bytes =
      Bytes * pipeline_warps * pipeline_batches * batch_rows * 32 * width + 256;
  static constexpr int stages = static_cast<int>(
      std::clamp<std::size_t>(((225 << 10) - ring_items * WrittenBytes) / stage_bytes, 2, 8));

  using Small = PlainShape<width, 8, 1>;
  using Medium = PlainShape<width, 16, 1>;
  using Plain = PlainShape<width, 16, 2>;
  using Pipeline = PipelineShape<width, pipeline_warps, pipeline_batches, 8, stages, ring_items>;
  static constexpr long long small_bytes = 2 << 20;
  static constexpr long long medium_bytes = 8 << 20;
  static constexpr long long pipeline_bytes = 96 << 20;
};

}  // namespace warpath::warp_compaction
