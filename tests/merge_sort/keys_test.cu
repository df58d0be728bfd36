// Every size, arrangement and way, on small tiles: keys, and pairs whose value says where the key
// came from.
#include "../test_size.hpp"
#include "merge_sort/pairs.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

using detail::Call;
using detail::NoValue;

/// Around a thread's items, a warp, tiles, as many of them as are merged at once, and their square;
/// and whole output tiles of a merge. In a short run, no square of many ways: that of few has as
/// many passes.
template <class Tuning>
std::vector<std::int64_t> sizes() {
  constexpr std::int64_t tile = Tuning::SortShape::tile_items;
  constexpr std::int64_t items = Tuning::SortShape::items;
  std::vector<std::int64_t> all{1, 2, items - 1, items, items + 1, 31, 32, 33, 3 * tile + 77};
  for (const std::int64_t n : {tile, 2 * tile, Tuning::MergeShape::ways * tile,
                               Tuning::MergeShape::ways * Tuning::MergeShape::ways * tile}) {
    for (const int more : {-1, 0, 1}) all.push_back(n + more);
  }
  all.push_back((Tuning::MergeShape::ways + 1) * tile - 5);
  all.push_back(3 * Tuning::MergeShape::tile_items);
  if (is_small()) std::erase_if(all, [](std::int64_t n) { return n > 100'000; });
  return all;
}

template <class Tuning>
class Sizes : public testing::Test {
 protected:
  Stream stream_;
  Workspace workspace_;
};
using AllTilings = testing::Types<SmallTiles, OddTiles, ManyWays>;
TYPED_TEST_SUITE(Sizes, AllTilings);

TYPED_TEST(Sizes, OfPairs) {
  using Less = std::less<>;
  for (const std::int64_t n : sizes<TypeParam>()) {
    const bool is_long = n > 3000;
    for (const Arrangement& arrangement :
         arrangements(n, TypeParam::SortShape::tile_items, static_cast<unsigned>(n))) {
      if (is_long && (is_small() || n > 20'000) && arrangement.name != "few unique") continue;
      for (const Options& options : all_options()) {
        SCOPED_TRACE(std::to_string(n) + " pairs, " + arrangement.name + ", " + name_of(options));
        const auto keys = keys_of<float>(arrangement.numbers);
        expect_pairs_sorted(
            keys, numbered<std::uint32_t>(keys.size()), Less{}, [&](auto in_keys, auto in_values) {
              detail::run_sort_items<TypeParam>(Call<float, std::uint32_t, Less>{
                  in_keys.data, in_values.data, n, {}, this->workspace_, this->stream_, options});
            });
        if (this->HasFailure()) return;
      }
    }
  }
}

// A total order: the sort of a thread's items is another.
TYPED_TEST(Sizes, OfKeys) {
  using Less = std::greater<>;
  static_assert(detail::ByKey<int, NoValue, Less>::is_total);
  static_assert(!detail::ByKey<float, NoValue, Less>::is_total);
  static_assert(!detail::ByKey<int, int, Less>::is_total);
  for (const std::int64_t n : sizes<TypeParam>()) {
    for (const Arrangement& arrangement :
         arrangements(n, TypeParam::SortShape::tile_items, static_cast<unsigned>(n + 1))) {
      if (n > 3000 && arrangement.name != "uniform") continue;
      for (const Options& options : all_options()) {
        SCOPED_TRACE(std::to_string(n) + " keys, " + arrangement.name + ", " + name_of(options));
        expect_keys_sorted(arrangement.numbers, Less{}, [&](auto keys) {
          detail::run_sort_items<TypeParam>(Call<int, NoValue, Less>{
              keys.data, nullptr, n, {}, this->workspace_, this->stream_, options});
        });
        if (this->HasFailure()) return;
      }
    }
  }
}

/// No order at all.
struct Whim {
  __host__ __device__ bool operator()(int a, int b) const {
    return ((a * 2654435761u) ^ (b * 40503u)) >> 7 & 1;
  }
};

// Whatever the comparator says, it is asked about keys of the input only, and the sort ends. (What
// is written outside the arrays fails the guard zones.)
TYPED_TEST(Sizes, AComparatorThatIsNoOrderDoesNoHarm) {
  const std::int64_t n = TypeParam::MergeShape::ways * TypeParam::SortShape::tile_items * 2 + 31;
  std::vector<int> keys(static_cast<std::size_t>(n));
  std::iota(keys.begin(), keys.end(), 1000);
  for (const Options& options : all_options()) {
#if !defined(SIMT_EMULATION) || defined(SIMT_TSAN)
    // Two items may get one place, which is a race, though one that does no harm.
    if (options.low_level == LowLevelMerge::rank_search) continue;
#endif
    SCOPED_TRACE(name_of(options));
    Guarded<int> sorted(n, 1);
    WARPATH_CUDA_CHECK(cudaMemcpy(sorted.span().data, keys.data(), keys.size() * sizeof(int),
                                  cudaMemcpyHostToDevice));
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    detail::run_sort_items<TypeParam>(Call<int, NoValue, Whim>{
        sorted.span().data, nullptr, n, {}, this->workspace_, this->stream_, options});
    for (const int key : sorted.get()) {
      ASSERT_GE(key, 1000);
      ASSERT_LT(key, 1000 + n);
    }
  }
}

// ---------------------------------------------------------------- the passes

TEST(Passes, AreTheFewestAndShareTheWork) {
  using Tuning = SortTuning<TileShape<32, 4>, MergeTileShape<32, 4, 16>>;
  for (const std::int64_t tiles : {0, 1, 2, 3, 15, 16, 17, 255, 256, 257, 2048, 4096, 4097}) {
    const std::int64_t n = tiles * 128;
    for (const auto& [variant, most] :
         {std::pair{Variant::binary_merge, 2}, std::pair{Variant::multiway_merge, 16}}) {
      const detail::Passes passes = detail::passes_of<Tuning>(n, variant);
      std::int64_t fewest = 0;
      for (std::int64_t merged = 1; merged < tiles; merged *= most) ++fewest;
      EXPECT_EQ(passes.merges, fewest) << tiles << " tiles";
      std::int64_t merged = 1;
      for (int pass = 0; pass < passes.merges; ++pass) {
        EXPECT_GE(passes.ways(pass), 2);
        EXPECT_LE(passes.ways(pass), most);
        EXPECT_LE(passes.ways(0), 2 * passes.ways(pass)) << "a pass is nearly idle";
        merged *= passes.ways(pass);
      }
      EXPECT_GE(merged, tiles);
      EXPECT_LT(merged, 2 * std::max<std::int64_t>(tiles, 1));
    }
  }
}

// Small tiles, as long as they take no more passes than large ones.
TEST(Tunings, OfFewItemsHaveSmallTiles) {
  using Tuning = TuningOf<8>;
  using Some = Tuning::FewItemsTuning;
  using Few = Some::FewItemsTuning;
  const auto tile_of = [](std::int64_t n, const Options& options) {
    return detail::with_tuning<Tuning>(n, options,
                                       [&]<class T>() { return int{T::SortShape::tile_items}; });
  };
  constexpr int small = Few::SortShape::tile_items;
  constexpr int large = Tuning::SortShape::tile_items;
  const Options by_default;
  EXPECT_EQ(tile_of(small, by_default), small);
  EXPECT_EQ(tile_of(large, by_default), large) << "no merge";
  EXPECT_EQ(tile_of(large + 1, by_default), small);
  EXPECT_EQ(tile_of(32 * small, by_default), small);
  EXPECT_EQ(tile_of(32 * small + 1, by_default), large) << "one merge";
  EXPECT_EQ(tile_of(32 * large + 1, by_default), small);
  EXPECT_EQ(tile_of(Some::most_few_items, by_default), small);
  EXPECT_EQ(tile_of(Some::most_few_items + 1, by_default), large);
  EXPECT_EQ(detail::merge_passes<Tuning>(Tuning::most_few_items / 2, by_default), 2);
  EXPECT_EQ(detail::passes_of<Tuning>(Tuning::most_few_items / 2, Variant::multiway_merge).merges,
            3);
  EXPECT_EQ(tile_of(1, {Variant::binary_merge}), large);
  EXPECT_EQ(tile_of(1, {Variant::multiway_merge, LowLevelMerge::rank_search}), large);
}

// A position of 2^32 - 1 is the last that 32 bits hold: a run may have that many items.
TEST(Passes, OfManyItemsHaveWidePositions) {
  using Tuning = TuningOf<4>;
  constexpr std::int64_t bound = std::int64_t{1} << 32;
  EXPECT_FALSE(detail::has_wide_positions<Tuning>(bound - 1));
  EXPECT_TRUE(detail::has_wide_positions<Tuning>(bound));
  const detail::RunGroups runs{bound, Tuning::SortShape::tile_items, Tuning::MergeShape::ways,
                               Tuning::MergeShape::aimed_items};
  EXPECT_EQ(detail::position_bytes<Tuning>(bound - 1, {}),
            runs.tiles() * Tuning::MergeShape::ways * 4);
  EXPECT_EQ(detail::position_bytes<Tuning>(bound, {}), runs.tiles() * Tuning::MergeShape::ways * 8);
  EXPECT_EQ(detail::position_bytes<Tuning>(Tuning::SortShape::tile_items, {}), 0);
}

}  // namespace
}  // namespace warpath::merge_sort::test
