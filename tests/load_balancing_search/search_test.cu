// Every variant over counts, sizes, types and alignments, against the oracle.
#include <algorithm>

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
TYPED_TEST(Search, EveryAlignmentOfTheOutput) {
  std::mt19937_64 random(1);
  const auto counts = make_counts<typename TypeParam::OffsetType>(Counts::random, 700, random);
  for (int offset = 0; offset < 34; ++offset) {
    expect_objects<typename TypeParam::IndexType>(ways.back(), counts, offset, this->workspace_,
                                                  this->stream_);
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
  using Begin = typename TypeParam::OffsetType;
  using Number = typename TypeParam::IndexType;
  using Shape = detail::OutputAlignedTuning;
  std::mt19937_64 random(1);
  const std::int64_t steps = is_small() ? 20'000 : 140'000;
  for (const Counts kind : all_counts) {
    const auto counts = make_counts<Begin>(kind, steps, random);
    const auto scan = on_device(oracle::exclusive_scan(counts));
    const auto expected = oracle::objects<Number>(counts);
    const auto items = static_cast<std::int64_t>(expected.size());
    if (items == 0) continue;
    for (const int share_steps :
         {333, Shape::batch_objects, Shape::tile_items + 1, Shape::max_share_steps}) {
      SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(share_steps) + " steps");
      Guarded<Number> out(items, 5);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
      detail::run_output_aligned<Shape>(Work<Begin>{items, scan.data(), scan.count()}, share_steps,
                                        detail::ObjectNumbers<Number>{}, out.span().data,
                                        this->stream_);
      EXPECT_TRUE(out.get() == expected);
    }
  }
}

// The second share's only object begins as its second tile does, or a work item before or after: a
// head beyond the first tile is left to the second one.
TYPED_TEST(Search, HeadsWhereATileEnds) {
  using Begin = typename TypeParam::OffsetType;
  using Number = typename TypeParam::IndexType;
  using Shape = detail::OutputAlignedTuning;
  const int share_steps = 2 * Shape::tile_items;
  const int before = 4;  // objects, so that a vector of the scan begins with the next one
  const int first_item = share_steps - before;
  const int second_tile = first_item / Shape::line_items * Shape::line_items + Shape::tile_items;
  for (const int begin : {second_tile - 1, second_tile, second_tile + 1}) {
    std::vector<Begin> counts(before);
    counts.back() = begin;
    counts.push_back(Shape::tile_items);
    const auto scan = on_device(oracle::exclusive_scan(counts));
    const auto expected = oracle::objects<Number>(counts);
    const auto items = static_cast<std::int64_t>(expected.size());
    Guarded<Number> out(items);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
    detail::run_output_aligned<Shape>(Work<Begin>{items, scan.data(), scan.count()}, share_steps,
                                      detail::ObjectNumbers<Number>{}, out.span().data,
                                      this->stream_);
    EXPECT_TRUE(out.get() == expected) << "an object that begins at " << begin;
  }
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
