// One workspace, many calls: operations, ways, sizes, alignments and streams in random order. What
// one call leaves in the workspace must not disturb the next.
#include <cmath>
#include <string>

#include "../test_size.hpp"
#include "laboratory.cuh"
#include "operations.hpp"

namespace warpath::warp_compaction::test {

namespace {

class MixedCalls : public testing::TestWithParam<int> {};

TEST_P(MixedCalls, ShareOneWorkspace) {
  using Check = testing::AssertionResult (*)(Laboratory&, const Case&);
  constexpr std::array<Check, 5> operations = {check_compact_if, check_compact_flagged,
                                               check_unique, check_unique_by_key,
                                               check_remove_duplicates};
  Laboratory laboratory;
  Random random(static_cast<std::uint64_t>(20260710 + GetParam()));
  const int calls = is_small() ? 12 : 60;
  for (int call = 0; call < calls; ++call) {
    Case c;
    // Two-pass calls are slow on the emulator; some, so that their scratch memory is there too.
    c.way = random() % 6 == 0 ? two_pass_ways[random() % two_pass_ways.size()]
                              : single_pass_ways[random() % single_pass_ways.size()];
    const double most = is_small() ? 20'000 : 200'000;
    const double share = static_cast<double>(random() % 1000) / 1000;
    c.n = static_cast<std::int64_t>(std::pow(most, share));  // as many small ones as large ones
    c.distribution = all_distributions[random() % all_distributions.size()];
    c.seed = random();
    c.in_offset = random() % 2 == 0 ? 0 : static_cast<int>(random() % 8);
    c.out_offset = static_cast<int>(random() % 8);
    const std::size_t operation = random() % operations.size();
    ASSERT_TRUE(operations[operation](laboratory, c))
        << "operation " << operation << ", call " << call;
  }
}

INSTANTIATE_TEST_SUITE_P(Sequences, MixedCalls, testing::Range(0, 4));

}  // namespace

}  // namespace warpath::warp_compaction::test
