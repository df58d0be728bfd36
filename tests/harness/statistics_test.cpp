// Medians, their noise, and when there are samples enough.
#include "harness/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace warpath::harness {
namespace {

TEST(StatisticsTest, SummarizesInAnyOrder) {
  const TimeSummary summary = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.p10, 1.4);
  EXPECT_DOUBLE_EQ(summary.p90, 4.6);
  EXPECT_EQ(summary.samples, 5);
  EXPECT_EQ(summarize({2, 4}).median, 3);
  EXPECT_EQ(summarize({7}).p90, 7);
}

TEST(StatisticsTest, FewSamplesAreNoise) {
  EXPECT_EQ(summarize({1, 1, 1, 1, 1}).noise, 1);
  EXPECT_EQ(summarize({1, 1, 1, 1, 1, 1}).noise, 0);
}

TEST(StatisticsTest, NoiseIsThatOfTheMedianNotOfOutliers) {
  std::vector<double> samples(100);
  std::iota(samples.begin(), samples.end(), 1000.0);
  // Of 100 samples, ranks 40 to 60 bound the median: +- 10 of 1050.
  EXPECT_NEAR(summarize(samples).noise, 10.0 / 1049.5, 0.001);
  samples.back() = 1e9;
  EXPECT_NEAR(summarize(samples).noise, 10.0 / 1049.5, 0.001);
}

TEST(StatisticsTest, StopsForTheReasonThatHolds) {
  Measure measure;
  measure.min_samples = 6;
  measure.max_samples = 10;
  measure.max_noise = 0.01;
  measure.max_seconds = 2;
  const std::vector<double> quiet(6, 1.0);
  const std::vector<double> wild = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(stop_reason(measure, {1, 1, 1, 1, 1}, 0), std::nullopt) << "too few";
  EXPECT_EQ(stop_reason(measure, quiet, 0), Stop::noise);
  EXPECT_EQ(stop_reason(measure, wild, 1), std::nullopt);
  EXPECT_EQ(stop_reason(measure, wild, 2), Stop::time);
  EXPECT_EQ(stop_reason(measure, {1, 2, 3, 4, 5}, 19), std::nullopt) << "too few for a median";
  EXPECT_EQ(stop_reason(measure, {1, 2, 3, 4, 5}, 20), Stop::time) << "too slow for more";
  EXPECT_EQ(stop_reason(measure, {}, 20), Stop::time) << "all were discarded";
  EXPECT_EQ(stop_reason(measure, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0), Stop::samples);
}

}  // namespace
}  // namespace warpath::harness
