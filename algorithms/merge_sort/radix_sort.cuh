// The first sort of `key_then_ties`: by radix, as the values are numbers. It is CUB's; on the
// emulated backend, which has no CUB, a merge sort by the same order that is stable as well.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#ifndef SIMT_EMULATION
#include <cub/device/device_radix_sort.cuh>
#endif

#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "merge_sort/dispatch.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

#ifdef SIMT_EMULATION

constexpr Options stable_merges(const Options& options) {
  return {Variant::multiway_merge, options.low_level};
}
template <class Tuning, class C>
std::int64_t radix_bytes(std::int64_t n, const Options& options) {
  return position_bytes<Tuning>(n, stable_merges(options));
}
template <class Tuning, class In, class C>
void radix_sort(const In& in, SuperkeyColumns<C> home, SuperkeyColumns<C> spare,
                unsigned char* bytes, std::int64_t n, cudaStream_t stream, const Options& options) {
  const SuperkeyColumns<C> end{spare.values, home.references};
  const SuperkeyColumns<C> other{home.values, spare.references};
  sort_columns<Tuning>(in, end, other, bytes, n, ByBits<C>{}, stream, stable_merges(options));
}

#else

/// The two sides between which a radix sort moves columns. An even number of passes brings the bits
/// to spare.values, and the references home.
template <class C>
struct RadixSides {
  cub::DoubleBuffer<OrderedBits<C>> bits;
  cub::DoubleBuffer<std::uint32_t> references;

  RadixSides(const SuperkeyColumns<C>& home, const SuperkeyColumns<C>& spare)
      : bits(reinterpret_cast<OrderedBits<C>*>(spare.values),
             reinterpret_cast<OrderedBits<C>*>(home.values)),
        references(home.references, spare.references) {}
  void sort(void* memory, std::size_t& bytes, std::int64_t n, cudaStream_t stream) {
    constexpr int end_bit = 8 * sizeof(C);
    WARPATH_CUDA_CHECK(
        cub::DeviceRadixSort::SortPairs(memory, bytes, bits, references, n, 0, end_bit, stream));
  }
};

/// Bytes that the radix sort of n items needs.
template <class Tuning, class C>
std::int64_t radix_bytes(std::int64_t n, const Options&) {
  std::size_t bytes = 0;
  RadixSides<C>({}, {}).sort(nullptr, bytes, n, nullptr);
  return static_cast<std::int64_t>(bytes);
}

/// bits[i] becomes those of in.load(i); tuples with NaN are reported.
template <class In, class Bits>
__global__ void gather_bits_kernel(In in, Bits* bits, std::int64_t n) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    const std::uint32_t reference = in.reference(i);
    bool has_nan = false;
    for (int k = 0; k < in.dimensions; ++k) has_nan |= in.has_nan(reference, k);
    if (has_nan) in.report(reference);
    bits[i] = in.item(reference).bits();
  }
}

/// Where a radix sort took an odd number of passes.
template <class T>
void copy_if_elsewhere(const T* from, T* to, std::int64_t n, cudaStream_t stream) {
  if (from == to) return;
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T),
                                     cudaMemcpyDeviceToDevice, stream));
}

/// Sorts the n > 0 items of `in`, stably: their bits to spare.values, and their references, which
/// are those of home, to home.references. spare: as large as home; memory: radix_bytes.
template <class Tuning, class In, class C>
void radix_sort(const In& in, SuperkeyColumns<C> home, SuperkeyColumns<C> spare,
                unsigned char* memory, std::int64_t n, cudaStream_t stream, const Options&) {
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(divide_up(n, 256), 1 << 20));
  RadixSides<C> sides(home, spare);
  launch({blocks, 256, 0, stream}, gather_bits_kernel<In, OrderedBits<C>>, in, sides.bits.Current(),
         n);
  std::size_t bytes = 0;
  sides.sort(nullptr, bytes, n, stream);
  sides.sort(memory, bytes, n, stream);
  copy_if_elsewhere(sides.bits.Current(), &spare.bits(0), n, stream);
  copy_if_elsewhere(sides.references.Current(), home.references, n, stream);
}

#endif

}  // namespace warpath::merge_sort::detail
