// Divisions that round up, and the switch from values to template parameters.
#include <limits>

#include "core/divide_up.hpp"
#include "core/with_constant.hpp"
#include "support.cuh"

namespace warpath::core_test {
namespace {

TEST(DivideUp, RoundsUp) {
  EXPECT_EQ(divide_up(0, 32), 0);
  EXPECT_EQ(divide_up(1, 32), 1);
  EXPECT_EQ(divide_up(32, 32), 1);
  EXPECT_EQ(divide_up(33, 32), 2);
  EXPECT_EQ(divide_up(std::int64_t{1} << 40, 3), ((std::int64_t{1} << 40) + 2) / 3);
}

TEST(WithConstant, CallsTheOneThatIsEqual) {
  for (const int value : {3, 7, -1}) {
    int called = 0;
    with_constant<3, 7, -1>("items", value, [&]<int V>() {
      EXPECT_EQ(V, value);
      ++called;
    });
    EXPECT_EQ(called, 1);
  }
}

TEST(WithConstant, NamesTheValueAndWhatWasExpected) {
  int called = 0;
  const auto act = [&]<int>() { ++called; };
  EXPECT_EQ(message_of<std::invalid_argument>([&] { with_constant<3, 7, 11>("items", 5, act); }),
            "items is 5: expected one of 3, 7, 11");
  EXPECT_EQ(called, 0);
}

}  // namespace
}  // namespace warpath::core_test
