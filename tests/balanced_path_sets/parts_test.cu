// The experiments' counts of what the source's parts have, and what its range checks cost.
#include "../../experiments/balanced_path_sets/parts.cuh"
#include "balanced_path_sets/balanced_path_sets.cuh"
#include "balanced_path_sets/oracle.hpp"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

/// A part's elements as the oracle cuts them: those of the union are its slots.
void expect_sizes(const Inputs& inputs, int part_items) {
  SCOPED_TRACE(inputs.name + ", parts of " + std::to_string(part_items));
  const std::vector<oracle::Cut> cuts = oracle::cuts(inputs.a, inputs.b, std::less<>{});
  const auto items = static_cast<std::size_t>(part_items);
  std::vector<int> elements;
  std::vector<int> slots;
  for (std::size_t end = items; end < cuts.size(); end += items) {
    const oracle::Cut from = cuts[end - items];
    const oracle::Cut to = cuts[end];
    elements.push_back(static_cast<int>(to.a - from.a + to.b - from.b));
    std::vector<int> both;
    std::set_union(&inputs.a[0] + from.a, &inputs.a[0] + to.a, &inputs.b[0] + from.b,
                   &inputs.b[0] + to.b, std::back_inserter(both));
    slots.push_back(static_cast<int>(both.size()));
  }
  const DeviceBuffer<int> a = on_device(inputs.a);
  const DeviceBuffer<int> b = on_device(inputs.b);
  const auto found = experiments::part_sizes<int>(
      {a.data(), nullptr, a.count()}, {b.data(), nullptr, b.count()}, part_items, nullptr);
  EXPECT_EQ(found.parts, static_cast<std::int64_t>(elements.size()));
  EXPECT_EQ(found.least_elements, *std::min_element(elements.begin(), elements.end()));
  EXPECT_EQ(found.most_elements, *std::max_element(elements.begin(), elements.end()));
  EXPECT_EQ(found.least_slots, *std::min_element(slots.begin(), slots.end()));
  EXPECT_EQ(found.most_slots, *std::max_element(slots.begin(), slots.end()));
}

TEST(Parts, SizesOfTheOracleSCuts) {
  for (const Inputs& inputs : many_tiles(6'000)) {
    if (inputs.a.empty() || inputs.b.empty()) continue;
    for (const int part_items : {3, SetTuning::items, SetTuning::tile_items}) {
      expect_sizes(inputs, part_items);
    }
  }
}

// 11 elements a thread: 10 to 12 with a star, which if all are pairs are 5 slots.
TEST(Parts, FiguresOfTheSource) {
  std::vector<int> keys(5'000);
  std::iota(keys.begin(), keys.end(), 0);
  const DeviceBuffer<int> a = on_device(keys);
  const auto found = experiments::part_sizes<int>({a.data(), nullptr, a.count()},
                                                  {a.data(), nullptr, a.count()}, 11, nullptr);
  EXPECT_EQ(found.least_elements, 10);
  EXPECT_EQ(found.most_elements, 12);
  EXPECT_EQ(found.least_slots, 5);
  EXPECT_EQ(found.most_slots, 6);
}

struct CountedLess {
  unsigned long long* calls;
  __device__ bool operator()(int x, int y) const {
    atomicAdd(calls, 1ull);
    return x < y;
  }
};

/// How often the union of a with itself compares two keys.
std::int64_t comparisons(const std::vector<int>& keys, const Options& options) {
  const DeviceBuffer<int> a = on_device(keys);
  DeviceBuffer<int> out(2 * a.count());
  DeviceCount calls;
  calls.set_zero(nullptr);
  DeviceCount count;
  Workspace workspace;
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  set_union(InputSpan<int>{a.data(), a.count()}, {a.data(), a.count()}, out.span(), count,
            workspace, nullptr, CountedLess{reinterpret_cast<unsigned long long*>(calls.data())},
            options);
  EXPECT_EQ(count.get(nullptr), a.count());
  return calls.get(nullptr);
}

// Without range checks a thread goes through all of its iterations, and compares in those beyond
// its slots, too. The last tile has them always.
TEST(RangeChecks, AreInAllTilesOnRequest) {
  set_checked(false);  // which compares, too
  std::vector<int> keys(7 * SetTuning::tile_items);
  std::iota(keys.begin(), keys.end(), 0);
  for (const Variant variant : {Variant::count_scan_stream, Variant::compact}) {
    EXPECT_GT(comparisons(keys, {variant}), comparisons(keys, {variant, /*range_checks=*/true}) +
                                                static_cast<std::int64_t>(keys.size()));
  }
  set_checked(true);
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
