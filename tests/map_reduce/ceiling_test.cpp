#include "map_reduce/ceiling.hpp"

#include <gtest/gtest.h>

namespace warpath::experiments::pairs {
namespace {

using map_reduce::Variant;

TEST(CeilingTest, ExponentialsOfEachPairOnTheSpecialFunctionUnitsAreOne) {
  for (const Variant variant :
       {Variant::naive, Variant::gpu_1d, Variant::gpu_2d, Variant::tuned_1d, Variant::tuned_2d}) {
    EXPECT_EQ(ceiling_of_exponentials(variant, true), "ex2");
  }
}

TEST(CeilingTest, ExponentialsThatAreComputedElsewhereHaveNone) {
  EXPECT_EQ(ceiling_of_exponentials(Variant::tensor, true), "");
  EXPECT_EQ(ceiling_of_exponentials(Variant::tuned_2d, false), "");
}

}  // namespace
}  // namespace warpath::experiments::pairs
