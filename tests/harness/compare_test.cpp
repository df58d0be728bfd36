// Two runs side by side: what is called a change, and what fails.
#include "harness/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "harness/error.hpp"
#include "harness/value.hpp"
#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CompareTest : public testing::Test {
 protected:
  /// A row whose samples lie within 1 % of their median.
  static Json row(const std::string& variant, int n, double median) {
    return {{"variant", variant},
            {"role", "technique"},
            {"runs", "gpu"},
            {"params", {{"n", n}, {"seed", 42}}},
            {"verified", "passed"},
            {"time_ms",
             {{"median", median},
              {"min", 0.98 * median},
              {"p10", 0.99 * median},
              {"p90", 1.01 * median},
              {"noise", 0.005},
              {"samples", 20}}},
            {"items_per_s", nullptr},
            {"gb_per_s", nullptr},
            {"percent_of_peak", nullptr},
            {"counters", Json::object()}};
  }

  std::string write(const std::string& name, const std::vector<Json>& rows,
                    const std::string& device = "GPU A", const std::string& experiment = "e") {
    const Json archive = {{"technique", "fake"},
                          {"experiment", experiment},
                          {"provenance", {{"device", {{"name", device}}}}},
                          {"rows", rows}};
    return folder_.write(name, archive.dump());
  }

  /// What is printed; `code_` is what is returned.
  std::string compare(const std::string& before, const std::string& after,
                      std::optional<double> fail_above = std::nullopt) {
    testing::internal::CaptureStdout();
    try {
      code_ = compare_archives(before, after, fail_above);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    return testing::internal::GetCapturedStdout();
  }

  ScratchFolder folder_;
  int code_ = -1;
};

TEST_F(CompareTest, NamesChangesBeyondTheNoise) {
  const std::string before = write("a.json", {row("x", 1, 1), row("x", 2, 1), row("x", 3, 1)});
  const std::string after =
      write("b.json", {row("x", 1, 1.1), row("x", 2, 1.005), row("x", 3, 0.8)});
  const std::string text = compare(before, after);
  EXPECT_THAT(text, AllOf(HasSubstr("3 rows compared: 1 slower and 1 faster beyond the noise"),
                          HasSubstr("0 only before, 0 only after"), HasSubstr("1.100"),
                          HasSubstr("0.800"), Not(HasSubstr("differ"))));
  EXPECT_THAT(text, testing::ContainsRegex("x +1 [^\n]*1.10000[^\n]* slower"));
  EXPECT_THAT(text, testing::ContainsRegex("x +3 [^\n]*0.80000[^\n]* faster"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("1.00500[^\n]*er")));
  EXPECT_EQ(code_, 0) << "nothing was asked to fail";
}

TEST_F(CompareTest, NoiseIsThatOfBothSides) {
  Json noisy = row("x", 1, 1.1);
  noisy["time_ms"]["min"] = 0.9;
  noisy["time_ms"]["p10"] = 0.9;  // its samples reach below the other's median
  EXPECT_THAT(compare(write("a.json", {row("x", 1, 1)}), write("b.json", {noisy}), 0.05),
              HasSubstr("0 slower"));
  EXPECT_EQ(code_, 0);
  noisy = row("x", 1, 1.1);
  noisy["time_ms"]["noise"] = 0.2;  // its median may be the other's
  EXPECT_THAT(compare(write("a.json", {row("x", 1, 1)}), write("b.json", {noisy})),
              HasSubstr("0 slower"));
  EXPECT_THAT(compare(write("a.json", {noisy}), write("b.json", {row("x", 1, 1)})),
              HasSubstr("0 slower and 0 faster"));
}

TEST_F(CompareTest, FailsAboveTheShareOnly) {
  const std::string before = write("a.json", {row("x", 1, 1), row("x", 2, 1)});
  const std::string after = write("b.json", {row("x", 1, 1.06), row("x", 2, 1)});
  compare(before, after, 0.05);
  EXPECT_EQ(code_, 1);
  compare(before, after, 0.07);
  EXPECT_EQ(code_, 0);
  compare(after, before, 0.05);
  EXPECT_EQ(code_, 0) << "faster is no failure";
}

TEST_F(CompareTest, AnswerThatIsNotRightAnyMoreFails) {
  Json wrong = row("x", 1, 1);
  wrong["verified"] = "failed";
  wrong["time_ms"] = nullptr;
  wrong["error"] = "wrong answer";
  const std::string text = compare(write("a.json", {row("x", 1, 1)}), write("b.json", {wrong}), 1);
  EXPECT_THAT(text, AllOf(HasSubstr("NOT RIGHT ANY MORE"), HasSubstr("1 not right any more")));
  EXPECT_EQ(code_, 1);
}

TEST_F(CompareTest, RowsThatLostTheirTimesFail) {
  const std::string before = write("a.json", {row("x", 1, 1), row("x", 2, 1)});
  Json skipped = row("x", 1, 1);
  skipped["verified"] = "not_verified";
  skipped["time_ms"] = nullptr;
  skipped["skipped"] = "interrupted";
  EXPECT_THAT(compare(before, write("b.json", {skipped, row("x", 2, 1)}), 0.05),
              HasSubstr("NOT VERIFIED ANY MORE"));
  EXPECT_EQ(code_, 1);
  compare(before, write("b.json", {row("x", 2, 1)}), 0.05);
  EXPECT_EQ(code_, 1) << "a row is gone";
  compare(before, write("b.json", {row("x", 2, 1)}));
  EXPECT_EQ(code_, 0) << "nothing was asked to fail";
}

TEST_F(CompareTest, TimesTakenInAnotherWayAreNotCompared) {
  Json warm = row("x", 1, 9);
  warm["cache"] = "warm";
  EXPECT_THAT(compare(write("a.json", {row("x", 1, 1)}), write("b.json", {warm}), 0.05),
              AllOf(HasSubstr("0 slower"), HasSubstr("1 measured in another way")));
  Json with_host = row("x", 1, 9);
  with_host["host_is_in_the_time"] = true;
  EXPECT_THAT(compare(write("a.json", {row("x", 1, 1)}), write("b.json", {with_host}), 0.05),
              HasSubstr("0 slower"));
}

TEST_F(CompareTest, RowsOfOneSideAreListed) {
  const std::string text = compare(write("a.json", {row("x", 1, 1), row("old", 1, 1)}),
                                   write("b.json", {row("new", 2, 1), row("x", 1, 1)}));
  EXPECT_THAT(text, AllOf(HasSubstr("1 rows compared"), HasSubstr("1 only before, 1 only after"),
                          HasSubstr("only before: fake/e/variant:old/n:1/seed:42"),
                          HasSubstr("only after: fake/e/variant:new/n:2/seed:42")));
}

TEST_F(CompareTest, FoldersAreComparedArchiveByArchive) {
  for (const std::string side : {"before", "after"}) {
    std::filesystem::create_directory(folder_ / side);
    write(side + "/fake.e.json", {row("x", 1, side == "before" ? 1 : 2)});
    write(side + "/fake.f.json", {row("x", 1, 1)}, "GPU A", "f");
    folder_.write(side + "/info.json", "{}");
  }
  write("after/fake.g.json", {row("x", 1, 1)}, "GPU A", "g");
  const std::string text =
      compare((folder_ / "before").string(), (folder_ / "after").string(), 0.05);
  EXPECT_THAT(text, AllOf(HasSubstr("2 rows compared: 1 slower"), HasSubstr("fake/f"),
                          HasSubstr("only after: fake/g/variant:x")));
  EXPECT_EQ(code_, 1);
}

TEST_F(CompareTest, PartsOfASweepAreComparedWithTheSameParts) {
  for (const std::string side : {"before", "after"}) {
    std::filesystem::create_directory(folder_ / side);
    write(side + "/fake.e.json", {row("x", 1, 1), row("x", 2, 1)});
    write(side + "/fake.e@n=2.json", {row("x", 2, side == "before" ? 1 : 2)});
  }
  EXPECT_THAT(compare((folder_ / "before").string(), (folder_ / "after").string()),
              AllOf(HasSubstr("3 rows compared: 1 slower"), HasSubstr("fake/e@n=2"),
                    HasSubstr("0 only before, 0 only after")));
  // A part named by itself is compared with the whole.
  EXPECT_THAT(compare((folder_ / "before/fake.e.json").string(),
                      (folder_ / "after/fake.e@n=2.json").string()),
              AllOf(HasSubstr("1 rows compared: 1 slower"), HasSubstr("1 only before")));
}

TEST_F(CompareTest, AnotherDeviceIsSaid) {
  const std::string text =
      compare(write("a.json", {row("x", 1, 1)}), write("b.json", {row("x", 1, 1)}, "GPU B"));
  EXPECT_THAT(text, AllOf(HasSubstr("on GPU A"), HasSubstr("on GPU B"),
                          HasSubstr("The devices differ: the ratios are of the hardware, too")));
}

TEST_F(CompareTest, WhatIsNoArchiveIsRefused) {
  const std::string good = write("a.json", {row("x", 1, 1)});
  const auto error = [&](const std::string& other) {
    return thrown<UserError>([&] { compare(good, other); });
  };
  EXPECT_THAT(error(folder_.write("b.json", "[]")), HasSubstr("b.json: $: is no archive"));
  EXPECT_THAT(error((folder_ / "none.json").string()), HasSubstr("none.json: cannot be read"));
  ASSERT_EQ(mkfifo((folder_ / "fifo.json").c_str(), 0600), 0);
  EXPECT_THAT(error((folder_ / "fifo.json").string()), HasSubstr("no regular file"));
  EXPECT_THAT(error(folder_.write("deep.json", std::string(100'000, '['))),
              HasSubstr("nested deeper than 64 levels"));
  Json mistyped = row("x", 1, 1);
  mistyped["time_ms"]["median"] = "fast";
  EXPECT_THAT(error(write("c.json", {mistyped})),
              AllOf(HasSubstr("c.json: $.rows[0]"), HasSubstr("time_ms.median: got \"fast\"")));
  EXPECT_THAT(error(write("d.json", {row("y", 1, 1)})), HasSubstr("no row of"));
}

TEST(PercentTest, ReadsShares) {
  EXPECT_DOUBLE_EQ(read_percent("--fail-above", "5%"), 0.05);
  EXPECT_DOUBLE_EQ(read_percent("--fail-above", "2.5"), 0.025);
  for (const std::string text : {"", "%", "five", "-1%", "5%%", "nan", "inf"}) {
    EXPECT_THAT(thrown<UserError>([&] { read_percent("--fail-above", text); }),
                HasSubstr("expected a percentage, like 5%"))
        << text;
  }
}

}  // namespace
}  // namespace warpath::harness
