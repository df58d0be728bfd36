// What bad arguments get: an exception that names the argument, the value and what was expected.
#include <gmock/gmock.h>

#include <functional>

#include "../message_of.hpp"
#include "load_balancing_search/intervals.cuh"
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

using testing::HasSubstr;

std::string message(const std::function<void()>& act) {
  return message_of<std::invalid_argument>(act);
}

class Preconditions : public testing::Test {
 protected:
  std::string search(std::int64_t items, const std::vector<std::int32_t>& scan,
                     std::int64_t room = 100, const Options& options = {}) {
    return message([&] {
      const auto device_scan = on_device(scan);
      WatchedOutput<std::int32_t> out(room);
      load_balancing_search<std::int32_t, std::int32_t>(items, device_scan.span(), out.span(),
                                                        workspace_, nullptr, options);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }
  Workspace workspace_;
};

TEST_F(Preconditions, DecreasingScan) {
  EXPECT_EQ(search(10, {0, 2, 7, 5, 4, 9}),
            "scan[3] is 5: expected at least scan[2], 7, since no count is negative");
}
TEST_F(Preconditions, ScanThatDoesNotBeginWithZero) {
  EXPECT_EQ(search(10, {1, 2}), "scan[0] is 1: expected 0, where the first object begins");
  EXPECT_EQ(search(10, {-1, 2}), "scan[0] is -1: expected 0, where the first object begins");
}
TEST_F(Preconditions, TotalThatDisagreesWithTheScan) {
  EXPECT_EQ(search(10, {0, 2, 12, 13}),
            "scan[2] is 12: expected at most 10, the number of work items");
  EXPECT_EQ(search(10, {0, 2, 10}), "nothing");  // the last object is empty
}
TEST_F(Preconditions, NoRoom) {
  EXPECT_THAT(search(10, {0, 2}, 9), HasSubstr("objects holds 9 elements: 10 are needed"));
}
TEST_F(Preconditions, NegativeOrTooManyItems) {
  EXPECT_THAT(search(-1, {0}), HasSubstr("items is -1: expected 0 to 2147483647"));
  EXPECT_THAT(search(std::int64_t{1} << 31, {0}), HasSubstr("items is 2147483648"));
}
TEST_F(Preconditions, ItemsWithoutObjects) {
  EXPECT_THAT(search(1, {}), HasSubstr("the number of objects is 0: expected 1 to"));
  EXPECT_EQ(search(0, {}), "nothing");
  EXPECT_EQ(search(0, {0, 0, 0}), "nothing");
}
TEST_F(Preconditions, UnknownItemsPerThread) {
  EXPECT_THAT(search(10, {0, 2}, 10, {Variant::merge_path, 4}),
              HasSubstr("items_per_thread is 4: expected 3, 7, 11, 15 or 23"));
}
TEST_F(Preconditions, Overlap) {
  DeviceBuffer<std::int32_t> memory(20);
  WARPATH_CUDA_CHECK(cudaMemset(memory.data(), 0, 80));
  EXPECT_THAT(message([&] {
                load_balancing_search<std::int32_t, std::int32_t>(
                    10, {memory.data(), 5}, {memory.data() + 4, 16}, workspace_, nullptr);
              }),
              HasSubstr("objects overlaps scan"));
}
TEST_F(Preconditions, ValuesOfOtherObjects) {
  const auto scan = on_device<std::int32_t>({0, 1});
  const auto values = on_device<float>({1, 2, 3});
  WatchedOutput<float> out(2);
  EXPECT_THAT(message([&] {
                interval_expand<std::int32_t, float>(2, scan.span(), values.span(), out.span(),
                                                     workspace_, nullptr);
              }),
              HasSubstr("values has 3 elements: expected 2, as many as scan"));
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
