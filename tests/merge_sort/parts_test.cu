// The kernels' parts, each alone: the sorting networks, merges in shared memory, the partition of
// up to 32 runs.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "../test_size.hpp"
#include "core/launch.cuh"
#include "merge_sort/dispatch.cuh"
#include "merge_sort/items.cuh"
#include "merge_sort/orders.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

using Item = detail::Item<int, int>;
using Order = detail::ByKey<int, int, std::less<>>;
using Pairs = detail::Columns<int, int>;

// ---------------------------------------------------------------- networks

/// A network sorts all inputs if it sorts those of zeros and ones.
template <int Items, bool is_stable>
void expect_network_sorts() {
  constexpr auto network = detail::sorting_network<Items, is_stable>();
  for (unsigned bits = 0; bits < 1u << Items; ++bits) {
    unsigned sorted = bits;
    for (const auto [low, high] : network) {
      ASSERT_LT(low, high);
      if (is_stable) {
        ASSERT_EQ(low + 1, high);
      }
      // A one at `low` and a zero at `high` are exchanged.
      if ((sorted >> low & 1) > (sorted >> high & 1)) sorted ^= 1u << low | 1u << high;
    }
    const int ones = std::popcount(bits);
    ASSERT_EQ(sorted, ((1u << ones) - 1) << (Items - ones)) << Items << " items: " << bits;
  }
}
TEST(SortingNetworks, SortZerosAndOnes) {
  expect_network_sorts<1, false>();
  expect_network_sorts<2, false>();
  expect_network_sorts<3, false>();
  expect_network_sorts<7, false>();
  expect_network_sorts<8, false>();
  expect_network_sorts<15, false>();
  expect_network_sorts<16, false>();
  expect_network_sorts<1, true>();
  expect_network_sorts<2, true>();
  expect_network_sorts<5, true>();
  expect_network_sorts<8, true>();
  expect_network_sorts<16, true>();
}
TEST(SortingNetworks, HaveTheFewestComparisonsOfTheirKind) {
  static_assert(detail::sorting_network<16, false>().size() == 63);
  static_assert(detail::sorting_network<16, true>().size() == 120);
}

// ---------------------------------------------------------------- runs

std::vector<int> random_numbers(std::size_t count, unsigned distinct, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> numbers(count);
  for (int& number : numbers) number = static_cast<int>(random() % distinct);
  return numbers;
}

/// Sorts the parts of `keys` that end at `ends`; the values number the result.
oracle::Pairs<int, int> runs_of(const std::vector<int>& keys, const std::vector<int>& ends) {
  oracle::Pairs<int, int> runs{keys, numbered<int>(keys.size())};
  int begin = 0;
  for (const int end : ends) {
    std::sort(runs.keys.begin() + begin, runs.keys.begin() + end);
    begin = end;
  }
  return runs;
}

using Shape = MergeTileShape<64, 3, 32>;
struct BlockStorage {
  detail::SharedTile<Item, Shape> tile;
  int begins[33];
};

template <LowLevelMerge low_level>
__global__ void merge_tile_kernel(Pairs in, const int* begins, int runs) {
  auto& shared = dynamic_shared<BlockStorage>();
  const int thread = static_cast<int>(threadIdx.x);
  const int count = begins[runs];
  if (thread <= runs) shared.begins[thread] = begins[thread];
  for (int i = thread; i < count; i += Shape::threads) shared.tile[i] = in.load(i);
  detail::block_fill_end(shared.tile, count, in.load(0));
  __syncthreads();
  for (int stride = 1; stride < runs; stride *= 2) {
    const detail::AnyRuns any{shared.begins, stride, runs / stride, count};
    detail::block_merge<low_level>(shared.tile, any, Order{});
  }
  for (int i = thread; i < count; i += Shape::threads) in.store(i, shared.tile[i]);
}

// Runs of any lengths, many of them empty.
TEST(BlockMerge, MergesAnyRuns) {
  std::mt19937 random(1);
  for (int round = 0; round < (is_small() ? 60 : 300); ++round) {
    const int runs = 1 << random() % 6;
    std::vector<int> begins{0};
    for (int run = 0; run < runs; ++run) {
      const int left = Shape::tile_items - begins.back();
      int length = random() % 3 == 0 ? 0 : static_cast<int>(random() % 20);
      if (random() % 16 == 0) length = left;
      begins.push_back(begins.back() + std::min(left, length));
    }
    const int count = begins.back();
    if (count == 0) continue;
    const auto keys = random_numbers(static_cast<std::size_t>(count), round % 2 == 0 ? 4 : 1000,
                                     static_cast<unsigned>(round));
    const auto input = runs_of(keys, {begins.begin() + 1, begins.end()});
    const auto expected = oracle::sort_pairs(input.keys, input.values, std::less<>{});
    const DeviceBuffer<int> device_begins = on_device(begins);
    for (const LowLevelMerge low_level : {LowLevelMerge::merge_path, LowLevelMerge::rank_search}) {
      SCOPED_TRACE(std::to_string(count) + " items in " + std::to_string(runs) + " runs, " +
                   std::string(enum_name(low_level)));
      InPlace<int> sorted_keys(input.keys);
      InPlace<int> sorted_values(input.values);
      const Pairs columns{sorted_keys.span().data, sorted_values.span().data};
      const auto kernel = low_level == LowLevelMerge::merge_path
                              ? merge_tile_kernel<LowLevelMerge::merge_path>
                              : merge_tile_kernel<LowLevelMerge::rank_search>;
      launch({1, Shape::threads, sizeof(BlockStorage)}, kernel, columns, device_begins.data(),
             runs);
      sorted_keys.expect("key", expected.keys);
      sorted_values.expect("value", expected.values);
    }
  }
}

/// The items of a group, in the order of its merge.
std::vector<std::int64_t> merged_order(const std::vector<int>& keys, std::int64_t begin,
                                       std::int64_t end) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = begin; i < end; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

/// Expects each tile's positions to be how many of the first items of its group's merge come from
/// each run: of as many items as all tiles before it should have, give or take the slack.
void expect_exact(const std::vector<std::int64_t>& found, const std::vector<int>& keys,
                  const detail::RunGroups& runs) {
  std::size_t next = 0;
  for (std::int64_t group = 0; group < runs.n; group += runs.run_items * runs.ways) {
    const std::int64_t end = std::min(runs.n, group + runs.run_items * runs.ways);
    const auto order = merged_order(keys, group, end);
    for (std::int64_t rank = 0; rank < end - group; rank += runs.tile_items) {
      const std::vector<std::int64_t> positions(
          found.begin() + static_cast<std::ptrdiff_t>(next),
          found.begin() + static_cast<std::ptrdiff_t>(next) + runs.ways);
      next += static_cast<std::size_t>(runs.ways);
      const std::int64_t items =
          std::accumulate(positions.begin(), positions.end(), std::int64_t{0});
      ASSERT_LE(std::abs(items - rank), rank == 0 ? 0 : runs.slack) << "tile at " << rank;
      std::vector<std::int64_t> expected(static_cast<std::size_t>(runs.ways));
      for (std::int64_t i = 0; i < items; ++i) {
        const std::int64_t run = (order[static_cast<std::size_t>(i)] - group) / runs.run_items;
        ++expected[static_cast<std::size_t>(run)];
      }
      ASSERT_EQ(positions, expected) << "tile at " << rank;
    }
  }
  EXPECT_EQ(next, found.size());
}

template <class Word>
void expect_positions(const std::vector<int>& keys, std::int64_t run_items, int ways,
                      int tile_items, int slack) {
  using Keys = detail::Columns<int, detail::NoValue>;
  const auto n = static_cast<std::int64_t>(keys.size());
  std::vector<int> ends;
  for (std::int64_t end = run_items; end < n + run_items; end += run_items) {
    ends.push_back(static_cast<int>(std::min(end, n)));
  }
  const std::vector<int> runs = runs_of(keys, ends).keys;
  DeviceBuffer<int> device_keys = on_device(runs);
  const detail::RunGroups groups{n, run_items, ways, tile_items, slack};
  const std::int64_t tiles = groups.tiles();
  const detail::ByKey<int, detail::NoValue, std::less<>> less{};
  for (const bool is_multiway : {true, false}) {
    if (!is_multiway && ways != 2) continue;
    SCOPED_TRACE(is_multiway ? "a warp a tile" : "a thread a tile");
    Guarded<Word> found(tiles * ways);
    const auto kernel = is_multiway ? detail::find_multiway_positions_kernel<Keys, decltype(less)>
                                    : detail::find_positions_kernel<Keys, decltype(less)>;
    const unsigned blocks = static_cast<unsigned>(is_multiway ? tiles / 2 + 1 : tiles / 64 + 1);
    launch({blocks, 64}, kernel, Keys{device_keys.data(), nullptr}, groups, tiles, less,
           detail::Positions{found.span().data, sizeof(Word) == 8});
    const std::vector<Word> words = found.get();
    expect_exact({words.begin(), words.end()}, runs, groups);
  }
}

TEST(Partition, IsExactAndStable) {
  std::mt19937 random(2);
  for (int round = 0; round < (is_small() ? 40 : 200); ++round) {
    const int ways = 2 << random() % 5;
    const int tile_items = 1 + static_cast<int>(random() % 40);
    const int slack =
        round % 4 == 0 ? 0
                       : static_cast<int>(random() % (static_cast<unsigned>(tile_items) / 2 + 1));
    const std::int64_t run_items = 1 + static_cast<std::int64_t>(random() % 300);
    const std::size_t n = 1 + random() % 1500;
    const auto keys = random_numbers(n,
                                     round % 3 == 0   ? 2
                                     : round % 3 == 1 ? 30
                                                      : 100'000,
                                     static_cast<unsigned>(round));
    SCOPED_TRACE(std::to_string(n) + " keys, " + std::to_string(ways) + " runs of " +
                 std::to_string(run_items) + ", tiles of " + std::to_string(tile_items));
    if (round % 2 == 0) {
      expect_positions<std::uint32_t>(keys, run_items, ways, tile_items, slack);
    } else {
      expect_positions<std::int64_t>(keys, run_items, ways, tile_items, slack);
    }
    if (HasFailure()) return;
  }
}

TEST(Partition, OfEqualKeysTakesRunAfterRun) {
  for (const int ways : {2, 4, 32}) {
    expect_positions<std::uint32_t>(std::vector<int>(777, 4), 24, ways, 8, 0);
    expect_positions<std::uint32_t>(std::vector<int>(777, 4), 24, ways, 8, 3);
  }
}

}  // namespace
}  // namespace warpath::merge_sort::test
