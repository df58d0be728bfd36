// What bad arguments get: an exception that names the argument, the value and what was expected,
// before anything is launched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../message_of.hpp"
#include "core/checked.hpp"
#include "merge_sort/merge_sort.cuh"
#include "support.cuh"

namespace warpath::merge_sort::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// What all calls share: memory, and that a refused one leaves nothing in the workspace.
class Preconditions : public testing::Test {
 protected:
  Preconditions() { WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), 0, 400 * sizeof(int))); }
  template <class T = int>
  [[nodiscard]] DeviceSpan<T> part(std::int64_t begin, std::int64_t count) {
    return {reinterpret_cast<T*>(memory_.data() + begin), count};
  }
  template <class Act>
  std::string said(const Act& act) {
    Workspace workspace;
    const std::string message = message_of<std::invalid_argument>([&] {
      act(workspace);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
    if (message != "nothing") {
      EXPECT_EQ(workspace.bytes(), 0);
    }
    return message;
  }

  DeviceBuffer<int> memory_{400};
};

// ---------------------------------------------------------------- keys and pairs

struct PairsCall {
  DeviceSpan<int> keys;
  DeviceSpan<int> values;
  Options options = {};
};

class PairsPreconditions : public Preconditions {
 protected:
  PairsCall right() { return {part(0, 20), part(20, 20)}; }
  std::string of_pairs(const PairsCall& call) {
    return said([&](Workspace& workspace) {
      sort_pairs(call.keys, call.values, workspace, nullptr, call.options);
    });
  }
  std::string of_keys(const PairsCall& call) {
    return said(
        [&](Workspace& workspace) { sort_keys(call.keys, workspace, nullptr, call.options); });
  }
};

TEST_F(PairsPreconditions, RightArgumentsAreTaken) {
  EXPECT_EQ(of_pairs(right()), "nothing");
  EXPECT_EQ(of_keys(right()), "nothing");
  PairsCall none;
  EXPECT_EQ(of_pairs(none), "nothing");
  EXPECT_EQ(of_keys(none), "nothing");
}

TEST_F(PairsPreconditions, Spans) {
  PairsCall call = right();
  call.keys.count = -3;
  EXPECT_EQ(of_pairs(call), "keys has -3 elements: expected 0 or more");
  EXPECT_EQ(of_keys(call), "keys has -3 elements: expected 0 or more");
  call = right();
  call.keys.data = nullptr;
  EXPECT_THAT(of_pairs(call), HasSubstr("keys is null, but has 20 elements"));
  EXPECT_THAT(of_keys(call), HasSubstr("keys is null, but has 20 elements"));
  call = right();
  call.values.data = nullptr;
  EXPECT_THAT(of_pairs(call), HasSubstr("values is null, but has 20 elements"));
  call = right();
  call.keys.data = reinterpret_cast<int*>(reinterpret_cast<char*>(call.keys.data) + 2);
  EXPECT_THAT(of_keys(call), HasSubstr("keys begins at an address that is no multiple of 4"));
  for (const int difference : {-1, 1}) {
    call = right();
    call.values.count += difference;
    EXPECT_THAT(of_pairs(call), AllOf(HasSubstr("values has"), HasSubstr("as many as keys")));
  }
  call = right();
  call.values = part(19, 20);
  EXPECT_THAT(of_pairs(call), HasSubstr("values overlaps keys"));
}

TEST_F(PairsPreconditions, UnknownOptions) {
  for (const int number : {-1, 3, 77}) {
    PairsCall call = right();
    call.options.variant = static_cast<Variant>(number);
    const std::string variant = "options.variant is " + std::to_string(number) +
                                ", which is not a value of its type: expected one of "
                                "binary_merge, multiway_merge, key_then_ties";
    EXPECT_EQ(of_pairs(call), variant);
    EXPECT_EQ(of_keys(call), variant);
    call.keys.count = call.values.count = 0;  // also if there is nothing to do
    EXPECT_EQ(of_pairs(call), variant);
    call = right();
    call.options.low_level = static_cast<LowLevelMerge>(number);
    EXPECT_EQ(of_keys(call), "options.low_level is " + std::to_string(number) +
                                 ", which is not a value of its type: expected one of "
                                 "merge_path, rank_search");
  }
}

TEST_F(PairsPreconditions, AVariantThatSortsSuperkeysOnly) {
  PairsCall call = right();
  call.options.variant = Variant::key_then_ties;
  const std::string message =
      "options.variant is key_then_ties, which sorts superkeys only: expected binary_merge or "
      "multiway_merge";
  EXPECT_EQ(of_pairs(call), message);
  EXPECT_EQ(of_keys(call), message);
}

struct NanFirst {
  __host__ __device__ bool operator()(float a, float b) const {
    return b == b && (a != a || a < b);
  }
};

// By < and > alone, NaN has no place; a comparator of one's own may give it one.
TEST_F(PairsPreconditions, ChecksLookForNan) {
  const std::vector<float> numbers{3, 1, std::nanf(""), 2, std::nanf("")};
  const auto of = [&](auto less) {
    InPlace<float> keys(numbers);
    return said([&](Workspace& workspace) { sort_keys(keys.span(), workspace, nullptr, less); });
  };
  EXPECT_EQ(of(std::less<>{}), "keys[2] is NaN: expected numbers, which have an order");
  EXPECT_THAT(of(std::greater<float>{}), HasSubstr("keys[2] is NaN"));
  EXPECT_EQ(of(NanFirst{}), "nothing");
  set_checked(false);
  EXPECT_EQ(of(std::less<>{}), "nothing");
  set_checked(true);
}

// ---------------------------------------------------------------- superkeys

struct SuperkeysCall {
  Tuples<float> tuples;
  DeviceSpan<std::uint32_t> references;
  DeviceSpan<float> values;
  Options options = {};
};

class SuperkeysPreconditions : public Preconditions {
 protected:
  SuperkeysCall right() {
    return {{part<float>(0, 60), 3, 1}, part<std::uint32_t>(60, 20), part<float>(80, 20)};
  }
  std::string of(const SuperkeysCall& call) {
    return said([&](Workspace& workspace) {
      sort_superkeys(call.tuples, call.references, call.values, first_nan_, workspace, nullptr,
                     call.options);
    });
  }

  DeviceCount first_nan_;
};

TEST_F(SuperkeysPreconditions, RightArgumentsAreTaken) {
  EXPECT_EQ(of(right()), "nothing");
  SuperkeysCall call = right();
  call.references.count = call.values.count = 0;
  EXPECT_EQ(of(call), "nothing");
  EXPECT_EQ(first_nan_.get(nullptr), -1);
  call.tuples.coordinates = {};
  EXPECT_EQ(of(call), "nothing");
}

TEST_F(SuperkeysPreconditions, Spans) {
  SuperkeysCall call = right();
  call.tuples.coordinates.count = -3;
  EXPECT_THAT(of(call), HasSubstr("tuples has -3 elements"));
  call = right();
  call.references.count = -3;
  EXPECT_THAT(of(call), HasSubstr("references has -3 elements"));
  call = right();
  call.values.count = -3;
  EXPECT_THAT(of(call), HasSubstr("values has -3 elements"));
  call = right();
  call.tuples.coordinates.data = nullptr;
  EXPECT_THAT(of(call), HasSubstr("tuples is null"));
  call = right();
  call.references.data = nullptr;
  EXPECT_THAT(of(call), HasSubstr("references is null"));
  call = right();
  call.values.data = nullptr;
  EXPECT_THAT(of(call), HasSubstr("values is null"));
  call = right();
  call.values.count = 19;
  EXPECT_THAT(of(call), HasSubstr("values has 19 elements: expected 20, as many as references"));
}

TEST_F(SuperkeysPreconditions, Overlaps) {
  SuperkeysCall call = right();
  call.references = part<std::uint32_t>(59, 20);
  EXPECT_THAT(of(call), HasSubstr("references overlaps tuples"));
  call = right();
  call.values = part<float>(41, 20);
  EXPECT_THAT(of(call), HasSubstr("values overlaps tuples"));
  call = right();
  call.values = part<float>(79, 20);
  EXPECT_THAT(of(call), HasSubstr("values overlaps references"));
  call = right();
  call.references = {reinterpret_cast<std::uint32_t*>(first_nan_.data()), 20};
  EXPECT_THAT(of(call), HasSubstr("references overlaps first_nan"));
  call = right();
  call.values = {reinterpret_cast<float*>(first_nan_.data()), 20};
  EXPECT_THAT(of(call), HasSubstr("values overlaps first_nan"));
  call = right();
  call.tuples.coordinates = {reinterpret_cast<float*>(first_nan_.data()), 60};
  EXPECT_THAT(of(call), HasSubstr("tuples overlaps first_nan"));
}

TEST_F(SuperkeysPreconditions, DimensionsAndPrimary) {
  for (const int dimensions : {-1, 0, 17}) {
    SuperkeysCall call = right();
    call.tuples.dimensions = dimensions;
    EXPECT_EQ(of(call), "dimensions is " + std::to_string(dimensions) + ": expected 1 to 16");
  }
  for (const int primary : {-1, 3}) {
    SuperkeysCall call = right();
    call.tuples.primary = primary;
    EXPECT_EQ(of(call), "primary is " + std::to_string(primary) + ": expected 0 to 2");
  }
  SuperkeysCall call = right();
  call.tuples.coordinates.count = 59;
  EXPECT_THAT(of(call), HasSubstr("tuples has 59 coordinates: expected a multiple of dimensions"));
  call = right();
  call.tuples.coordinates.count = 0;
  EXPECT_THAT(of(call), HasSubstr("tuples has no coordinates"));
}

// More than references of 32 bits can number. None is looked at.
TEST_F(SuperkeysPreconditions, Counts) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  SuperkeysCall call = right();
  call.references.count = call.values.count = most + 1;
  EXPECT_EQ(of(call), "the number of references is 4294967296: expected 0 to 4294967295");
  call = right();
  // From an address above all memory.
  call.tuples.coordinates = {reinterpret_cast<float*>(std::uintptr_t{1} << 60), (most + 2) * 3};
  EXPECT_EQ(of(call), "the number of tuples is 4294967297: expected 0 to 4294967296");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              iota_references({call.references.data, most + 1}, nullptr);
            }),
            "the number of references is 4294967296: expected 0 to 4294967295");
}

TEST_F(SuperkeysPreconditions, UnknownOptions) {
  SuperkeysCall call = right();
  call.options.variant = static_cast<Variant>(9);
  EXPECT_THAT(of(call), HasSubstr("options.variant is 9"));
  call = right();
  call.options.low_level = static_cast<LowLevelMerge>(9);
  EXPECT_THAT(of(call), HasSubstr("options.low_level is 9"));
}

TEST_F(SuperkeysPreconditions, ChecksNameTheFirstReferenceToNoTuple) {
  std::vector<std::uint32_t> numbers(20, 19);
  const auto with = [&](std::size_t at, std::uint32_t reference) {
    numbers[at] = reference;
    InPlace<std::uint32_t> references(numbers);
    SuperkeysCall call = right();
    call.references = references.span();
    return of(call);
  };
  EXPECT_EQ(with(19, 19), "nothing");
  EXPECT_EQ(with(17, 20), "references[17] is 20: expected the number of a tuple, 0 to 19");
  EXPECT_EQ(with(3, std::numeric_limits<std::uint32_t>::max()),
            "references[3] is 4294967295: expected the number of a tuple, 0 to 19");
}

TEST_F(SuperkeysPreconditions, ADeviceCountThatWasMovedFrom) {
  const DeviceCount taken = std::move(first_nan_);
  EXPECT_THAT(of(right()), HasSubstr("DeviceCount was moved from"));
}

}  // namespace
}  // namespace warpath::merge_sort::test
