// The four operations of one thread: cut along the balanced path, part by part, against std::set_*.
#include "balanced_path_sets/balanced_path.cuh"
#include "balanced_path_sets/thread_set_operation.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

struct Less {
  __host__ __device__ bool operator()(int x, int y) const { return x < y; }
};

/// thread_set_operation with the operation as an argument.
template <int Items, bool RangeCheck>
__device__ unsigned operate(SetOperation operation, const int* keys, int a, int a_end, int b,
                            int b_end, int count, int (&results)[Items], int (&indices)[Items]) {
  const auto run = [&]<SetOperation which>() {
    return thread_set_operation<which, Items, RangeCheck>(keys, a, a_end, b, b_end, count, results,
                                                          indices, Less{});
  };
  switch (operation) {
    case SetOperation::intersection:
      return run.template operator()<SetOperation::intersection>();
    case SetOperation::set_union:
      return run.template operator()<SetOperation::set_union>();
    case SetOperation::difference:
      return run.template operator()<SetOperation::difference>();
    case SetOperation::symmetric_difference:
      return run.template operator()<SetOperation::symmetric_difference>();
  }
  return 0;
}

/// One thread goes along the path in parts of `Items`, and appends what each part emits: the keys,
/// and their places among A's and B's keys.
template <int Items, bool RangeCheck>
__global__ void operate_kernel(SetOperation operation, const int* keys, int a_count, int b_count,
                               int* out, int* places, int* emitted) {
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
        is_checked ? operate<Items, true>(operation, keys, from.a, a_count, b_first, count,
                                          elements, results, indices)
                   : operate<Items, RangeCheck>(operation, keys, from.a, a_count, b_first, count,
                                                elements, results, indices);
    for (int i = 0; i < Items; ++i) {
      if ((commit >> i & 1) == 0) continue;
      out[*emitted] = results[i];
      places[(*emitted)++] = indices[i];
    }
  }
}

template <int Items, bool RangeCheck>
void expect_operation(SetOperation operation, const Inputs& inputs) {
  SCOPED_TRACE(inputs.name + ", " + name_of(operation) + ", items " + std::to_string(Items));
  const int a_count = static_cast<int>(inputs.a.size());
  const int b_count = static_cast<int>(inputs.b.size());
  std::vector<int> keys = inputs.a;
  keys.insert(keys.end(), inputs.b.begin(), inputs.b.end());
  const auto expected =
      oracle::set_operation(operation, inputs.a, values_from<int>(0, inputs.a.size()), inputs.b,
                            values_from<int>(inputs.a.size(), inputs.b.size()), Less{});

  const DeviceBuffer<int> device_keys = on_device(keys);
  DeviceBuffer<int> out(static_cast<std::int64_t>(keys.size()));
  DeviceBuffer<int> places(out.count());
  DeviceBuffer<int> emitted = on_device(std::vector<int>{0});
  launch({1, 1}, operate_kernel<Items, RangeCheck>, operation, device_keys.data(), a_count, b_count,
         out.data(), places.data(), emitted.data());
  const std::int64_t count = on_host(emitted)[0];
  ASSERT_EQ(static_cast<std::size_t>(count), expected.keys.size());
  EXPECT_EQ(on_host(out.data(), count), expected.keys);
  EXPECT_EQ(on_host(places.data(), count), expected.values);
}

TEST(ThreadSetOperation, AllOperationsChecked) {
  for (const Inputs& inputs : multisets()) {
    for (const SetOperation operation : all_operations) {
      expect_operation<1, true>(operation, inputs);
      expect_operation<7, true>(operation, inputs);
      expect_operation<11, true>(operation, inputs);
      expect_operation<32, true>(operation, inputs);
    }
  }
}
TEST(ThreadSetOperation, AllOperationsUnchecked) {
  for (const Inputs& inputs : multisets()) {
    for (const SetOperation operation : all_operations) {
      expect_operation<7, false>(operation, inputs);
      expect_operation<8, false>(operation, inputs);
      expect_operation<11, false>(operation, inputs);
    }
  }
}

__global__ void commit_kernel(SetOperation operation, const int* keys, unsigned* commit) {
  int results[7];
  int indices[7];
  *commit = operate<7, true>(operation, keys, 0, 6, 6, 12, 12, results, indices);
}

// The commit bit fields of the slots of A: 1 1 2 . 3 3 3, and B: 1 . 2 2 3 3 3.
TEST(ThreadSetOperation, CommitBitFields) {
  const DeviceBuffer<int> keys = on_device(std::vector<int>{1, 1, 2, 3, 3, 3, 1, 2, 2, 3, 3, 3});
  const auto commit = [&](SetOperation operation) {
    DeviceBuffer<unsigned> field(1);
    launch({1, 1}, commit_kernel, operation, keys.data(), field.data());
    return on_host(field)[0];
  };
  EXPECT_EQ(commit(SetOperation::intersection), 0b1110101u);
  EXPECT_EQ(commit(SetOperation::difference), 0b0000010u);
  EXPECT_EQ(commit(SetOperation::symmetric_difference), 0b0001010u);
  EXPECT_EQ(commit(SetOperation::set_union), 0b1111111u);
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
