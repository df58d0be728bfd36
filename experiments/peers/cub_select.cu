#include <cub/device/device_select.cuh>
#include <memory>

#include "core/buffer.cuh"
#include "peers/cub_select.hpp"

namespace warpath::experiments::cub_select {
namespace {

// Asks a CUB algorithm how much temporary storage it wants, and keeps that with the execution.
template <class Algorithm>
harness::Execution with_storage(Algorithm algorithm) {
  std::size_t bytes = 0;
  WARPATH_CUDA_CHECK(algorithm(nullptr, bytes, nullptr));
  const auto storage =
      std::make_shared<DeviceBuffer<unsigned char>>(static_cast<std::int64_t>(bytes));
  return [algorithm, storage, bytes](cudaStream_t stream) {
    std::size_t available = bytes;
    WARPATH_CUDA_CHECK(algorithm(storage->data(), available, stream));
  };
}

}  // namespace

template <class T>
harness::Execution select_if(const T* in, T* out, std::int64_t* kept, std::int64_t n,
                             KeyBelow<T> predicate) {
  return with_storage([=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::If(storage, bytes, in, out, kept, n, predicate, stream);
  });
}

template <class T>
harness::Execution select_flagged(const T* in, const std::uint8_t* flags, T* out,
                                  std::int64_t* kept, std::int64_t n) {
  return with_storage([=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(storage, bytes, in, flags, out, kept, n, stream);
  });
}

template <class T>
harness::Execution unique(const T* in, T* out, std::int64_t* kept, std::int64_t n) {
  return with_storage([=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::Unique(storage, bytes, in, out, kept, n, stream);
  });
}

template <class K>
harness::Execution unique_by_key(const K* keys, const std::uint32_t* values, K* out_keys,
                                 std::uint32_t* out_values, std::int64_t* kept, std::int64_t n) {
  return with_storage([=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::UniqueByKey(storage, bytes, keys, values, out_keys, out_values, kept,
                                          n, stream);
  });
}

#define WARPATH_INSTANTIATE(T)                                                                   \
  template harness::Execution select_if(const T*, T*, std::int64_t*, std::int64_t, KeyBelow<T>); \
  template harness::Execution select_flagged(const T*, const std::uint8_t*, T*, std::int64_t*,   \
                                             std::int64_t);                                      \
  template harness::Execution unique(const T*, T*, std::int64_t*, std::int64_t);                 \
  template harness::Execution unique_by_key(const T*, const std::uint32_t*, T*, std::uint32_t*,  \
                                            std::int64_t*, std::int64_t)
WARPATH_INSTANTIATE(std::uint32_t);
WARPATH_INSTANTIATE(std::uint64_t);
WARPATH_INSTANTIATE(Element16);
#undef WARPATH_INSTANTIATE

}  // namespace warpath::experiments::cub_select
