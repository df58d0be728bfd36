// The most references that a tree can have, and more than 2^31 elements, where a device's memory
// has room for them; elsewhere the same with fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "../device_vectors.cuh"
#include "../test_size.hpp"
#include "core/checked.hpp"
#include "partitioners/partitioners.cuh"

namespace warpath::partitioners::test {
namespace {

/// Calls act(i) for every i < count.
template <class Act>
__global__ void for_each_kernel(std::int64_t count, Act act) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    act(i);
  }
}
template <class Act>
void for_each(std::int64_t count, const Act& act) {
  const bool is_large = count > 100'000;
  launch({is_large ? 4096u : 8u, 256, 0, nullptr}, for_each_kernel<Act>, count, act);
}

/// Whether the current device has room for so many bytes, and the run shall be long.
bool has_room(std::int64_t bytes) {
#ifdef SIMT_EMULATION
  return bytes < 0;
#else
  std::size_t free = 0;
  std::size_t all = 0;
  WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &all));
  return !is_small() && free > static_cast<std::size_t>(bytes) + (std::size_t{1} << 30);
#endif
}

/// References and tuples of two coordinates, all of them numbers of places.
struct WriteNumbers {
  std::int32_t* coordinates;
  std::uint32_t* references;
  std::uint32_t* out;
  __device__ void operator()(std::int64_t i) const {
    coordinates[2 * i] = coordinates[2 * i + 1] = static_cast<std::int32_t>(i);
    references[i] = static_cast<std::uint32_t>(i);
    out[i] = no_node;
  }
};

/// Such references stay where they are, whatever the level; gaps and pivots are not written.
struct CountWrongPlaces {
  Level level;
  const std::uint32_t* out;
  unsigned long long* wrong;
  __device__ void operator()(std::int64_t i) const {
    const auto place = static_cast<std::uint32_t>(i);
    detail::LevelPlace at = detail::root_of(level);
    at.descend(level, place);
    const bool is_written = at.has(place) && place != at.segment.median();
    if (out[i] != (is_written ? place : no_node)) atomicAdd(wrong, 1ull);
  }
};

TEST(Large, LevelsOfTheMostReferences) {
  const std::int64_t n = has_room(6 * 4 * most_references) ? most_references : 30'000;
  set_checked(false);  // they would take as much memory again
  DeviceBuffer<std::int32_t> tuples(2 * n);
  DeviceBuffer<std::uint32_t> references(n);
  DeviceBuffer<std::uint32_t> out(n);
  Workspace workspace;
  for (const Variant variant : {Variant::side_bits, Variant::look_back, Variant::source}) {
    for (const int level : {0, 7, leaf_level(n) - 1}) {
      DeviceBuffer<std::uint32_t> medians(std::int64_t{1} << level);
      DeviceCount wrong;
      wrong.set_zero(nullptr);
      for_each(n, WriteNumbers{tuples.data(), references.data(), out.data()});
      partition_level(Tuples<std::int32_t>{std::as_const(tuples).span(), 2, 0}, level,
                      std::as_const(references).span(), std::as_const(references).span(),
                      out.span(), {medians.span(), {}}, workspace, nullptr,
                      {.variant = variant, .warps = n == most_references ? 2048 : 64});
      for_each(n, CountWrongPlaces{{static_cast<std::uint32_t>(n), level},
                                   out.data(),
                                   reinterpret_cast<unsigned long long*>(wrong.data())});
      EXPECT_EQ(wrong.get(nullptr), 0) << enum_name(variant) << ", level " << level;
      EXPECT_EQ(on_host(medians.data(), 1)[0],
                (Level{static_cast<std::uint32_t>(n), level}.segment(0).median()));
    }
  }
  set_checked(true);
}

using Byte = unsigned char;

/// Elements that repeat after 251 of them: 0, 1, ... 250.
struct WriteBytes {
  Byte* elements;
  __device__ void operator()(std::int64_t i) const { elements[i] = static_cast<Byte>(i % 251); }
};
struct IsBelow {
  int bound;
  __device__ bool operator()(Byte element) const { return element < bound; }
};

/// A class of such elements has `period` of them, from `first` on, and repeats them.
struct CountWrongBytes {
  const Byte* elements;
  int first;
  int period;
  unsigned long long* wrong;
  __device__ void operator()(std::int64_t i) const {
    if (elements[i] != first + i % period) atomicAdd(wrong, 1ull);
  }
};

class LargePartition : public testing::Test {
 protected:
  LargePartition() { for_each(n_, WriteBytes{in_.data()}); }
  /// How many of the elements are below a bound.
  [[nodiscard]] std::int64_t below(std::int64_t bound) const {
    return n_ / 251 * bound + std::min(n_ % 251, bound);
  }
  void expect_class(const Byte* elements, std::int64_t count, int first, int period) {
    DeviceCount wrong;
    wrong.set_zero(nullptr);
    for_each(count, CountWrongBytes{elements, first, period,
                                    reinterpret_cast<unsigned long long*>(wrong.data())});
    EXPECT_EQ(wrong.get(nullptr), 0);
  }
  DeviceSpan<const Byte> in() const { return in_.span(); }

  const std::int64_t n_ = has_room(4 * (std::int64_t{1} << 31) + 4 * 123'457)
                              ? (std::int64_t{1} << 31) + 123'457
                              : 123'457;
  DeviceBuffer<Byte> in_{n_};
  DeviceBuffer<Byte> outs_[3] = {DeviceBuffer<Byte>(n_), DeviceBuffer<Byte>(n_),
                                 DeviceBuffer<Byte>(n_)};
  Workspace workspace_;
  DeviceCount count_;
  DeviceCount second_count_;
};

TEST_F(LargePartition, ToTwoOutputs) {
  partition(in(), outs_[0].span(), outs_[1].span(), IsBelow{100}, count_, workspace_, nullptr);
  ASSERT_EQ(count_.get(nullptr), below(100));
  expect_class(outs_[0].data(), below(100), 0, 100);
  expect_class(outs_[1].data(), n_ - below(100), 100, 151);
}

TEST_F(LargePartition, ToOneOutput) {
  partition(in(), outs_[0].span(), IsBelow{100}, count_, workspace_, nullptr);
  ASSERT_EQ(count_.get(nullptr), below(100));
  expect_class(outs_[0].data(), below(100), 0, 100);
  expect_class(outs_[0].data() + below(100), n_ - below(100), 100, 151);
}

TEST_F(LargePartition, ToThreeOutputs) {
  partition_three_way(in(), outs_[0].span(), outs_[1].span(), outs_[2].span(), IsBelow{100},
                      IsBelow{200}, count_, second_count_, workspace_, nullptr);
  ASSERT_EQ(count_.get(nullptr), below(100));
  ASSERT_EQ(second_count_.get(nullptr), below(200) - below(100));
  expect_class(outs_[0].data(), below(100), 0, 100);
  expect_class(outs_[1].data(), below(200) - below(100), 100, 100);
  expect_class(outs_[2].data(), n_ - below(200), 200, 51);
}

}  // namespace
}  // namespace warpath::partitioners::test
