// Elements of 20 to 256 bytes, which stay in global memory until they are copied; and what devices
// with less shared memory do with the largest ones.
#include "../emulated_device.cuh"
#include "element_sizes.cuh"

namespace warpath::warp_compaction::test {
namespace {

class LargeElements : public testing::TestWithParam<ElementKind> {};

TEST_P(LargeElements, OfAnySizeAreCompacted) {
  ASSERT_FALSE(GetParam().is_staged);
  expect_right_at_all_sizes(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, LargeElements,
                         testing::Values(kind_of<20, 4>(), kind_of<24, 8>(), kind_of<32, 16>(),
                                         kind_of<48, 2>(), kind_of<64, 16>(), kind_of<100>(),
                                         kind_of<128, 16>(), kind_of<200, 8>(), kind_of<256, 4>()),
                         [](const auto& test) { return std::to_string(test.param.bytes); });

// Two columns of the largest elements: what needs most shared memory.
struct SameFirstByte {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a.bytes[0] == b.bytes[0];
  }
};

void expect_unique_by_key_of_the_largest(const Way& way) {
  SCOPED_TRACE(way.name);
  using Element = Bytewise<256>;
  constexpr std::size_t n = 3001;
  std::vector<Element> keys(n);
  std::vector<Element> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t b = 0; b < sizeof(Element); ++b) {
      keys[i].bytes[b] = static_cast<unsigned char>(b == 0 ? i / 3 % 251 : i + b);
      values[i].bytes[b] = static_cast<unsigned char>(i * 7 + b);
    }
  }
  const auto expected = oracle::unique_by_key(keys, values, SameFirstByte{});
  Laboratory laboratory;
  const cudaStream_t stream = laboratory.own_stream;
  const Input<Element> key_input(keys, 1, stream);
  const Input<Element> value_input(values, 3, stream);
  Output<Element> out_keys(n, 3, stream);
  Output<Element> out_values(n, 1, stream);
  DeviceCount kept(stream);
  unique_by_key(key_input.span(), value_input.span(), out_keys.span(), out_values.span(), kept,
                laboratory.workspace, stream, SameFirstByte{}, way.options);
  const Result result{{out_keys.image(), out_values.image()},
                      kept.get(stream),
                      -1,
                      key_input.is_intact() && value_input.is_intact()};
  EXPECT_TRUE(judge(result, {{column_of(expected.first), column_of(expected.second)}}));
}

TEST(LargeElements, TwoColumnsOfThemAreCompacted) {
  for (const Way& way : {single_pass_by(Path::automatic), two_pass_ways[0], two_pass_ways[2]}) {
    expect_unique_by_key_of_the_largest(way);
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
