// Preconditions of host functions: std::invalid_argument with the argument's name, its value and
// what was expected. Sizes and overlaps are always checked (arguments.hpp). What has to read the
// data is checked only where checks are on (checked.hpp), and then synchronises.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/arguments.hpp"
#include "core/buffer.cuh"
#include "core/checked.hpp"
#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "core/span.hpp"

namespace warpath {

namespace detail {

template <class T, class IsBroken>
__global__ void find_broken_kernel(const T* values, std::int64_t count, IsBroken is_broken,
                                   unsigned long long* first) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if (is_broken(values, i)) atomicMin(first, static_cast<unsigned long long>(i));
  }
}

}  // namespace detail

/// Element i of a span. Synchronises.
template <class T>
T value_at(DeviceSpan<const T> span, std::int64_t i, cudaStream_t stream) {
  T value{};
  WARPATH_CUDA_CHECK(
      cudaMemcpyAsync(&value, span.data + i, sizeof value, cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  return value;
}

/// The first index for which is_broken(values, index) holds on the device; -1 if there is none.
/// Synchronises.
template <class T, class IsBroken>
std::int64_t first_broken(DeviceSpan<const T> values, IsBroken is_broken, cudaStream_t stream) {
  DeviceCount first(stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first.data(), 0xFF, sizeof(std::int64_t), stream));
  if (values.count > 0) {
    const std::int64_t blocks = std::min<std::int64_t>((values.count + 255) / 256, 256);
    launch({static_cast<unsigned>(blocks), 256, 0, stream}, detail::find_broken_kernel<T, IsBroken>,
           values.data, values.count, is_broken,
           reinterpret_cast<unsigned long long*>(first.data()));
  }
  return first.get(stream);
}

namespace detail {

/// Whether an element is NaN.
struct IsNan {
  template <class T>
  __device__ bool operator()(const T* values, std::int64_t i) const {
    return values[i] != values[i];
  }
};

}  // namespace detail

/// Where checks are on: throws if one of the values is NaN, with the index of the first.
template <class T>
void require_no_nan(const std::string& name, DeviceSpan<const T> values, cudaStream_t stream) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!is_checked()) return;
    const std::int64_t index = first_broken(values, detail::IsNan{}, stream);
    if (index < 0) return;
    throw std::invalid_argument(name + "[" + std::to_string(index) +
                                "] is NaN: expected numbers, which have an order");
  }
}

namespace detail {

/// Whether an element comes before its predecessor in the order.
template <class Less>
struct IsOutOfOrder {
  Less less;
  template <class T>
  __device__ bool operator()(const T* values, std::int64_t i) const {
    return i > 0 && less(values[i], values[i - 1]);
  }
};

}  // namespace detail

/// Where checks are on: throws unless the values are sorted by `less`, with the first index whose
/// value comes before the one in front of it.
template <class T, class Less>
void require_sorted(const std::string& name, DeviceSpan<const T> values, Less less,
                    cudaStream_t stream) {
  if (!is_checked()) return;
  const std::int64_t index = first_broken(values, detail::IsOutOfOrder<Less>{less}, stream);
  if (index < 0) return;
  throw std::invalid_argument(name + "[" + std::to_string(index) + "] comes before " + name + "[" +
                              std::to_string(index - 1) + "]: expected sorted " + name);
}

namespace detail {

/// Whether an element does not come after the one before it.
template <class Less>
struct IsNotAfter {
  Less less;
  template <class T>
  __device__ bool operator()(const T* values, std::int64_t i) const {
    return i > 0 && !less(values[i - 1], values[i]);
  }
};

}  // namespace detail

/// Where checks are on: throws unless the values are numbers sorted by `less`, and without
/// `Duplicates` all different, with the first index that breaks this.
template <bool Duplicates, class T, class Less>
void require_set(const std::string& name, DeviceSpan<const T> values, Less less,
                 cudaStream_t stream) {
  require_no_nan(name, values, stream);
  require_sorted(name, values, less, stream);
  if constexpr (!Duplicates) {
    if (!is_checked()) return;
    const std::int64_t index = first_broken(values, detail::IsNotAfter<Less>{less}, stream);
    if (index < 0) return;
    throw std::invalid_argument(name + "[" + std::to_string(index) + "] equals " + name + "[" +
                                std::to_string(index - 1) + "]: expected different " + name);
  }
}

namespace detail {

/// Whether an element is no index of an array of `bound` elements.
struct IsNoIndex {
  std::int64_t bound;
  template <class T>
  __device__ bool operator()(const T* values, std::int64_t i) const {
    // As unsigned numbers, negative ones are larger than every bound.
    return static_cast<std::uint64_t>(values[i]) >= static_cast<std::uint64_t>(bound);
  }
};

}  // namespace detail

/// Where checks are on: throws unless all values are indices of an array of `bound` elements, with
/// the first one that is not.
template <class Index>
void require_indices(const std::string& name, DeviceSpan<const Index> values, std::int64_t bound,
                     cudaStream_t stream) {
  if (!is_checked()) return;
  const std::int64_t index = first_broken(values, detail::IsNoIndex{bound}, stream);
  if (index < 0) return;
  throw std::invalid_argument(
      name + "[" + std::to_string(index) + "] is no index: " +
      (bound > 0 ? "expected 0 to " + std::to_string(bound - 1) : "the array has no elements"));
}

/// Where checks are on: throws unless all references are numbers of tuples, with the first one that
/// is not.
template <class Reference>
void require_references(DeviceSpan<const Reference> references, std::int64_t tuple_count,
                        cudaStream_t stream) {
  if (!is_checked()) return;
  const std::int64_t i = first_broken(references, detail::IsNoIndex{tuple_count}, stream);
  if (i < 0) return;
  throw std::invalid_argument("references[" + std::to_string(i) + "] is " +
                              std::to_string(value_at(references, i, stream)) +
                              ": expected the number of a tuple, 0 to " +
                              std::to_string(tuple_count - 1));
}

}  // namespace warpath
