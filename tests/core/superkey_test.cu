// Superkeys against the comparison of whole rotated tuples.
#include <algorithm>

#include "core/superkey.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

template <class Coordinate>
class Superkey : public testing::Test {};
using Coordinates = testing::Types<int, unsigned, float, double>;
TYPED_TEST_SUITE(Superkey, Coordinates);

TYPED_TEST(Superkey, OrdersAsTheRotatedTuplesDo) {
  std::mt19937 random(3);
  for (int dimensions = 1; dimensions <= 5; ++dimensions) {
    const auto length = static_cast<std::size_t>(dimensions);
    for (int round = 0; round < 200; ++round) {
      std::vector<TypeParam> a(length);
      std::vector<TypeParam> b(length);
      for (TypeParam& x : a) x = static_cast<TypeParam>(random() % 2);
      for (TypeParam& x : b) x = static_cast<TypeParam>(random() % 2);
      for (int primary = 0; primary < dimensions; ++primary) {
        auto rotated_a = a;
        auto rotated_b = b;
        std::rotate(rotated_a.begin(), rotated_a.begin() + primary, rotated_a.end());
        std::rotate(rotated_b.begin(), rotated_b.begin() + primary, rotated_b.end());
        const int expected = rotated_a < rotated_b ? -1 : rotated_b < rotated_a ? 1 : 0;
        EXPECT_EQ(compare_superkeys(a.data(), b.data(), dimensions, primary), expected);
        if (rotated_a[0] == rotated_b[0]) {
          EXPECT_EQ(compare_superkeys(a.data(), b.data(), dimensions, primary, 1), expected);
        }
      }
    }
  }
}

TEST(SuperkeyOfKnown, DoesNotReadWhatIsKnownToBeEqual) {
  const int a[] = {9, 1, 2};
  const int b[] = {5, 1, 3};
  EXPECT_EQ(compare_superkeys(a, b, 3, 0), 1);
  EXPECT_EQ(compare_superkeys(a, b, 3, 0, 1), -1);
  EXPECT_EQ(compare_superkeys(a, b, 3, 2), -1);
}

}  // namespace
}  // namespace warpath::core_test
