// Keys as ordered integers: every pair of many keys, on the host and on the device.
#include <bit>
#include <cmath>

#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

/// The keys where an order could break, and random ones: of floats, random bits without NaN.
template <class Key>
std::vector<Key> keys(std::uint64_t seed) {
  using Limits = std::numeric_limits<Key>;
  std::vector<Key> result{Key{0}, Key{1}, Limits::lowest(), Limits::max(), Limits::min()};
  if constexpr (std::is_floating_point_v<Key>) {
    for (const Key positive :
         {Limits::denorm_min(), 2 * Limits::denorm_min(), Limits::min() / 2,
          std::nextafter(Limits::min(), Key{0}), Limits::min(), Limits::epsilon(), Key{0.5},
          std::nextafter(Key{1}, Key{2}), Key{2}, Limits::infinity()}) {
      result.push_back(positive);
      result.push_back(-positive);
    }
    result.push_back(-Key{0});
    result.push_back(-Key{1});
  } else {
    for (const int offset : {1, 2, 3}) {
      result.push_back(static_cast<Key>(Limits::min() + offset));
      result.push_back(static_cast<Key>(Limits::max() - offset));
      result.push_back(static_cast<Key>(0 - offset));
    }
  }
  std::mt19937_64 random(seed);
  while (result.size() < 150) {
    const Key key = std::bit_cast<Key>(static_cast<OrderedBits<Key>>(random()));
    if (key == key) result.push_back(key);
  }
  return result;
}

template <class Key>
class KeyOrder : public testing::Test {};
using Keys =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(KeyOrder, Keys);

TYPED_TEST(KeyOrder, IsThatOfTheKeys) {
  static_assert(sizeof(OrderedBits<TypeParam>) == sizeof(TypeParam));
  static_assert(std::is_unsigned_v<OrderedBits<TypeParam>>);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<TypeParam> all = keys<TypeParam>(seed);
    for (const TypeParam x : all) {
      for (const TypeParam y : all) {
        ASSERT_EQ(key_bits(x) < key_bits(y), x < y) << x << " and " << y;
        ASSERT_EQ(key_bits(x) == key_bits(y), x == y) << x << " and " << y;
      }
    }
  }
}

TYPED_TEST(KeyOrder, GoesThereAndBack) {
  for (const TypeParam key : keys<TypeParam>(4)) {
    EXPECT_EQ(key_of_bits<TypeParam>(key_bits(key)), key);
  }
}

template <class Key>
__global__ void map_kernel(const Key* keys, std::int64_t count, OrderedBits<Key>* bits,
                           Key* mapped_back) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  bits[i] = key_bits(keys[i]);
  mapped_back[i] = key_of_bits<Key>(bits[i]);
}

TYPED_TEST(KeyOrder, IsTheSameOnTheDevice) {
  using Bits = OrderedBits<TypeParam>;
  const std::vector<TypeParam> all = keys<TypeParam>(5);
  const DeviceBuffer<TypeParam> in = on_device(all);
  DeviceBuffer<Bits> bits(in.count());
  DeviceBuffer<TypeParam> mapped_back(in.count());
  launch({static_cast<unsigned>(all.size() / 64 + 1), 64}, map_kernel<TypeParam>, in.data(),
         in.count(), bits.data(), mapped_back.data());
  std::vector<Bits> expected;
  for (const TypeParam key : all) expected.push_back(key_bits(key));
  EXPECT_EQ(on_host(bits), expected);
  EXPECT_EQ(on_host(mapped_back), all);
}

template <class Key>
class FloatOrder : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatOrder, Floats);

TYPED_TEST(FloatOrder, HasOneZero) {
  EXPECT_EQ(key_bits(-TypeParam{0}), key_bits(TypeParam{0}));
  EXPECT_FALSE(std::signbit(key_of_bits<TypeParam>(key_bits(-TypeParam{0}))));
}

TYPED_TEST(FloatOrder, PutsEveryNanAboveInfinity) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam nan : {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    EXPECT_GT(key_bits(nan), key_bits(Limits::infinity()));
    EXPECT_TRUE(std::isnan(key_of_bits<TypeParam>(key_bits(nan))));
  }
}

}  // namespace
}  // namespace warpath::core_test
