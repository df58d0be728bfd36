#include <cub/device/device_select.cuh>
#include <limits>

#include "peers/cub_call.hpp"
#include "peers/cub_select.hpp"
#include "peers/cub_select_if.cuh"

namespace warpath::experiments::cub_select {

template <class T>
harness::Execution select_flagged(const T* in, const std::uint8_t* flags, T* out,
                                  std::int64_t* kept, std::int64_t n, const Storage& storage) {
  return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(memory, bytes, in, flags, out, kept, n, stream);
  });
}

template <class T>
harness::Execution unique(const T* in, T* out, std::int64_t* kept, std::int64_t n,
                          const Storage& storage) {
  return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::Unique(memory, bytes, in, out, kept, n, stream);
  });
}

template <class K>
harness::Execution unique_by_key(const K* keys, const std::uint32_t* values, K* out_keys,
                                 std::uint32_t* out_values, std::int64_t* kept, std::int64_t n,
                                 const Storage& storage) {
  const auto of = [=](auto count) {
    return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceSelect::UniqueByKey(memory, bytes, keys, values, out_keys, out_values, kept,
                                            count, stream);
    });
  };
  if (n <= std::numeric_limits<std::int32_t>::max()) return of(static_cast<std::int32_t>(n));
  return of(n);
}

#define WARPATH_INSTANTIATE(T)                                                                   \
  template harness::Execution select_if(const T*, T*, std::int64_t*, std::int64_t, KeyBelow<T>,  \
                                        const Storage&);                                         \
  template harness::Execution select_flagged(const T*, const std::uint8_t*, T*, std::int64_t*,   \
                                             std::int64_t, const Storage&);                      \
  template harness::Execution unique(const T*, T*, std::int64_t*, std::int64_t, const Storage&); \
  template harness::Execution unique_by_key(const T*, const std::uint32_t*, T*, std::uint32_t*,  \
                                            std::int64_t*, std::int64_t, const Storage&)
WARPATH_INSTANTIATE(std::uint32_t);
WARPATH_INSTANTIATE(std::uint64_t);
WARPATH_INSTANTIATE(Element16);
#undef WARPATH_INSTANTIATE

}  // namespace warpath::experiments::cub_select
