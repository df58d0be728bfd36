// Where do the runs begin that many positions of a sorted array lie in? The public host function;
// the search itself, for kernels of your own, is in biased_search.cuh.
//
// Source: S. Baxter, "Modern GPU 1.1", NVIDIA Research 2013, https://moderngpu.github.io/ ,
// "Multisets", BiasedBinarySearch. Each thread answers one question as balanced path asks it: the
// lower bound of keys[position] among keys[0, position).
//   Extra memory    none.
//   Preconditions   keys are sorted by `less`, which is a strict weak order; positions lie in [0,
//                   the number of keys). Where checks are on (core/checked.hpp), a call throws
//                   std::invalid_argument with the first index that breaks this; where they are
//                   off, the result is undefined. Sizes, overlaps and options are always tested.
// Nothing is allocated and nothing synchronises (but the checks).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "biased_binary_search/biased_search.cuh"
#include "biased_binary_search/variant.hpp"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/with_constant.hpp"

namespace warpath::biased_binary_search {

namespace detail {

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

inline constexpr int run_starts_threads = 256;

/// Any number of blocks: where they are too few for all positions, each goes on with later ones.
template <class Key, class Index, class Less>
void run_starts(const Key* keys, InputSpan<Index> positions, Index* starts, unsigned blocks,
                int levels, Less less, cudaStream_t stream) {
  with_constant<0, 1, 2, 3, 4>("levels", levels, [&]<int Levels>() {
    launch({blocks, run_starts_threads, 0, stream}, run_starts_kernel<Levels, Key, Index, Less>,
           keys, positions.data, positions.count, starts, less);
  });
}

/// Any type but Options, which come last.
template <class T>
concept Comparator = !std::is_same_v<T, Options>;

}  // namespace detail

/// starts[i] becomes the first index whose key is equivalent to keys[positions[i]]. starts: at
/// least as many elements as positions, separate memory; Index is an integer of 4 or 8 bytes that
/// holds every index.
template <class Keys, class Index, detail::Comparator Less = std::less<std::remove_const_t<Keys>>>
void find_run_starts(DeviceSpan<Keys> keys, InputSpan<Index> positions, DeviceSpan<Index> starts,
                     cudaStream_t stream, Less less = {}, const Options& options = {}) {
  using Key = std::remove_const_t<Keys>;
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "positions are integers of 4 or 8 bytes");
  require_enum("variant", options.variant);
  const int levels = options.variant == Variant::plain ? 0 : options.levels;
  if (options.variant == Variant::biased) require_in_range("levels", levels, 1, max_bias_levels);
  require_span("keys", keys);
  require_span("positions", positions);
  require_span("starts", starts);
  require_room("starts", starts, positions.count);
  require_apart("positions", positions, "starts", starts);
  require_apart("keys", keys, "starts", starts);
  if constexpr (sizeof(Index) == 4) {
    require_in_range("the number of keys", keys.count, 0,
                     static_cast<std::int64_t>(std::numeric_limits<Index>::max()));
  }
  if (keys.count == 0 && positions.count > 0) {
    throw std::invalid_argument("positions has " + std::to_string(positions.count) +
                                " elements: expected none, since there are no keys");
  }
  const DeviceSpan<const Key> sorted{keys.data, keys.count};
  require_no_nan("keys", sorted, stream);
  require_sorted("keys", sorted, less, stream);
  require_indices("positions", positions, keys.count, stream);
  if (positions.count == 0) return;

  constexpr std::int64_t most_blocks = 1 << 20;
  const auto blocks = divide_up(positions.count, detail::run_starts_threads);
  detail::run_starts(keys.data, positions, starts.data,
                     static_cast<unsigned>(std::min(blocks, most_blocks)), levels, less, stream);
}
/// The same by operator <.
template <class Keys, class Index>
void find_run_starts(DeviceSpan<Keys> keys, InputSpan<Index> positions, DeviceSpan<Index> starts,
                     cudaStream_t stream, const Options& options) {
  find_run_starts(keys, positions, starts, stream, std::less<std::remove_const_t<Keys>>{}, options);
}

}  // namespace warpath::biased_binary_search
