// How a group of points is verified and measured, and what becomes of a point that goes wrong.
#include "harness/group_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "fake_technique.hpp"
#include "harness/device.hpp"
#include "harness/row.hpp"

namespace warpath::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Doubles its number where it is.
class InPlace : public Problem {
 public:
  Execution prepare(const Parameters&) override {
    return [this](cudaStream_t) {
      if (number_ != 21) throw std::runtime_error("began with " + std::to_string(number_));
      number_ *= 2;
    };
  }
  Execution restore() override {
    return [this](cudaStream_t) { number_ = 21; };
  }
  void poison(cudaStream_t) override { number_ = 0; }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t) override {
    if (number_ == 42) return std::nullopt;
    return std::to_string(number_);
  }
  [[nodiscard]] Cost cost() const override { return {}; }

 private:
  int number_ = 0;
};

class GroupRunTest : public testing::Test {
 protected:
  GroupRunTest() : device_(query_device()), clock_(device_.l2_bytes, device_.pci_bus) {
    measure_.min_samples = 4;
    measure_.max_samples = 12;
    // Never quiet enough, also where a coarse clock gives every sample one time: all are taken.
    measure_.max_noise = -1;
    for (const Parameter& parameter : technique_.parameters) {
      settings_.set(parameter.name, parameter.default_value);
    }
    fake::executions().clear();
  }

  /// Results by variant.
  std::map<std::string, PointResult> run(const std::vector<std::string>& variants,
                                         bool timed = true) {
    std::vector<Point> points;
    for (const Variant& variant : technique_.variants) {
      if (std::find(variants.begin(), variants.end(), variant.name) == variants.end()) continue;
      Point point{&technique_, &variant, "e", settings_};
      point.parameters.set("variant", variant.name);
      points.push_back(point);
    }
    std::vector<const Point*> pointers;
    pointers.reserve(points.size());
    for (const Point& point : points) pointers.push_back(&point);
    std::map<std::string, PointResult> results;
    GroupRun group(pointers, measure_, timed, clock_, 1,
                   [&](const Point& point, const PointResult& result) {
                     EXPECT_FALSE(results.contains(point.variant->name)) << "reported twice";
                     results[point.variant->name] = result;
                   });
    group.run();
    EXPECT_EQ(results.size(), variants.size());
    return results;
  }

  Device device_;
  GpuClock clock_;
  Technique technique_ = fake::technique();
  Parameters settings_;
  Measure measure_;
};

TEST_F(GroupRunTest, SamplesOfAllVariantsAlternateInRandomOrder) {
  run({"host_fast", "host_slow", "oracle"});
  const std::vector<std::string>& executions = fake::executions();
  constexpr std::size_t verifying = 3;
  ASSERT_EQ(executions.size(), verifying + 3 * 12U);
  std::map<std::string, int> orders;
  for (std::size_t i = verifying; i < executions.size(); i += 3) {
    // Every round has each variant once.
    const std::set<std::string> round(executions.begin() + static_cast<std::ptrdiff_t>(i),
                                      executions.begin() + static_cast<std::ptrdiff_t>(i + 3));
    EXPECT_EQ(round.size(), 3U) << "round at " << i;
    ++orders[executions[i] + executions[i + 1] + executions[i + 2]];
  }
  EXPECT_GT(orders.size(), 1U) << "every round has the same order";
}

TEST_F(GroupRunTest, OrderFollowsFromTheSeed) {
  run({"host_fast", "host_slow", "oracle"});
  const std::vector<std::string> first = fake::executions();
  fake::executions().clear();
  run({"host_fast", "host_slow", "oracle"});
  EXPECT_EQ(fake::executions(), first);
}

TEST_F(GroupRunTest, StopsAtTheSamplesBound) {
  const auto results = run({"host_fast"});
  EXPECT_EQ(results.at("host_fast").stop, Stop::samples);
  EXPECT_EQ(results.at("host_fast").time->samples, 12);
}

TEST_F(GroupRunTest, StopsAtTheNoiseBound) {
  measure_.max_noise = std::numeric_limits<double>::infinity();  // on a busy machine, too
  measure_.min_samples = 8;
  const auto results = run({"host_fast"});
  EXPECT_EQ(results.at("host_fast").stop, Stop::noise);
  // A host variant needs fewer samples than the configuration asks of the GPU's.
  EXPECT_EQ(results.at("host_fast").time->samples, 6);
}

TEST_F(GroupRunTest, StopsAtTheTimeBound) {
  settings_.set("delay_ms", 5.0);
  measure_.max_seconds = 0.012;
  const auto results = run({"host_fast"});
  EXPECT_EQ(results.at("host_fast").stop, Stop::time);
  EXPECT_LT(results.at("host_fast").time->samples, 12);
  EXPECT_GE(results.at("host_fast").time->median, 5.0);
}

TEST_F(GroupRunTest, KernelsAreTimedOnAGpuAndOnlyVerifiedWithoutOne) {
  const auto results = run({"kernel", "library"});
  const PointResult& kernel = results.at("kernel");
  EXPECT_EQ(kernel.verified, Verified::passed);
  EXPECT_EQ(kernel.error, "");
  if (emulated) {
    EXPECT_FALSE(kernel.time);
    EXPECT_EQ(kernel.skipped, "emulated backend: correct, not timed");
    EXPECT_EQ(results.at("library").skipped, "needs a GPU");
    EXPECT_EQ(results.at("library").verified, Verified::not_verified);
  } else {
    EXPECT_GT(kernel.time->median, 0);
    EXPECT_GT(results.at("library").time->median, 0);
  }
}

TEST_F(GroupRunTest, WhatAnotherProgramMeasuresIsLeftToIt) {
  technique_.variants.push_back({.name = "script",
                                 .role = Role::peer,
                                 .runs = Runs::elsewhere,
                                 .summary = "a loop",
                                 .program = "peers/it.py"});
  settings_.set("fault",
                std::string("too_large"));  // for this program; it says nothing of that one
  const PointResult result = run({"script", "host_fast"}).at("script");
  EXPECT_EQ(result.skipped, "peers/it.py has not measured it yet");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.verified, Verified::not_verified);
  const Point point{&technique_, &technique_.variants.back(), "e", settings_};
  EXPECT_EQ(make_row(point, result, measure_, {}).at("runs"), "elsewhere");
}

TEST_F(GroupRunTest, WarmAndColdSamplesBothMeasure) {
  for (const Cache cache : {Cache::cold, Cache::warm}) {
    measure_.cache = cache;
    const auto results = run({"kernel", "naive", "host_fast"});
    EXPECT_EQ(results.at("naive").verified, Verified::passed);
    EXPECT_EQ(results.at("host_fast").time->samples, 12);
  }
}

TEST_F(GroupRunTest, LaunchesAreOfTheGpusSamplesOnly) {
  measure_.cache = Cache::warm;
  measure_.launches = 10;
  const auto results = run({"kernel", "host_fast"});
  const std::vector<std::string>& executions = fake::executions();
  constexpr std::ptrdiff_t verifying = 1;
  EXPECT_EQ(std::count(executions.begin(), executions.end(), "host_fast"), verifying + 12);
  const auto kernels = std::count(executions.begin(), executions.end(), "kernel") - verifying;
  if (emulated) {
    EXPECT_EQ(kernels, 0);
  } else {
    constexpr std::ptrdiff_t loading = 1;  // the code, before the first sample that is held back
    EXPECT_GE(kernels, loading + 11 * 12);
    EXPECT_EQ(kernels % 11, loading) << "each sample is one execution to warm the cache, and ten";
  }
  const Point kernel{&technique_, technique_.variants.data(), "e", settings_};
  EXPECT_EQ(make_row(kernel, results.at("kernel"), measure_, {}).at("launches"), 10);
  const Point host{&technique_, &technique_.variants[3], "e", settings_};
  EXPECT_TRUE(make_row(host, results.at("host_fast"), measure_, {}).at("launches").is_null());
}

TEST_F(GroupRunTest, WhatExecutionsDestroyIsRestoredBeforeEach) {
  technique_.make_problem = [](const Parameters&) { return std::make_unique<InPlace>(); };
  const auto results = run({"kernel", "host_fast", "host_slow"});
  for (const auto& [variant, result] : results) {
    EXPECT_EQ(result.verified, Verified::passed) << variant;
    EXPECT_EQ(result.error, "") << variant;
  }
  EXPECT_EQ(results.at("host_fast").time->samples, 12);
  if (!emulated) {
    EXPECT_GT(results.at("kernel").time->samples, 0);
  }
}

TEST_F(GroupRunTest, WhatIsRestoredOnceTakesOneLaunchASample) {
  if (emulated) GTEST_SKIP() << "no kernel is timed";
  technique_.make_problem = [](const Parameters&) { return std::make_unique<InPlace>(); };
  measure_.cache = Cache::warm;
  measure_.launches = 2;
  const PointResult result = run({"kernel"}).at("kernel");
  EXPECT_THAT(result.error, HasSubstr("only the first of 2 launches"));
  EXPECT_FALSE(result.time);
}

TEST_F(GroupRunTest, WrongAnswerHasNoTime) {
  settings_.set("fault", std::string("wrong_answer"));
  for (const std::string faulty : {"kernel", "host_slow"}) {
    settings_.set("faulty", faulty);
    const auto results = run({"kernel", "host_fast", "host_slow"});
    const PointResult& wrong = results.at(faulty);
    EXPECT_EQ(wrong.verified, Verified::failed);
    EXPECT_FALSE(wrong.time);
    EXPECT_THAT(wrong.error,
                AllOf(HasSubstr("wrong answer"), HasSubstr("element 1023 is -1, expected 2130")));
    EXPECT_EQ(results.at("host_fast").verified, Verified::passed);
    EXPECT_TRUE(results.at("host_fast").time);
  }
}

TEST_F(GroupRunTest, WrongAnswersRowHasSeedAndParametersAndNoTime) {
  settings_.set("fault", std::string("wrong_answer"));
  settings_.set("faulty", std::string("host_fast"));
  const PointResult result = run({"host_fast"}).at("host_fast");
  const Point point{&technique_, &technique_.variants[3], "e", settings_};
  const Json row = make_row(point, result, measure_, {});
  EXPECT_EQ(row.at("verified"), "failed");
  EXPECT_TRUE(row.at("time_ms").is_null());
  EXPECT_TRUE(row.at("gb_per_s").is_null());
  EXPECT_EQ(row.at("params").at("seed"), 42);
  EXPECT_EQ(row.at("params").at("n"), 1024);
}

TEST_F(GroupRunTest, ErrorInOnePointLeavesTheOthers) {
  for (const std::string when : {"verifying", "timing"}) {
    for (const std::string fault : {"exception", "cuda_error"}) {
      settings_.set("fault", fault);
      settings_.set("faulty", std::string("host_slow"));
      settings_.set("when", when);
      const auto results = run({"kernel", "host_fast", "host_slow", "oracle"});
      EXPECT_THAT(results.at("host_slow").error,
                  HasSubstr(fault == "exception" ? "the fake went wrong" : "cudaMemcpyAsync"));
      EXPECT_FALSE(results.at("host_slow").time);
      EXPECT_EQ(results.at("kernel").error, "");
      EXPECT_EQ(results.at("host_fast").time->samples, 12);
      EXPECT_EQ(results.at("oracle").time->samples, 12);
    }
  }
}

TEST_F(GroupRunTest, WhatDoesNotFitIsSkippedWithBytesNeededAndFree) {
  settings_.set("fault", std::string("too_large"));
  const auto results = run({"kernel", "host_fast"});
  for (const std::string variant : {"kernel", "host_fast"}) {
    EXPECT_THAT(results.at(variant).skipped,
                AllOf(HasSubstr("does not fit: needs 1.00 EiB (1152921504606846976 bytes)"),
                      HasSubstr("are free")));
    EXPECT_EQ(results.at(variant).error, "");
    EXPECT_EQ(results.at(variant).verified, Verified::not_verified);
  }
}

TEST_F(GroupRunTest, RefusedPointIsSkippedAndTheOthersGoOn) {
  settings_.set("fault", std::string("not_here"));
  for (const std::string faulty : {"kernel", "host_slow"}) {
    settings_.set("faulty", faulty);
    fake::executions().clear();
    const auto results = run({"kernel", "host_fast", "host_slow"});
    const PointResult& refused = results.at(faulty);
    EXPECT_EQ(refused.skipped, faulty + " does not fit this machine");
    EXPECT_EQ(refused.error, "");
    EXPECT_EQ(refused.verified, Verified::not_verified);
    EXPECT_FALSE(refused.time);
    EXPECT_EQ(std::count(fake::executions().begin(), fake::executions().end(), faulty), 0);
    EXPECT_EQ(results.at("host_fast").time->samples, 12);
  }
}

TEST_F(GroupRunTest, AProblemThatCannotBeHereIsSkippedWithAllOfItsPoints) {
  settings_.set("fault", std::string("no_problem"));
  fake::executions().clear();
  for (const auto& [variant, result] : run({"kernel", "host_fast"})) {
    EXPECT_EQ(result.skipped, "needs 16 GPUs: this machine has 1") << variant;
    EXPECT_EQ(result.error, "") << variant;
    EXPECT_EQ(result.verified, Verified::not_verified) << variant;
  }
  EXPECT_TRUE(fake::executions().empty());
}

TEST_F(GroupRunTest, ChoicesAreThoseOfThePointItself) {
  for (const std::int64_t n : {16, 17}) {
    settings_.set("n", n);
    const auto results = run({"kernel", "host_fast", "host_slow"});
    const Point chooses{&technique_, &technique_.variants[3], "e", settings_};
    const Json chosen = {{"loop", n == 16 ? "even" : "odd"}};
    EXPECT_EQ(make_row(chooses, results.at("host_fast"), measure_, {}).at("choices"), chosen);
    for (const std::string chooses_nothing : {"kernel", "host_slow"}) {
      const Json row = make_row(chooses, results.at(chooses_nothing), measure_, {});
      EXPECT_EQ(row.at("choices"), Json::object()) << chooses_nothing;
    }
  }
}

TEST_F(GroupRunTest, VerifyingAloneTakesNoSample) {
  const auto results = run({"kernel", "host_fast"}, /*timed=*/false);
  EXPECT_EQ(fake::executions().size(), 2U);
  EXPECT_EQ(results.at("host_fast").verified, Verified::passed);
  EXPECT_FALSE(results.at("host_fast").time);
}

TEST_F(GroupRunTest, RatesFollowFromTheMedian) {
  settings_.set("delay_ms", 1.0);
  PointResult result = run({"host_fast"}).at("host_fast");
  const Point point{&technique_, &technique_.variants[3], "e", settings_};
  Ceilings ceilings;
  ceilings.copy.push_back({1, 8, 2.0});
  const Json row = make_row(point, result, measure_, ceilings);
  const double seconds = row.at("time_ms").at("median").get<double>() / 1000;
  EXPECT_DOUBLE_EQ(row.at("items_per_s"), 1024 / seconds);
  EXPECT_DOUBLE_EQ(row.at("gb_per_s"), 8192e-9 / seconds);
  if (emulated) {
    EXPECT_DOUBLE_EQ(row.at("percent_of_peak"), 100 * 8192e-9 / seconds / 2.0);
  } else {
    EXPECT_TRUE(row.at("percent_of_peak").is_null()) << "the ceilings are the GPU's";
  }
  EXPECT_EQ(row.at("counters").at("blocks_count"), 4);
  EXPECT_EQ(row.at("clock"), "host");
  result.cost->ceiling = "";  // none is known
  const Json without = make_row(point, result, measure_, ceilings);
  EXPECT_TRUE(without.at("percent_of_peak").is_null());
  EXPECT_FALSE(without.contains("peak"));
  EXPECT_EQ(without.at("gb_per_s"), row.at("gb_per_s"));
}

}  // namespace
}  // namespace warpath::harness
