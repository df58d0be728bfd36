// Claims against rows.
#include "harness/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_technique.hpp"
#include "harness/error.hpp"
#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::HasSubstr;

class VerdictTest : public testing::Test {
 protected:
  Json row(const std::string& variant, int n, std::optional<double> median,
           const std::string& role = "technique") {
    Json row = {{"variant", variant},
                {"role", role},
                {"verified", "passed"},
                {"params",
                 {{"n", n},
                  {"scale", 0.5},
                  {"tuning", 1},
                  {"delay_ms", 0.0},
                  {"fault", "none"},
                  {"faulty", "none"},
                  {"when", "verifying"},
                  {"seed", 42}}},
                {"counters", {{"probes", 20.0 + n}}},
                {"time_ms", nullptr},
                {"gb_per_s", nullptr},
                {"percent_of_peak", nullptr}};
    if (median) {
      row["time_ms"] = {{"median", *median}};
      row["gb_per_s"] = 100 / *median;
      row["percent_of_peak"] = 50 / *median;
    } else {
      row["skipped"] = "emulated backend: correct, not timed";
    }
    return row;
  }

  Json judge_one(const std::string& expected, const std::vector<Json>& rows) {
    const Config config = read_config(
        folder_.write(
            "c.json",
            R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t", "sweep": [],
                                    "expected": [)" +
                expected + "]}"),
        techniques_);
    return judge(config, rows).at(0);
  }

  ScratchFolder folder_;
  std::vector<Technique> techniques_ = {fake::technique()};
};

constexpr const char* speedup =
    R"({"kind": "claim", "where": {"n": {"ge": 8}}, "metric": "speedup_over", "baseline": {"variant": "library"},
        "published": 2.4, "at_least": 1.5, "source": "table 1"})";

TEST_F(VerdictTest, BestVariantAtTheWorstSettingDecides) {
  const Json verdict = judge_one(
      speedup, {row("kernel", 8, 1.0), row("host_fast", 8, 4.0), row("library", 8, 2.0, "peer"),
                row("kernel", 16, 9.0), row("host_fast", 16, 1.0), row("library", 16, 1.6, "peer"),
                row("kernel", 4, 100), row("naive", 8, 0.1, "naive")});
  EXPECT_EQ(verdict.at("verdict"), "REPRODUCED");
  EXPECT_DOUBLE_EQ(verdict.at("measured"), 1.6);
  EXPECT_EQ(verdict.at("at").at("n"), 16);
  EXPECT_EQ(verdict.at("at").at("variant"), "host_fast");
  EXPECT_EQ(verdict.at("published"), 2.4);
  EXPECT_EQ(verdict.at("source"), "table 1");
}

TEST_F(VerdictTest, DiffersBelowTheBound) {
  const Json verdict = judge_one(speedup, {row("kernel", 8, 1.0), row("library", 8, 1.2, "peer")});
  EXPECT_EQ(verdict.at("verdict"), "DIFFERS");
  EXPECT_DOUBLE_EQ(verdict.at("measured"), 1.2);
}

TEST_F(VerdictTest, WithoutATimeItSaysWhatIsMissing) {
  const Json untimed =
      judge_one(speedup, {row("kernel", 8, std::nullopt), row("library", 8, std::nullopt, "peer")});
  EXPECT_EQ(untimed.at("verdict"), "NOT TESTABLE HERE");
  EXPECT_THAT(untimed.at("missing").get<std::string>(), HasSubstr("emulated backend"));
  EXPECT_TRUE(untimed.at("measured").is_null());
  const Json no_baseline = judge_one(speedup, {row("kernel", 8, 1.0)});
  EXPECT_EQ(no_baseline.at("verdict"), "NOT TESTABLE HERE");
  EXPECT_THAT(no_baseline.at("missing").get<std::string>(), HasSubstr("no row is the baseline"));
  const Json no_row = judge_one(speedup, {row("kernel", 4, 1.0)});
  EXPECT_EQ(no_row.at("verdict"), "NOT TESTABLE HERE");
  EXPECT_THAT(no_row.at("missing").get<std::string>(), HasSubstr("no point of this run"));
}

TEST_F(VerdictTest, PartOfTheSettingsIsNamedAsMissing) {
  const Json verdict = judge_one(speedup, {row("kernel", 8, 1.0), row("library", 8, 2.0, "peer"),
                                           row("kernel", 16, std::nullopt)});
  EXPECT_EQ(verdict.at("verdict"), "REPRODUCED");
  EXPECT_THAT(verdict.at("missing").get<std::string>(), HasSubstr("n:16"));
  EXPECT_EQ(verdict.at("settings"), (Json{{"judged", 1}, {"all", 2}}));
  const Json whole = judge_one(speedup, {row("kernel", 8, 1.0), row("library", 8, 2.0, "peer")});
  EXPECT_FALSE(whole.contains("settings"));
}

TEST_F(VerdictTest, WrongAnswerIsNeverReproduced) {
  Json wrong = row("kernel", 8, std::nullopt);
  wrong["verified"] = "failed";
  wrong["error"] = "wrong answer: x";
  EXPECT_EQ(judge_one(speedup, {wrong, row("library", 8, 2.0, "peer")}).at("verdict"), "DIFFERS");
}

TEST_F(VerdictTest, KnowsEveryMetric) {
  const std::vector<Json> rows = {row("kernel", 8, 2.0), row("library", 8, 4.0, "peer")};
  const auto measured = [&](const std::string& rest) {
    return judge_one(
        R"({"kind": "claim", "source": "s", "where": {"variant": "kernel"}, )" + rest + "}", rows);
  };
  EXPECT_DOUBLE_EQ(measured(R"("metric": "time_ms", "at_most": 2)").at("measured"), 2);
  EXPECT_EQ(measured(R"("metric": "time_ms", "at_most": 1.9)").at("verdict"), "DIFFERS");
  EXPECT_DOUBLE_EQ(measured(R"("metric": "gb_per_s", "at_least": 50)").at("measured"), 50);
  EXPECT_EQ(measured(R"("metric": "gb_per_s", "at_least": 50)").at("verdict"), "REPRODUCED");
  EXPECT_DOUBLE_EQ(measured(R"("metric": "percent_of_peak", "at_least": 50)").at("measured"), 25);
  const Json ratio = measured(
      R"("metric": "ratio", "baseline": {"variant": "library"}, "at_least": 0.4, "at_most": 0.6)");
  EXPECT_DOUBLE_EQ(ratio.at("measured"), 0.5);
  EXPECT_EQ(ratio.at("verdict"), "REPRODUCED");
  for (const std::string bounds :
       {R"("at_least": 0.4, "at_most": 0.45)", R"("at_least": 0.55, "at_most": 0.6)"}) {
    const Json outside =
        measured(R"("metric": "ratio", "baseline": {"variant": "library"}, )" + bounds);
    EXPECT_EQ(outside.at("verdict"), "DIFFERS");
  }
}

TEST_F(VerdictTest, BaselineMayDifferInAParameter) {
  const Json verdict = judge_one(
      R"({"kind": "claim", "source": "s", "where": {"variant": "kernel", "n": 16}, "metric": "ratio", "baseline": {"n": 8}, "at_most": 2})",
      {row("kernel", 8, 1.0), row("kernel", 16, 1.5)});
  EXPECT_DOUBLE_EQ(verdict.at("measured"), 1.5);
  EXPECT_EQ(verdict.at("verdict"), "REPRODUCED");
}

TEST_F(VerdictTest, AnAimIsMetOrMissed) {
  const auto verdict = [&](const std::string& most) {
    return judge_one(
        R"({"kind": "aim", "where": {}, "metric": "time_ms", "at_most": )" + most + "}",
        {row("kernel", 8, 2.0)});
  };
  EXPECT_EQ(verdict("2").at("verdict"), "MET");
  EXPECT_EQ(verdict("1.9").at("verdict"), "MISSED");
  EXPECT_EQ(verdict("2").at("kind"), "aim");
  EXPECT_EQ(judge_one(R"({"kind": "aim", "where": {}, "metric": "time_ms", "at_most": 2})",
                      {row("kernel", 8, std::nullopt)})
                .at("verdict"),
            "NOT TESTABLE HERE");
}

TEST_F(VerdictTest, AComparisonIsShownAndNeverJudged) {
  const auto measured = [&](const std::string& metric) {
    return judge_one(R"({"kind": "comparison", "where": {"variant": "kernel"}, "published": 1e9,
                         "source": "another GPU", "metric": ")" +
                         metric + "\"}",
                     {row("kernel", 8, 2.0), row("kernel", 16, 4.0)});
  };
  EXPECT_EQ(measured("time_ms").at("verdict"), "SHOWN");
  EXPECT_DOUBLE_EQ(measured("time_ms").at("measured"), 4) << "the worst setting";
  EXPECT_DOUBLE_EQ(measured("gb_per_s").at("measured"), 25);
  EXPECT_EQ(measured("gb_per_s").at("verdict"), "SHOWN");
  Json wrong = row("kernel", 8, std::nullopt);
  wrong["verified"] = "failed";
  wrong["error"] = "wrong answer: x";
  EXPECT_EQ(judge_one(R"({"kind": "comparison", "where": {}, "published": 1, "source": "s",
                          "metric": "time_ms"})",
                      {wrong})
                .at("verdict"),
            "NOT TESTABLE HERE")
      << "there is nothing to show";
}

// Counted and not timed: such a figure is judged without a GPU, too.
TEST_F(VerdictTest, ReadsACounterOfRowsWithoutATime) {
  const auto verdict = [&](const std::string& name) {
    return judge_one(R"({"kind": "claim", "source": "s", "where": {"variant": "kernel"},
                         "metric": "counter", "at_least": 28, "at_most": 28, "counter": ")" +
                         name + "\"}",
                     {row("kernel", 8, std::nullopt)});
  };
  EXPECT_EQ(verdict("probes").at("verdict"), "REPRODUCED");
  EXPECT_DOUBLE_EQ(verdict("probes").at("measured"), 28);
  EXPECT_EQ(verdict("steps").at("verdict"), "NOT TESTABLE HERE");
  EXPECT_THAT(verdict("steps").at("missing").get<std::string>(), HasSubstr("no counter steps"));
}

// JSON has null for a number that is not finite.
TEST_F(VerdictTest, CounterThatIsNotFiniteSaysNothing) {
  Json infinite = row("kernel", 8, 1.0);
  infinite["counters"]["probes"] = nullptr;
  const Json verdict = judge_one(
      R"({"kind": "aim", "where": {}, "metric": "counter", "counter": "probes", "at_most": 28})",
      {infinite});
  EXPECT_EQ(verdict.at("verdict"), "NOT TESTABLE HERE");
  EXPECT_THAT(verdict.at("missing").get<std::string>(), HasSubstr("probes is not finite"));
}

TEST_F(VerdictTest, AnArchiveIsJudgedAgain) {
  const Config config = read_config(
      folder_.write("c.json", R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
          "sweep": [], "expected": [{"kind": "aim", "where": {}, "metric": "time_ms",
                                     "at_most": 1}]})"),
      techniques_);
  const Json archive = {{"rows", {row("kernel", 8, 2.0)}}, {"verdicts", "old"}, {"title", "t"}};
  const Json judged = judge_again(archive, config, "a.json");
  EXPECT_EQ(judged.at("verdicts").at(0).at("verdict"), "MISSED");
  EXPECT_EQ(judged.at("rows"), archive.at("rows"));
  EXPECT_EQ(judged.at("title"), "t");
  const Json broken = {{"rows", {{{"variant", "kernel"}}}}};
  try {
    static_cast<void>(judge_again(broken, config, "a.json"));
    ADD_FAILURE() << "a row without parameters was judged";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.json: is no archive of"));
  }
}

}  // namespace
}  // namespace warpath::harness
