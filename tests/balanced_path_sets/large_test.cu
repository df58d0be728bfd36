// Inputs, and outputs, of more than 2^31 elements where memory has room for them.
#include "../test_size.hpp"
#include "core/launch.cuh"
#include "int_sets.hpp"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

/// keys[i] becomes first + i / run.
__global__ void write_runs_kernel(int* keys, std::int64_t count, std::int64_t run, int first) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    keys[i] = first + static_cast<int>(i / run);
  }
}

/// Counts the keys that are not first + i / run.
__global__ void count_wrong_kernel(const int* keys, std::int64_t count, std::int64_t run, int first,
                                   unsigned long long* wrong) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if (keys[i] != first + static_cast<int>(i / run)) atomicAdd(wrong, 1ull);
  }
}

class LargeSets : public testing::Test {
 protected:
  void SetUp() override {
#ifdef SIMT_EMULATION
    keys_ = 30'000;
#else
    std::size_t free = 0;
    std::size_t all = 0;
    WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &all));
    // Inputs, outputs, and what `compact` stores in between: 15 words for each key.
    constexpr std::int64_t keys = (std::int64_t{1} << 31) / 5 + 1000;
    const bool has_room = free > std::size_t{keys} * 15 * sizeof(int) + (std::size_t{1} << 30);
    keys_ = has_room && !is_small() ? keys : 30'000;
#endif
    a_ = DeviceBuffer<int>(3 * keys_);
    b_ = DeviceBuffer<int>(2 * keys_);
    out_ = DeviceBuffer<int>(5 * keys_);
    launch({1024, 256}, write_runs_kernel, a_.data(), a_.count(), 3, 0);
  }
  void write_b(int first) {
    launch({1024, 256}, write_runs_kernel, b_.data(), b_.count(), 2, first);
  }
  [[nodiscard]] std::int64_t wrong(std::int64_t from, std::int64_t count, std::int64_t run,
                                   int first) const {
    DeviceCount wrong;
    wrong.set_zero(nullptr);
    launch({1024, 256}, count_wrong_kernel, out_.data() + from, count, run, first,
           reinterpret_cast<unsigned long long*>(wrong.data()));
    return wrong.get(nullptr);
  }

  std::int64_t keys_ = 0;  ///< each is three times in A, and twice in B
  DeviceBuffer<int> a_;
  DeviceBuffer<int> b_;
  DeviceBuffer<int> out_;
  DeviceCount count_;
  Workspace workspace_;
};

TEST_F(LargeSets, OneOfEachKeyIsAlone) {
  write_b(0);
  for (const Variant variant : all_variants) {
    SCOPED_TRACE(name_of(variant));
    int_sets({SetOperation::symmetric_difference}, a_.span(), b_.span(), out_.span(), count_,
             workspace_, nullptr, {variant});
    ASSERT_EQ(count_.get(nullptr), keys_);
    EXPECT_EQ(wrong(0, keys_, 1, 0), 0);
  }
}

TEST_F(LargeSets, AllOfBComesAfterAllOfA) {
  write_b(static_cast<int>(keys_));
  for (const Variant variant : all_variants) {
    SCOPED_TRACE(name_of(variant));
    int_sets({SetOperation::set_union}, a_.span(), b_.span(), out_.span(), count_, workspace_,
             nullptr, {variant});
    ASSERT_EQ(count_.get(nullptr), 5 * keys_);
    EXPECT_EQ(wrong(0, 3 * keys_, 3, 0), 0);
    EXPECT_EQ(wrong(3 * keys_, 2 * keys_, 2, static_cast<int>(keys_)), 0);
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
