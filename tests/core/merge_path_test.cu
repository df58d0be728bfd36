// Merge path on every cross-diagonal, against what std::merge takes from each input.
#include <algorithm>
#include <bit>
#include <functional>

#include "../test_size.hpp"
#include "core/launch.cuh"
#include "core/merge_path.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

/// A key and what must not be looked at when keys are compared.
struct Item {
  int key;
  bool is_from_a;
};

struct KeyLess {
  __host__ __device__ bool operator()(const Item& x, const Item& y) const { return x.key < y.key; }
};
struct KeyGreater {
  __host__ __device__ bool operator()(const Item& x, const Item& y) const { return x.key > y.key; }
};

/// For each cross-diagonal of the stable merge, how many elements come from a.
template <class Less>
std::vector<std::int64_t> oracle(const std::vector<Item>& a, const std::vector<Item>& b,
                                 Less less) {
  std::vector<Item> merged(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin(), less);
  std::vector<std::int64_t> from_a{0};
  for (const Item& item : merged) from_a.push_back(from_a.back() + (item.is_from_a ? 1 : 0));
  return from_a;
}

template <class Index, class Less>
__global__ void diagonals_kernel(const Item* a, Index a_count, const Item* b, Index b_count,
                                 Index* from_a, Less less) {
  const Index diagonal = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (diagonal <= a_count + b_count) {
    from_a[diagonal] = merge_path(a, a_count, b, b_count, diagonal, less);
  }
}

template <class Index, class Less>
void expect_paths(const std::vector<Item>& a, const std::vector<Item>& b, Less less,
                  bool on_the_device) {
  const std::vector<std::int64_t> expected = oracle(a, b, less);
  const auto a_count = static_cast<Index>(a.size());
  const auto b_count = static_cast<Index>(b.size());
  std::vector<Index> found(expected.size());
  for (std::size_t diagonal = 0; diagonal < expected.size(); ++diagonal) {
    found[diagonal] =
        merge_path(a.data(), a_count, b.data(), b_count, static_cast<Index>(diagonal), less);
  }
  EXPECT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), expected) << "on the host";
  if (!on_the_device) return;

  const DeviceBuffer<Item> device_a = on_device(a);
  const DeviceBuffer<Item> device_b = on_device(b);
  DeviceBuffer<Index> device_found(static_cast<std::int64_t>(expected.size()));
  launch({static_cast<unsigned>(expected.size() / 64 + 1), 64}, diagonals_kernel<Index, Less>,
         device_a.data(), a_count, device_b.data(), b_count, device_found.data(), less);
  found = on_host(device_found);
  EXPECT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), expected) << "on the device";
}

/// All index types, up and down.
void expect_paths(const std::vector<int>& a_keys, const std::vector<int>& b_keys,
                  bool on_the_device = true) {
  std::vector<Item> a;
  std::vector<Item> b;
  for (const int key : a_keys) a.push_back({key, true});
  for (const int key : b_keys) b.push_back({key, false});
  expect_paths<int>(a, b, KeyLess{}, on_the_device);
  expect_paths<unsigned>(a, b, KeyLess{}, on_the_device);
  expect_paths<std::int64_t>(a, b, KeyLess{}, on_the_device);
  std::reverse(a.begin(), a.end());
  std::reverse(b.begin(), b.end());
  expect_paths<int>(a, b, KeyGreater{}, on_the_device);
  expect_paths<std::int64_t>(a, b, KeyGreater{}, on_the_device);
}

std::vector<int> sorted_keys(std::mt19937_64& random, std::size_t count, int distinct) {
  std::uniform_int_distribution<int> key(0, distinct - 1);
  std::vector<int> keys(count);
  std::generate(keys.begin(), keys.end(), [&] { return key(random); });
  std::sort(keys.begin(), keys.end());
  return keys;
}

struct Case {
  const char* name;
  std::vector<int> a, b;
};
const Case cases[] = {
    {"both empty", {}, {}},
    {"a empty", {}, {1, 2, 2, 3}},
    {"b empty", {1, 2, 2, 3}, {}},
    {"one each, a first", {1}, {2}},
    {"one each, b first", {2}, {1}},
    {"one each, equal: a first", {1}, {1}},
    {"all equal", std::vector<int>(40, 7), std::vector<int>(33, 7)},
    {"all of a before b", {1, 2, 3, 4, 5}, {6, 7, 8}},
    {"all of b before a", {6, 7, 8}, {1, 2, 3, 4, 5}},
    {"alternating", {0, 2, 4, 6, 8}, {1, 3, 5, 7, 9}},
    {"runs of duplicates that touch", {1, 1, 1, 2, 2, 2}, {1, 1, 2, 2, 3, 3}},
    {"one among many", {50}, std::vector<int>(100, 50)},
    {"many around one", std::vector<int>(100, 50), {50}},
};

TEST(MergePath, OfSpecialInputs) {
  for (const auto& [name, a, b] : cases) {
    SCOPED_TRACE(name);
    expect_paths(a, b);
  }
}

// All pairs of sorted lists of up to four keys out of three.
TEST(MergePath, OfAllSmallInputs) {
  std::vector<std::vector<int>> lists{{}};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].size() == 4) continue;
    for (int key = lists[i].empty() ? 0 : lists[i].back(); key < 3; ++key) {
      lists.push_back(lists[i]);
      lists.back().push_back(key);
    }
  }
  ASSERT_EQ(lists.size(), 35u);  // 1 + 3 + 6 + 10 + 15
  for (const std::vector<int>& a : lists) {
    for (const std::vector<int>& b : lists) {
      SCOPED_TRACE(testing::PrintToString(a) + " with " + testing::PrintToString(b));
      expect_paths(a, b, false);
    }
  }
}

TEST(MergePath, OfRandomInputs) {
  for (std::uint64_t seed = 1; seed <= (is_small() ? 6 : 30); ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t a_count = random() % 300;
    const std::size_t b_count = random() % 300;
    const int distinct = 1 + static_cast<int>(random() % (seed % 2 == 0 ? 10 : 1000));
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<int> a = sorted_keys(random, a_count, distinct);
    expect_paths(a, sorted_keys(random, b_count, distinct));
  }
}

// Enough for three rounds of a warp's search.
TEST(MergePath, OfLargeInputsByWarps) {
  std::mt19937_64 random(1);
  const std::size_t count = is_small() ? 2000 : 20'000;
  std::vector<Item> a;
  std::vector<Item> b;
  for (const int key : sorted_keys(random, count, 5000)) a.push_back({key, true});
  for (const int key : sorted_keys(random, count + 77, 5000)) b.push_back({key, false});
  expect_paths<std::int64_t>(a, b, KeyLess{}, true);
}

struct CountingLess {
  int* comparisons;
  __host__ __device__ bool operator()(int x, int y) const {
    ++*comparisons;
    return x < y;
  }
};

TEST(MergePath, TakesAsManyStepsAsItPromises) {
  std::mt19937_64 random(1);
  for (const auto& [a_count, b_count] : {std::pair{1000, 3}, {3, 1000}, {500, 500}, {1, 1}}) {
    SCOPED_TRACE(std::to_string(a_count) + " with " + std::to_string(b_count));
    const std::vector<int> a = sorted_keys(random, a_count, 100);
    const std::vector<int> b = sorted_keys(random, b_count, 100);
    const int most = std::bit_width(static_cast<unsigned>(std::min(a_count, b_count)));
    for (int diagonal = 0; diagonal <= a_count + b_count; ++diagonal) {
      int comparisons = 0;
      merge_path(a.data(), a_count, b.data(), b_count, diagonal, CountingLess{&comparisons});
      ASSERT_LE(comparisons, most) << "diagonal " << diagonal;
    }
  }
}

template <int Most>
void expect_bounded() {
  SCOPED_TRACE("at most " + std::to_string(Most));
  std::mt19937_64 random(Most);
  for (int round = 0; round < 20; ++round) {
    const auto a_count = static_cast<int>(round < 2 ? Most : random() % (Most + 1));
    const auto b_count = static_cast<int>(random() % 200);
    const int distinct = 1 + static_cast<int>(random() % (round % 2 == 0 ? 3 : 300));
    const std::vector<int> a = sorted_keys(random, static_cast<std::size_t>(a_count), distinct);
    const std::vector<int> b = sorted_keys(random, static_cast<std::size_t>(b_count), distinct);
    const auto less = std::less<int>{};
    for (int diagonal = 0; diagonal <= a_count + b_count; ++diagonal) {
      ASSERT_EQ(bounded_merge_path<Most>(a.data(), a_count, b.data(), b_count, diagonal, less),
                merge_path(a.data(), a_count, b.data(), b_count, diagonal, less))
          << "diagonal " << diagonal << " of " << a_count << " + " << b_count;
    }
  }
}

// Powers of two and their neighbours: every number of steps, and all sums of them.
TEST(MergePath, BoundedIsTheSame) {
  expect_bounded<1>();
  expect_bounded<2>();
  expect_bounded<3>();
  expect_bounded<31>();
  expect_bounded<32>();
  expect_bounded<33>();
  expect_bounded<321>();
}

}  // namespace
}  // namespace warpath::core_test
