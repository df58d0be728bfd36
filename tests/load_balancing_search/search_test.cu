// Every variant over counts, sizes, types and alignments, against the oracle.
#include <algorithm>
#include <cstdlib>

#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

template <class Offset, class Index>
struct Types {
  using OffsetType = Offset;
  using IndexType = Index;
};
template <class T>
class Search : public testing::Test {
 protected:
  using Offset = typename T::OffsetType;
  using Index = typename T::IndexType;

  void expect_right(const Way& way, Counts kind, std::int64_t steps) {
    std::mt19937_64 random(++seed_);
    SCOPED_TRACE(std::string(name_of(kind)) + ", seed " + std::to_string(seed_));
    expect_objects<Index>(way, make_counts<Offset>(kind, steps, random),
                          static_cast<int>(seed_ % 37), workspace_, stream_);
  }

  /// Calls run(work, numbers, out), and compares all of the output with the oracle's. Scan and
  /// output begin `offset` elements after an aligned one.
  template <class Run>
  void expect_right_by(const std::vector<Offset>& counts, int offset, Run run) {
    const auto expected = oracle::objects<Index>(counts);
    const auto items = static_cast<std::int64_t>(expected.size());
    if (items == 0) return;
    std::vector<Offset> scan = oracle::exclusive_scan(counts);
    scan.insert(scan.begin(), static_cast<std::size_t>(offset), Offset{1000});  // to be left alone
    const auto device_scan = on_device(scan);
    Guarded<Index> out(items, offset);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
    run(Work<Offset>{items, device_scan.data() + offset, device_scan.count() - offset},
        detail::ObjectNumbers<Index>{}, out.span().data);
    EXPECT_TRUE(out.get() == expected) << items << " work items, offset " << offset;
  }

  std::uint64_t seed_ = 0;
  Stream stream_;
  Workspace workspace_;
};
using AllTypes =
    testing::Types<Types<std::int32_t, std::int32_t>, Types<std::int64_t, std::int64_t>,
                   Types<std::int64_t, std::uint32_t>, Types<std::int32_t, std::uint64_t>>;
TYPED_TEST_SUITE(Search, AllTypes);

TYPED_TEST(Search, SmallSizes) {
  const std::int64_t share = detail::OutputAlignedTuning::min_share_steps;
  const std::int64_t tile = detail::OutputAlignedTuning::tile_items;
  std::vector<std::int64_t> sizes = {0, 1, 2, 3, 31, 32, 33, 127, 129, 1000, 1407, 1408, 1409};
  if (!is_small()) {
    for (const std::int64_t size : {share - 1, share, share + 1, tile, 2 * tile + 33}) {
      sizes.push_back(size);
    }
  }
  for (const Way& way : ways) {
    for (const std::int64_t size : sizes) {
      this->expect_right(way, all_counts[this->seed_ % all_counts.size()], size);
    }
  }
}

TYPED_TEST(Search, AllCounts) {
  const std::int64_t steps = is_small() ? 9'000 : 40'000;
  for (const Way& way : ways) {
    for (const Counts kind : all_counts) this->expect_right(way, kind, steps);
  }
}

// All that decides where a vector begins.
TYPED_TEST(Search, EveryAlignment) {
  std::mt19937_64 random(1);
  const auto counts = make_counts<typename TypeParam::OffsetType>(Counts::random, 700, random);
  for (int offset = 0; offset < 34; ++offset) {
    this->expect_right_by(counts, offset, [&](const auto& work, auto numbers, auto* out) {
      detail::run_output_aligned<detail::OutputAlignedTuning>(work, numbers, out, this->stream_);
    });
    this->expect_right_by(counts, offset, [&](const auto& work, auto numbers, auto* out) {
      detail::run_guessed_shares<detail::GuessedTuning>(work, {500, 60}, numbers, out,
                                                        this->stream_);
    });
  }
}

// A tile may have no work items, or no objects, at either end of the path.
TEST(Search, TilesOfOneKind) {
  const Stream stream;
  Workspace workspace;
  const int tile = detail::OutputAlignedTuning::min_share_steps;
  for (const Way& way : ways) {
    std::vector<std::int32_t> counts(static_cast<std::size_t>(is_small() ? tile + 5 : 3 * tile));
    for (const int items : {1, tile, 2 * tile + 1}) {
      for (const std::size_t object : {std::size_t{0}, counts.size() / 2, counts.size() - 1}) {
        counts[object] = items;
        expect_objects<std::int32_t>(way, counts, 0, workspace, stream);
        counts[object] = 0;
      }
      if (is_small()) break;
    }
  }
}

// Shares of several tiles and batches: stale heads of earlier tiles are there, and nearly all 16
// bits of the numbers are in use.
TYPED_TEST(Search, SharesOfEverySize) {
  using Shape = detail::OutputAlignedTuning;
  std::mt19937_64 random(1);
  const std::int64_t steps = is_small() ? 20'000 : 140'000;
  for (const Counts kind : all_counts) {
    const auto counts = make_counts<typename TypeParam::OffsetType>(kind, steps, random);
    for (const int share_steps :
         {333, Shape::batch_objects, Shape::tile_items + 1, Shape::max_share_steps}) {
      SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(share_steps) + " steps");
      this->expect_right_by(counts, 5, [&](const auto& work, auto numbers, auto* out) {
        detail::run_output_aligned<Shape>(work, share_steps, numbers, out, this->stream_);
      });
    }
  }
}

// Where no guess is right, some are, and all of them; and where a block cannot hold the objects
// that it would have to.
TYPED_TEST(Search, GuessesOfEveryMargin) {
  using Shape = detail::GuessedTuning;
  std::mt19937_64 random(1);
  const std::int64_t steps = is_small() ? 9'000 : 40'000;
  const int whole = detail::guessed_shares_of<Shape, typename TypeParam::IndexType>(
                        Work<typename TypeParam::OffsetType>{1, nullptr, 1})
                        .share_steps;
  for (const Counts kind : all_counts) {
    const auto counts = make_counts<typename TypeParam::OffsetType>(kind, steps, random);
    for (const detail::GuessedShares& shares :
         {detail::GuessedShares{whole, 0}, {whole, 90}, {whole, 1 << 20}, {333, 9}, {33, 700}}) {
      SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(shares.share_steps) +
                   " steps, margin " + std::to_string(shares.margin));
      this->expect_right_by(counts, 3, [&](const auto& work, auto numbers, auto* out) {
        detail::run_guessed_shares<Shape>(work, shares, numbers, out, this->stream_);
      });
    }
  }
}

// The last object that a block has loaded, or the first one, begins where its share does.
TYPED_TEST(Search, GuessesThatAreJustRight) {
  using Begin = typename TypeParam::OffsetType;
  for (const int margin : {4, 5, 8, 127, 128}) {
    for (const int shift : {-130, -129, -128, -9, -8, -6, -5, -4, -3, 0, 3, 4, 5, 8, 9, 128, 129}) {
      // Objects of one work item, but for two, which move those between them by `shift` objects.
      std::vector<Begin> counts(1000, 1);
      (shift > 0 ? counts.back() : counts.front()) += 4 * std::abs(shift);
      this->expect_right_by(counts, 0, [&](const auto& work, auto numbers, auto* out) {
        detail::run_guessed_shares<detail::GuessedTuning>(work, {700, margin}, numbers, out,
                                                          this->stream_);
      });
    }
  }
}

// The second share's only object begins as its second tile does, or a work item before or after: a
// head beyond the first tile is left to the second one.
TYPED_TEST(Search, HeadsWhereATileEnds) {
  using Begin = typename TypeParam::OffsetType;
  using Shape = detail::OutputAlignedTuning;
  const int share_steps = 2 * Shape::tile_items;
  const int before = 4;  // objects, so that a vector of the scan begins with the next one
  const int first_item = share_steps - before;
  const int second_tile = first_item / Shape::line_items * Shape::line_items + Shape::tile_items;
  for (const int begin : {second_tile - 1, second_tile, second_tile + 1}) {
    SCOPED_TRACE("an object that begins at " + std::to_string(begin));
    std::vector<Begin> counts(before);
    counts.back() = begin;
    counts.push_back(Shape::tile_items);
    this->expect_right_by(counts, 0, [&](const auto& work, auto numbers, auto* out) {
      detail::run_output_aligned<Shape>(work, share_steps, numbers, out, this->stream_);
    });
  }
}

// Where guesses do not fit, and where there are more steps than are guessed.
TEST(Search, WhatIsGuessed) {
  using Shape = detail::GuessedTuning;
  const auto is_guessed = [](std::int64_t items, std::int64_t objects) {
    const Work<std::int64_t> work{items, nullptr, objects};
    return detail::fit_guesses<Shape>(work, detail::guessed_shares_of<Shape, std::int32_t>(work));
  };
  EXPECT_TRUE(is_guessed(1, 1));
  EXPECT_TRUE(is_guessed(1, 1'000));
  EXPECT_TRUE(is_guessed(1'000'000, 250'000));
  EXPECT_FALSE(is_guessed(1'000'000, 4'000'000));  // nearly as many objects as steps
  EXPECT_TRUE(is_guessed(detail::most_guessed_steps - 1000, 1000));
  EXPECT_FALSE(is_guessed(detail::most_guessed_steps, 1000));
}

TEST(Search, WorkspaceIsUsedAgain) {
  const Stream stream;
  Workspace workspace;
  std::mt19937_64 random(1);
  for (const std::int64_t steps : {50, 5000, 700, 9000}) {
    for (const Way& way : ways) {
      expect_objects<std::int32_t>(way, make_counts<std::int32_t>(Counts::random, steps, random), 3,
                                   workspace, stream);
    }
  }
}

// As documented: at most 16 bytes a tile.
TEST(Search, ExtraMemory) {
  const Stream stream;
  std::mt19937_64 random(1);
  const auto counts = make_counts<std::int32_t>(Counts::random, 30'000, random);
  for (const Way& way : ways) {
    Workspace workspace;
    expect_objects<std::int32_t>(way, counts, 0, workspace, stream);
    const std::int64_t tiles = 30'000 / (128 * way.options.items_per_thread) + 2;
    EXPECT_LE(workspace.bytes(), way.options.variant == Variant::merge_path ? 16 * tiles + 256 : 0)
        << way.name;
  }
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
