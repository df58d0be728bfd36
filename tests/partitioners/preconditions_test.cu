// Calls that are refused: std::invalid_argument that names the argument, before anything runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "core/checked.hpp"
#include "partitioners/partitioners.cuh"

namespace warpath::partitioners::test {
namespace {

using testing::HasSubstr;

struct IsOdd {
  __device__ bool operator()(std::uint32_t value) const { return value % 2 != 0; }
};
struct IsSmall {
  __device__ bool operator()(std::uint32_t value) const { return value < 10; }
};

/// Expects the message of std::invalid_argument to have all of these words.
template <class Call>
void rejects(const std::vector<std::string>& words, const Call& call) {
  const std::string message = message_of<std::invalid_argument>(call);
  for (const std::string& word : words) EXPECT_THAT(message, HasSubstr(word));
}

/// A level of 10 references to 12 tuples of three coordinates, all the same, and what a test spoils
/// of it. Gaps hold references to no tuple.
class LevelArguments : public testing::Test {
 protected:
  static constexpr std::int64_t n = 10;
  struct Arguments {
    Tuples<float> tuples;
    int level = 1;
    DeviceSpan<const std::uint32_t> primary;
    std::vector<ReferenceArray> arrays;
    MedianStores medians;
    Options options = {};
  };
  LevelArguments() {
    for (int tuple = 0; tuple < 12; ++tuple) {
      for (int k = 0; k < 3; ++k) coordinates_.push_back(static_cast<float>(tuple));
    }
    write(references_of_level_, references_of_level_, references_of_level_);
  }
  /// The primary array and the inputs of the others.
  void write(const std::vector<std::uint32_t>& primary, const std::vector<std::uint32_t>& first,
             const std::vector<std::uint32_t>& second) {
    tuples_ = on_device(coordinates_, stream_);
    primary_ = on_device(primary, stream_);
    ins_[0] = on_device(first, stream_);
    ins_[1] = on_device(second, stream_);
  }
  Arguments right() {
    Arguments a;
    a.tuples = {tuples_.span(), 3, 0};
    a.primary = primary_.span();
    for (int i = 0; i < 2; ++i) {
      a.arrays.push_back({ins_[i].span(), {outs_.data() + n * i, n}});
    }
    a.medians = {{medians_.data(), 2}, {medians_.data() + 2, 4}};
    return a;
  }
  void call(const Arguments& a) {
    partition_level(a.tuples, a.level, a.primary, a.arrays, a.medians, workspace_, stream_,
                    a.options);
  }
  /// Expects that the arguments are refused once `change` has changed them, before anything ran.
  template <class Change>
  void rejects_change(const std::vector<std::string>& words, const Change& change) {
    Arguments arguments = right();
    change(arguments);
    workspace_ = {};
    WARPATH_CUDA_CHECK(cudaMemsetAsync(medians_.data(), 0x77, 6 * sizeof(std::uint32_t), stream_));
    rejects(words, [&] { call(arguments); });
    EXPECT_EQ(workspace_.bytes(), 0);
    EXPECT_EQ(on_host(medians_, stream_), std::vector<std::uint32_t>(6, 0x77777777));
  }

  const std::vector<std::uint32_t> references_of_level_ = {0, 1, 2, 3, 99, 5, 6, 7, 8, 11};
  Stream stream_;
  Workspace workspace_;
  std::vector<float> coordinates_;
  DeviceBuffer<float> tuples_;
  DeviceBuffer<std::uint32_t> primary_;
  DeviceBuffer<std::uint32_t> ins_[2];
  DeviceBuffer<std::uint32_t> outs_{2 * n, stream_};
  DeviceBuffer<std::uint32_t> medians_{6, stream_};
};

TEST_F(LevelArguments, RightOnesAreTaken) {
  for (const Variant variant : {Variant::source, Variant::look_back, Variant::side_bits}) {
    Arguments a = right();
    a.options = {.variant = variant, .warps = 8};
    EXPECT_NO_THROW(call(a)) << enum_name(variant);
    EXPECT_EQ(on_host(medians_.data(), 2, stream_), (std::vector<std::uint32_t>{1, 7}));
  }
  Arguments one = right();
  EXPECT_NO_THROW(partition_level(one.tuples, 1, one.primary, one.arrays[0].in, one.arrays[0].out,
                                  one.medians, workspace_, stream_));
}

TEST_F(LevelArguments, TuplesAreWhole) {
  for (const int dimensions : {-1, 0, 17}) {
    rejects_change({"dimensions is " + std::to_string(dimensions), "1 to 16"},
                   [&](auto& a) { a.tuples.dimensions = dimensions; });
  }
  for (const int primary : {-1, 3}) {
    rejects_change({"primary is " + std::to_string(primary), "0 to 2"},
                   [&](auto& a) { a.tuples.primary = primary; });
  }
  rejects_change({"tuples has 35 coordinates", "3"}, [](auto& a) { --a.tuples.coordinates.count; });
  rejects_change({"tuples has no coordinates"}, [](auto& a) { a.tuples.coordinates = {}; });
  rejects_change({"tuples is null"}, [](auto& a) { a.tuples.coordinates.data = nullptr; });
}

TEST_F(LevelArguments, LevelIsOneOfTheTree) {
  for (const int level : {-1, 4, 40}) {
    rejects_change({"level is " + std::to_string(level), "0 to 3"},
                   [&](auto& a) { a.level = level; });
  }
}

TEST_F(LevelArguments, CountsArePossible) {
  rejects_change({"primary_references has -1"}, [](auto& a) { a.primary.count = -1; });
  rejects_change({"primary_references.count is 2147483648", "0 to 2147483647"},
                 [](auto& a) { a.primary.count = std::int64_t{1} << 31; });
  rejects_change({"primary_references is null"}, [](auto& a) { a.primary.data = nullptr; });
  rejects_change({"arrays[1].in has 9", "10", "primary_references"},
                 [](auto& a) { --a.arrays[1].in.count; });
  rejects_change({"arrays[0].out has 11", "10"}, [](auto& a) { ++a.arrays[0].out.count; });
  rejects_change({"arrays[0].out is null"}, [](auto& a) { a.arrays[0].out.data = nullptr; });
  rejects_change({"arrays.size() is 3", "0 to 2"},
                 [](auto& a) { a.arrays.push_back(a.arrays[0]); });
}

TEST_F(LevelArguments, MedianStoresHaveRoom) {
  rejects_change({"medians holds 1", "2"}, [](auto& a) { a.medians.of_level.count = 1; });
  rejects_change({"medians is null"}, [](auto& a) { a.medians.of_level.data = nullptr; });
  // Only `leaf` needs the next one.
  const auto spoil_next = [](auto& a) { a.medians.of_next_level.count = 7; };
  rejects_change({"next_medians holds 7", "8"}, [&](auto& a) {
    a.level = 2;
    a.medians.of_level = {outs_.data(), 4};
    a.arrays.clear();
    a.options.variant = Variant::source;
    spoil_next(a);
  });
  Arguments a = right();
  a.medians.of_next_level = {};
  EXPECT_NO_THROW(call(a));
}

TEST_F(LevelArguments, OutputsAreApart) {
  const auto put = [](DeviceSpan<const std::uint32_t> where) {
    return const_cast<std::uint32_t*>(where.data) + 1;
  };
  rejects_change({"arrays[1].out overlaps primary_references"},
                 [&](auto& a) { a.arrays[1].out.data = put(a.primary); });
  rejects_change({"arrays[0].out overlaps arrays[1].in"},
                 [&](auto& a) { a.arrays[0].out.data = put(a.arrays[1].in); });
  rejects_change({"arrays[1].out overlaps arrays[1].in"},
                 [&](auto& a) { a.arrays[1].out.data = put(a.arrays[1].in); });
  rejects_change({"arrays[1].out overlaps arrays[0].out"},
                 [&](auto& a) { a.arrays[1].out.data = a.arrays[0].out.data + n - 1; });
  rejects_change({"arrays[0].out overlaps tuples"}, [&](auto& a) {
    a.arrays[0].out.data =
        reinterpret_cast<std::uint32_t*>(const_cast<float*>(a.tuples.coordinates.data));
  });
  rejects_change({"next_medians overlaps medians"},
                 [&](auto& a) { a.medians.of_next_level.data = a.medians.of_level.data + 1; });
  rejects_change({"arrays[0].out overlaps medians"},
                 [&](auto& a) { a.medians.of_level.data = a.arrays[0].out.data; });
  rejects_change({"arrays[1].out overlaps next_medians"},
                 [&](auto& a) { a.medians.of_next_level.data = a.arrays[1].out.data; });
  rejects_change({"medians overlaps primary_references"},
                 [&](auto& a) { a.medians.of_level.data = put(a.primary); });
  rejects_change({"medians overlaps arrays[0].in"},
                 [&](auto& a) { a.medians.of_level.data = put(a.arrays[0].in); });
}

TEST_F(LevelArguments, OptionsAreWhatTheTablesHave) {
  rejects_change({"options.variant is 3", "source, look_back, side_bits"},
                 [](auto& a) { a.options.variant = static_cast<Variant>(3); });
  rejects_change({"options.partitioner is -1", "multi_warp"},
                 [](auto& a) { a.options.partitioner = static_cast<Partitioner>(-1); });
  for (const int warps : {0, 65537}) {
    rejects_change({"options.warps is " + std::to_string(warps), "1 to 65536"},
                   [&](auto& a) { a.options.warps = warps; });
  }
}

TEST_F(LevelArguments, PartitionerFitsTheLevel) {
  const auto with = [](Partitioner partitioner, int warps) {
    return Options{Variant::source, partitioner, warps};
  };
  rejects_change({"multi_warp", "at most 1 segments", "level 1 has 2"},
                 [&](auto& a) { a.options = with(Partitioner::multi_warp, 1); });
  rejects_change({"leaf", "at most 3 elements", "level 1 has 5"},
                 [&](auto& a) { a.options = with(Partitioner::leaf, 8); });
  DeviceBuffer<std::uint32_t> seventeen(17, stream_);
  rejects_change({"sub_warp", "at most 16 elements", "level 0 has 17"}, [&](auto& a) {
    a.level = 0;
    a.primary = seventeen.span();
    a.options = with(Partitioner::sub_warp, 8);
  });
}

// What the tests' main() switches on. Places: segment 0 has 0 to 3, segment 1 has 5 to 9.
class LevelChecks : public LevelArguments {
 protected:
  /// Expects a message once place `at` of array `which` (0: the primary one) is `reference`.
  void rejects_reference(int which, std::size_t at, std::uint32_t reference,
                         const std::vector<std::string>& words) {
    std::vector<std::uint32_t> arrays[3] = {references_of_level_, references_of_level_,
                                            references_of_level_};
    arrays[which][at] = reference;
    write(arrays[0], arrays[1], arrays[2]);
    rejects_change(words, [](auto&) {});
  }
};

TEST_F(LevelChecks, ReferencesAreNumbersOfTuples) {
  for (const std::uint32_t reference : {12u, 0xFFFFFFFFu}) {
    const std::string is = " is " + std::to_string(reference) + ": expected the number of a tuple";
    rejects_reference(0, 0, reference, {"primary_references[0]" + is, "0 to 11"});
    rejects_reference(0, 9, reference, {"primary_references[9]" + is});
    rejects_reference(1, 5, reference, {"arrays[0].in[5]" + is});
    rejects_reference(2, 3, reference, {"arrays[1].in[3]" + is});
  }
}

TEST_F(LevelChecks, PrimarySegmentsAreSorted) {
  rejects_reference(0, 1, 10,
                    {"primary_references[2] does not come after primary_references[1]", "sorted"});
  rejects_reference(0, 7, 4, {"primary_references[7] does not come after primary_references[6]"});
  // The first of a segment may be anything beside the last of the one before.
  write({8, 9, 10, 11, 99, 0, 1, 2, 3, 4}, {8, 9, 10, 11, 99, 0, 1, 2, 3, 4},
        {8, 9, 10, 11, 99, 0, 1, 2, 3, 4});
  EXPECT_NO_THROW(call(right()));
}

TEST_F(LevelChecks, EqualTuplesAreSortedByReference) {
  for (float& coordinate : coordinates_) coordinate = -0.0f;
  coordinates_[3] = 0.0f;
  write(references_of_level_, references_of_level_, references_of_level_);
  EXPECT_NO_THROW(call(right()));
  rejects_reference(0, 1, 10, {"primary_references[2] does not come after primary_references[1]"});
}

TEST_F(LevelChecks, NoReferenceOccursTwice) {
  rejects_reference(0, 5, 3, {"primary_references[5] is 3", "no earlier place has"});
  rejects_reference(1, 9, 5, {"arrays[0].in[9] is 5", "no earlier place has"});
  rejects_reference(2, 0, 8, {"arrays[1].in[8] is 8", "no earlier place has"});
}

TEST_F(LevelChecks, OtherArraysHaveTheSegmentsReferences) {
  rejects_reference(2, 9, 9, {"arrays[1].in[9] is 9", "this segment of primary_references"});
  write(references_of_level_, {0, 1, 2, 7, 99, 5, 6, 3, 8, 11}, references_of_level_);
  rejects_change({"arrays[0].in[3] is 7", "this segment of primary_references"}, [](auto&) {});
}

TEST_F(LevelChecks, NoCoordinateIsNan) {
  coordinates_[35] = std::numeric_limits<float>::quiet_NaN();
  write(references_of_level_, references_of_level_, references_of_level_);
  rejects_change({"tuples[35]", "NaN"}, [](auto&) {});
}

TEST_F(LevelChecks, AreNotMadeWhereTheyAreOff) {
  coordinates_[35] = std::numeric_limits<float>::quiet_NaN();
  coordinates_[34] = -100;
  write({0, 1, 2, 3, 99, 5, 6, 7, 8, 8}, references_of_level_, references_of_level_);
  set_checked(false);
  EXPECT_NO_THROW(call(right()));
  set_checked(true);
}

class PartitionArguments : public testing::Test {
 protected:
  using T = std::uint32_t;
  static constexpr std::int64_t n = 100;
  PartitionArguments() {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, 4 * n * sizeof(T), stream_));
  }
  void two(DeviceSpan<const T> in, DeviceSpan<T> selected, DeviceSpan<T> rest) {
    partition(in, selected, rest, IsOdd{}, first_, workspace_, stream_);
  }
  void one(DeviceSpan<const T> in, DeviceSpan<T> out) {
    partition(in, out, IsOdd{}, first_, workspace_, stream_);
  }
  void three(DeviceSpan<const T> in, DeviceSpan<T> first, DeviceSpan<T> second,
             DeviceSpan<T> rest) {
    partition_three_way(in, first, second, rest, IsOdd{}, IsSmall{}, first_, second_, workspace_,
                        stream_);
  }
  /// Place number i for an argument, n elements each.
  DeviceSpan<T> place(int i) { return {memory_.data() + n * i, n}; }
  DeviceSpan<T> one_less(int i) { return {memory_.data() + n * i, n - 1}; }
  /// A place that shares one element with the next one.
  DeviceSpan<T> between(int i) { return {memory_.data() + n * i + 1, n}; }
  DeviceSpan<T> on_count(DeviceCount& count) { return {reinterpret_cast<T*>(count.data()), n}; }

  Stream stream_;
  Workspace workspace_;
  DeviceCount first_{stream_};
  DeviceCount second_{stream_};
  DeviceBuffer<T> memory_{5 * n, stream_};
};

TEST_F(PartitionArguments, RightOnesAreTaken) {
  EXPECT_NO_THROW(two(place(0), place(1), place(2)));
  EXPECT_NO_THROW(one(place(0), place(1)));
  EXPECT_NO_THROW(three(place(0), place(1), place(2), place(3)));
  EXPECT_NO_THROW(two({}, {}, {}));
  EXPECT_NO_THROW(one({}, {}));
  EXPECT_NO_THROW(three({}, {}, {}, {}));
  EXPECT_EQ(first_.get(stream_), 0);
  EXPECT_EQ(second_.get(stream_), 0);
}

TEST_F(PartitionArguments, OutputsHaveRoomForAll) {
  rejects({"selected holds 99", "100"}, [&] { two(place(0), one_less(1), place(2)); });
  rejects({"rest holds 99", "100"}, [&] { two(place(0), place(1), one_less(2)); });
  rejects({"out holds 99", "100"}, [&] { one(place(0), one_less(1)); });
  rejects({"first holds 99"}, [&] { three(place(0), one_less(1), place(2), place(3)); });
  rejects({"second holds 99"}, [&] { three(place(0), place(1), one_less(2), place(3)); });
  rejects({"rest holds 99"}, [&] { three(place(0), place(1), place(2), one_less(3)); });
  EXPECT_EQ(workspace_.bytes(), 0);
}

TEST_F(PartitionArguments, OutputsAreApart) {
  rejects({"selected overlaps in"}, [&] { two(place(0), between(0), place(2)); });
  rejects({"rest overlaps in"}, [&] { two(place(0), place(2), between(0)); });
  rejects({"rest overlaps selected"}, [&] { two(place(0), place(2), between(1)); });
  rejects({"out overlaps in"}, [&] { one(place(0), place(0)); });
  rejects({"first overlaps in"}, [&] { three(place(0), between(0), place(2), place(3)); });
  rejects({"second overlaps in"}, [&] { three(place(0), place(2), between(0), place(3)); });
  rejects({"rest overlaps in"}, [&] { three(place(0), place(2), place(3), between(0)); });
  rejects({"second overlaps first"}, [&] { three(place(0), place(2), between(2), place(4)); });
  rejects({"rest overlaps first"}, [&] { three(place(0), place(1), place(3), between(1)); });
  rejects({"rest overlaps second"}, [&] { three(place(0), place(1), place(3), between(2)); });
  EXPECT_EQ(workspace_.bytes(), 0);
}

TEST_F(PartitionArguments, CountsAreApart) {
  rejects({"count overlaps in"}, [&] { two(on_count(first_), place(1), place(2)); });
  rejects({"count overlaps in"}, [&] { one(on_count(first_), place(1)); });
  rejects({"first_count overlaps in"},
          [&] { three(on_count(first_), place(1), place(2), place(3)); });
  rejects({"second_count overlaps in"},
          [&] { three(on_count(second_), place(1), place(2), place(3)); });
  rejects({"selected overlaps count"}, [&] { two(place(0), on_count(first_), place(2)); });
  rejects({"rest overlaps count"}, [&] { two(place(0), place(1), on_count(first_)); });
  rejects({"out overlaps count"}, [&] { one(place(0), on_count(first_)); });
  rejects({"first overlaps second_count"},
          [&] { three(place(0), on_count(second_), place(2), place(3)); });
  rejects({"rest overlaps first_count"},
          [&] { three(place(0), place(1), place(2), on_count(first_)); });
  rejects({"second_count overlaps first_count"}, [&] {
    partition_three_way(DeviceSpan<const T>(place(0)), place(1), place(2), place(3), IsOdd{},
                        IsSmall{}, first_, first_, workspace_, stream_);
  });
}

TEST_F(PartitionArguments, CountsAreNotNegativeAndMemoryIsThere) {
  rejects({"in has -1"}, [&] { two({memory_.data(), -1}, place(1), place(2)); });
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  rejects({"in has 9223372036854775807", "at most"}, [&] {
    two({memory_.data(), most}, {place(1).data, most}, {place(2).data, most});
  });
  rejects({"in is null"}, [&] { one({nullptr, n}, place(1)); });
  rejects({"rest is null"}, [&] { three(place(0), place(1), place(2), {nullptr, n}); });
}

}  // namespace
}  // namespace warpath::partitioners::test
