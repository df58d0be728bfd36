// Block shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <cstdint>
#include <type_traits>

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

/// Tiles of the output in which each warp has `rows` rows of 128 work items, four for each lane;
/// batches of four objects for each thread, `stages - 1` of them on their way. A share has
/// `share_items` work items on average.
template <int Threads, int Rows, int Stages, int MinBlocks, int ShareItems>
struct OutputShape {
  static constexpr int threads = Threads;
  static constexpr int min_blocks = MinBlocks;  ///< at once on a multiprocessor
  static constexpr int warps = Threads / 32;
  static constexpr int rows = Rows;
  static constexpr int row_items = 128;
  static constexpr int tile_items = warps * rows * row_items;
  static constexpr int line_items = 32;
  static constexpr int stages = Stages;
  static constexpr int batch_objects = 4 * Threads;
  static constexpr int share_items = ShareItems;
  static constexpr int min_share_steps = 2048;
  /// Within a share numbers of objects, and places, have 16 bits.
  static constexpr int max_share_steps = 65535 - line_items - 4;
};
/// `output_aligned`.
using OutputAlignedTuning = OutputShape<256, 3, 5, 6, 19 * 1024>;
/// The same kernel with values of so many bytes. To find a share takes as long, to write it less.
template <int Bytes>
using ExpandTuning = std::conditional_t<Bytes <= 2, OutputShape<128, 6, 5, 8, 32 * 1024>,
                                        OutputShape<256, 3, 5, 6, 32 * 1024>>;
/// The same for few work items: shares of a tile, whose objects are guessed, `Vectors` vectors of
/// four for each thread.
template <int Threads, int Rows, int Stages, int MinBlocks, int Vectors>
struct GuessedShape : OutputShape<Threads, Rows, Stages, MinBlocks, 4 * Threads * Rows> {
  static constexpr int vectors = Vectors;
};
using GuessedTuning = GuessedShape<256, 2, 5, 8, 2>;
/// Up to so many work items and objects. (H200, cold, a million work items of 1 to 64 an
/// object: 5.5 to 7.8 us and not 6.5 to 9.0.)
inline constexpr std::int64_t most_guessed_steps = 1 << 23;
/// How far a guess may be off, in square roots of the objects' number (guessed_shares_of).
inline constexpr double guess_margin = 1;
/// Up to so many shares, of copies as well, their ends are searched for from guesses. (Measured on
/// an H100: with a million items 0.0074 ms and not 0.0081, ten million 0.0240 and 0.0252; but 5e8
/// items, 64 an object, 0.751 and not 0.710, since then probes that all searches share come from a
/// cache.)
inline constexpr unsigned most_guessing_shares = 2048;
/// Objects with fewer work items on average are short.
inline constexpr int short_object_items = 16;
/// How much of a multiprocessor's memory for L1 cache and shared memory is shared memory: where
/// short intervals are moved, and what the driver chooses.
inline constexpr int short_interval_shared_percent = 72;
inline constexpr int default_shared_percent = -1;
/// Copies of work items of so many bytes.
template <int Bytes>
using CopyTuning = OutputShape<128, 2, 3, 6, (Bytes <= 8 ? 40 : 19) * 1024>;

}  // namespace detail

}  // namespace warpath::load_balancing_search
