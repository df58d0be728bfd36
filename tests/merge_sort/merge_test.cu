// Merges of runs that lie anywhere: whole, and by slices; and where they are cut.
#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <random>

#include "../message_of.hpp"
#include "../test_size.hpp"
#include "merge_sort/merge.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

using Small = MergeTileShape<64, 2, 32>;
using Padded = MergeTileShape<64, 4, 8>;
using Slack = MergeTileShape<64, 4, 8, 0, 16>;  // a tile may begin 15 items early, or late

/// Runs in memory of their own, and what they are merged to. A key's value is its number.
template <class K, class Less>
class Runs {
 public:
  using V = std::uint32_t;

  /// Run r is of the next sizes[r] numbers.
  Runs(const std::vector<int>& numbers, const std::vector<std::int64_t>& sizes, Less less) {
    std::size_t next = 0;
    for (const std::int64_t size : sizes) {
      std::vector<K> keys;
      std::vector<V> values;
      for (std::int64_t i = 0; i < size; ++i) {
        keys.push_back(static_cast<K>(numbers[next]));
        values.push_back(static_cast<V>(next++));
      }
      auto sorted = oracle::sort_pairs(keys, values, less);
      all_keys_.insert(all_keys_.end(), sorted.keys.begin(), sorted.keys.end());
      all_values_.insert(all_values_.end(), sorted.values.begin(), sorted.values.end());
      run_of_.resize(all_keys_.size(), static_cast<int>(keys_.size()));
      keys_.push_back(on_device(sorted.keys));
      values_.push_back(on_device(sorted.values));
    }
    const auto order = oracle::stable_order(all_keys_, less);
    for (const std::size_t i : order) {
      merged_.keys.push_back(all_keys_[i]);
      merged_.values.push_back(all_values_[i]);
      merged_run_.push_back(run_of_[i]);
    }
  }

  [[nodiscard]] std::int64_t total() const { return static_cast<std::int64_t>(all_keys_.size()); }
  [[nodiscard]] std::vector<DeviceSpan<const K>> key_runs() const {
    std::vector<DeviceSpan<const K>> runs;
    for (const DeviceBuffer<K>& keys : keys_) runs.push_back({keys.data(), keys.count()});
    return runs;
  }
  [[nodiscard]] std::vector<PairRun<K, V>> pair_runs() const {
    std::vector<PairRun<K, V>> runs;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      runs.push_back(
          {{keys_[i].data(), keys_[i].count()}, {values_[i].data(), values_[i].count()}});
    }
    return runs;
  }
  [[nodiscard]] oracle::Pairs<K, V> merged(std::int64_t first, std::int64_t count) const {
    const auto part = [&](const auto& all) {
      return std::vector(all.begin() + first, all.begin() + first + count);
    };
    return {part(merged_.keys), part(merged_.values)};
  }
  /// How many of the first `rank` of what is merged are of a run.
  [[nodiscard]] std::int64_t before(std::int64_t rank, int run) const {
    return std::count(merged_run_.begin(), merged_run_.begin() + rank, run);
  }

 private:
  std::deque<DeviceBuffer<K>> keys_;
  std::deque<DeviceBuffer<V>> values_;
  std::vector<K> all_keys_;
  std::vector<V> all_values_;
  std::vector<int> run_of_;
  oracle::Pairs<K, V> merged_;
  std::vector<int> merged_run_;
};

/// Sizes of `count` runs, `total` in all: some without items, and one of more than half.
std::vector<std::int64_t> uneven(int count, std::int64_t total, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), 0);
  std::int64_t left = total;
  for (std::int64_t& size : sizes) {
    size = random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % (left / 2 + 1));
    left -= size;
  }
  sizes[random() % sizes.size()] += left;
  return sizes;
}

/// An output that streams which do not wait for the default stream may write.
template <class T>
class Output : public Guarded<T> {
 public:
  explicit Output(std::int64_t count, int offset = 0) : Guarded<T>(count, offset) {
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  }
};

class Merge : public testing::Test {
 protected:
  /// Merges a slice in all ways, and expects what the oracle has.
  template <class Shape, class K, class Less>
  void expect_slice(const Runs<K, Less>& runs, std::int64_t first, std::int64_t count, Less less) {
    using V = std::uint32_t;
    const auto expected = runs.merged(first, count);
    {
      detail::RunsToMerge<K, V> collected("runs", runs.pair_runs().size());
      for (const auto& run : runs.pair_runs()) collected.add(run.keys, run.values);
      Output<K> keys(count, 1);
      Output<V> values(count, 3);
      if (count > 0) {
        detail::merge_slice<Shape>(
            collected.runs(), detail::Columns<K, V>{keys.span().data, values.span().data}, first,
            count, detail::ByKey<K, V, Less>{less}, workspace_, stream_);
      }
      EXPECT_EQ(keys.get(), expected.keys);
      EXPECT_EQ(values.get(), expected.values);
    }
    Output<K> keys(count, 2);
    merge_keys(runs.key_runs(), first, keys.span(), workspace_, stream_, less);
    EXPECT_EQ(keys.get(), expected.keys);
    Output<V> values(count, 1);
    merge_pairs<K, V>(runs.pair_runs(), first, keys.span(), values.span(), workspace_, stream_,
                      less);
    EXPECT_EQ(keys.get(), expected.keys);
    EXPECT_EQ(values.get(), expected.values);
  }

  Stream stream_;
  Workspace workspace_;
};

TEST_F(Merge, OfRunsOfAnySizes) {
  for (const std::int64_t n : {1, 2, 63, 130, is_small() ? 400 : 3001}) {
    for (const Arrangement& arrangement : arrangements(n, 70, static_cast<unsigned>(n))) {
      for (const int count : {1, 2, 3, 5, 8, 31, 32}) {
        SCOPED_TRACE(std::to_string(n) + " keys, " + arrangement.name +
                     ", runs: " + std::to_string(count));
        const auto seed = static_cast<unsigned>(n + count);
        const Runs<float, std::less<>> runs(arrangement.numbers, uneven(count, n, seed), {});
        expect_slice<Small>(runs, 0, n, std::less<>{});
        if (count <= 8) expect_slice<Padded>(runs, n / 3, n / 2, std::less<>{});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Merge, OfSlicesThatMeet) {
  const std::int64_t n = is_small() ? 300 : 1500;
  for (const Arrangement& arrangement : arrangements(n, 100, 7)) {
    const Runs<std::int64_t, std::greater<>> runs(arrangement.numbers, uneven(6, n, 3), {});
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, n / 3, n - 1, n}) {
      for (const std::int64_t count :
           {std::int64_t{0}, std::int64_t{1}, (n - first) / 2, n - first}) {
        if (count > n - first) continue;
        SCOPED_TRACE(arrangement.name + ", from " + std::to_string(first) + " on " +
                     std::to_string(count));
        expect_slice<Small>(runs, first, count, std::greater<>{});
        if (HasFailure()) return;
      }
    }
  }
}

// A tile that begins late must not begin after the slice's end, nor one that begins early before
// it.
TEST_F(Merge, OfSlicesWhoseLastTileIsShorterThanTheSlack) {
  static_assert(Slack::slack == 15);
  for (const int left : {1, 4, 9, 14}) {
    const std::int64_t count = 2 * Slack::aimed_items + left;
    for (unsigned seed = 0; seed < (is_small() ? 4 : 20); ++seed) {
      std::mt19937 random(seed);
      std::vector<int> numbers(1500);
      for (int& number : numbers) number = static_cast<int>(random() % 1'000'000);
      const Runs<float, std::less<>> runs(numbers, uneven(6, 1500, seed), {});
      for (const std::int64_t first : {0, 200, 1000}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", from " + std::to_string(first) + " on " +
                     std::to_string(count));
        expect_slice<Slack>(runs, first, count, std::less<>{});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Merge, IsCutWhereItSays) {
  const std::int64_t n = 700;
  for (const Arrangement& arrangement : arrangements(n, 100, 9)) {
    const Runs<int, std::less<>> runs(arrangement.numbers, uneven(7, n, 5), {});
    const std::vector<std::int64_t> ranks = {0, 350, n, 1, n - 1, 100};
    Output<std::int64_t> positions(static_cast<std::int64_t>(7 * ranks.size()), 1);
    const auto key_runs = runs.key_runs();
    find_splits<int>(key_runs, ranks, positions.span(), stream_);
    const auto found = positions.get();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (int run = 0; run < 7; ++run) {
        EXPECT_EQ(found[7 * i + static_cast<std::size_t>(run)], runs.before(ranks[i], run))
            << arrangement.name << ", rank " << ranks[i] << ", run " << run;
      }
    }
  }
}

TEST_F(Merge, OfNothing) {
  Output<int> to(0);
  merge_keys({}, 0, to.span(), workspace_, stream_);
  Output<std::int64_t> positions(2);
  const std::vector<DeviceSpan<const int>> empty(2);
  find_splits<int>(empty, std::vector<std::int64_t>{0}, positions.span(), stream_);
  EXPECT_EQ(positions.get(), (std::vector<std::int64_t>{0, 0}));
}

TEST_F(Merge, OfRunsOnAnotherDevice) {
  int devices = 0;
  int has_access = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices > 1) WARPATH_CUDA_CHECK(cudaDeviceCanAccessPeer(&has_access, 0, 1));
  if (has_access == 0) GTEST_SKIP() << "needs two devices with access to each other";
  const std::vector<int> own = {1, 4, 4, 9};
  const std::vector<int> others = {0, 4, 5, 10, 11};
  const DeviceBuffer<int> here = on_device(own);
  int* there = nullptr;
  WARPATH_CUDA_CHECK(cudaSetDevice(1));
  WARPATH_CUDA_CHECK(cudaMalloc(&there, others.size() * sizeof(int)));
  WARPATH_CUDA_CHECK(
      cudaMemcpy(there, others.data(), others.size() * sizeof(int), cudaMemcpyHostToDevice));
  WARPATH_CUDA_CHECK(cudaSetDevice(0));
  WARPATH_CUDA_CHECK(cudaDeviceEnablePeerAccess(1, 0));
  const std::vector<DeviceSpan<const int>> runs = {here.span(), {there, 5}};
  Output<int> to(6);
  merge_keys(runs, 2, to.span(), workspace_, stream_);
  EXPECT_EQ(to.get(), (std::vector<int>{4, 4, 4, 5, 9, 10}));
  WARPATH_CUDA_CHECK(cudaDeviceDisablePeerAccess(1));
  WARPATH_CUDA_CHECK(cudaSetDevice(1));
  WARPATH_CUDA_CHECK(cudaFree(there));
  WARPATH_CUDA_CHECK(cudaSetDevice(0));
}

TEST_F(Merge, RefusesWhatCannotBe) {
  const DeviceBuffer<int> keys = on_device(std::vector<int>{1, 2, 3, 4});
  const std::vector<DeviceSpan<const int>> runs = {keys.span()};
  DeviceBuffer<int> to(5);
  const auto merged = [&](const auto& of, std::int64_t first, DeviceSpan<int> out) {
    return message_of<std::invalid_argument>(
        [&] { merge_keys(of, first, out, workspace_, stream_); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(merged(runs, -1, to.span()), HasSubstr("first is -1: expected 0 to 4"));
  EXPECT_THAT(merged(runs, 5, to.span()), HasSubstr("first is 5: expected 0 to 4"));
  EXPECT_THAT(merged(runs, 0, to.span()), HasSubstr("to holds 5 elements: expected at most 4"));
  EXPECT_THAT(merged(runs, 1, {to.data(), 4}), HasSubstr("expected at most 3"));
  EXPECT_THAT(merged(std::vector<DeviceSpan<const int>>(33, keys.span()), 0, {to.data(), 1}),
              HasSubstr("runs has 33 runs: expected at most 32"));
  EXPECT_THAT(merged(std::vector<DeviceSpan<const int>>{{nullptr, 4}}, 0, {to.data(), 1}),
              HasSubstr("runs[0].keys is null"));
  EXPECT_THAT(merged(runs, 0, {const_cast<int*>(keys.data()) + 3, 1}),
              HasSubstr("to overlaps runs"));
  const std::vector<PairRun<int, int>> pairs = {{keys.span(), {keys.data(), 3}}};
  EXPECT_THAT(
      message_of<std::invalid_argument>([&] {
        merge_pairs<int, int>(pairs, 0, {to.data(), 1}, {to.data() + 1, 1}, workspace_, stream_);
      }),
      HasSubstr("runs[0].values has 3 elements: expected 4"));
  DeviceBuffer<std::int64_t> positions(1);
  const auto split = [&](const std::vector<std::int64_t>& ranks) {
    return message_of<std::invalid_argument>(
        [&] { find_splits<int>(runs, ranks, positions.span(), stream_); });
  };
  EXPECT_THAT(split({1, 2}), HasSubstr("positions holds 1 elements: 2 are needed"));
  EXPECT_THAT(split({5}), HasSubstr("ranks[0] is 5: expected 0 to 4"));
}

}  // namespace
}  // namespace warpath::merge_sort::test
