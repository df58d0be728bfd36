// Many searches on the device, against std::lower_bound of the whole array.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "biased_binary_search/biased_binary_search.cuh"
#include "biased_binary_search/oracle.hpp"
#include "core/buffer.cuh"

namespace warpath::biased_binary_search::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Options all_options[] = {{Variant::plain, 0},
                               {Variant::biased, 1},
                               {Variant::biased, 2},
                               {Variant::biased, 3},
                               {Variant::biased, 4}};

template <class Key, class Index, class Less = std::less<Key>>
std::vector<Index> starts_of(const std::vector<Key>& keys, const std::vector<Index>& positions,
                             const Options& options, Less less = {}) {
  const Stream stream;
  const DeviceBuffer<Key> device_keys = on_device(keys);
  const DeviceBuffer<Index> device_positions = on_device(positions);
  DeviceBuffer<Index> starts(device_positions.count());
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
  find_run_starts(device_keys.span(), device_positions.span(), starts.span(), stream, less,
                  options);
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<Index> found(positions.size());
  if (!found.empty()) {
    WARPATH_CUDA_CHECK(cudaMemcpy(found.data(), starts.data(), found.size() * sizeof(Index),
                                  cudaMemcpyDeviceToHost));
  }
  return found;
}

/// The next larger key; the largest stays what it is.
template <class Key>
Key next_key(Key key) {
  constexpr Key most = std::numeric_limits<Key>::max();
  if constexpr (std::is_floating_point_v<Key>) return std::nextafter(key, most);
  return key < most ? static_cast<Key>(key + 1) : most;
}

/// Runs of one length, or of any up to 2^length if `is_random`.
template <class Key>
std::vector<Key> keys_of_runs(std::size_t count, int length, bool is_random) {
  std::mt19937 random(7);
  std::vector<Key> keys;
  Key key = std::numeric_limits<Key>::lowest();
  while (keys.size() < count) {
    const std::size_t run = is_random ? std::size_t{1} << (random() % static_cast<unsigned>(length))
                                      : static_cast<std::size_t>(length);
    keys.insert(keys.end(), std::min(run, count - keys.size()), key);
    key = keys.size() + 1000 < count ? next_key(key) : std::numeric_limits<Key>::max();
  }
  return keys;
}

template <class T>
class RunStarts : public testing::Test {};
template <class Key_, class Index_>
struct Types {
  using Key = Key_;
  using Index = Index_;
};
using AllTypes = testing::Types<Types<std::int32_t, std::uint32_t>, Types<float, std::int32_t>,
                                Types<std::int64_t, std::int64_t>, Types<double, std::uint64_t>,
                                Types<std::int8_t, std::int32_t>>;
TYPED_TEST_SUITE(RunStarts, AllTypes);

TYPED_TEST(RunStarts, EveryPosition) {
  using Key = typename TypeParam::Key;
  using Index = typename TypeParam::Index;
  for (const int length : {1, 2, 13, 1000, 5000}) {
    const std::vector<Key> keys = keys_of_runs<Key>(3000, length, false);
    std::vector<Index> positions(keys.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<Index>(i);
    for (const Options& options : all_options) {
      EXPECT_EQ(starts_of(keys, positions, options), oracle::run_starts(keys, positions))
          << "runs of " << length << ", levels " << options.levels;
    }
  }
}

TYPED_TEST(RunStarts, RunsOfManyLengths) {
  using Key = typename TypeParam::Key;
  using Index = typename TypeParam::Index;
  const std::vector<Key> keys = keys_of_runs<Key>(60'000, 14, true);
  std::mt19937 random(3);
  std::vector<Index> positions(1000);
  for (Index& position : positions) position = static_cast<Index>(random() % keys.size());
  for (const Options& options : all_options) {
    EXPECT_EQ(starts_of(keys, positions, options), oracle::run_starts(keys, positions));
  }
}

TEST(RunStartsOf, OneKeyAndNone) {
  const std::vector<int> none;
  const std::vector<int> one = {5};
  const std::vector<int> first = {0};
  for (const Options& options : all_options) {
    EXPECT_EQ(starts_of(none, none, options), none);
    EXPECT_EQ(starts_of(one, first, options), first);
    EXPECT_EQ(starts_of(one, none, options), none);
  }
}

TEST(RunStartsOf, KeysThatFall) {
  const std::vector<int> keys = {9, 9, 4, 4, 4, 1};
  const std::vector<int> positions = {5, 4, 1, 0, 3};
  for (const Options& options : all_options) {
    EXPECT_EQ(starts_of(keys, positions, options, std::greater<int>{}),
              oracle::run_starts(keys, positions, std::greater<int>{}));
  }
}

std::string message(const std::function<void()>& act) {
  return message_of<std::invalid_argument>(act);
}

// Around a warp and a block, odd, and wherever keys, positions and starts begin.
TEST(RunStartsOf, SizesAndOffsets) {
  std::mt19937 random(5);
  const Stream stream;
  for (const std::size_t count : {1, 2, 31, 32, 33, 255, 256, 257, 1001}) {
    for (const std::int64_t offset : {0, 1, 3}) {
      std::vector<std::int32_t> keys = keys_of_runs<std::int32_t>(count, 5, true);
      keys.insert(keys.begin(), static_cast<std::size_t>(offset), 77);
      std::vector<std::int32_t> positions(static_cast<std::size_t>(offset));
      for (std::size_t i = 0; i < count; ++i) {
        positions.push_back(static_cast<std::int32_t>(random() % count));
      }
      const DeviceBuffer<std::int32_t> device_keys = on_device(keys);
      const DeviceBuffer<std::int32_t> device_positions = on_device(positions);
      Guarded<std::int32_t> starts(static_cast<std::int64_t>(count), static_cast<int>(offset));
      const auto rest = [&](const DeviceBuffer<std::int32_t>& all) {
        return DeviceSpan<const std::int32_t>{all.data() + offset, all.count() - offset};
      };
      keys.erase(keys.begin(), keys.begin() + offset);
      positions.erase(positions.begin(), positions.begin() + offset);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
      find_run_starts(rest(device_keys), rest(device_positions), starts.span(), stream);
      EXPECT_EQ(starts.get(), oracle::run_starts(keys, positions)) << count << ", " << offset;
    }
  }
}

// As for more positions than the largest grid has threads.
TEST(RunStartsOf, MorePositionsThanThreads) {
  const Stream stream;
  const std::vector<std::int32_t> keys = keys_of_runs<std::int32_t>(5 * 256 + 3, 4, true);
  std::vector<std::int32_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), 0);
  const DeviceBuffer<std::int32_t> device_keys = on_device(keys);
  const DeviceBuffer<std::int32_t> device_positions = on_device(positions);
  for (const unsigned blocks : {1u, 2u}) {
    Guarded<std::int32_t> starts(device_positions.count());
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
    detail::run_starts(device_keys.data(), device_positions.span(), starts.span().data, blocks, 4,
                       std::less<>{}, stream);
    EXPECT_EQ(starts.get(), oracle::run_starts(keys, positions)) << blocks << " blocks";
  }
}

/// Right arguments, each of which a test spoils.
class RunStartsPreconditions : public testing::Test {
 protected:
  RunStartsPreconditions() { WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), 0, 100 * sizeof(int))); }
  static std::string call(DeviceSpan<int> keys, DeviceSpan<int> positions, DeviceSpan<int> starts,
                          const Options& options = {}) {
    return message([&] {
      find_run_starts(keys, positions, starts, nullptr, options);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }
  DeviceBuffer<int> memory_{100};
  DeviceSpan<int> keys_{memory_.data(), 40};
  DeviceSpan<int> positions_{memory_.data() + 40, 30};
  DeviceSpan<int> starts_{memory_.data() + 70, 30};
};

TEST_F(RunStartsPreconditions, SizesOverlapsAndLevels) {
  EXPECT_EQ(call(keys_, positions_, starts_), "nothing");
  EXPECT_THAT(call(keys_, positions_, {starts_.data, 29}),
              AllOf(HasSubstr("starts holds 29 elements"), HasSubstr("30 are needed")));
  EXPECT_THAT(call(keys_, positions_, {starts_.data - 1, 30}),
              HasSubstr("starts overlaps positions"));
  EXPECT_THAT(call(keys_, positions_, {keys_.data, 30}), HasSubstr("starts overlaps keys"));
  for (const int levels : {-1, 0, 5}) {
    const std::string expected = "levels is " + std::to_string(levels) + ": expected 1 to 4";
    EXPECT_EQ(call(keys_, positions_, starts_, {Variant::biased, levels}), expected);
    EXPECT_EQ(call({}, {}, {}, {Variant::biased, levels}), expected);
  }
}

TEST_F(RunStartsPreconditions, NegativeCountsAndNull) {
  EXPECT_EQ(call({keys_.data, -1}, positions_, starts_),
            "keys has -1 elements: expected 0 or more");
  EXPECT_EQ(call(keys_, {positions_.data, -2}, starts_),
            "positions has -2 elements: expected 0 or more");
  EXPECT_EQ(call(keys_, positions_, {starts_.data, -3}),
            "starts has -3 elements: expected 0 or more");
  EXPECT_THAT(call({nullptr, 40}, positions_, starts_), HasSubstr("keys is null"));
  EXPECT_THAT(call(keys_, {nullptr, 30}, starts_), HasSubstr("positions is null"));
  EXPECT_THAT(call(keys_, positions_, {nullptr, 30}), HasSubstr("starts is null"));
}

// Whether checks are on or not: a position needs a key.
TEST_F(RunStartsPreconditions, PositionsWithoutKeys) {
  for (const bool is_on : {true, false}) {
    set_checked(is_on);
    EXPECT_EQ(call({keys_.data, 0}, positions_, starts_),
              "positions has 30 elements: expected none, since there are no keys");
  }
  set_checked(true);
  EXPECT_EQ(call({}, {}, {}), "nothing");
}

TEST_F(RunStartsPreconditions, UnknownVariant) {
  for (const int number : {-1, 2, 9}) {
    const Options options{static_cast<Variant>(number), 4};
    const std::string expected = "variant is " + std::to_string(number) +
                                 ", which is not a value of its type: expected one of "
                                 "biased, plain";
    EXPECT_EQ(call(keys_, positions_, starts_, options), expected);
    EXPECT_EQ(call({}, {}, {}, options), expected);
  }
}

TEST(RunStartsChecks, LookAtTheData) {
  const auto call = [](const std::vector<float>& keys, const std::vector<int>& positions) {
    return message([&] { starts_of(keys, positions, {}); });
  };
  EXPECT_EQ(call({1, 2, 2, 3}, {0, 3}), "nothing");
  EXPECT_THAT(call({1, 3, 2, 1}, {0}), HasSubstr("keys[2] comes before keys[1]"));
  EXPECT_THAT(call({1, NAN, 2}, {0}), HasSubstr("keys[1] is NaN"));
  EXPECT_THAT(call({1, 2}, {0, 1, 2}), HasSubstr("positions[2] is no index: expected 0 to 1"));
  EXPECT_THAT(call({1, 2}, {0, -1}), HasSubstr("positions[1] is no index"));
}

}  // namespace
}  // namespace warpath::biased_binary_search::test
