// References to tuples of 1 to 16 coordinates, by superkey: ties of every depth, signed zeros,
// limits, subsets of the tuples, NaN.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "../message_of.hpp"
#include "../number_types.hpp"
#include "../test_size.hpp"
#include "merge_sort/merge_sort.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

template <class C>
struct TupleSet {
  std::vector<C> coordinates;
  int dimensions;

  [[nodiscard]] std::size_t count() const {
    return coordinates.size() / static_cast<std::size_t>(dimensions);
  }
  [[nodiscard]] std::vector<std::uint32_t> all_references() const {
    return numbered<std::uint32_t>(count());
  }
};

/// Coordinates of `distinct` values around 0, whose zeros have either sign.
template <class C>
TupleSet<C> random_tuples(std::size_t count, int dimensions, unsigned distinct, unsigned seed) {
  std::mt19937 random(seed);
  TupleSet<C> tuples{{}, dimensions};
  for (std::size_t i = 0; i < count * static_cast<std::size_t>(dimensions); ++i) {
    const auto number = static_cast<int>(random() % distinct) - static_cast<int>(distinct / 2);
    const C coordinate = static_cast<C>(number);
    tuples.coordinates.push_back(number == 0 && random() % 2 == 0 ? -coordinate : coordinate);
  }
  return tuples;
}

/// On a device, small tiles are compiled for two of the four types, one of 4 bytes and one of 8:
/// their kernels take minutes.
template <class C>
inline constexpr bool has_small_tiles = std::is_floating_point_v<C>
#ifdef SIMT_EMULATION
                                        || true
#endif
    ;

template <class C>
class Superkeys : public testing::Test {
 protected:
  /// Sorts the references in every way: on small tiles, or by the public call if asked to.
  void expect_sorted(const TupleSet<C>& tuples, std::vector<std::uint32_t> references, int primary,
                     bool is_public = false) {
    const DeviceBuffer<C> coordinates = on_device(tuples.coordinates);
    const Tuples<C> device_tuples{coordinates.span(), tuples.dimensions, primary};
    const auto expected =
        oracle::sort_superkeys(tuples.coordinates, tuples.dimensions, primary, references);
    for (const Options& options : superkey_options()) {
      SCOPED_TRACE(std::to_string(references.size()) + " of " + std::to_string(tuples.count()) +
                   " tuples of " + std::to_string(tuples.dimensions) + ", primary " +
                   std::to_string(primary) + ", " + name_of(options));
      InPlace<std::uint32_t> sorted(references, 1);
      Guarded<C> values(static_cast<std::int64_t>(references.size()), 3);
      DeviceCount first_nan(stream_);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
      bool is_sorted = false;
      if constexpr (has_small_tiles<C>) {
        if (!is_public) {
          detail::run_sort_superkeys<SmallTiles>(device_tuples, sorted.span(), values.span(),
                                                 first_nan, workspace_, stream_, options);
          is_sorted = true;
        }
      }
      if (!is_sorted) {
        sort_superkeys(device_tuples, sorted.span(), values.span(), first_nan, workspace_, stream_,
                       options);
      }
      EXPECT_EQ(first_nan.get(stream_), -1);
      sorted.expect("reference", expected.values);
      EXPECT_EQ(values.get(), expected.keys);  // by ==: of zeros, the sign is lost
      if (this->HasFailure()) return;
    }
  }

  Stream stream_;
  Workspace workspace_;
};
TYPED_TEST_SUITE(Superkeys, CoordinateTypes);

TYPED_TEST(Superkeys, OfAllDimensionsAndPrimaries) {
  for (const int dimensions : {1, 2, 3, 4, 5, 16}) {
    for (int primary = 0; primary < dimensions; ++primary) {
      if (is_small() && primary % 3 != 0) continue;
      // Of 3 values, tuples of up to 4 coordinates are wholly equal, too.
      const auto tuples = random_tuples<TypeParam>(600, dimensions, 3, 7u + unsigned(primary));
      this->expect_sorted(tuples, tuples.all_references(), primary);
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Superkeys, OfAllSizes) {
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1024, 1025, 3333}) {
    if (is_small() && n > 1025) continue;
    for (const unsigned distinct : {1u, 2u, 1u << 20}) {
      const auto tuples = random_tuples<TypeParam>(n, 3, distinct, unsigned(n));
      this->expect_sorted(tuples, tuples.all_references(), 1);
      if (this->HasFailure()) return;
    }
  }
}

// Ties of all lengths around those that shared memory sorts, with others beside them that are
// longer, or none at all.
TYPED_TEST(Superkeys, OfTiesOfAllLengths) {
  for (const bool has_long_ones : {false, true}) {
    TupleSet<TypeParam> tuples{{}, 3};
    std::mt19937 random(5);
    const int longest = SmallTiles::TiesShape::most_ranked + (has_long_ones ? 3 : 0);
    for (int length = 1; length <= longest; length += is_small() && length < 17 ? 5 : 1) {
      for (int i = 0; i < length; ++i) {
        for (const int coordinate : {length, static_cast<int>(random() % 5), i % 3}) {
          tuples.coordinates.push_back(static_cast<TypeParam>(coordinate));
        }
      }
    }
    auto references = tuples.all_references();
    std::shuffle(references.begin(), references.end(), random);
    this->expect_sorted(tuples, references, 0);
  }
}

// Any references in any order: some tuples not at all, some many times.
TYPED_TEST(Superkeys, OfReferencesInAnyOrder) {
  std::mt19937 random(3);
  const auto tuples = random_tuples<TypeParam>(900, 4, 4, 11);
  auto references = tuples.all_references();
  std::shuffle(references.begin(), references.end(), random);
  this->expect_sorted(tuples, references, 2);
  references.resize(500);
  this->expect_sorted(tuples, references, 3);
  references.resize(60);
  for (int repeat = 0; repeat < 4; ++repeat) {
    references.insert(references.end(), references.begin(), references.end());
  }
  this->expect_sorted(tuples, references, 0);
  this->expect_sorted(tuples, std::vector<std::uint32_t>(700, 899), 0);
}

// Were coordinates compared by subtraction, these would overflow.
TYPED_TEST(Superkeys, OfLimits) {
  using Limits = std::numeric_limits<TypeParam>;
  std::vector<TypeParam> values{Limits::lowest(), Limits::max(), TypeParam{-1}, TypeParam{0},
                                TypeParam{1}};
  if constexpr (std::is_floating_point_v<TypeParam>) {
    for (const TypeParam value : {-Limits::infinity(), Limits::infinity(), Limits::denorm_min(),
                                  -Limits::denorm_min(), Limits::min(), TypeParam{-0.0}}) {
      values.push_back(value);
    }
  } else {
    values.push_back(static_cast<TypeParam>(Limits::lowest() + 1));
    values.push_back(static_cast<TypeParam>(Limits::max() - 1));
  }
  TupleSet<TypeParam> tuples{{}, 2};
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const TypeParam a : values) {
      for (const TypeParam b : values) tuples.coordinates.insert(tuples.coordinates.end(), {a, b});
    }
  }
  for (const int primary : {0, 1}) {
    this->expect_sorted(tuples, tuples.all_references(), primary);
    this->expect_sorted(tuples, tuples.all_references(), primary, /*is_public=*/true);
  }
}

TYPED_TEST(Superkeys, ByThePublicCallOnWholeTiles) {
  constexpr auto tile = static_cast<std::size_t>(
      TuningOf<sizeof(detail::SuperkeyItem<TypeParam>)>::SortShape::tile_items);
  for (const std::size_t n : {tile - 1, tile + 1, 2 * tile + 100}) {
    if (is_small() && n > tile + 1) continue;
    const auto tuples = random_tuples<TypeParam>(n, 4, 90, unsigned(n));
    this->expect_sorted(tuples, tuples.all_references(), 2, /*is_public=*/true);
    if (this->HasFailure()) return;
  }
}

// Runs of about a tile of the tuning that callers get, and of several: in the first coordinate all
// tie, in the others many.
TYPED_TEST(Superkeys, OfLongTiesByThePublicCall) {
  using Tuning = TuningOf<sizeof(detail::SuperkeyItem<TypeParam>)>;
  constexpr auto tile = static_cast<std::size_t>(Tuning::SortShape::tile_items);
  constexpr auto most_ranked = static_cast<std::size_t>(Tuning::TiesShape::most_ranked);
  for (const std::size_t n : {most_ranked, most_ranked + 1, tile - 1, 2 * tile + 77}) {
    if (is_small() && n > tile) continue;
    for (const unsigned distinct : {3u, 1000u}) {
      auto tuples = random_tuples<TypeParam>(n, 3, distinct, unsigned(n));
      for (std::size_t i = 0; i < n; ++i) tuples.coordinates[3 * i] = TypeParam{7};
      this->expect_sorted(tuples, tuples.all_references(), 0, /*is_public=*/true);
      if (this->HasFailure()) return;
    }
  }
}

// Long runs that need not be sorted: in order, or of one value in the next coordinate.
TYPED_TEST(Superkeys, OfLongTiesInOrder) {
  for (const int ordered_by : {0, 1, 2, 3}) {
    TupleSet<TypeParam> tuples{{}, 4};
    for (int i = 0; i < 900; ++i) {
      for (int k = 0; k < 4; ++k) {
        const int number = k < ordered_by ? 1 : k == ordered_by ? i / 300 : (i * 7919) % 5;
        tuples.coordinates.push_back(static_cast<TypeParam>(number));
      }
    }
    SCOPED_TRACE("ordered by coordinate " + std::to_string(ordered_by));
    this->expect_sorted(tuples, tuples.all_references(), 0);
    auto reversed = tuples.all_references();
    std::reverse(reversed.begin(), reversed.end());
    this->expect_sorted(tuples, reversed, 0);
    if (this->HasFailure()) return;
  }
}

TEST(SuperkeyZeros, AreOneValue) {
  // Were -0.0 less than 0.0, the second coordinate would not decide.
  const DeviceBuffer<float> coordinates =
      on_device(std::vector<float>{-0.0f, 2, 0.0f, 1, -0.0f, 0, 0.0f, 3});
  InPlace<std::uint32_t> references({0, 1, 2, 3});
  Guarded<float> values(4);
  DeviceCount first_nan;
  Workspace workspace;
  sort_superkeys(Tuples<float>{coordinates.span(), 2, 0}, references.span(), values.span(),
                 first_nan, workspace, nullptr);
  references.expect("reference", {2, 1, 0, 3});
  for (const float value : values.get()) EXPECT_FALSE(std::signbit(value));
}

// ---------------------------------------------------------------- NaN

template <class C>
class SuperkeyNan : public testing::Test {};
TYPED_TEST_SUITE(SuperkeyNan, FloatTypes);

TYPED_TEST(SuperkeyNan, TheFirstIsNamedAndAllAreSortedLast) {
  constexpr int dimensions = 3;
  constexpr TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  std::mt19937 random(5);
  for (int round = 0; round < (is_small() ? 4 : 12); ++round) {
    auto tuples = random_tuples<TypeParam>(1500, dimensions, 2, unsigned(round));
    for (int i = 0; i < 1 << round; ++i) {
      tuples.coordinates[random() % tuples.coordinates.size()] = round % 2 == 0 ? nan : -nan;
    }
    auto references = tuples.all_references();
    std::shuffle(references.begin(), references.end(), random);
    references.resize(1100);
    const DeviceBuffer<TypeParam> coordinates = on_device(tuples.coordinates);
    const Tuples<TypeParam> device_tuples{coordinates.span(), dimensions, round % dimensions};
    const std::int64_t expected = oracle::first_nan(tuples.coordinates, dimensions, references);
    const std::vector<std::uint32_t> order =
        oracle::sort_superkeys(tuples.coordinates, dimensions, round % dimensions, references)
            .values;
    for (const Options& options : superkey_options()) {
      SCOPED_TRACE(std::to_string(1 << round) + " NaN, " + name_of(options));
      InPlace<std::uint32_t> sorted(references, 1);
      Guarded<TypeParam> values(1100, 3);
      DeviceCount first_nan;
      Workspace workspace;
      detail::run_sort_superkeys<SmallTiles>(device_tuples, sorted.span(), values.span(), first_nan,
                                             workspace, nullptr, options);
      EXPECT_EQ(first_nan.get(nullptr), expected);
      sorted.expect("reference", order);
      values.get();  // looks at the guard zones
      const std::string said = message_of<std::invalid_argument>(
          [&] { require_no_nan(first_nan, device_tuples, nullptr); });
      if (expected < 0) {
        EXPECT_EQ(said, "nothing");
      } else {
        EXPECT_EQ(said, "tuples: coordinate " + std::to_string(expected % dimensions) +
                            " of tuple " + std::to_string(expected / dimensions) +
                            " is NaN: expected numbers, which have an order");
      }
    }
  }
}

// One in each place of a tuple, and in the last tuple.
TYPED_TEST(SuperkeyNan, IsFoundInEveryCoordinate) {
  for (int coordinate = 0; coordinate < 5; ++coordinate) {
    auto tuples = random_tuples<TypeParam>(300, 5, 1000, 1);
    tuples.coordinates[299 * 5 + static_cast<std::size_t>(coordinate)] = std::nan("");
    const DeviceBuffer<TypeParam> coordinates = on_device(tuples.coordinates);
    const Tuples<TypeParam> device_tuples{coordinates.span(), 5, 1};
    InPlace<std::uint32_t> references(tuples.all_references());
    Guarded<TypeParam> values(300);
    DeviceCount first_nan;
    Workspace workspace;
    sort_superkeys(device_tuples, references.span(), values.span(), first_nan, workspace, nullptr);
    EXPECT_EQ(first_nan.get(nullptr), 299 * 5 + coordinate);
  }
}

// What no reference names may be anything.
TYPED_TEST(SuperkeyNan, OfATupleThatIsNotReferencedIsNone) {
  const DeviceBuffer<TypeParam> coordinates =
      on_device(std::vector<TypeParam>{2, static_cast<TypeParam>(std::nan("")), 1});
  InPlace<std::uint32_t> references({0, 2});
  Guarded<TypeParam> values(2);
  DeviceCount first_nan;
  Workspace workspace;
  const Tuples<TypeParam> tuples{coordinates.span(), 1, 0};
  sort_superkeys(tuples, references.span(), values.span(), first_nan, workspace, nullptr);
  require_no_nan(first_nan, tuples, nullptr);
  references.expect("reference", {2, 0});
}

TEST(IotaReferences, AreAllNumbers) {
  for (const std::int64_t n : {0, 1, 255, 256, 1000}) {
    Guarded<std::uint32_t> references(n, 1);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    const Stream stream;
    iota_references(references.span(), stream);
    EXPECT_EQ(references.get(), numbered<std::uint32_t>(static_cast<std::size_t>(n)));
  }
}

}  // namespace
}  // namespace warpath::merge_sort::test
