// One check of each operation, for tests that mix them.
#pragma once

#include <gtest/gtest.h>

namespace warpath::warp_compaction::test {

struct Laboratory;
struct Case;

testing::AssertionResult check_compact_if(Laboratory& laboratory, const Case& c);
testing::AssertionResult check_compact_flagged(Laboratory& laboratory, const Case& c);
testing::AssertionResult check_unique(Laboratory& laboratory, const Case& c);
testing::AssertionResult check_unique_by_key(Laboratory& laboratory, const Case& c);
testing::AssertionResult check_remove_duplicates(Laboratory& laboratory, const Case& c);

}  // namespace warpath::warp_compaction::test
