// Many searches on the device, against std::lower_bound of the whole array.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "../device_vectors.cuh"
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
  find_run_starts<Key, Index, Less>(device_keys.span(), device_positions.span(), starts.span(),
                                    stream, options, less);
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  std::vector<Index> found(positions.size());
  if (!found.empty()) {
    WARPATH_CUDA_CHECK(cudaMemcpy(found.data(), starts.data(), found.size() * sizeof(Index),
                                  cudaMemcpyDeviceToHost));
  }
  return found;
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
    key = keys.size() + 1000 < count ? static_cast<Key>(key + 1) : std::numeric_limits<Key>::max();
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
using AllTypes =
    testing::Types<Types<std::int32_t, std::int32_t>, Types<std::uint32_t, std::uint32_t>,
                   Types<float, std::int32_t>, Types<std::int64_t, std::int64_t>,
                   Types<std::uint64_t, std::int32_t>, Types<double, std::uint64_t>>;
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

TEST(RunStartsPreconditions, SizesOverlapsAndLevels) {
  DeviceBuffer<int> memory(100);
  const DeviceSpan<int> keys{memory.data(), 40};
  const DeviceSpan<int> positions{memory.data() + 40, 30};
  const DeviceSpan<int> starts{memory.data() + 70, 30};
  const auto call = [&](DeviceSpan<int> out, const Options& options = {}) {
    return message([&] { find_run_starts<int, int>(keys, positions, out, nullptr, options); });
  };
  EXPECT_THAT(call({starts.data, 29}),
              AllOf(HasSubstr("starts holds 29 elements"), HasSubstr("30 are needed")));
  EXPECT_THAT(call({starts.data - 1, 30}), HasSubstr("starts overlaps positions"));
  EXPECT_THAT(call({keys.data, 30}), HasSubstr("starts overlaps keys"));
  EXPECT_THAT(call(starts, {Variant::biased, 5}), HasSubstr("levels is 5: expected 1 to 4"));
  EXPECT_THAT(call(starts, {Variant::biased, 0}), HasSubstr("levels is 0: expected 1 to 4"));
}

TEST(RunStartsPreconditions, ACheckedBuildLooksAtTheData) {
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
