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

/// Threads of a block of `merge_path`.
inline constexpr int merge_path_threads = 128;
/// What Options::items_per_thread may be.
inline constexpr int merge_path_items_per_thread[] = {3, 7, 11, 15, 23};

namespace detail {

/// `output_aligned`: tiles of the output in which each warp has `rows` rows of 128 work items, four
/// for each lane; batches of four objects for each thread, `stages - 1` of them on their way.
template <int Threads, int Rows, int Stages, int MinBlocks>
struct OutputAlignedShape {
  static constexpr int threads = Threads;
  static constexpr int min_blocks = MinBlocks;  ///< at once on a multiprocessor
  static constexpr int warps = Threads / 32;
  static constexpr int rows = Rows;
  static constexpr int row_items = 128;
  static constexpr int tile_items = warps * rows * row_items;
  static constexpr int line_items = 32;
  static constexpr int stages = Stages;
  static constexpr int batch_objects = 4 * Threads;
  /// A share has as many work items on average, and as many steps at least and at most: numbers of
  /// objects within a share have 16 bits.
  static constexpr int share_items = 19 * 1024;
  static constexpr int min_share_steps = 2048;
  static constexpr int max_share_steps = 65535 - 4;
};
using OutputAlignedTuning = OutputAlignedShape<256, 3, 5, 6>;

}  // namespace detail

}  // namespace warpath::load_balancing_search
