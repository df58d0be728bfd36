// remove_duplicates: references to tuples of 1 to 16 coordinates, sorted by superkey, and not
// sorted; its arguments.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "../test_size.hpp"
#include "compaction_suite.cuh"
#include "core/checked.hpp"
#include "operations.hpp"
#include "preconditions.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

namespace {

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, float>) return "Float";
  if constexpr (std::is_same_v<T, double>) return "Double";
  return sizeof(T) == 8 ? "Int64" : "Int32";
}

/// A tuple set whose superkeys are ordered as `keys` are. The primary coordinate has only an eighth
/// of a key, so ties are common; a later one, any of them, decides among those. What comes before
/// it ties as well, what comes after it says the opposite. Zeros have either sign.
template <class C>
class TupleMaker {
 public:
  TupleMaker(int dimensions, int primary, Random& random)
      : dimensions_(dimensions),
        primary_(primary),
        decisive_(dimensions == 1 ? 0 : 1 + static_cast<int>(random() % (dimensions - 1))),
        random_(random) {}

  void write(std::uint64_t key, C* tuple) {
    const auto k = static_cast<std::int64_t>(key);
    for (int place = 0; place < dimensions_; ++place) {
      std::int64_t coordinate = k / 8 - 3;
      if (decisive_ == 0) coordinate = k - 3;
      if (decisive_ > 0 && place == decisive_) coordinate = k % 8 - 3;
      if (decisive_ > 0 && place > decisive_) coordinate = 7 - k % 8;
      tuple[(primary_ + place) % dimensions_] = signed_zero(static_cast<C>(coordinate));
    }
  }

 private:
  C signed_zero(C coordinate) {
    return coordinate == 0 && random_() % 2 == 0 ? -coordinate : coordinate;
  }

  int dimensions_;
  int primary_;
  int decisive_;  // in the order of the superkey
  Random& random_;
};

template <class C, class R>
struct RemoveDuplicates {
  using Rule = detail::KeepDistinctTuple<C, R>;
  struct Prepared {
    int dimensions = 1;
    int primary = 0;
    std::vector<C> values;
    std::vector<R> references;
    std::vector<C> tuples;
    Expected expected;
  };
  static std::string name() {
    return std::string("RemoveDuplicates") + type_name<C>() + type_name<R>();
  }

  static Prepared make(const Case& c) {
    Random random(c.seed);
    auto keys = make_keys(c.distribution, c.n, run_length, random);
    if (random() % 2 == 0) std::sort(keys.begin(), keys.end());
    constexpr std::array dimensions = {1, 2, 3, 4, 16};
    const int d = dimensions[c.seed % dimensions.size()];
    return make(keys, d, static_cast<int>(random() % static_cast<unsigned>(d)), random);
  }

  static Prepared make(const std::vector<std::uint64_t>& keys, int dimensions, int primary,
                       Random& random) {
    Prepared prepared;
    prepared.dimensions = dimensions;
    prepared.primary = primary;
    prepared.references.resize(keys.size());
    std::iota(prepared.references.begin(), prepared.references.end(), R{0});
    std::shuffle(prepared.references.begin(), prepared.references.end(), random);
    const auto d = static_cast<std::size_t>(dimensions);
    prepared.tuples.resize(keys.size() * d);
    TupleMaker<C> maker(dimensions, primary, random);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      C* tuple = &prepared.tuples[static_cast<std::size_t>(prepared.references[i]) * d];
      maker.write(keys[i], tuple);
      prepared.values.push_back(tuple[primary]);
    }
    const auto distinct = oracle::remove_duplicates(prepared.values, prepared.references,
                                                    prepared.tuples, dimensions, primary);
    prepared.expected = {{column_of(distinct.kept.first), column_of(distinct.kept.second)},
                         distinct.first_disorder};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<C> values(prepared.values, c.in_offset, stream);
    const Input<R> references(prepared.references, c.in_offset * 5 % 8, stream);
    const Input<C> tuples(prepared.tuples, c.in_offset, stream);
    Output<C> out_values(c.n, c.out_offset, stream);
    Output<R> out_references(c.n, c.out_offset * 3 % 8, stream);
    DeviceCount kept(stream);
    DeviceCount first_disorder(stream);
    remove_duplicates(values.span(), references.span(),
                      Tuples<C>{tuples.span(), prepared.dimensions, prepared.primary},
                      out_values.span(), out_references.span(), kept, first_disorder,
                      laboratory.workspace, stream, c.way.options);
    return {{out_values.image(), out_references.image()},
            kept.get(stream),
            first_disorder.get(stream),
            values.is_intact() && references.is_intact() && tuples.is_intact()};
  }
};

using RemoveDuplicatesTypes =
    testing::Types<RemoveDuplicates<float, std::int32_t>, RemoveDuplicates<double, std::int64_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(RemoveDuplicates, CompactionTest, RemoveDuplicatesTypes,
                               OperationNames);

using Coordinate = float;
using Reference = std::int32_t;
using Operation = RemoveDuplicates<Coordinate, Reference>;

std::vector<Way> some_ways() {
  return {single_pass_by(Path::small), single_pass_by(Path::plain), single_pass_by(Path::pipeline),
          two_pass_ways[0], two_pass_ways[3]};
}

/// Sorted keys in pairs, but for one that is too small.
std::vector<std::uint64_t> keys_with_disorder(std::int64_t n, std::int64_t at) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = 1 + i / 2;
  if (at >= 0) keys[static_cast<std::size_t>(at)] = 0;
  return keys;
}

class RemoveDuplicatesOrder : public testing::TestWithParam<int> {};

TEST_P(RemoveDuplicatesOrder, FirstDisorderIsReported) {
  const int dimensions = GetParam();
  constexpr std::int64_t tile = detail::TuningOf<Operation::Rule>::Small::tile_items;
  constexpr std::int64_t n = 2 * tile + 100;
  Laboratory laboratory;
  Random random(20260703);
  const std::vector<std::int64_t> all_places = {-1,   1,        32,       tile - 1,
                                                tile, tile + 1, 2 * tile, n - 1};
  const std::vector<std::int64_t> places = {-1, tile, n - 1};
  for (const std::int64_t at : is_small() ? places : all_places) {
    const auto keys = keys_with_disorder(n, at);
    const auto prepared = Operation::make(keys, dimensions, dimensions / 2, random);
    ASSERT_EQ(prepared.expected.first_disorder, at);
    for (const Way& way : some_ways()) {
      const Case c{way, n, Distribution::sorted, 1};
      EXPECT_TRUE(judge(Operation::run(laboratory, c, prepared), prepared.expected))
          << way.name << ", " << dimensions << " dimensions, disorder at " << at;
    }
  }
}

TEST_P(RemoveDuplicatesOrder, OfManyDisordersTheFirstIsReported) {
  const int dimensions = GetParam();
  Laboratory laboratory;
  Random random(20260704);
  auto keys = keys_with_disorder(40'000, 12'345);
  for (std::size_t i = 20'000; i < keys.size(); i += 7) keys[i] = 0;
  const auto prepared = Operation::make(keys, dimensions, 0, random);
  ASSERT_EQ(prepared.expected.first_disorder, 12'345);
  for (const Way& way : some_ways()) {
    const Case c{way, 40'000, Distribution::sorted, 1};
    EXPECT_TRUE(judge(Operation::run(laboratory, c, prepared), prepared.expected)) << way.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RemoveDuplicatesOrder, testing::Values(1, 2, 3, 4, 16));

// The tuples are read where two values tie, and only there: these references point far outside,
// which is an error where checks are on.
TEST(RemoveDuplicates, TuplesAreReadOnTiesOnly) {
  struct Unchecked {
    Unchecked() { set_checked(false); }
    ~Unchecked() { set_checked(true); }
  } unchecked;
  const std::vector<Coordinate> values = {1, 2, 3, 4, 5};
  const std::vector<Reference> references = {1 << 30, -5, 1 << 29, -7, 1 << 30};
  Operation::Prepared prepared;
  prepared.dimensions = 4;
  prepared.values = values;
  prepared.references = references;
  prepared.tuples = {0, 0, 0, 0};
  prepared.expected = {{column_of(values), column_of(references)}, -1};
  Laboratory laboratory;
  for (const Way& way : some_ways()) {
    const Case c{way, 5, Distribution::sorted, 1};
    EXPECT_TRUE(judge(Operation::run(laboratory, c, prepared), prepared.expected)) << way.name;
  }
}

TEST(RemoveDuplicates, ZerosOfEitherSignTie) {
  const std::vector<Coordinate> values = {-0.0f, 0.0f, -0.0f, 0.0f};
  const std::vector<Reference> references = {3, 2, 1, 0};
  Operation::Prepared prepared;
  prepared.dimensions = 2;
  prepared.values = values;
  prepared.references = references;
  //                  (0, 1)     (-0, 1)     (0, 0)      (-0, -0)
  prepared.tuples = {0.0f, 1.0f, -0.0f, 1.0f, 0.0f, 0.0f, -0.0f, -0.0f};
  // The first of each kind is kept as it is, with its sign.
  prepared.expected = {
      {column_of(std::vector<Coordinate>{-0.0f, -0.0f}), column_of(std::vector<Reference>{3, 1})},
      -1};
  Laboratory laboratory;
  for (const Way& way : some_ways()) {
    const Case c{way, 4, Distribution::sorted, 1};
    EXPECT_TRUE(judge(Operation::run(laboratory, c, prepared), prepared.expected)) << way.name;
  }
}

class RemoveDuplicatesArguments : public PreconditionTest {
 protected:
  struct Arguments {
    DeviceSpan<const Coordinate> values;
    DeviceSpan<const Reference> references;
    Tuples<Coordinate> tuples;
    DeviceSpan<Coordinate> out_values;
    DeviceSpan<Reference> out_references;
  };
  RemoveDuplicatesArguments() { write_zeros(memory_); }
  /// Place number i for an argument; all are apart.
  template <class T>
  [[nodiscard]] T* place(int i) {
    return reinterpret_cast<T*>(memory_.data() + 2 * n * i);
  }
  /// Right arguments.
  [[nodiscard]] Arguments right() {
    return {{place<Coordinate>(0), n},
            {place<Reference>(1), n},
            {{place<Coordinate>(2), 2 * n}, 2, 0},
            {place<Coordinate>(3), n},
            {place<Reference>(4), n}};
  }
  void call(const Arguments& a) {
    remove_duplicates(a.values, a.references, a.tuples, a.out_values, a.out_references, kept_,
                      first_disorder_, workspace_, stream_);
  }
  /// Expects that the arguments are refused once `change` has changed them.
  template <class Change>
  void rejects_change(const std::vector<std::string>& words, Change change) {
    Arguments arguments = right();
    change(arguments);
    rejects(words, [&] { call(arguments); });
  }
  DeviceCount first_disorder_{stream_};
  DeviceBuffer<Coordinate> memory_{12 * n, stream_};
};

TEST_F(RemoveDuplicatesArguments, RightOnesAreTaken) {
  accepts([&] { call(right()); });
}

TEST_F(RemoveDuplicatesArguments, AReferenceForEachValue) {
  rejects_change({"references", "99", "100", "values"}, [](auto& a) { --a.references.count; });
}

TEST_F(RemoveDuplicatesArguments, OutputsNeedRoomForAll) {
  rejects_change({"out_values", "99", "100"}, [](auto& a) { --a.out_values.count; });
  rejects_change({"out_references", "99", "100"}, [](auto& a) { --a.out_references.count; });
}

TEST_F(RemoveDuplicatesArguments, DimensionsAreOneToSixteen) {
  for (const int dimensions : {-1, 0, 17}) {
    rejects_change({"dimensions is " + std::to_string(dimensions), "1 to 16"},
                   [&](auto& a) { a.tuples.dimensions = dimensions; });
  }
}

TEST_F(RemoveDuplicatesArguments, PrimaryIsADimension) {
  for (const int primary : {-1, 2, 16}) {
    rejects_change({"primary is " + std::to_string(primary), "0 to 1"},
                   [&](auto& a) { a.tuples.primary = primary; });
  }
}

TEST_F(RemoveDuplicatesArguments, OutputsAreApartFromInputsAndEachOther) {
  rejects_change({"out_values overlaps values"},
                 [&](auto& a) { a.out_values.data = place<Coordinate>(0) + n - 1; });
  rejects_change({"out_references overlaps references"},
                 [&](auto& a) { a.out_references.data = place<Reference>(1) + 1; });
  rejects_change({"out_references overlaps values"},
                 [&](auto& a) { a.out_references.data = place<Reference>(0) + n - 1; });
  rejects_change({"out_values overlaps references"},
                 [&](auto& a) { a.out_values.data = place<Coordinate>(1); });
  rejects_change({"out_references overlaps out_values"},
                 [&](auto& a) { a.out_references.data = place<Reference>(3) + n - 1; });
}

TEST_F(RemoveDuplicatesArguments, CountsAreApartFromAll) {
  const auto rejects_on = [&](const std::string& name, DeviceCount& count) {
    const auto on_count = [&](auto* data) {
      return reinterpret_cast<decltype(data)>(count.data());
    };
    rejects_change({name + " overlaps values"},
                   [&](auto& a) { a.values.data = on_count(place<Coordinate>(0)); });
    rejects_change({name + " overlaps references"},
                   [&](auto& a) { a.references.data = on_count(place<Reference>(1)); });
    rejects_change({name + " overlaps tuples"},
                   [&](auto& a) { a.tuples.coordinates.data = on_count(place<Coordinate>(2)); });
    rejects_change({"out_values overlaps " + name},
                   [&](auto& a) { a.out_values.data = on_count(place<Coordinate>(3)); });
    rejects_change({"out_references overlaps " + name},
                   [&](auto& a) { a.out_references.data = on_count(place<Reference>(4)); });
  };
  rejects_on("kept", kept_);
  rejects_on("first_disorder", first_disorder_);
}

TEST_F(RemoveDuplicatesArguments, OutputsAreApartFromTuples) {
  rejects_change({"out_values overlaps tuples"},
                 [&](auto& a) { a.out_values.data = place<Coordinate>(2) + 2 * n - 1; });
  rejects_change({"out_references overlaps tuples"},
                 [&](auto& a) { a.out_references.data = place<Reference>(2) + 1; });
}

TEST_F(RemoveDuplicatesArguments, CountsAreNotNegativeAndMemoryIsThere) {
  rejects_change({"values has -1"}, [](auto& a) { a.values.count = -1; });
  rejects_change({"references has -1"}, [](auto& a) { a.references.count = -1; });
  rejects_change({"tuples has -2"}, [](auto& a) { a.tuples.coordinates.count = -2; });
  rejects_change({"out_values has -1"}, [](auto& a) { a.out_values.count = -1; });
  rejects_change({"out_references has -1"}, [](auto& a) { a.out_references.count = -1; });
  rejects_change({"tuples is null"}, [](auto& a) { a.tuples.coordinates.data = nullptr; });
}

TEST_F(RemoveDuplicatesArguments, CoordinatesAreWholeTuples) {
  rejects_change({"tuples has 199 coordinates", "a multiple of dimensions, which is 2"},
                 [](auto& a) { --a.tuples.coordinates.count; });
}

TEST_F(RemoveDuplicatesArguments, ReferencesNeedTuples) {
  rejects_change({"tuples has no coordinates"}, [](auto& a) { a.tuples.coordinates = {}; });
}

TEST_F(RemoveDuplicatesArguments, CountsAreApartFromOutputsAndEachOther) {
  const Arguments a = right();
  const auto on_count = [&]<class T>(DeviceSpan<T> right_one, DeviceCount& count) {
    static_assert(sizeof(T) <= sizeof(std::int64_t));
    return DeviceSpan<T>{reinterpret_cast<T*>(count.data()), right_one.count};
  };
  for (DeviceCount* count : {&kept_, &first_disorder_}) {
    const std::string name = count == &kept_ ? "kept" : "first_disorder";
    rejects({"out_values overlaps " + name}, [&] {
      remove_duplicates(a.values, a.references, a.tuples, on_count(a.out_values, *count),
                        a.out_references, kept_, first_disorder_, workspace_, stream_);
    });
    rejects({"out_references overlaps " + name}, [&] {
      remove_duplicates(a.values, a.references, a.tuples, a.out_values,
                        on_count(a.out_references, *count), kept_, first_disorder_, workspace_,
                        stream_);
    });
  }
  rejects({"first_disorder overlaps kept"}, [&] {
    remove_duplicates(a.values, a.references, a.tuples, a.out_values, a.out_references, kept_,
                      kept_, workspace_, stream_);
  });
}

TEST_F(RemoveDuplicatesArguments, OptionsAreWhatTheTableHas) {
  const Arguments a = right();
  const Options options{.variant = static_cast<Variant>(17)};
  rejects({"options.variant is 17"}, [&] {
    remove_duplicates(a.values, a.references, a.tuples, a.out_values, a.out_references, kept_,
                      first_disorder_, workspace_, stream_, options);
  });
}

// What the tests' main() switches on.
class RemoveDuplicatesChecks : public RemoveDuplicatesArguments {
 protected:
  template <class T>
  void write(int which, std::int64_t at, T value) {
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(place<T>(which) + at, &value, sizeof value,
                                       cudaMemcpyHostToDevice, stream_));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  static constexpr Coordinate nan = std::numeric_limits<Coordinate>::quiet_NaN();
};

TEST_F(RemoveDuplicatesChecks, NoCoordinateIsNan) {
  for (const int at : {2 * static_cast<int>(n) - 1, 101, 7, 0}) {
    write(2, at, nan);
    rejects({"tuples[" + std::to_string(at) + "]", "NaN"}, [&] { call(right()); });
  }
}

TEST_F(RemoveDuplicatesChecks, NoValueIsNan) {
  for (const int at : {static_cast<int>(n) - 1, 33, 0}) {
    write(0, at, nan);
    rejects({"values[" + std::to_string(at) + "]", "NaN"}, [&] { call(right()); });
  }
}

TEST_F(RemoveDuplicatesChecks, ReferencesAreNumbersOfTuples) {
  for (const auto& [at, reference] :
       {std::pair{99, 100}, std::pair{57, -1}, std::pair{1, 1 << 30}, std::pair{0, 100}}) {
    write<Reference>(1, at, reference);
    rejects({"references[" + std::to_string(at) + "] is " + std::to_string(reference),
             "the number of a tuple, 0 to 99"},
            [&] { call(right()); });
  }
}

TEST_F(RemoveDuplicatesChecks, ValuesAreCoordinatesOfTheirTuples) {
  for (const int at : {static_cast<int>(n) - 1, 31, 0}) {
    write<Reference>(1, at, 50 + at / 2);
    write<Coordinate>(0, at, 1.5f);
    rejects({"values[" + std::to_string(at) + "] is 1.5", "expected 0.0",
             "coordinate 0 of tuple references[" + std::to_string(at) +
                 "] = " + std::to_string(50 + at / 2)},
            [&] { call(right()); });
  }
}

TEST_F(RemoveDuplicatesChecks, AreNotMadeWhereTheyAreOff) {
  write<Coordinate>(0, 5, 1.5f);  // no NaN, no reference out of range: defined, if meaningless
  set_checked(false);
  EXPECT_NO_THROW(call(right()));
  set_checked(true);
}

}  // namespace

testing::AssertionResult check_remove_duplicates(Laboratory& laboratory, const Case& c) {
  return check<RemoveDuplicates<double, std::int64_t>>(laboratory, c);
}

}  // namespace warpath::warp_compaction::test
