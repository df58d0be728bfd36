#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_copy.cuh>
#include <cub/device/device_memcpy.cuh>
#include <stdexcept>

#include "peers/cub_batched.hpp"
#include "peers/cub_call.hpp"

namespace warpath::experiments::cub_batched {
namespace {

template <int Bytes>
struct alignas(Bytes % 16 == 0 ? 16 : 4) Words {
  std::uint32_t words[Bytes / 4];
};

/// Where interval i begins.
template <class T>
struct Begin {
  T* array;
  const std::int32_t* starts;
  __host__ __device__ T* operator()(std::int64_t i) const { return array + starts[i]; }
};

template <class T>
struct BytesOf {
  const std::int32_t* counts;
  __host__ __device__ std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(counts[i]) * static_cast<std::uint32_t>(sizeof(T));
  }
};

/// The same pointer as one to bytes.
template <class T>
struct BeginBytes {
  Begin<T> begin;
  __host__ __device__ void* operator()(std::int64_t i) const {
    return const_cast<void*>(static_cast<const void*>(begin(i)));
  }
};

template <class Function>
auto of_each(const Function& function) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), function);
}

/// call.operator()<T>(), where T has so many bytes.
template <class Call>
harness::Execution with_element(int element_bytes, const Call& call) {
  switch (element_bytes) {
    case 1:
      return call.template operator()<std::uint8_t>();
    case 4:
      return call.template operator()<std::uint32_t>();
    case 8:
      return call.template operator()<std::uint64_t>();
    case 12:
      return call.template operator()<Words<12>>();
    case 16:
      return call.template operator()<Words<16>>();
    default:
      throw std::invalid_argument("element_bytes is " + std::to_string(element_bytes) +
                                  ": expected 1, 4, 8, 12 or 16");
  }
}

}  // namespace

harness::Execution copy(int element_bytes, const void* in, void* out, const Intervals& intervals,
                        const Storage& storage) {
  return with_element(element_bytes, [&]<class T>() {
    const auto from = of_each(Begin<const T>{static_cast<const T*>(in), intervals.gather});
    const auto to = of_each(Begin<T>{static_cast<T*>(out), intervals.scatter});
    return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceCopy::Batched(memory, bytes, from, to, intervals.counts, intervals.count,
                                      stream);
    });
  });
}

harness::Execution memory_copy(int element_bytes, const void* in, void* out,
                               const Intervals& intervals, const Storage& storage) {
  return with_element(element_bytes, [&]<class T>() {
    const auto from = of_each(BeginBytes<const T>{{static_cast<const T*>(in), intervals.gather}});
    const auto to = of_each(BeginBytes<T>{{static_cast<T*>(out), intervals.scatter}});
    const auto sizes = of_each(BytesOf<T>{intervals.counts});
    return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
      return cub::DeviceMemcpy::Batched(memory, bytes, from, to, sizes, intervals.count, stream);
    });
  });
}

}  // namespace warpath::experiments::cub_batched
