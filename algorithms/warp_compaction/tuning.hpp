// Block shapes of the compaction kernels. They are types and not values, since they parametrise
// kernels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

namespace warpath::warp_compaction::detail {

/// The least dynamic shared memory that a supported device gives a block (compute capability 8.6,
/// 8.9 and 12.0). Kernels that run anywhere need no more.
inline constexpr std::size_t least_shared_bytes = std::size_t{99} << 10;

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

/// `single_pass`, the plain kernel. At least `Blocks` blocks shall fit on a multiprocessor, as far
/// as registers go; with 0 the compiler chooses. (It is not the same as 1, with which it takes up
/// to half as many registers again: one block for two, and 8-byte elements in 20 to 27 % more
/// time.)
template <int Width, int Warps, int Batches, int Blocks = 0>
struct PlainShape : TileShape<Width, Warps, Batches> {
  static constexpr int threads = Warps * 32;
  static constexpr int blocks = Blocks;
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

/// `single_pass` for elements that are listed: each warp takes a segment of the tile, which is less
/// than a row where elements are large.
template <int Warps, int SegmentItems>
struct StagedShape {
  static constexpr int warps = Warps;
  static constexpr int threads = Warps * 32;
  static constexpr int segment_items = SegmentItems;
  static constexpr int tile_items = Warps * segment_items;
};

/// At most `most` items, but one at least: whole rows, or a power of two where they are less.
constexpr int staged_segment(std::size_t most) {
  return static_cast<int>(most >= 32 ? most / 32 * 32
                                     : std::bit_floor(std::max(most, std::size_t{1})));
}

/// The source's two passes: 2048 warps, whatever n is. It has 1024 threads in a block; here fewer,
/// in more blocks, where a warp's rows and write buffers are so large that not all of them fit.
inline constexpr int two_pass_warps = 2048;
constexpr int two_pass_warps_a_block(std::size_t bytes_of_warp) {
  return static_cast<int>(
      std::clamp<std::size_t>(std::bit_floor(least_shared_bytes / bytes_of_warp), 1, 32));
}

/// What the pipeline's slots leave of a Hopper multiprocessor's 227 KiB, and what a stage has
/// beside its tile: a cache line in front of each column, and barriers.
inline constexpr std::size_t pipeline_room = (std::size_t{227} << 10) - 1792;
inline constexpr std::size_t stage_overhead = 3 * 128;

/// Which shapes single_pass takes for elements of `Bytes` in all their columns, `WrittenBytes` of
/// which are written, and for inputs of how many bytes.
template <std::size_t Bytes, std::size_t WrittenBytes = Bytes>
struct SinglePassTuning {
  static_assert(Bytes <= 32, "larger elements have the ListedTuning");
  // A vector is an access of 16 bytes over all columns, if it can be; flags beside 4-byte items do
  // not count.
  static constexpr int width = Bytes < 8 ? 4 : Bytes < 16 ? 2 : 1;

  // Of a Hopper multiprocessor's 227 KiB, the pipeline gives 128 to the ring, and the rest to
  // stages. Tiles of about 32 KiB are the smallest that do not wait for their places.
  static constexpr int pipeline_warps = 8;
  static constexpr int pipeline_batches = Bytes <= 24 ? 2 : 1;
  static constexpr int ring_items = static_cast<int>(std::max(
      std::bit_floor((std::size_t{128} << 10) / WrittenBytes),
      std::bit_ceil(std::size_t{pipeline_warps * pipeline_batches * batch_rows * 32 * width})));
  static constexpr std::size_t stage_bytes =
      Bytes * pipeline_warps * pipeline_batches * batch_rows * 32 * width + stage_overhead;
  static constexpr int stages = static_cast<int>(
      std::clamp<std::size_t>((pipeline_room - ring_items * WrittenBytes) / stage_bytes, 2, 8));

  using Small = PlainShape<width, 8, 1>;
  using Medium = PlainShape<width, 16, 1>;
  using Plain = PlainShape<width, 16, 2, Bytes <= 4 ? 3 : 0>;
  using Pipeline = PipelineShape<width, pipeline_warps, pipeline_batches, 8, stages, ring_items>;
  static constexpr long long small_bytes = 2 << 20;
  static constexpr long long medium_bytes = 8 << 20;
  static constexpr long long pipeline_bytes = 48 << 20;
};

/// The same for elements that do not go through registers.
template <std::size_t Bytes, std::size_t WrittenBytes = Bytes>
struct ListedTuning {
  // Tiles of 16 to 32 KiB, again; of at most 32 rows a warp.
  static constexpr std::size_t row_bytes = 32 * Bytes;
  static constexpr int pipeline_warps = Bytes <= 16 ? 16 : Bytes <= 32 ? 8 : 4;
  static constexpr int rows = static_cast<int>(std::clamp<std::size_t>(
      std::bit_floor((std::size_t{32} << 10) / (pipeline_warps * row_bytes)), batch_rows, 32));
  static constexpr int pipeline_batches = rows / batch_rows;
  static constexpr int tile_items = pipeline_warps * rows * 32;
  static constexpr int ring_items =
      static_cast<int>(std::max(std::bit_floor((std::size_t{128} << 10) / WrittenBytes),
                                static_cast<std::size_t>(tile_items)));
  static constexpr std::size_t others = ring_items * WrittenBytes + tile_items * 2;  // and lists
  static constexpr int stages = static_cast<int>(std::clamp<std::size_t>(
      (pipeline_room - others) / (Bytes * tile_items + stage_overhead), 2, 8));

  using Pipeline = PipelineShape<1, pipeline_warps, pipeline_batches, 8, stages, ring_items>;
  static constexpr long long pipeline_bytes = 96 << 20;

  // Here blocks share a multiprocessor; small inputs shall have enough tiles for all of them.
  template <std::size_t TileBytes>
  using Staged = StagedShape<8, staged_segment(TileBytes / (8 * Bytes))>;
  using Small = Staged<(8 << 10)>;
  using Plain = Staged<(Bytes <= 32 ? 24 << 10 : 32 << 10)>;
  static constexpr long long small_bytes = 2 << 20;
};

/// The same for a rule that fetches records. What it waits for is random reads: they must never
/// cease, so blocks must overlap, and tiles are large where there are enough of them. It has no
/// pipeline, whose few compacting warps have too few reads under way.
template <std::size_t Bytes>
struct FetchingTuning {
  static_assert(Bytes <= 16);
  using Small = PlainShape<1, 8, 1>;
  using Medium = PlainShape<1, 16, 2, 2>;
  using Plain = PlainShape<1, 16, Bytes <= 12 ? 4 : 2, 2>;
  static constexpr long long small_bytes = 2 << 20;
  static constexpr long long medium_bytes = 16 << 20;
  static constexpr long long pipeline_bytes = std::numeric_limits<long long>::max();
};

}  // namespace warpath::warp_compaction::detail
