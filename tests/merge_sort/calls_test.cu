// What surrounds a sort: its memory, streams, graphs, other devices.
#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "../emulated_device.cuh"
#include "../message_of.hpp"
#include "../test_size.hpp"
#include "core/checked.hpp"
#include "merge_sort/merge_sort.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

std::vector<float> random_floats(std::int64_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<float>(random() % 1000));
  return numbers;
}

// ---------------------------------------------------------------- memory

/// Arrays in a workspace begin at multiples of 256 bytes.
constexpr std::int64_t rounding = 4 * 256;

TEST(Memory, IsOneCopyAndAPercent) {
  for (const std::int64_t n : {0, 1, 5888, 8193, 20'000, 140'000}) {
    if (is_small() && n > 20'000) continue;
    for (const Options& options : all_options()) {
      SCOPED_TRACE(std::to_string(n) + " elements, " + name_of(options));
      const auto numbers = random_floats(n);
      // A tile is sorted in place.
      const std::int64_t copied = n <= 5888 ? 0 : n;
      {
        Workspace workspace;
        InPlace<float> keys(numbers);
        InPlace<std::uint32_t> values(numbered<std::uint32_t>(numbers.size()));
        sort_pairs(keys.span(), values.span(), workspace, nullptr, options);
        EXPECT_LE(workspace.bytes(), copied * 8 * 101 / 100 + (copied > 0 ? rounding : 0));
      }
      {
        Workspace workspace;
        InPlace<std::uint8_t> keys(std::vector<std::uint8_t>(static_cast<std::size_t>(n), 3));
        sort_keys(keys.span(), workspace, nullptr, options);
        EXPECT_LE(workspace.bytes(), copied * 101 / 100 + (copied > 0 ? rounding : 0));
      }
      {
        Workspace workspace;
        const DeviceBuffer<float> tuples = on_device(numbers);
        InPlace<std::uint32_t> references(numbered<std::uint32_t>(numbers.size()));
        Guarded<float> values(n);
        DeviceCount first_nan;
        sort_superkeys(Tuples<float>{tuples.span(), 1, 0}, references.span(), values.span(),
                       first_nan, workspace, nullptr, options);
        EXPECT_LE(workspace.bytes(), copied * 8 * 101 / 100 + (copied > 0 ? rounding : 0));
      }
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    }
  }
}

// Lists of ties as well, if there may be any.
TEST(Memory, OfSuperkeysIsOneCopyAndAPercent) {
  for (const std::int64_t n : {1, 512, 513, 5888, 20'000, 140'000, 600'000}) {
    if (is_small() && n > 20'000) continue;
    for (const Options& options : all_options()) {
      if (n > 140'000 && (options.variant != Variant::multiway_merge ||
                          options.low_level != LowLevelMerge::merge_path)) {
        continue;
      }
      SCOPED_TRACE(std::to_string(n) + " references, " + name_of(options));
      Workspace workspace;
      const DeviceBuffer<float> tuples = on_device(random_floats(3 * n));
      InPlace<std::uint32_t> references(numbered<std::uint32_t>(static_cast<std::size_t>(n)));
      Guarded<float> values(n);
      DeviceCount first_nan;
      sort_superkeys(Tuples<float>{tuples.span(), 3, 0}, references.span(), values.span(),
                     first_nan, workspace, nullptr, options);
      const std::int64_t copied = n <= 512 ? 0 : n;
      EXPECT_LE(workspace.bytes(), copied * 8 * 101 / 100 + 4 * 256);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    }
  }
}

// For every size of an item and number of elements, without sorting any.
template <std::size_t ItemBytes>
void expect_few_positions() {
  using Tuning = TuningOf<ItemBytes>;
  for (const std::int64_t n :
       {std::int64_t{1} << 20, std::int64_t{1} << 21, (std::int64_t{1} << 32) - 1}) {
    const bool has_small_tiles = ItemBytes <= 4 && n < std::int64_t{1} << 22;
    for (const Options& options : all_options()) {
      EXPECT_LE(detail::position_bytes<Tuning>(n, options) * 100,
                n * static_cast<std::int64_t>(ItemBytes) * (has_small_tiles ? 2 : 1))
          << n << " of " << ItemBytes << " bytes, " << name_of(options);
    }
  }
}
TEST(Memory, OfPositionsIsAPercentOrTwo) {
  expect_few_positions<1>();
  expect_few_positions<2>();
  expect_few_positions<4>();
  expect_few_positions<8>();
  expect_few_positions<12>();
  expect_few_positions<16>();
  expect_few_positions<32>();
}

// 99 KiB is what every device has.
template <std::size_t Bytes>
struct OfBytes {
  unsigned char bytes[Bytes];
};
template <std::size_t... Bytes>
constexpr bool fit_everywhere() {
  return ((sizeof(detail::SharedTile<OfBytes<Bytes>, typename TuningOf<Bytes>::SortShape>) <=
               99 * 1024 &&
           sizeof(detail::MergeStorage<OfBytes<Bytes>, typename TuningOf<Bytes>::MergeShape>) <=
               99 * 1024) &&
          ...);
}
template <class C>
constexpr bool ties_fit_everywhere() {
  using Tuning = TuningOf<sizeof(detail::SuperkeyItem<C>)>;
  return sizeof(detail::LongTiesStorage<Tuning, C>) <= 99 * 1024 &&
         sizeof(detail::TiesStorage<C, typename Tuning::TiesShape>) <= 99 * 1024 &&
         sizeof(detail::TiesStorage<C, typename Tuning::SparseTiesShape>) <= 99 * 1024;
}
static_assert(ties_fit_everywhere<float>() && ties_fit_everywhere<double>());
static_assert(fit_everywhere<1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 28, 31, 32>());

// Around the most items that small tiles merge in one pass.
TEST(Tunings, OfFewItemsSort) {
  constexpr std::int64_t most =
      32 * TuningOf<4>::FewItemsTuning::FewItemsTuning::SortShape::tile_items;
  Workspace workspace;
  for (const std::int64_t n : {most, most + 1}) {
    if (is_small() && n > most) continue;
    expect_keys_sorted(random_floats(n), std::less<>{},
                       [&](auto keys) { sort_keys(keys, workspace, nullptr); });
  }
}

TEST(Memory, IsKeptForTheNextCall) {
  Workspace workspace;
  std::int64_t held = 0;
  for (const std::int64_t n : {20'000, 30'000, 9'000, 30'000, 1}) {
    const auto numbers = random_floats(n);
    expect_keys_sorted(numbers, std::less<>{},
                       [&](auto keys) { sort_keys(keys, workspace, nullptr); });
    if (n == 30'000 && held == 0) held = workspace.bytes();
    if (held > 0) {
      EXPECT_EQ(workspace.bytes(), held);
    }
  }
}

// More than any device has: what is needed, and what there is.
TEST(Memory, NoMemoryIsSaid) {
#ifdef SIMT_EMULATION
  // The keys are not there, but they are not looked at before the workspace is.
  set_checked(false);
  for (const Options& options : all_options()) {
    Workspace workspace;
    for (const std::int64_t n : {std::int64_t{1} << 40, (std::int64_t{1} << 60) - 1}) {
      const DeviceSpan<int> keys{reinterpret_cast<int*>(std::uintptr_t{1} << 32), n};
      EXPECT_THAT(message_of<CudaError>([&] { sort_keys(keys, workspace, nullptr, options); }),
                  testing::ContainsRegex("cudaMallocAsync\\([0-9]+ bytes\\) with [0-9]+ of the "
                                         "device's [0-9]+ bytes free"));
    }
    const DeviceSpan<std::uint8_t> bytes{reinterpret_cast<std::uint8_t*>(std::uintptr_t{1} << 32),
                                         std::numeric_limits<std::int64_t>::max()};
    EXPECT_THAT(
        message_of<std::invalid_argument>([&] { sort_keys(bytes, workspace, nullptr, options); }),
        testing::HasSubstr("keys has 9223372036854775807 elements: expected at most"));
  }
  set_checked(true);
#else
  GTEST_SKIP() << "needs keys that are not there";
#endif
}

// ---------------------------------------------------------------- streams, graphs, devices

// One workspace, many calls in a stream of their own, none waited for.
TEST(Streams, CallsFollowEachOther) {
  const Stream stream;
  Workspace workspace;
  set_checked(false);
  std::vector<InPlace<float>> all;
  std::vector<std::vector<float>> expected;
  const std::vector<Options> options = all_options();
  for (const std::int64_t n : {9000, 100, 17'000, 8192, 12'345, 8193, 3}) {
    const auto numbers = random_floats(n);
    all.emplace_back(numbers, 1);
    expected.push_back(oracle::sort_keys(numbers, std::less<>{}));
  }
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < all.size(); ++i) {
    sort_keys(all[i].span(), workspace, stream, options[i % options.size()]);
  }
  set_checked(true);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].expect("key", expected[i]);
}

#ifdef SIMT_EMULATION
// There are no graphs, but a stream can say that it is captured.
TEST(Graphs, AWarmedWorkspaceDoesNotGrow) {
  const Stream stream;
  Workspace workspace;
  const auto numbers = random_floats(20'000);
  InPlace<float> keys(numbers);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  set_checked(false);
  const auto captured = [&] {
    simt::options().capturing = true;
    const std::string said =
        message_of<std::logic_error>([&] { sort_keys(keys.span(), workspace, stream); });
    simt::options().capturing = false;
    return said;
  };
  EXPECT_THAT(captured(), testing::HasSubstr("make the same call once before the capture"));
  sort_keys(keys.span(), workspace, stream);
  EXPECT_EQ(captured(), "nothing");
  set_checked(true);
}

TEST(Devices, AllSortTheSame) {
  const auto numbers = random_floats(9000);
  for (const DeviceKind& kind : other_devices) {
    SCOPED_TRACE(kind.name);
    const EmulatedDevice device(kind);
    Workspace workspace;
    expect_pairs_sorted(
        numbers, numbered<std::uint64_t>(numbers.size()), std::less<>{},
        [&](auto keys, auto values) { sort_pairs(keys, values, workspace, nullptr); });
  }
}
#else
TEST(Graphs, AreReplayedOnOtherKeys) {
  const Stream stream;
  Workspace workspace;
  const auto numbers = random_floats(200'000);
  DeviceBuffer<float> keys = on_device(numbers);
  set_checked(false);
  sort_keys(keys.span(), workspace, stream);
  cudaGraph_t graph = nullptr;
  WARPATH_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  sort_keys(keys.span(), workspace, stream);
  WARPATH_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  set_checked(true);
  cudaGraphExec_t replay = nullptr;
  WARPATH_CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  for (const float factor : {1.0f, -1.0f, 0.5f}) {
    std::vector<float> scaled = numbers;
    for (float& number : scaled) number *= factor;
    WARPATH_CUDA_CHECK(cudaMemcpy(keys.data(), scaled.data(), scaled.size() * sizeof(float),
                                  cudaMemcpyHostToDevice));
    WARPATH_CUDA_CHECK(cudaGraphLaunch(replay, stream));
    EXPECT_EQ(on_host(keys, stream), oracle::sort_keys(scaled, std::less<>{}));
  }
  WARPATH_CUDA_CHECK(cudaGraphExecDestroy(replay));
  WARPATH_CUDA_CHECK(cudaGraphDestroy(graph));
}
#endif

}  // namespace
}  // namespace warpath::merge_sort::test
