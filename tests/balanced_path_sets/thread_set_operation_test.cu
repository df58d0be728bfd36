// The four operations of one thread: cut along the balanced path, part by part, against std::set_*.
#include <gtest/gtest.h>

#include <numeric>

#include "balanced_path_sets/thread_set_operation.cuh"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

struct Less {
  __host__ __device__ bool operator()(int x, int y) const { return x < y; }
};

/// One thread goes along the path in parts of `Items`, and appends what each part emits: the keys,
/// and their places among A's and B's keys.
template <SetOperation operation, int Items, bool RangeCheck>
__global__ void operate_kernel(const int* keys, int a_count, int b_count, int* out, int* places,
                               int* emitted) {
  const int* const b = keys + a_count;
  const int count = a_count + b_count;
  for (int diagonal = 0; diagonal < count; diagonal += Items) {
    const int next = min(diagonal + Items, count);
    const auto from = balanced_path<true>(keys, a_count, b, b_count, diagonal, 2, Less{});
    const auto to = balanced_path<true>(keys, a_count, b, b_count, next, 2, Less{});
    const int elements = to.a - from.a + to.b(next) - from.b(diagonal);
    const int b_first = a_count + from.b(diagonal);
    int results[Items];
    int indices[Items];
    // Unchecked, where both inputs go on.
    const bool is_checked = RangeCheck || to.a >= a_count || to.b(next) >= b_count;
    const unsigned commit =
        is_checked ? thread_set_operation<operation, Items, true>(
                         keys, from.a, a_count, b_first, count, elements, results, indices, Less{})
                   : thread_set_operation<operation, Items, false>(
                         keys, from.a, a_count, b_first, count, elements, results, indices, Less{});
    for (int i = 0; i < Items; ++i) {
      if ((commit >> i & 1) == 0) continue;
      out[*emitted] = results[i];
      places[(*emitted)++] = indices[i];
    }
  }
}

template <SetOperation operation, int Items, bool RangeCheck>
void expect_operation(const Inputs& inputs) {
  SCOPED_TRACE(inputs.name + ", items " + std::to_string(Items));
  const int a_count = static_cast<int>(inputs.a.size());
  const int b_count = static_cast<int>(inputs.b.size());
  std::vector<int> keys = inputs.a;
  keys.insert(keys.end(), inputs.b.begin(), inputs.b.end());
  std::vector<int> a_places(inputs.a.size());
  std::vector<int> b_places(inputs.b.size());
  std::iota(a_places.begin(), a_places.end(), 0);
  std::iota(b_places.begin(), b_places.end(), a_count);
  const auto expected =
      oracle::set_operation<operation>(inputs.a, a_places, inputs.b, b_places, Less{});

  const DeviceBuffer<int> device_keys = on_device(keys);
  DeviceBuffer<int> out(static_cast<std::int64_t>(keys.size()));
  DeviceBuffer<int> places(out.count());
  DeviceBuffer<int> emitted = on_device(std::vector<int>{0});
  launch({1, 1}, operate_kernel<operation, Items, RangeCheck>, device_keys.data(), a_count, b_count,
         out.data(), places.data(), emitted.data());
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const auto count = static_cast<std::size_t>(on_host(emitted)[0]);
  ASSERT_EQ(count, expected.keys.size());
  std::vector<int> found = on_host(out);
  std::vector<int> found_places = on_host(places);
  found.resize(count);
  found_places.resize(count);
  EXPECT_EQ(found, expected.keys);
  EXPECT_EQ(found_places, expected.values);
}

template <SetOperation operation>
void expect_operation() {
  for (const Inputs& inputs : multisets()) {
    expect_operation<operation, 1, true>(inputs);
    expect_operation<operation, 7, true>(inputs);
    expect_operation<operation, 11, true>(inputs);
    expect_operation<operation, 32, true>(inputs);
    expect_operation<operation, 7, false>(inputs);
    expect_operation<operation, 8, false>(inputs);
    expect_operation<operation, 11, false>(inputs);
  }
}

TEST(ThreadSetOperation, Intersection) {
  expect_operation<SetOperation::intersection>();
}
TEST(ThreadSetOperation, Union) {
  expect_operation<SetOperation::set_union>();
}
TEST(ThreadSetOperation, Difference) {
  expect_operation<SetOperation::difference>();
}
TEST(ThreadSetOperation, SymmetricDifference) {
  expect_operation<SetOperation::symmetric_difference>();
}

template <SetOperation... operations>
__global__ void commit_kernel(const int* keys, unsigned* commits) {
  int results[7];
  int indices[7];
  ((*commits++ =
        thread_set_operation<operations, 7, true>(keys, 0, 6, 6, 12, 12, results, indices, Less{})),
   ...);
}

// The commit bit fields of the slots of A: 1 1 2 . 3 3 3, and B: 1 . 2 2 3 3 3.
TEST(ThreadSetOperation, CommitBitFields) {
  DeviceBuffer<int> keys = on_device(std::vector<int>{1, 1, 2, 3, 3, 3, 1, 2, 2, 3, 3, 3});
  DeviceBuffer<unsigned> commits(4);
  launch({1, 1},
         commit_kernel<SetOperation::intersection, SetOperation::difference,
                       SetOperation::symmetric_difference, SetOperation::set_union>,
         keys.data(), commits.data());
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(on_host(commits), (std::vector<unsigned>{0b1110101, 0b0000010, 0b0001010, 0b1111111}));
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
