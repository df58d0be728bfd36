// What a configuration expands to, and the names of its points.
#include "harness/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_technique.hpp"
#include "harness/error.hpp"
#include "harness/plan.hpp"
#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class SweepTest : public testing::Test {
 protected:
  /// "variant n tuning" of every point.
  std::vector<std::string> points(const std::string& sweep,
                                  const std::vector<std::string>& sets = {},
                                  const std::string& profile = "paper") {
    std::vector<std::string> texts;
    for (const Point& point : expand_text(sweep, sets, profile)) {
      texts.push_back(point.variant->name + " " + std::to_string(point.parameters.integer("n")) +
                      " " + std::to_string(point.parameters.integer("tuning")));
    }
    return texts;
  }

  std::vector<Point> expand_text(const std::string& sweep,
                                 const std::vector<std::string>& sets = {},
                                 const std::string& profile = "paper") {
    const Config config = read_config(
        folder_.write("c.json",
                      R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
          "fixed": {"tuning": 9},
          "profiles": {"smoke": {"n": [16]}}, "sweep": )" +
                          sweep + "}"),
        fake::techniques());
    std::vector<Values> overrides;
    overrides.reserve(sets.size());
    for (const std::string& set : sets)
      overrides.push_back(read_override(set, fake::techniques()[0]));
    return expand(config, profile, overrides);
  }

  std::string error(const std::string& sweep, const std::vector<std::string>& sets = {},
                    const std::string& profile = "paper") {
    return thrown<UserError>([&] { expand_text(sweep, sets, profile); });
  }

  ScratchFolder folder_;
};

TEST_F(SweepTest, CrossTakesEveryCombination) {
  EXPECT_THAT(points(R"([{"cross": {"n": [1, 2], "variant": ["kernel", "naive"]}}])"),
              ElementsAre("kernel 1 9", "naive 1 9", "kernel 2 9", "naive 2 9"));
}

TEST_F(SweepTest, ZipTakesRowsAndCrossesThem) {
  EXPECT_THAT(
      points(
          R"([{"cross": {"variant": ["kernel", "naive"]}, "zip": {"n": [1, 2], "tuning": [3, 4]}}])"),
      ElementsAre("kernel 1 3", "kernel 2 4", "naive 1 3", "naive 2 4"));
}

TEST_F(SweepTest, WithoutVariantAllAreTaken) {
  EXPECT_EQ(points(R"([{"cross": {"n": 5}}])").size(), fake::techniques()[0].variants.size());
}

TEST_F(SweepTest, ExcludeKnowsEveryRelation) {
  const auto left = [&](const std::string& condition) {
    return points(
        R"([{"cross": {"n": {"range": [1, 5, 1]}, "variant": "kernel"}, "exclude": [{"n": )" +
        condition + "}]}]");
  };
  EXPECT_THAT(left("3"), ElementsAre("kernel 1 9", "kernel 2 9", "kernel 4 9", "kernel 5 9"));
  EXPECT_THAT(left(R"({"eq": 3})"),
              ElementsAre("kernel 1 9", "kernel 2 9", "kernel 4 9", "kernel 5 9"));
  EXPECT_THAT(left(R"({"lt": 4})"), ElementsAre("kernel 4 9", "kernel 5 9"));
  EXPECT_THAT(left(R"({"le": 4})"), ElementsAre("kernel 5 9"));
  EXPECT_THAT(left(R"({"gt": 2})"), ElementsAre("kernel 1 9", "kernel 2 9"));
  EXPECT_THAT(left(R"({"ge": 2})"), ElementsAre("kernel 1 9"));
  EXPECT_THAT(left(R"({"in": [1, 2, 5]})"), ElementsAre("kernel 3 9", "kernel 4 9"));
}

TEST_F(SweepTest, ExcludeNeedsAllOfItsClauses) {
  EXPECT_THAT(points(R"([{"cross": {"n": [1, 2], "variant": ["kernel", "naive"]},
                          "exclude": [{"variant": "naive", "n": {"gt": 1}}]}])"),
              ElementsAre("kernel 1 9", "naive 1 9", "kernel 2 9"));
}

TEST_F(SweepTest, DuplicatesAreRemoved) {
  EXPECT_THAT(
      points(
          R"([{"cross": {"n": [1, 1, 2], "variant": "kernel"}}, {"cross": {"n": 2, "variant": "kernel"}}])"),
      ElementsAre("kernel 1 9", "kernel 2 9"));
}

TEST_F(SweepTest, ProfilesReplaceSweptValues) {
  EXPECT_THAT(points(R"([{"cross": {"n": [1, 2], "variant": "kernel"}}])", {}, "smoke"),
              ElementsAre("kernel 16 9"));
  EXPECT_THAT(
      points(R"([{"zip": {"n": [1, 2], "tuning": [3, 4]}, "cross": {"variant": "kernel"}}])", {},
             "smoke"),
      ElementsAre("kernel 16 3", "kernel 16 4"));
}

TEST_F(SweepTest, SetWinsOverProfileAndFixed) {
  EXPECT_THAT(
      points(R"([{"cross": {"n": [1, 2], "variant": "kernel"}}])", {"n=5,6", "tuning=7"}, "smoke"),
      ElementsAre("kernel 5 7", "kernel 6 7"));
  EXPECT_THAT(points(R"([{"cross": {"n": 1}}])", {"variant=naive"}), ElementsAre("naive 1 9"));
}

TEST_F(SweepTest, UnknownProfileNamesTheNearest) {
  EXPECT_THAT(error(R"([{"cross": {"n": 1}}])", {}, "smok"),
              AllOf(HasSubstr("unknown profile \"smok\""), HasSubstr("did you mean \"smoke\"?")));
}

TEST_F(SweepTest, NothingIsAnErrorThatSaysWhy) {
  EXPECT_THAT(error("[]"), AllOf(HasSubstr("expands to nothing"), HasSubstr("has no entry")));
  EXPECT_THAT(error(R"([{"cross": {"n": []}}])"),
              HasSubstr("expands to nothing: \"n\" has no values"));
  EXPECT_THAT(error(R"([{"cross": {"n": [1, 2]}, "exclude": [{"n": {"ge": 1}}]}])"),
              HasSubstr("expands to nothing: \"exclude\" leaves none"));
  EXPECT_THAT(error(R"([{"cross": {"n": {"range": [5, 1, 1]}}}])"),
              HasSubstr("expands to nothing"));
}

TEST_F(SweepTest, TooManyIsAnErrorWithTheNumberAndTheLimit) {
  EXPECT_THAT(
      error(R"([{"cross": {"n": {"range": [1, 2000, 1]}}}])"),
      AllOf(HasSubstr("expands to 12000 points; the limit is 10000"), HasSubstr("--force")));
  // A number that fits no memory is refused without being counted out.
  EXPECT_THAT(
      error(R"([{"cross": {"n": {"range": [1, 100000, 1]}, "tuning": {"range": [1, 100000, 1]},
                                   "seed": {"range": [1, 100000, 1]}}}])"),
      HasSubstr("expands to 6e+15 points"));
}

TEST_F(SweepTest, NamesHoldEveryParameterAndNoPosition) {
  const auto expanded =
      expand_text(R"([{"cross": {"variant": "kernel", "n": 65536, "scale": 0.25}}])");
  EXPECT_EQ(expanded[0].name(),
            "fake/e/variant:kernel/n:65536/scale:0.25/tuning:9/delay_ms:0/fault:none/faulty:none/"
            "when:verifying/seed:42");
  // Another order in the file is the same point.
  EXPECT_EQ(
      expand_text(R"([{"cross": {"scale": 0.25, "n": 65536, "variant": "kernel"}}])")[0].name(),
      expanded[0].name());
}

TEST_F(SweepTest, PointsOfOneProblemFormAGroup) {
  const auto expanded = expand_text(
      R"([{"cross": {"variant": ["kernel", "naive"], "n": [1, 2], "tuning": [1, 2]}}])");
  std::map<std::string, int> members;
  for (const Point& point : expanded) ++members[point.group()];
  ASSERT_EQ(members.size(), 2U);
  for (const auto& [group, count] : members) EXPECT_EQ(count, 4) << group;
}

TEST_F(SweepTest, TwoConfigurationsOfOneExperimentAreRefused) {
  const std::string text = R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
                               "sweep": [{"cross": {"n": 1}}]})";
  RunOptions options;
  options.configs = {folder_.write("a.json", text), folder_.write("b.json", text)};
  EXPECT_THAT(thrown<UserError>([&] { read_experiments(options, fake::techniques()); }),
              AllOf(HasSubstr("b.json"), HasSubstr("fake/e")));
}

}  // namespace
}  // namespace warpath::harness
