// Every way in which a configuration can be wrong gets an error that says what, where, and what
// would be right.
#include "harness/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_technique.hpp"
#include "harness/error.hpp"
#include "harness/nearest.hpp"
#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class ConfigTest : public testing::Test {
 protected:
  Config read(const std::string& text) {
    return read_config(folder_.write("c.json", text), fake::techniques());
  }

  /// A configuration that is right but for what replaces `key`, which stands after all others.
  Config read_with(const std::string& members) {
    return read(R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t")" +
                std::string(members.find("\"sweep\"") == std::string::npos
                                ? R"(, "sweep": [{"cross": {"n": [1]}}])"
                                : "") +
                ", " + members + "}");
  }

  std::string error(const std::string& text) {
    return thrown<UserError>([&] { read(text); });
  }

  std::string error_with(const std::string& members) {
    return thrown<UserError>([&] { read_with(members); });
  }

  ScratchFolder folder_;
};

TEST_F(ConfigTest, ReadsEveryKey) {
  const Config config = read(R"({
    // A comment, as design.md allows.
    "schema": 1, "technique": "fake", "experiment": "throughput", "title": "Doubling", "source": "s",
    "figure": "f", "claim": "c", "fixed": {"seed": 7},
    "sweep": [{"cross": {"n": {"pow2": [4, 8, 2]}, "variant": ["kernel", "library"]},
               "zip": {"scale": [0.25, 0.5], "tuning": [1, 2]},
               "exclude": [{"variant": "library", "n": {"gt": 64}}]}],
    "profiles": {"smoke": {"n": 16}, "full": {}},
    "measure": {"cache": "warm", "min_samples": 3, "max_samples": 4, "max_noise": 0.5,
                "max_seconds": 1.5, "min_clock": 0.9, "launches": 200},
    "expected": [{"kind": "claim", "where": {"n": 16}, "metric": "speedup_over", "baseline": {"variant": "library"},
                  "published": 2.4, "at_least": 1, "source": "table 1"}]})");
  EXPECT_EQ(config.technique->name, "fake");
  EXPECT_EQ(config.experiment, "throughput");
  EXPECT_EQ(config.fixed.integer("seed"), 7);
  ASSERT_EQ(config.sweeps.size(), 1U);
  EXPECT_EQ(config.sweeps[0].cross[0].second,
            (std::vector<Value>{std::int64_t{16}, std::int64_t{64}, std::int64_t{256}}));
  EXPECT_EQ(config.sweeps[0].zip[0].second, (std::vector<Value>{0.25, 0.5}));
  EXPECT_EQ(config.profiles.size(), 2U);
  EXPECT_EQ(config.measure.cache, Cache::warm);
  EXPECT_EQ(config.measure.max_samples, 4);
  EXPECT_EQ(config.measure.max_seconds, 1.5);
  EXPECT_EQ(config.measure.launches, 200);
  ASSERT_EQ(config.expected.size(), 1U);
  EXPECT_EQ(*config.expected[0].published, 2.4);
}

TEST_F(ConfigTest, MalformedJsonNamesFileLineAndColumn) {
  EXPECT_THAT(error("{\n  \"schema\": 1,\n  \"technique\": fake\n}"),
              AllOf(HasSubstr("c.json:3:1"), HasSubstr("not valid JSON")));
}

TEST_F(ConfigTest, TruncatedJsonNamesItsEnd) {
  EXPECT_THAT(error("{\n  \"schema\": 1,\n  \"techn"),
              AllOf(HasSubstr("c.json:3:"), HasSubstr("JSON")));
  EXPECT_THAT(error(""), AllOf(HasSubstr("c.json:1:1"), HasSubstr("JSON")));
}

TEST_F(ConfigTest, DuplicateKeyIsAnError) {
  EXPECT_THAT(error(R"({"schema": 1, "title": "a", "title": "b"})"),
              HasSubstr("the key \"title\" stands twice"));
}

TEST_F(ConfigTest, MissingFileIsAnError) {
  EXPECT_THAT(thrown<UserError>([] { read_config("/nowhere/c.json", fake::techniques()); }),
              HasSubstr("/nowhere/c.json: cannot be read"));
  EXPECT_THAT(thrown<UserError>([&] { read_config(folder_.path(), fake::techniques()); }),
              HasSubstr("cannot be read"));
}

TEST_F(ConfigTest, UnknownKeysNameTheNearest) {
  EXPECT_THAT(error_with(R"("profile": {})"), AllOf(HasSubstr("$: unknown key \"profile\""),
                                                    HasSubstr("did you mean \"profiles\"?")));
  EXPECT_THAT(error_with(R"("sweep": [{"cros": {}}])"),
              AllOf(HasSubstr("$.sweep[0]: unknown key \"cros\""), HasSubstr("\"cross\"?")));
  EXPECT_THAT(error_with(R"("measure": {"max_second": 1})"),
              AllOf(HasSubstr("$.measure"), HasSubstr("did you mean \"max_seconds\"?")));
  EXPECT_THAT(
      error_with(
          R"("expected": [{"kind": "aim", "where": {}, "metric": "time_ms", "atleast": 1}])"),
      AllOf(HasSubstr("$.expected[0]"), HasSubstr("did you mean \"at_least\"?")));
  EXPECT_THAT(error_with(R"("sweep": [{"exclude": [{"n": {"grt": 1}}]}])"),
              AllOf(HasSubstr("$.sweep[0].exclude[0].n"), HasSubstr("did you mean \"gt\"?")));
}

TEST_F(ConfigTest, UnknownTechniqueVariantAndParameterNameTheNearest) {
  EXPECT_THAT(
      error(R"({"schema": 1, "technique": "fak", "experiment": "e", "title": "t", "sweep": []})"),
      AllOf(HasSubstr("$.technique: unknown technique \"fak\""),
            HasSubstr("did you mean \"fake\"?")));
  EXPECT_THAT(error_with(R"("sweep": [{"cross": {"variant": ["kernel", "host_fst"]}}])"),
              AllOf(HasSubstr("$.sweep[0].cross.variant[1]: unknown variant \"host_fst\""),
                    HasSubstr("did you mean \"host_fast\"?"), HasSubstr("Known: kernel, naive")));
  EXPECT_THAT(
      error_with(R"("fixed": {"sed": 1})"),
      AllOf(HasSubstr("$.fixed.sed: unknown parameter \"sed\" of fake"), HasSubstr("\"seed\"?")));
  EXPECT_THAT(error_with(R"("fixed": {"fault": "nothing"})"),
              AllOf(HasSubstr("$.fixed.fault: unknown fault \"nothing\""),
                    HasSubstr("did you mean \"none\"?")));
}

TEST_F(ConfigTest, WrongTypesNamePathValueAndWhatIsExpected) {
  EXPECT_THAT(error_with(R"("fixed": {"n": "many"})"),
              HasSubstr("$.fixed.n: got \"many\", expected an integer from 1 to 268435456"));
  EXPECT_THAT(error_with(R"("fixed": {"n": 1.5})"), HasSubstr("got 1.5, expected an integer"));
  EXPECT_THAT(error_with(R"("fixed": {"scale": true})"),
              HasSubstr("got true, expected a number from 0 to 1"));
  EXPECT_THAT(error_with(R"("fixed": {"fault": 3})"), HasSubstr("got 3, expected a text"));
  EXPECT_THAT(error_with(R"("sweep": {})"), HasSubstr("$.sweep: got {}, expected a list"));
  EXPECT_THAT(error_with(R"("sweep": [7])"), HasSubstr("$.sweep[0]: got 7, expected an object"));
  EXPECT_THAT(error("[]"), HasSubstr("$: got [], expected an object"));
  EXPECT_THAT(error_with(R"("measure": {"min_samples": "x"})"),
              HasSubstr("$.measure.min_samples: got \"x\""));
}

TEST_F(ConfigTest, ValuesOutOfRangeNameTheRange) {
  EXPECT_THAT(error_with(R"("fixed": {"n": 0})"),
              HasSubstr("got 0, expected an integer from 1 to 268435456"));
  EXPECT_THAT(error_with(R"("fixed": {"n": 99999999999999999999})"),
              HasSubstr("expected an integer from 1"));
  EXPECT_THAT(error_with(R"("sweep": [{"cross": {"scale": [0.5, 1.5]}}])"),
              HasSubstr("$.sweep[0].cross.scale[1]: got 1.5, expected a number from 0 to 1"));
  EXPECT_THAT(
      error_with(R"("sweep": [{"cross": {"n": {"pow2": [20, 40, 4]}}}])"),
      HasSubstr(
          "$.sweep[0].cross.n.pow2: got 4294967296, expected an integer from 1 to 268435456"));
  EXPECT_THAT(error_with(R"("measure": {"max_noise": 2})"),
              HasSubstr("$.measure.max_noise: got 2, expected a number from 0 to 1"));
}

TEST_F(ConfigTest, MissingKeysAreNamed) {
  EXPECT_THAT(error(R"({"schema": 1, "technique": "fake", "experiment": "e", "sweep": []})"),
              EndsWith("the key \"title\" is missing"));
  EXPECT_THAT(error_with(R"("expected": [{"kind": "aim", "where": {}, "metric": "time_ms"}])"),
              HasSubstr("\"at_least\""));
  EXPECT_THAT(
      error_with(R"("expected": [{"kind": "aim", "where": {}, "metric": "ratio", "at_least": 1}])"),
      HasSubstr("needs the key \"baseline\""));
  EXPECT_THAT(error_with(R"("expected": [{"where": {}, "metric": "time_ms", "at_most": 1}])"),
              HasSubstr("the key \"kind\" is missing"));
}

TEST_F(ConfigTest, EachKindOfExpectationNeedsItsOwn) {
  const auto error_of = [&](const std::string& entry) {
    return error_with(R"("expected": [{"where": {}, "metric": "time_ms", )" + entry + "}]");
  };
  EXPECT_THAT(error_of(R"("kind": "wish", "at_most": 1)"), HasSubstr("unknown kind \"wish\""));
  EXPECT_THAT(error_of(R"("kind": "claim", "at_most": 1)"), HasSubstr("needs \"source\""));
  EXPECT_THAT(error_of(R"("kind": "claim", "source": "s", "published": 1)"),
              HasSubstr("what would count as reproduced?"));
  EXPECT_THAT(error_of(R"("kind": "aim", "published": 1, "at_most": 1)"),
              HasSubstr("an aim has no \"published\""));
  EXPECT_THAT(error_of(R"("kind": "comparison", "source": "s", "published": 1, "at_most": 1)"),
              HasSubstr("a comparison is not judged"));
  EXPECT_THAT(error_of(R"("kind": "comparison", "source": "s")"), HasSubstr("needs \"published\""));
  EXPECT_THAT(error_of(R"("kind": "comparison", "published": 2)"), HasSubstr("needs \"source\""));
  EXPECT_THAT(error_of(R"("kind": "aim", "at_most": 1, "counter": "probes")"),
              HasSubstr("time_ms is no counter"));
  EXPECT_THAT(error_with(R"("expected": [{"kind": "aim", "where": {}, "metric": "counter",
                                          "at_most": 1}])"),
              HasSubstr("needs the key \"counter\""));
}

TEST_F(ConfigTest, OtherFormatsAndNamesAreRefused) {
  EXPECT_THAT(
      error(R"({"schema": 2, "technique": "fake", "experiment": "e", "title": "t", "sweep": []})"),
      HasSubstr("$.schema: got 2, expected 1"));
  EXPECT_THAT(
      error(
          R"({"schema": 1, "technique": "fake", "experiment": "../e", "title": "t", "sweep": []})"),
      HasSubstr("$.experiment: got \"../e\", expected a name"));
}

TEST_F(ConfigTest, SeveralLaunchesNeedAWarmCache) {
  for (const std::string cache : {R"("cache": "cold", )", ""}) {
    EXPECT_THAT(error_with(R"("measure": {)" + cache + R"("launches": 2})"),
                AllOf(HasSubstr("$.measure.launches"), HasSubstr("cold cache"),
                      HasSubstr(R"(set "cache": "warm")")));
  }
  EXPECT_EQ(read_with(R"("measure": {"cache": "warm", "launches": 1000})").measure.launches, 1000);
  EXPECT_EQ(read_with(R"("measure": {"cache": "cold", "launches": 1})").measure.launches, 1);
  EXPECT_EQ(read_with(R"("measure": {})").measure.launches, 1);
  for (const std::string launches : {"0", "1001", "1.5"}) {
    EXPECT_THAT(
        error_with(R"("measure": {"cache": "warm", "launches": )" + launches + "}"),
        HasSubstr("$.measure.launches: got " + launches + ", expected an integer from 1 to 1000"));
  }
}

TEST_F(ConfigTest, ZippedListsMustHaveOneLength) {
  EXPECT_THAT(
      error_with(R"("sweep": [{"zip": {"n": [1, 2], "tuning": [1]}}])"),
      AllOf(HasSubstr("$.sweep[0].zip"), HasSubstr("\"tuning\" has 1 values and \"n\" has 2")));
  EXPECT_THAT(error_with(R"("sweep": [{"cross": {"n": [1]}, "zip": {"n": [1]}}])"),
              HasSubstr("\"n\" is in cross and in zip"));
}

TEST_F(ConfigTest, RangesThatNeverEndAreRefused) {
  EXPECT_THAT(error_with(R"("sweep": [{"cross": {"n": {"range": [1, 2, 0]}}}])"),
              HasSubstr("the step is 0"));
  EXPECT_THAT(error_with(R"("sweep": [{"cross": {"scale": {"range": [0, 1, 1e-9]}}}])"),
              HasSubstr("values; the limit is 1000000"));
  EXPECT_THAT(error_with(R"("sweep": [{"cross": {"n": {"range": [1, 2]}}}])"),
              HasSubstr("expected [first, last, step]"));
}

TEST(OverrideTest, ReadsValuesPowersAndRanges) {
  const Technique& fake = fake::techniques()[0];
  const auto integers = [&](const std::string& text) {
    std::vector<std::int64_t> values;
    for (const Value& value : read_override(text, fake).second)
      values.push_back(std::get<std::int64_t>(value));
    return values;
  };
  EXPECT_EQ(integers("n=1,2"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(integers("n=2^20:2^28:*4"),
            (std::vector<std::int64_t>{1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28}));
  EXPECT_EQ(integers("n=5:9:+2,1e3"), (std::vector<std::int64_t>{5, 7, 9, 1000}));
  EXPECT_EQ(integers("n=1K,2.5M,0.1G,1K:4K:*2"),
            (std::vector<std::int64_t>{1000, 2'500'000, 100'000'000, 1000, 2000, 4000}));
  EXPECT_EQ(read_override("scale=0:1:+0.1", fake).second.size(), 11U);
  EXPECT_EQ(read_override("scale=0:1:+0.1", fake).second[3], Value(0.3));
  EXPECT_EQ(read_override("variant=kernel,library", fake).second[1], Value(std::string("library")));
}

TEST(OverrideTest, NamesWhatIsWrong) {
  const Technique& fake = fake::techniques()[0];
  const auto error = [&](const std::string& text) {
    return thrown<UserError>([&] { read_override(text, fake); });
  };
  EXPECT_THAT(error("n"), HasSubstr("--set n: expected name=value"));
  EXPECT_THAT(error("m=1"),
              AllOf(HasSubstr("--set: m: unknown parameter \"m\""), HasSubstr("\"n\"?")));
  EXPECT_THAT(error("n=x"), HasSubstr("--set: n: got \"x\", expected a number (1000, 64K"));
  for (const std::string text : {"K", "1KK", "1k", "2^3K", "1Ki", "infK", "K1"}) {
    EXPECT_THAT(error("n=" + text), HasSubstr("got \"" + text + "\", expected a number"));
  }
  EXPECT_THAT(error("n=inf"), HasSubstr("got \"inf\", expected a number"));
  EXPECT_THAT(error("n=2^99999"), HasSubstr("got \"2^99999\", expected a number"));
  EXPECT_THAT(error("n="), HasSubstr("--set: n: got \"\", expected a number"));
  EXPECT_THAT(error("n=1:2"), HasSubstr("expected a range like"));
  EXPECT_THAT(error("n=1:2:/2"), HasSubstr("expected a range like"));
  EXPECT_THAT(error("n=1:8:*1"), HasSubstr("a factor above 1"));
  EXPECT_THAT(error("n=0"), HasSubstr("got 0, expected an integer from 1"));
  EXPECT_THAT(error("n=1:1e15:+1"), HasSubstr("the limit is 1000000"));
  EXPECT_THAT(error("variant=kernal"), HasSubstr("did you mean \"kernel\"?"));
}

TEST(NearestTest, CountsEdits) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
  EXPECT_EQ(suggestion("x", {}), "");
  EXPECT_EQ(suggestion("seeed", {"n", "seed"}), "; did you mean \"seed\"? Known: n, seed");
}

}  // namespace
}  // namespace warpath::harness
