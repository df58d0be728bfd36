// A rate counts what was moved: the kernel moves all of it, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "core/launch.cuh"
#include "harness/link_kernel.cuh"

namespace warpath::harness {
namespace {

constexpr unsigned threads = 64;

/// Numbers that no other vector of any slice has.
std::vector<uint4> numbers(int slice, std::int64_t vectors) {
  std::vector<uint4> made;
  for (std::int64_t i = 0; i < vectors; ++i) {
    const auto first = static_cast<unsigned>(4 * (i + slice * vectors));
    made.push_back(make_uint4(first, first + 1, first + 2, first + 3));
  }
  return made;
}

TEST(CopySlicesKernel, CopiesAllOfEachSlice) {
  for (const int count : {1, 3, most_gpus - 1}) {
    for (const unsigned blocks_of_a_slice : {1U, 2U}) {
      // Less than one load a thread, and one more and less than whole rounds of four.
      const std::int64_t round = std::int64_t{4} * blocks_of_a_slice * threads;
      for (const std::int64_t vectors : {std::int64_t{0}, std::int64_t{1}, std::int64_t{63},
                                         round - 1, round, round + 1, 2 * round + 65}) {
        SCOPED_TRACE(std::to_string(count) + " slices of " + std::to_string(vectors) + ", " +
                     std::to_string(blocks_of_a_slice) + " blocks for each");
        Slices slices{};
        std::vector<DeviceBuffer<uint4>> from;
        std::vector<std::unique_ptr<Guarded<uint4>>> to;
        for (int slice = 0; slice < count; ++slice) {
          from.push_back(on_device(numbers(slice, vectors)));
          to.push_back(std::make_unique<Guarded<uint4>>(vectors));
          slices.from[slice] = from.back().data();
          slices.to[slice] = to.back()->span().data;
        }
        slices.count = count;
        launch({.blocks = blocks_of_a_slice * static_cast<unsigned>(count), .threads = threads},
               copy_slices_kernel<4>, slices, vectors);
        for (int slice = 0; slice < count; ++slice) {
          const std::vector<uint4> expected = numbers(slice, vectors);
          const std::vector<uint4> got = to[static_cast<std::size_t>(slice)]->get();
          ASSERT_EQ(got.size(), expected.size());
          EXPECT_TRUE(got.empty() ||
                      std::memcmp(got.data(), expected.data(), got.size() * sizeof(uint4)) == 0)
              << "slice " << slice;
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpath::harness
