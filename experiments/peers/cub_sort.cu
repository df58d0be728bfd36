#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/functional>

#include "peers/cub_call.hpp"
#include "peers/cub_sort.hpp"

namespace warpath::experiments::cub_sort {
namespace {

template <class T>
T* copy_of(std::int64_t count, const Storage& storage) {
  const auto bytes = static_cast<std::ptrdiff_t>(sizeof(T)) * count;
  return reinterpret_cast<T*>(storage->allocate(bytes));
}

}  // namespace

template <class K>
harness::Execution keys(const PairArrays<K>& arrays, const Storage& storage) {
  return cub_call(storage, [arrays, n = static_cast<std::uint32_t>(arrays.count)](
                               void* memory, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceMergeSort::StableSortKeys(memory, bytes, arrays.keys, n, cuda::std::less<>{},
                                                stream);
  });
}

template <class K>
harness::Execution pairs(const PairArrays<K>& arrays, const Storage& storage) {
  return cub_call(storage, [arrays, n = static_cast<std::uint32_t>(arrays.count)](
                               void* memory, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceMergeSort::StableSortPairs(memory, bytes, arrays.keys, arrays.values, n,
                                                 cuda::std::less<>{}, stream);
  });
}

template <class K>
harness::Execution radix_keys(const PairArrays<K>& arrays, const Storage& storage,
                              Sorted<K>* sorted) {
  K* const copy = copy_of<K>(arrays.count, storage);
  return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
    cub::DoubleBuffer<K> keys(arrays.keys, copy);
    const auto n = static_cast<std::uint32_t>(arrays.count);
    const cudaError_t result = cub::DeviceRadixSort::SortKeys(
        memory, bytes, keys, n, 0, static_cast<int>(8 * sizeof(K)), stream);
    *sorted = {keys.Current(), nullptr, arrays.count};
    return result;
  });
}

template <class K>
harness::Execution radix_pairs(const PairArrays<K>& arrays, const Storage& storage,
                               Sorted<K>* sorted) {
  K* const key_copy = copy_of<K>(arrays.count, storage);
  auto* const value_copy = copy_of<std::uint32_t>(arrays.count, storage);
  return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
    cub::DoubleBuffer<K> keys(arrays.keys, key_copy);
    cub::DoubleBuffer<std::uint32_t> values(arrays.values, value_copy);
    const auto n = static_cast<std::uint32_t>(arrays.count);
    const cudaError_t result = cub::DeviceRadixSort::SortPairs(
        memory, bytes, keys, values, n, 0, static_cast<int>(8 * sizeof(K)), stream);
    *sorted = {keys.Current(), values.Current(), arrays.count};
    return result;
  });
}

template harness::Execution keys(const PairArrays<std::uint32_t>&, const Storage&);
template harness::Execution pairs(const PairArrays<float>&, const Storage&);
template harness::Execution radix_keys(const PairArrays<std::uint32_t>&, const Storage&,
                                       Sorted<std::uint32_t>*);
template harness::Execution radix_keys(const PairArrays<float>&, const Storage&, Sorted<float>*);
template harness::Execution radix_keys(const PairArrays<std::uint64_t>&, const Storage&,
                                       Sorted<std::uint64_t>*);
template harness::Execution radix_pairs(const PairArrays<float>&, const Storage&, Sorted<float>*);

}  // namespace warpath::experiments::cub_sort
