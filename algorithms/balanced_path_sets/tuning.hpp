// Block shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "balanced_path_sets/variant.hpp"

namespace warpath::balanced_path_sets {

/// The type of the values of inputs that have none.
struct NoValue {};

/// Tiles of Threads x Items elements of both inputs together, one more or less for a star. An odd
/// number of items a thread keeps the serial loops of a warp out of each other's shared memory
/// banks.
template <int Threads, int Items>
struct SetShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int warps = Threads / 32;
  static constexpr int tile_items = Threads * Items;
};
/// The source's variants.
using SetTuning = SetShape<128, 11>;

namespace detail {

/// `single_pass`: one warp more, as many blocks a multiprocessor as three stages leave room for,
/// and how many of a tile's outputs a thread loads before it stores them. Larger batches wait less,
/// but they thrash what shared memory leaves of the L1 cache.
template <int Threads, int Items, int Blocks, int Batch>
struct SinglePassShape : SetShape<Threads, Items> {
  static constexpr int block_threads = Threads + 32;
  static constexpr int blocks = Blocks;
  static constexpr int batch = Batch;
};
template <SetOperation operation, class Key, class Value>
struct SinglePassTuningOf {
  using Shape =
      std::conditional_t<sizeof(Key) == 4, SinglePassShape<256, 15, 3, 4>,
                         SinglePassShape<288, 13, 2, operation == SetOperation::set_union ? 6 : 4>>;
};
template <SetOperation operation, class Key>
struct SinglePassTuningOf<operation, Key, NoValue> {
  using Shape = std::conditional_t<sizeof(Key) == 4, SinglePassShape<256, 23, 3, 6>,
                                   SinglePassShape<256, 17, 2, 5>>;
};
template <SetOperation operation, class Key, class Value>
using SinglePassTuning = typename SinglePassTuningOf<operation, Key, Value>::Shape;

/// From that many tiles on, a lane for each end keeps a GPU's warps busy with the search for their
/// ends.
inline constexpr std::int64_t least_tiles_for_shared_searches = 4096;

}  // namespace detail

}  // namespace warpath::balanced_path_sets
