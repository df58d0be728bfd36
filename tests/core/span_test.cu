// Spans: what they convert to, and what they do not.
#include "core/span.hpp"
#include "support.cuh"

namespace warpath::core_test {
namespace {

static_assert(std::is_convertible_v<DeviceSpan<int>, DeviceSpan<const int>>);
static_assert(!std::is_convertible_v<DeviceSpan<const int>, DeviceSpan<int>>);
static_assert(!std::is_convertible_v<DeviceSpan<int>, DeviceSpan<const unsigned>>);
static_assert(std::is_trivially_copyable_v<DeviceSpan<int>>);

TEST(DeviceSpan, IsEmptyAtFirst) {
  const DeviceSpan<int> span;
  EXPECT_EQ(span.data, nullptr);
  EXPECT_EQ(span.count, 0);
}

TEST(DeviceSpan, BecomesConst) {
  int values[3] = {};
  const DeviceSpan<const int> span = DeviceSpan<int>{values, 3};
  EXPECT_EQ(span.data, values);
  EXPECT_EQ(span.count, 3);
}

}  // namespace
}  // namespace warpath::core_test
