// The tests that every operation passes, for every type: sizes x distributions x ways, exhaustive
// where inputs are small and sampled where they are large. An operation is a type with
//   Rule                                the rule that its kernels are made of
//   make(case) -> Prepared              the input and what the oracle says about it
//   run(laboratory, case, prepared)     -> Result, as it came from the device
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../test_size.hpp"
#include "laboratory.cuh"
#include "warp_compaction/dispatch.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::test {

/// Elements of a tile of the kernel that a call takes, if its input is small.
template <class Rule>
std::int64_t tile_of(const Way& way) {
  using Tuning = detail::TuningOf<Rule>;
  if constexpr (!detail::is_in_registers<Rule>) {
    const bool is_small_tile =
        way.options.path == Path::small || way.options.path == Path::automatic;
    if constexpr (detail::has_pipeline<Rule>()) {
      if (way.options.path == Path::pipeline) return Tuning::Pipeline::tile_items;
    }
    return is_small_tile ? Tuning::Small::tile_items : Tuning::Plain::tile_items;
  } else {
    if constexpr (detail::is_listed_without_pipeline<Rule>) {
      if (way.options.path == Path::medium || way.options.path == Path::plain) {
        return detail::ListedTuning<detail::element_bytes<Rule>>::Plain::tile_items;
      }
    }
    if (way.options.path == Path::medium) return Tuning::Medium::tile_items;
    if (way.options.path == Path::plain) return Tuning::Plain::tile_items;
    if constexpr (!Rule::fetches) {
      if (way.options.path == Path::pipeline) return Tuning::Pipeline::tile_items;
    }
    return Tuning::Small::tile_items;
  }
}

/// The length of long runs: about a tile.
inline constexpr std::int64_t run_length = 4096;

template <class Operation>
testing::AssertionResult check(Laboratory& laboratory, const Case& c) {
  const auto prepared = Operation::make(c);
  const testing::AssertionResult verdict =
      judge(Operation::run(laboratory, c, prepared), prepared.expected);
  if (verdict) return verdict;
  return testing::AssertionFailure() << describe(c) << ": " << verdict.message();
}

template <class Operation>
class CompactionTest : public testing::Test {
 protected:
  /// A call with a seed of its own. Each test begins with the same one.
  Case next_case(const Way& way, std::int64_t n, Distribution distribution) {
    return {way, n, distribution, seed_++};
  }
  void expect_right(const Case& c) { EXPECT_TRUE(check<Operation>(laboratory_, c)); }

  Distribution any_distribution() {
    return all_distributions[random_() % all_distributions.size()];
  }
  Laboratory laboratory_;
  std::uint64_t seed_ = 20260701;
  Random random_{20260701};
};

TYPED_TEST_SUITE_P(CompactionTest);

TYPED_TEST_P(CompactionTest, SmallSizes) {
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 1000}) {
    for (const Distribution distribution : all_distributions) {
      for (const Way& way : single_pass_ways) {
        if (this->random_() % (is_small() ? 16 : 2) != 0) continue;
        this->expect_right(this->next_case(way, n, distribution));
      }
    }
  }
}

// Tiles that are almost full, just full, and a bit more: of each shape its own.
TYPED_TEST_P(CompactionTest, TileBorders) {
  for (const Way& way : single_pass_ways) {
    if (way.options.path == Path::automatic) continue;  // takes the small one
    const std::int64_t tile = tile_of<typename TypeParam::Rule>(way);
    for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1}) {
      for (const Distribution distribution : all_distributions) {
        if (this->random_() % (is_small() ? 16 : 2) != 0) continue;
        this->expect_right(this->next_case(way, n, distribution));
      }
    }
  }
}

// The emulated device holds four blocks of the pipeline, each with at most 8 stages, 16 slots and a
// ring for 16 tiles of which all is kept: here all of them are used again.
TYPED_TEST_P(CompactionTest, ManyTiles) {
  for (const Way& way : single_pass_ways) {
    const bool is_pipeline = way.options.path == Path::pipeline;
    if (way.options.path == Path::automatic || (is_small() && !is_pipeline)) continue;
    const std::int64_t tiles = is_small() ? 72 : is_pipeline ? 77 : 35;
    const std::int64_t n = tiles * tile_of<typename TypeParam::Rule>(way) + 13;
    this->expect_right(this->next_case(way, n, Distribution::long_runs));
    if (is_small()) continue;
    this->expect_right(this->next_case(way, n, this->any_distribution()));
    if (is_pipeline) this->expect_right(this->next_case(way, n, Distribution::uniform));
  }
}

// 2048 warps with a segment each: most have nothing, or one row, or two; then enough rows that the
// write buffer's halves are filled several times. Such calls are slow on the emulator.
TYPED_TEST_P(CompactionTest, TwoPasses) {
  constexpr std::int64_t row_each = detail::two_pass_warps * 32;
  for (const Way& way : two_pass_ways) {
    std::vector<std::int64_t> sizes = {0, 1, 32, 33, 1001, row_each - 1, row_each, row_each + 1};
    if (is_small()) {
      sizes = {33};
    } else {
      std::shuffle(sizes.begin(), sizes.end(), this->random_);
      sizes.resize(4);
      sizes.push_back(5 * row_each + 17);
    }
    for (const std::int64_t n : sizes) {
      Case c = this->next_case(way, n, this->any_distribution());
      c.in_offset = static_cast<int>(c.seed % 3);
      c.out_offset = static_cast<int>(c.seed % 8);
      this->expect_right(c);
    }
  }
}

// Outputs and inputs that are not aligned to the vectors that kernels would like to move.
TYPED_TEST_P(CompactionTest, Alignments) {
  for (const Way& way : single_pass_ways) {
    for (int in_offset = 0; in_offset < 8; ++in_offset) {
      for (int out_offset = 0; out_offset < 8; ++out_offset) {
        // All offsets of the outputs, and all of the inputs; of the pairs of them some.
        const bool is_edge = in_offset == 0 || out_offset == 0;
        if (is_small() ? this->random_() % 32 != 0 : !is_edge && this->random_() % 8 != 0) {
          continue;
        }
        Case c = this->next_case(way, tile_of<typename TypeParam::Rule>(way) + 5,
                                 this->any_distribution());
        c.in_offset = in_offset;
        c.out_offset = out_offset;
        this->expect_right(c);
      }
    }
  }
}

// A comparison that cannot fail proves nothing: each mutation of a right result must be rejected.
TYPED_TEST_P(CompactionTest, CorruptedResultsAreRejected) {
  const Case c = this->next_case(single_pass_ways[0], 1000, Distribution::everything);
  const auto prepared = TypeParam::make(c);
  const Expected& expected = prepared.expected;
  const Result right = TypeParam::run(this->laboratory_, c, prepared);
  ASSERT_TRUE(judge(right, expected));
  ASSERT_GE(right.kept, 3);

  for (const std::int64_t kept : {right.kept - 1, right.kept + 1, std::int64_t{0}}) {
    Result wrong = right;
    wrong.kept = kept;
    EXPECT_FALSE(judge(wrong, expected)) << "a count of " << kept;
  }
  Result disordered = right;
  disordered.first_disorder += 2;
  EXPECT_FALSE(judge(disordered, expected)) << "another first disorder";
  Result trampled = right;
  trampled.inputs_intact = false;
  EXPECT_FALSE(judge(trampled, expected)) << "an input that was written";

  for (std::size_t column = 0; column < right.columns.size(); ++column) {
    const std::size_t size = expected.columns[column].element_bytes;
    const auto kept = static_cast<std::size_t>(right.kept);
    const auto rejects = [&](const std::string& what, std::int64_t kept_change, auto mutate) {
      Result wrong = right;
      wrong.kept += kept_change;
      Bytes& bytes = wrong.columns[column].bytes;
      mutate(bytes, bytes.begin() + static_cast<std::ptrdiff_t>(wrong.columns[column].begin));
      EXPECT_FALSE(judge(wrong, expected)) << what << " in column " << column;
    };
    using Place = Bytes::iterator;
    for (const std::size_t element : {std::size_t{0}, kept / 2, kept - 1}) {
      for (const std::size_t byte : {std::size_t{0}, size - 1}) {
        rejects("a corrupted element", 0, [&](Bytes&, Place begin) {
          begin[static_cast<std::ptrdiff_t>(element * size + byte)] ^= 1;
        });
      }
      const auto drop = [&](Bytes&, Place begin) {
        std::copy(begin + static_cast<std::ptrdiff_t>((element + 1) * size),
                  begin + static_cast<std::ptrdiff_t>((kept + 1) * size),
                  begin + static_cast<std::ptrdiff_t>(element * size));
      };
      rejects("a missing element", -1, drop);
      rejects("a missing element that is counted", 0, drop);
    }
    const auto add = [&](Bytes&, Place begin) {
      std::copy_n(begin, size, begin + static_cast<std::ptrdiff_t>(kept * size));
    };
    // In a full buffer the extra element lies in the guard zone.
    rejects("an extra element", 1, add);
    rejects("an extra element that is not counted", 0, add);
    rejects("two swapped elements", 0, [&](Bytes&, Place begin) {
      for (std::size_t i = 0; i + 1 < kept; ++i) {  // the first two neighbours that differ
        const Place a = begin + static_cast<std::ptrdiff_t>(i * size);
        const Place b = a + static_cast<std::ptrdiff_t>(size);
        if (std::equal(a, b, b)) continue;
        std::swap_ranges(a, b, b);
        return;
      }
      FAIL() << "no two elements differ";
    });
    rejects("a byte before the output", 0, [](Bytes&, Place begin) { begin[-1] ^= 1; });
    rejects("the first guard byte", 0, [](Bytes& bytes, Place) { bytes.front() ^= 1; });
    rejects("the last guard byte", 0, [](Bytes& bytes, Place) { bytes.back() ^= 1; });
  }
}

// A count of more than the output holds must be seen as such, not read.
TYPED_TEST_P(CompactionTest, ShortBuffersAreRejected) {
  const Case c = this->next_case(single_pass_ways[0], 100, Distribution::everything);
  const auto prepared = TypeParam::make(c);
  Result result = TypeParam::run(this->laboratory_, c, prepared);
  result.columns[0].bytes.resize(guard_bytes + 10);
  EXPECT_FALSE(judge(result, prepared.expected));
}

REGISTER_TYPED_TEST_SUITE_P(CompactionTest, SmallSizes, TileBorders, ManyTiles, TwoPasses,
                            Alignments, CorruptedResultsAreRejected, ShortBuffersAreRejected);

/// Gives the tests of a list of operations their names.
struct OperationNames {
  template <class Operation>
  static std::string GetName(int) {
    return Operation::name();
  }
};

}  // namespace warpath::warp_compaction::test
