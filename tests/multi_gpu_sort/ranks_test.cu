// Sorts of ranks that are threads, each with a device, as many of them real as there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "../test_size.hpp"
#include "arrays.hpp"
#include "multi_gpu_sort/oracle.hpp"
#include "multi_gpu_sort/ranks/rank_sort.cuh"
#include "multi_gpu_sort/ranks/thread_transport.cuh"

namespace warpath::multi_gpu_sort::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Longer than any rank here takes, on any machine.
constexpr std::chrono::seconds never{120};

/// Calls act(transport) on each rank, in a thread of its own with a device of its own. Returns what
/// each of them throws; "nothing" if it does not.
template <class Act>
std::vector<std::string> on_ranks(int ranks, std::chrono::milliseconds deadline, const Act& act) {
  int devices = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&devices));
  ThreadRanks all(ranks, deadline);
  std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      thrown[static_cast<std::size_t>(rank)] = message_of<std::exception>([&] {
        WARPATH_CUDA_CHECK(cudaSetDevice(rank % devices));
        ThreadTransport transport(all, rank);
        act(transport);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

template <class T>
const T& own(const std::vector<T>& of_ranks, const Transport& transport) {
  return of_ranks[static_cast<std::size_t>(transport.rank())];
}
template <class T>
T& own(std::vector<T>& of_ranks, const Transport& transport) {
  return of_ranks[static_cast<std::size_t>(transport.rank())];
}

constexpr int guard = 64;
template <class T>
constexpr T fill = static_cast<T>(113);

/// A part on the current device, between elements that nothing may write.
template <class T>
DeviceBuffer<T> guarded(const std::vector<T>& part, cudaStream_t stream) {
  std::vector<T> all(guard, fill<T>);
  all.insert(all.end(), part.begin(), part.end());
  all.resize(all.size() + guard, fill<T>);
  return on_device(all, stream);
}
template <class T>
DeviceSpan<T> inside(DeviceBuffer<T>& buffer) {
  return {buffer.data() + guard, buffer.count() - 2 * guard};
}
template <class T>
std::vector<T> unguarded(const DeviceBuffer<T>& buffer, cudaStream_t stream) {
  const std::vector<T> all = on_host(buffer, stream);
  const auto is_fill = [](const T& element) { return element == fill<T>; };
  EXPECT_TRUE(std::all_of(all.begin(), all.begin() + guard, is_fill));
  EXPECT_TRUE(std::all_of(all.end() - guard, all.end(), is_fill));
  return {all.begin() + guard, all.end() - guard};
}

const std::vector<std::string> arrangements_of_ranks = {"uniform", "sorted", "reversed",
                                                        "all equal", "half equal"};

template <class K, class Less>
void expect_keys_sorted(const Parts<K>& parts, Less less) {
  Parts<K> sorted(parts.size());
  const auto thrown = on_ranks(static_cast<int>(parts.size()), never, [&](Transport& transport) {
    const Stream stream;
    auto keys = guarded(own(parts, transport), stream);
    RankMemory memory;
    sort_keys(transport, inside(keys), memory, stream, less);
    own(sorted, transport) = unguarded(keys, stream);
  });
  EXPECT_THAT(thrown, testing::Each("nothing"));
  EXPECT_EQ(sorted, oracle::in_order(parts, oracle::stable_order(parts, less)));
}
template <class K, class V, class Less>
void expect_pairs_sorted(const Parts<K>& parts, Less less) {
  Parts<V> numbered;
  int next = 0;
  for (const auto& part : parts) {
    numbered.emplace_back();
    for (std::size_t i = 0; i < part.size(); ++i) {
      numbered.back().push_back(static_cast<V>(next++));
    }
  }
  Parts<K> sorted_keys(parts.size());
  Parts<V> sorted_values(parts.size());
  const auto thrown = on_ranks(static_cast<int>(parts.size()), never, [&](Transport& transport) {
    const Stream stream;
    auto keys = guarded(own(parts, transport), stream);
    auto values = guarded(own(numbered, transport), stream);
    RankMemory memory;
    sort_pairs(transport, inside(keys), inside(values), memory, stream, less);
    own(sorted_keys, transport) = unguarded(keys, stream);
    own(sorted_values, transport) = unguarded(values, stream);
  });
  EXPECT_THAT(thrown, testing::Each("nothing"));
  const auto order = oracle::stable_order(parts, less);
  EXPECT_EQ(sorted_keys, oracle::in_order(parts, order));
  EXPECT_EQ(sorted_values, oracle::in_order(numbered, order));
}

class RankSort : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, RankSort, testing::Values(1, 2, 3, 4, 5, 7, 8),
                         [](const auto& of) { return std::to_string(of.param); });

TEST_P(RankSort, OfKeysAndPairs) {
  for (const std::int64_t n : {0, 1, 7, is_small() ? 300 : 3001}) {
    for (const std::string& arrangement : arrangements_of_ranks) {
      for (const bool is_even : {true, false}) {
        if (n < 10 && is_even) continue;
        SCOPED_TRACE(std::to_string(n) + " keys, " + arrangement +
                     (is_even ? ", even" : ", uneven"));
        const auto seed = static_cast<unsigned>(n + GetParam());
        if (is_even) {
          expect_keys_sorted(
              cut(numbers<std::uint32_t>(arrangement, n, seed), GetParam(), is_even, seed),
              std::less<>{});
        } else {
          expect_pairs_sorted<std::int64_t, float>(
              cut(numbers<std::int64_t>(arrangement, n, seed), GetParam(), is_even, seed),
              std::greater<>{});
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ManyRanks, HaveMoreRunsThanAreMergedAtOnce) {
  for (const char* const arrangement : {"uniform", "half equal"}) {
    SCOPED_TRACE(arrangement);
    const int ranks = merge_sort::most_runs + 3;
    expect_pairs_sorted<int, int>(cut(numbers<int>(arrangement, 700, 5), ranks, true, 1),
                                  std::less<>{});
  }
}

/// Counts the messages of a rank.
class Counting : public Transport {
 public:
  explicit Counting(Transport& transport) : transport_(transport) {}
  [[nodiscard]] int rank() const override { return transport_.rank(); }
  [[nodiscard]] int ranks() const override { return transport_.ranks(); }
  std::vector<std::byte> all_to_all(std::span<const std::byte> sent) override {
    ++messages;
    return transport_.all_to_all(sent);
  }
  void exchange(std::span<const SentSlice> sent, std::span<const ReceivedSlice> received,
                cudaStream_t stream) override {
    transport_.exchange(sent, received, stream);
  }
  void fail(const std::string& reason) noexcept override { transport_.fail(reason); }

  int messages = 0;

 private:
  Transport& transport_;
};

// Where the parts do not overlap, a pivot from the middle of the longest interval would halve one
// part in a round, and take rounds for each.
TEST(Cuts, TakeAtMostTwoRoundsForEachBitOfTheNumberOfElements) {
  for (const std::string& arrangement : arrangements_of_ranks) {
    SCOPED_TRACE(arrangement);
    constexpr int ranks = 8;
    const auto parts = cut(numbers<int>(arrangement, 4096, 1), ranks, true, 1);
    std::vector<int> messages(ranks);
    on_ranks(ranks, never, [&](Transport& transport) {
      const Stream stream;
      auto keys = guarded(own(parts, transport), stream);
      RankMemory memory;
      Counting counting(transport);
      sort_keys(counting, inside(keys), memory, stream);
      own(messages, transport) = counting.messages;
    });
    // The description, two a round and one at the end, the slices, and that all are merged.
    EXPECT_THAT(messages, testing::Each(testing::Le(4 + 2 * (2 * 12))));
  }
}

TEST(RankSortAgain, WithTheSameMemoryAndTransport) {
  const auto first = cut(numbers<int>("uniform", 300, 1), 3, true, 1);
  const auto second = cut(numbers<int>("uniform", 2000, 2), 3, false, 2);
  Parts<int> sorted_first(3);
  Parts<int> sorted_second(3);
  const auto thrown = on_ranks(3, never, [&](Transport& transport) {
    const Stream stream;
    RankMemory memory;
    auto keys = guarded(own(first, transport), stream);
    sort_keys(transport, inside(keys), memory, stream);
    own(sorted_first, transport) = unguarded(keys, stream);
    keys = guarded(own(second, transport), stream);
    sort_keys(transport, inside(keys), memory, stream, std::less<>{}, {.total = 2000});
    own(sorted_second, transport) = unguarded(keys, stream);
    EXPECT_GT(memory.bytes(), 0);
  });
  EXPECT_THAT(thrown, testing::Each("nothing"));
  EXPECT_EQ(sorted_first, oracle::in_order(first, oracle::stable_order(first, std::less<>{})));
  EXPECT_EQ(sorted_second, oracle::in_order(second, oracle::stable_order(second, std::less<>{})));
}

TEST(RankSortSteps, AreToldInOrderWithWhatIsSent) {
  const Parts<int> parts = {{5, 6, 7}, {1, 2, 3}};
  std::vector<std::vector<Step>> steps(2);
  std::vector<std::int64_t> moved(2);
  on_ranks(2, never, [&](Transport& transport) {
    const Stream stream;
    RankMemory memory;
    auto keys = guarded(own(parts, transport), stream);
    RankOptions options;
    options.after_step = [&](Step step, std::int64_t elements) {
      own(steps, transport).push_back(step);
      own(moved, transport) += elements;
    };
    sort_keys(transport, inside(keys), memory, stream, std::less<>{}, options);
  });
  EXPECT_THAT(steps, testing::Each(testing::ElementsAre(Step::sort, Step::split, Step::exchange,
                                                        Step::merge)));
  EXPECT_THAT(moved, testing::ElementsAre(3, 3));
}

/// What each of three ranks throws if `bad`, of rank 1, does `act` after a step; and that no rank's
/// part has changed.
std::vector<std::string> thrown_if(
    Step step, std::chrono::milliseconds deadline, const std::function<void()>& act,
    const std::function<void()>& ended = [] {}) {
  const auto parts = cut(numbers<int>("uniform", 200, 1), 3, true, 1);
  return on_ranks(3, deadline, [&](Transport& transport) {
    const Stream stream;
    RankMemory memory;
    auto keys = guarded(own(parts, transport), stream);
    RankOptions options;
    options.after_step = [&](Step now, std::int64_t) {
      if (transport.rank() == 1 && now == step) act();
    };
    const std::string message = message_of<std::exception>(
        [&] { sort_keys(transport, inside(keys), memory, stream, std::less<>{}, options); });
    if (transport.rank() != 1) ended();
    EXPECT_EQ(unguarded(keys, stream), own(parts, transport)) << "rank " << transport.rank();
    throw std::runtime_error(message);
  });
}
constexpr std::array all_steps = {Step::sort, Step::split, Step::exchange, Step::merge};

TEST(ARankThatFails, IsNamedByAllAndNoPartChanges) {
  for (const Step step : all_steps) {
    const auto thrown = thrown_if(step, never, [] { throw std::runtime_error("out of order"); });
    EXPECT_THAT(thrown, testing::ElementsAre("rank 1 failed: out of order", "out of order",
                                             "rank 1 failed: out of order"))
        << enum_name(step);
  }
}

TEST(ARankThatStalls, IsNamedByAllAndNoPartChanges) {
  // On a GPU a first sort waits for contexts and kernels, maybe longer than the deadline below.
  expect_keys_sorted(cut(numbers<int>("uniform", 200, 1), 3, true, 1), std::less<>{});
  for (const Step step : all_steps) {
    std::promise<void> others_ended;
    std::atomic<int> ended = 0;
    const auto thrown = thrown_if(
        step, std::chrono::milliseconds(500), [&] { others_ended.get_future().wait(); },
        [&] {
          if (++ended == 2) others_ended.set_value();
        });
    EXPECT_THAT(thrown, testing::Each("rank 1 did not answer within 500 ms")) << enum_name(step);
  }
}

TEST(RanksThatDisagree, AreNamedByAllAndNoPartChanges) {
  const auto parts = cut(numbers<int>("uniform", 200, 1), 3, true, 1);
  const auto thrown = [&](const auto& act) {
    return on_ranks(3, never, [&](Transport& transport) {
      const Stream stream;
      RankMemory memory;
      auto keys = guarded(own(parts, transport), stream);
      const std::string message =
          message_of<std::invalid_argument>([&] { act(transport, inside(keys), memory, stream); });
      EXPECT_EQ(unguarded(keys, stream), own(parts, transport));
      sort_keys(transport, inside(keys), memory, stream);  // the transport is as good as before
      throw std::runtime_error(message);
    });
  };
  EXPECT_THAT(thrown([](Transport& transport, DeviceSpan<int> keys, RankMemory& memory,
                        cudaStream_t stream) {
                if (transport.rank() != 2) return sort_keys(transport, keys, memory, stream);
                sort_keys(transport, DeviceSpan<float>{reinterpret_cast<float*>(keys.data), 10},
                          memory, stream);
              }),
              testing::Each(AllOf(HasSubstr("rank 2 sorts keys of float (4 bytes)"),
                                  HasSubstr("expected keys of int (4 bytes)"))));
  EXPECT_THAT(thrown([](Transport& transport, DeviceSpan<int> keys, RankMemory& memory,
                        cudaStream_t stream) {
                sort_keys(transport, keys, memory, stream, std::less<>{},
                          {.total = transport.rank() == 1 ? 100 : 200});
              }),
              testing::Each("options.total of rank 1 is 100: expected 200, as rank 0 has it"));
  EXPECT_THAT(thrown([](Transport& transport, DeviceSpan<int> keys, RankMemory& memory,
                        cudaStream_t stream) {
                if (transport.rank() == 1) --keys.count;
                sort_keys(transport, keys, memory, stream, std::less<>{}, {.total = 200});
              }),
              testing::Each("options.total is 200: expected 199, which the parts have together "
                            "(by rank: 66, 66, 67)"));
}

template <int i>
struct WithANameThatIsNotShortByAnyMeans {};
template <class... T>
struct Several {};
/// An order whose name is long, and differs from others' in its middle only.
template <class, bool is_up, class>
struct Padded {
  __host__ __device__ bool operator()(int a, int b) const { return is_up ? a < b : b < a; }
};
template <bool is_up>
using Long =
    Padded<Several<WithANameThatIsNotShortByAnyMeans<1>, WithANameThatIsNotShortByAnyMeans<2>,
                   WithANameThatIsNotShortByAnyMeans<3>>,
           is_up,
           Several<WithANameThatIsNotShortByAnyMeans<1>, WithANameThatIsNotShortByAnyMeans<2>,
                   WithANameThatIsNotShortByAnyMeans<3>>>;
TEST(RanksThatDisagree, AreNamedHoweverLongTheirNamesAre) {
  const auto parts = cut(numbers<int>("uniform", 200, 1), 2, true, 1);
  const auto thrown = on_ranks(2, never, [&](Transport& transport) {
    const Stream stream;
    RankMemory memory;
    auto keys = guarded(own(parts, transport), stream);
    const auto sort = [&](auto less) { sort_keys(transport, inside(keys), memory, stream, less); };
    if (transport.rank() == 0) return sort(Long<true>{});
    sort(Long<false>{});
  });
  EXPECT_THAT(thrown, testing::Each(HasSubstr("rank 1 sorts keys of int (4 bytes), by ")));
}

TEST(Refuses, APartThatIsNone) {
  const auto thrown = on_ranks(2, never, [&](Transport& transport) {
    const Stream stream;
    RankMemory memory;
    sort_keys(transport, DeviceSpan<int>{nullptr, transport.rank()}, memory, stream);
  });
  EXPECT_THAT(thrown, testing::Each(HasSubstr("keys is null")));
  EXPECT_THAT(thrown[0], HasSubstr("rank 1 failed"));
}

/// No order at all.
struct AnyOrder {
  __host__ __device__ bool operator()(int a, int b) const { return (a % 7) * (b % 7) % 7 < 3; }
};
TEST(Refuses, ToWriteElsewhereIfLessIsNoOrder) {
  const auto parts = cut(numbers<int>("uniform", 500, 3), 4, false, 3);
  on_ranks(4, never, [&](Transport& transport) {
    const Stream stream;
    RankMemory memory;
    auto keys = guarded(own(parts, transport), stream);
    message_of<std::exception>(
        [&] { sort_keys(transport, inside(keys), memory, stream, AnyOrder{}); });
    unguarded(keys, stream);
  });
}

}  // namespace
}  // namespace warpath::multi_gpu_sort::test
