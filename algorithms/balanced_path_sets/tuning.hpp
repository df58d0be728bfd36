// Block shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

#include <cstdint>

namespace warpath::balanced_path_sets {

/// Of inputs without values.
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

/// `single_pass`: one warp more, and as many blocks a multiprocessor as three stages leave room
/// for.
template <int Threads, int Items, int Blocks>
struct SinglePassShape : SetShape<Threads, Items> {
  static constexpr int block_threads = Threads + 32;
  static constexpr int blocks = Blocks;
};
template <class Key, class Value>
struct SinglePassTuningOf {
  using Shape = SinglePassShape<256, sizeof(Key) == 4 ? 15 : 9, 3>;
};
template <class Key>
struct SinglePassTuningOf<Key, NoValue> {
  using Shape = SinglePassShape<256, sizeof(Key) == 4 ? 23 : 11, 3>;
};
template <class Key, class Value>
using SinglePassTuning = typename SinglePassTuningOf<Key, Value>::Shape;

/// Elements of both inputs from which a kernel before `single_pass` pays that limits its searches.
inline constexpr std::int64_t tuned_least_with_corners = std::int64_t{1} << 22;

}  // namespace warpath::balanced_path_sets
