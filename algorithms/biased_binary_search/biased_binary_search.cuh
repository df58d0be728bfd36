// Where do the runs begin that many positions of a sorted array lie in? The public host function;
// the search itself, for kernels of your own, is in biased_search.cuh.
//
// Source: seed 003 (S. Baxter, Modern GPU 1.1, "Multisets", NVIDIA 2013), BiasedBinarySearch. Each
// thread answers one question as balanced path asks it: the lower bound of keys[position] among
// keys[0, position).
//   Extra memory    none.
//   Preconditions   keys are sorted by `less`, which is a strict weak order; positions lie in [0,
//                   the number of keys). A checked build throws std::invalid_argument with the
//                   first index that breaks this, else the result is undefined.
// Nothing is allocated and nothing synchronises (but a checked build).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

#include "biased_binary_search/biased_search.cuh"
#include "biased_binary_search/variant.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"

namespace warpath::biased_binary_search {

/// `Levels` biased steps first; any grid.
template <int Levels, class Key, class Index, class Less>
__global__ void run_starts_kernel(const Key* keys, const Index* positions, std::int64_t count,
                                  Index* starts, Less less) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const Index position = positions[i];
    starts[i] = biased_search<Bound::lower>(keys, position, keys[position], Levels, less);
  }
}

/// starts[i] becomes the first index whose key is equivalent to keys[positions[i]]. positions and
/// starts: as many elements, separate memory; Index is an integer of 4 or 8 bytes that holds every
/// index.
template <class Key, class Index, class Less = std::less<Key>>
void find_run_starts(DeviceSpan<const Key> keys, DeviceSpan<const Index> positions,
                     DeviceSpan<Index> starts, cudaStream_t stream, const Options& options = {},
                     Less less = {}) {
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8));
  require_room("starts", starts, positions.count);
  require_apart("positions", positions, "starts", starts);
  require_apart("keys", keys, "starts", starts);
  if constexpr (sizeof(Index) == 4) {
    require_in_range("the number of keys", keys.count, 0,
                     static_cast<std::int64_t>(std::numeric_limits<Index>::max()));
  }
  const int levels = options.variant == Variant::plain ? 0 : options.levels;
  if (options.variant == Variant::biased) require_in_range("levels", levels, 1, max_bias_levels);
  require_no_nan("keys", keys, stream);
  require_sorted("keys", keys, less, stream);
  require_indices("positions", positions, keys.count, stream);
  if (positions.count == 0) return;

  constexpr int threads = 256;
  const std::int64_t blocks =
      std::min<std::int64_t>((positions.count + threads - 1) / threads, 1 << 20);
  const auto run = [&]<int Levels>() {
    launch({static_cast<unsigned>(blocks), threads, 0, stream},
           run_starts_kernel<Levels, Key, Index, Less>, keys.data, positions.data, positions.count,
           starts.data, less);
  };
  switch (levels) {
    case 0:
      return run.template operator()<0>();
    case 1:
      return run.template operator()<1>();
    case 2:
      return run.template operator()<2>();
    case 3:
      return run.template operator()<3>();
    default:
      return run.template operator()<4>();
  }
}

}  // namespace warpath::biased_binary_search
