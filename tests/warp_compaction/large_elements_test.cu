// Elements that do not go through registers: of 20 to 256 bytes, or of 4 to 16 that are hardly
// aligned. They stay in shared memory until they are copied. And what devices with less of it do
// with the largest ones.
#include "../emulated_device.cuh"
#include "../number_types.hpp"
#include "element_sizes.cuh"

namespace warpath::warp_compaction::test {
namespace {

class LargeElements : public testing::TestWithParam<ElementKind> {};

TEST_P(LargeElements, OfAnySizeAreCompacted) {
  ASSERT_FALSE(GetParam().is_in_registers);
  expect_right_at_all_sizes(GetParam());
}

#ifdef WARPATH_TEST_FEW_TYPES
// Of an odd size and of words, with a pipeline and too large for one, and the largest.
const auto hardly_aligned = testing::Values(kind_of<5>(), kind_of<12>());
const auto sizes =
    testing::Values(kind_of<20, 4>(), kind_of<63>(), kind_of<64, 16>(), kind_of<256, 4>());
#else
const auto hardly_aligned = testing::Values(kind_of<4>(), kind_of<5>(), kind_of<8, 2>(),
                                            kind_of<12>(), kind_of<13>(), kind_of<16>());
const auto sizes =
    testing::Values(kind_of<17>(), kind_of<20, 4>(), kind_of<24, 8>(), kind_of<32, 16>(),
                    kind_of<48, 2>(), kind_of<63>(), kind_of<64, 16>(), kind_of<100>(),
                    kind_of<128, 16>(), kind_of<200, 8>(), kind_of<256, 4>());
#endif
INSTANTIATE_TEST_SUITE_P(HardlyAligned, LargeElements, hardly_aligned,
                         [](const auto& test) { return std::to_string(test.param.bytes); });
INSTANTIATE_TEST_SUITE_P(Sizes, LargeElements, sizes,
                         [](const auto& test) { return std::to_string(test.param.bytes); });

struct SameFirstByte {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a.bytes[0] == b.bytes[0];
  }
};

/// Two columns, which begin `offset` elements after aligned memory, or one more or less.
template <class Key, class Value>
void expect_unique_by_key(const Way& way, int offset) {
  SCOPED_TRACE(way.name);
  constexpr std::size_t n = 3001;
  std::vector<Key> keys(n);
  std::vector<Value> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t b = 0; b < sizeof(Key); ++b) {
      keys[i].bytes[b] = static_cast<unsigned char>(b == 0 ? i / 3 % 251 : i + b);
    }
    for (std::size_t b = 0; b < sizeof(Value); ++b) {
      values[i].bytes[b] = static_cast<unsigned char>(i * 7 + b);
    }
  }
  const auto expected = oracle::unique_by_key(keys, values, SameFirstByte{});
  Laboratory laboratory;
  const cudaStream_t stream = laboratory.own_stream;
  const Input<Key> key_input(keys, offset, stream);
  const Input<Value> value_input(values, 3 * offset, stream);
  Output<Key> out_keys(n, 3, stream);
  Output<Value> out_values(n, 1, stream);
  DeviceCount kept(stream);
  unique_by_key(key_input.span(), value_input.span(), out_keys.span(), out_values.span(), kept,
                laboratory.workspace, stream, SameFirstByte{}, way.options);
  const Result result{{out_keys.image(), out_values.image()},
                      kept.get(stream),
                      -1,
                      key_input.is_intact() && value_input.is_intact()};
  EXPECT_TRUE(judge(result, {{column_of(expected.first), column_of(expected.second)}}));
}
/// Of the largest elements: what needs most shared memory.
void expect_unique_by_key_of_the_largest(const Way& way) {
  expect_unique_by_key<Bytewise<256>, Bytewise<256>>(way, 1);
}

TEST(LargeElements, TwoColumnsOfThemAreCompacted) {
  for (const Way& way : {single_pass_by(Path::automatic), two_pass_ways[0], two_pass_ways[2]}) {
    expect_unique_by_key_of_the_largest(way);
  }
}

// Each of them is staged, whatever the other one is.
TEST(LargeElements, TwoColumnsGoThroughThePipeline) {
  const Way way = single_pass_by(Path::pipeline);
  expect_unique_by_key<Bytewise<4, 4>, Bytewise<28>>(way, 0);
  if constexpr (!has_few_types) {
    expect_unique_by_key<Bytewise<12>, Bytewise<20>>(way, 0);
    expect_unique_by_key<Bytewise<4>, Bytewise<8, 8>>(way, 0);
    expect_unique_by_key<Bytewise<32, 16>, Bytewise<32, 2>>(way, 0);
  }
  // Both begin a line after some of them.
  expect_unique_by_key<Bytewise<12>, Bytewise<36>>(way, 4);
}

// Elements of odd sizes have no pipeline; of two columns, each has its own place in a line.
TEST(LargeElements, TwoColumnsOfOddSizesAreCompacted) {
  for (const Way& way : {single_pass_by(Path::small), single_pass_by(Path::plain)}) {
    expect_unique_by_key<Bytewise<5>, Bytewise<8, 8>>(way, 1);
    expect_unique_by_key<Bytewise<33>, Bytewise<1>>(way, 5);
    if constexpr (!has_few_types) {
      expect_unique_by_key<Bytewise<2, 2>, Bytewise<31>>(way, 2);
      expect_unique_by_key<Bytewise<1>, Bytewise<3>>(way, 3);
    }
  }
}

#ifdef SIMT_EMULATION
TEST(LargeElements, FitDevicesWithLessSharedMemory) {
  for (const DeviceKind& kind : other_devices) {
    SCOPED_TRACE(kind.name);
    const EmulatedDevice device(kind);
    for (const Way& way : {single_pass_by(Path::plain), two_pass_ways[1], two_pass_ways[3]}) {
      expect_unique_by_key_of_the_largest(way);
    }
  }
}
#endif

}  // namespace
}  // namespace warpath::warp_compaction::test
