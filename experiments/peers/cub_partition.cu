#include <cub/device/device_partition.cuh>
#include <limits>

#include "peers/cub_call.hpp"
#include "peers/cub_partition.hpp"

namespace warpath::experiments::cub_partition {
namespace {

/// call(count), with the type of the count that CUB computes fastest with.
template <class Call>
harness::Execution with_count(std::int64_t n, const Call& call) {
  if (n <= std::numeric_limits<std::int32_t>::max()) return call(static_cast<std::int32_t>(n));
  return call(n);
}

}  // namespace

harness::Execution two_way(const std::uint32_t* in, std::uint32_t* out, std::int64_t* selected,
                           std::int64_t n, InRange is_selected, const Storage& storage) {
  return with_count(n, [=](auto count) {
    return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
      return cub::DevicePartition::If(memory, bytes, in, out, selected, count, is_selected, stream);
    });
  });
}

harness::Execution three_way(const std::uint32_t* in, std::uint32_t* first, std::uint32_t* second,
                             std::uint32_t* rest, std::int64_t* counts, std::int64_t n,
                             InRange is_first, InRange is_second, const Storage& storage) {
  return with_count(n, [=](auto count) {
    return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
      return cub::DevicePartition::If(memory, bytes, in, first, second, rest, counts, count,
                                      is_first, is_second, stream);
    });
  });
}

}  // namespace warpath::experiments::cub_partition
