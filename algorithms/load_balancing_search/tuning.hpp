// Block shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

namespace warpath::load_balancing_search {

/// A tile of `tile_steps` steps of the merge path. An odd number of items a thread keeps the serial
/// loops of a warp out of each other's shared memory banks.
template <int Threads, int ItemsPerThread>
struct MergePathShape {
  static constexpr int threads = Threads;
  static constexpr int items_per_thread = ItemsPerThread;
  static constexpr int tile_steps = Threads * ItemsPerThread;
};

/// What Options::items_per_thread may be; 128 threads a block.
inline constexpr int merge_path_items_per_thread[] = {3, 7, 11, 15, 23};

/// `output_aligned`: a warp takes up to `rows` rows of 128 work items, four for each lane. A tile
/// has a line of items less than the block has places, since it need not begin at one.
template <int Threads, int Rows>
struct OutputAlignedShape {
  static constexpr int threads = Threads;
  static constexpr int warps = Threads / 32;
  static constexpr int rows = Rows;
  static constexpr int row_items = 128;
  static constexpr int line_items = 32;
  static constexpr int places = warps * rows * row_items;
  static constexpr int tile_steps = places - line_items;
};
using OutputAlignedTuning = OutputAlignedShape<256, 8>;

}  // namespace warpath::load_balancing_search
