// What techniques declare with: parameters, and variants named by the table of an enum.
#include "harness/technique.hpp"

#include <gmock/gmock.h>

#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Sort { merge, quick };
constexpr auto enum_table(Sort) {
  return std::to_array<EnumName<Sort>>({{Sort::merge, "merge"}, {Sort::quick, "quick"}});
}

TEST(ParameterTest, ChoicesAreTheTable) {
  const Parameter parameter = choice_parameter("sort", Sort::quick, "which");
  EXPECT_THAT(parameter.choices, ElementsAre("merge", "quick"));
  EXPECT_EQ(parameter.default_value, Value(std::string("quick")));
  Parameters point;
  point.set("sort", parameter.default_value);
  EXPECT_EQ(named<Sort>(point, "sort"), Sort::quick);
}

TEST(ParameterTest, ATextThatIsNotInTheTableIsNamed) {
  Parameters point;
  point.set("sort", std::string("bubble"));
  EXPECT_THAT(thrown<std::invalid_argument>([&] { named<Sort>(point, "sort"); }),
              testing::AllOf(HasSubstr("sort is 'bubble'"), HasSubstr("merge, quick")));
}

TEST(ParameterTest, RangesAndDefaults) {
  const Parameter count = count_parameter("n", 1024, "elements");
  EXPECT_EQ(count.least, 1);
  EXPECT_EQ(count.most, 2147483647);
  EXPECT_TRUE(count.shapes_problem);
  EXPECT_FALSE(of_variants(count).shapes_problem);
  EXPECT_EQ(seed_parameter("of the keys").default_value, Value(std::int64_t{42}));
  EXPECT_EQ(real_parameter("share", 0.5, 0, 1, "kept").most, 1);
  EXPECT_EQ(choice_parameter("at", {"random", "end"}, "").default_value,
            Value(std::string("random")));
  EXPECT_EQ(switch_parameter("cached", false, "").default_value, Value(std::string("off")));
}

TEST(VariantsTest, AreTheTableThenTheOthers) {
  const std::vector<Variant> variants = variants_of<Sort>(
      {{Sort::quick, Role::naive, "in place"}, {Sort::merge, Role::technique, "stable"}},
      {{"library", Role::peer, Runs::gpu, ""}});
  ASSERT_EQ(variants.size(), 3u);
  EXPECT_EQ(variants[0].name, "merge");
  EXPECT_EQ(variants[0].summary, "stable");
  EXPECT_EQ(variants[1].role, Role::naive);
  EXPECT_EQ(variants[2].runs, Runs::gpu);
}

TEST(VariantsTest, EachIsDescribedOnce) {
  EXPECT_THAT(thrown<std::logic_error>([] {
                variants_of<Sort>({{Sort::merge, Role::technique, ""}}, {});
              }),
              HasSubstr("quick is described 0 times"));
  EXPECT_THAT(thrown<std::logic_error>([] {
                variants_of<Sort>({{Sort::merge, Role::technique, ""},
                                   {Sort::merge, Role::technique, ""},
                                   {Sort::quick, Role::technique, ""}},
                                  {});
              }),
              HasSubstr("merge is described 2 times"));
}

}  // namespace
}  // namespace warpath::harness
