// Block shapes of the kernels. They are types and not values, since they parametrise kernels.
#pragma once

namespace warpath::balanced_path_sets {

/// Tiles of Threads x Items elements of both inputs together, one more or less for a star. An odd
/// number of items a thread keeps the serial loops of a warp out of each other's shared memory
/// banks.
template <int Threads, int Items>
struct SetShape {
  static constexpr int threads = Threads;
  static constexpr int items = Items;
  static constexpr int tile_items = Threads * Items;
};
using SetTuning = SetShape<128, 11>;

}  // namespace warpath::balanced_path_sets
