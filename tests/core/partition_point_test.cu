// Every answer that a search can have.
#include <bit>

#include "../test_size.hpp"
#include "core/launch.cuh"
#include "core/partition_point.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

/// Lanes lanes an answer: the numbers below it are before. Without a guess where `guess` is
/// negative.
template <int Lanes, class Index>
__global__ void partition_point_kernel(Index count, Index guess, Index first_answer, Index* found) {
  const auto warp = static_cast<Index>(blockIdx.x * (blockDim.x / Lanes) +
                                       threadIdx.x / static_cast<unsigned>(Lanes));
  const Index answer = first_answer + warp;
  const auto is_before = [&](Index number) { return number < answer; };
  const Index result =
      guess < 0 ? warp_partition_point<Lanes>(count, is_before)
                : static_cast<Index>(warp_partition_point_near<Lanes>(
                      guess, count, [&](std::int64_t number) { return number < answer; }));
  if (lane_index() % Lanes == 0) found[warp] = result;
}

/// All answers within four of `first_answer`.
template <class Index, int Lanes = warp_threads>
void expect_answers(Index count, Index first_answer, Index guess = -1) {
  DeviceBuffer<Index> found(4);
  launch({2, 2 * Lanes}, partition_point_kernel<Lanes, Index>, count, guess, first_answer,
         found.data());
  const std::vector<Index> answers = on_host(found);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i], std::min(count, first_answer + static_cast<Index>(i)))
        << "of " << count << ", guess " << guess;
  }
}

TEST(PartitionPoint, EveryAnswerOfSmallCounts) {
  for (const int count : {0, 1, 2, 31, 32, 33, 34, 65, 66, 1088, 1089, 1090}) {
    const int step = count > 100 && is_small() ? 100 : 4;
    for (int answer = 0; answer <= count; answer += step) {
      expect_answers<int>(count, answer);
      expect_answers<std::int64_t>(count, answer);
    }
  }
}

TEST(PartitionPoint, CountsPastTwoToThe32) {
  const std::int64_t count = (std::int64_t{1} << 40) + 12345;
  for (const std::int64_t answer :
       {std::int64_t{0}, std::int64_t{1} << 31, (std::int64_t{1} << 32) - 2, count / 33 - 1,
        count / 2, count - 3}) {
    expect_answers<std::int64_t>(count, answer);
  }
}

TEST(PartitionPoint, EveryAnswerFromEveryGuess) {
  for (const int count : {0, 1, 2, 5, 31, 33, 70, 1089}) {
    const int step = count > 50 && is_small() ? 50 : count > 1000 ? 40 : 4;
    for (int answer = 0; answer <= count; answer += step) {
      for (const int guess : {0, 1, count / 3, answer, count - 1, count}) {
        if (guess < 0 || guess > count) continue;
        expect_answers<std::int64_t>(count, answer, guess);
        expect_answers<std::int64_t, 16>(count, answer, guess);
      }
    }
  }
  constexpr std::int64_t count = (std::int64_t{1} << 40) + 12345;
  for (const std::int64_t guess : {std::int64_t{0}, count / 2, count}) {
    for (const std::int64_t answer : {std::int64_t{0}, count / 2 - 4097, count / 3, count - 3}) {
      expect_answers<std::int64_t>(count, answer, guess);
      expect_answers<std::int64_t, 16>(count, answer, guess);
    }
  }
}

/// Counts its probes, and those outside [0, count).
struct CountingBefore {
  std::int64_t answer;
  std::int64_t count;
  int* probes;
  int* outside;
  __host__ __device__ bool operator()(std::int64_t number) const {
    ++*probes;
    if (number < 0 || number >= count) ++*outside;
    return number < answer;
  }
};

TEST(PartitionPointNear, EveryAnswerFromEveryGuess) {
  for (const int count : {0, 1, 2, 3, 8, 9, 40}) {
    for (int answer = 0; answer <= count; ++answer) {
      for (int guess = 0; guess <= count; ++guess) {
        for (const int first_step : {1, 2, 3, 128}) {
          int probes = 0;
          int outside = 0;
          ASSERT_EQ(partition_point_near(guess, count, first_step,
                                         CountingBefore{answer, count, &probes, &outside}),
                    answer)
              << "of " << count << ", guess " << guess << ", step " << first_step;
          ASSERT_EQ(outside, 0);
        }
      }
    }
  }
}

TEST(PartitionPointNear, TakesAsManyProbesAsItPromises) {
  constexpr std::int64_t count = std::int64_t{1} << 40;
  constexpr std::int64_t answer = (std::int64_t{1} << 35) + 12345;
  for (const std::int64_t distance : {0, 1, 127, 128, 1000, 100'000}) {
    for (const std::int64_t guess : {answer - distance, answer + distance}) {
      int probes = 0;
      int outside = 0;
      EXPECT_EQ(partition_point_near(guess, count, std::int64_t{128},
                                     CountingBefore{answer, count, &probes, &outside}),
                answer);
      const auto doublings =
          static_cast<int>(std::bit_width(static_cast<unsigned>(distance / 128)));
      EXPECT_LE(probes, 1 + 2 * doublings + 1 + 8) << "from " << distance << " away";
    }
  }
}

}  // namespace
}  // namespace warpath::core_test
