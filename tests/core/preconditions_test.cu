// What host functions demand: each message names the argument, the value and what was expected.
#include <limits>

#include "core/preconditions.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message(const std::function<void()>& act) {
  return message_of<std::invalid_argument>(act);
}

TEST(RequireSpan, NamesTheArgumentAndWhatIsWrong) {
  int value = 0;
  const auto of = [](int* data, std::int64_t count) {
    return message([&] { require_span("a", DeviceSpan<int>{data, count}); });
  };
  EXPECT_EQ(of(&value, 1), "nothing");
  EXPECT_EQ(of(&value, 0), "nothing");
  EXPECT_EQ(of(nullptr, 0), "nothing");
  EXPECT_EQ(of(&value, -1), "a has -1 elements: expected 0 or more");
  EXPECT_EQ(of(nullptr, -7), "a has -7 elements: expected 0 or more");
  EXPECT_EQ(of(nullptr, 5), "a is null, but has 5 elements: expected device memory");
  // 2^62 bytes and more.
  EXPECT_EQ(of(&value, (std::int64_t{1} << 60) - 1), "nothing");
  EXPECT_EQ(of(&value, std::int64_t{1} << 60),
            "a has 1152921504606846976 elements: expected at most 1152921504606846975");
  EXPECT_EQ(of(&value, std::numeric_limits<std::int64_t>::max()),
            "a has 9223372036854775807 elements: expected at most 1152921504606846975");
}

TEST(RequireSpan, NamesMemoryThatIsNotAligned) {
  auto* const bytes = reinterpret_cast<char*>(std::uintptr_t{1} << 20);
  const auto message = [](const auto& span) {
    return message_of<std::invalid_argument>([&] { require_span("keys", span); });
  };
  EXPECT_EQ(message(DeviceSpan<const int>{reinterpret_cast<int*>(bytes + 2), 1}),
            "keys begins at an address that is no multiple of 4: expected memory aligned for its "
            "elements");
  EXPECT_EQ(message(DeviceSpan<int>{reinterpret_cast<int*>(bytes + 4), 1}), "nothing");
  EXPECT_EQ(message(DeviceSpan<int>{reinterpret_cast<int*>(bytes + 2), 0}), "nothing");
  EXPECT_EQ(message(DeviceSpan<char>{bytes + 1, 1}), "nothing");
}

TEST(RequireRoom, NamesTheArgumentItsSizeAndTheNeed) {
  int value = 0;
  const DeviceSpan<int> out{&value, 10};
  EXPECT_EQ(message([&] { require_room("out", out, 10); }), "nothing");
  EXPECT_EQ(message([&] { require_room("out", out, 0); }), "nothing");
  EXPECT_THAT(message([&] { require_room("out", out, 11); }),
              AllOf(HasSubstr("out holds 10 elements"), HasSubstr("11 are needed")));
}

TEST(RequireCount, NamesBothArgumentsAndBothCounts) {
  EXPECT_EQ(message([] { require_count("flags", 5, "in", 5); }), "nothing");
  EXPECT_THAT(message([] { require_count("flags", 4, "in", 5); }),
              AllOf(HasSubstr("flags has 4 elements"), HasSubstr("expected 5"),
                    HasSubstr("as many as in")));
  EXPECT_THAT(message([] { require_count("flags", 6, "in", 5); }),
              AllOf(HasSubstr("flags has 6 elements"), HasSubstr("expected 5")));
}

TEST(RequireInRange, NamesTheArgumentTheValueAndTheRange) {
  for (const std::int64_t inside : {-2, 0, 7}) {
    EXPECT_EQ(message([&] { require_in_range("bits", inside, -2, 7); }), "nothing");
  }
  for (const std::int64_t outside : {std::int64_t{-3}, std::int64_t{8}, std::int64_t{1} << 40}) {
    EXPECT_THAT(
        message([&] { require_in_range("bits", outside, -2, 7); }),
        AllOf(HasSubstr("bits is " + std::to_string(outside)), HasSubstr("expected -2 to 7")));
  }
}

struct Pair {
  const char* name;
  int a_begin, a_end, b_begin, b_end;  // words
  bool is_apart;
};
const Pair pairs[] = {
    {"far from each other", 0, 10, 20, 30, true},
    {"touching, a first", 0, 10, 10, 20, true},
    {"touching, b first", 10, 20, 0, 10, true},
    {"the same", 0, 10, 0, 10, false},
    {"the last of a is the first of b", 0, 11, 10, 20, false},
    {"the last of b is the first of a", 10, 20, 0, 11, false},
    {"b within a", 0, 30, 10, 20, false},
    {"a within b", 10, 20, 0, 30, false},
    {"a empty, within b", 10, 10, 0, 30, true},
    {"b empty, within a", 0, 30, 10, 10, true},
    {"both empty", 5, 5, 5, 5, true},
};

TEST(RequireApart, TellsOverlapsFromNeighbours) {
  int words[32] = {};
  for (const Pair& p : pairs) {
    SCOPED_TRACE(p.name);
    const DeviceSpan<const int> a{words + p.a_begin, p.a_end - p.a_begin};
    const DeviceSpan<int> b{words + p.b_begin, p.b_end - p.b_begin};
    const std::string said = message([&] { require_apart("in", a, "out", b); });
    if (p.is_apart) {
      EXPECT_EQ(said, "nothing");
    } else {
      EXPECT_THAT(said, AllOf(HasSubstr("out overlaps in"), HasSubstr("expected")));
    }
  }
}

TEST(RequireApart, ComparesBytesOfDifferentTypes) {
  alignas(8) unsigned char bytes[64] = {};
  const DeviceSpan<unsigned char> first{bytes, 17};
  const auto doubles_from = [&](int byte) {
    return DeviceSpan<double>{reinterpret_cast<double*>(bytes + byte), 2};
  };
  EXPECT_THAT(message([&] { require_apart("bytes", first, "doubles", doubles_from(16)); }),
              HasSubstr("doubles overlaps bytes"));
  EXPECT_EQ(message([&] { require_apart("bytes", first, "doubles", doubles_from(24)); }),
            "nothing");
}

template <class T>
class RequireNoNan : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(RequireNoNan, Floats);

TYPED_TEST(RequireNoNan, NamesTheFirstInACheckedBuild) {
  ASSERT_TRUE(is_checked()) << "tests run with checks on";
  using Limits = std::numeric_limits<TypeParam>;
  const Stream stream;
  std::vector<TypeParam> values(100'000, Limits::infinity());
  const auto said = [&] {
    const DeviceBuffer<TypeParam> device = on_device(values, stream);
    return message([&] {
      require_no_nan<TypeParam>("keys", {device.data(), device.count()}, stream);
    });
  };
  EXPECT_EQ(said(), "nothing");
  for (const std::size_t first : {99'999, 65'536, 65'535, 1, 0}) {
    values[first] = -Limits::quiet_NaN();
    EXPECT_THAT(said(), AllOf(HasSubstr("keys[" + std::to_string(first) + "] is NaN"),
                              HasSubstr("expected")));
  }
}

TYPED_TEST(RequireNoNan, AcceptsNoValues) {
  EXPECT_EQ(message([] { require_no_nan<TypeParam>("keys", {}, nullptr); }), "nothing");
}

TEST(RequireNoNanOfIntegers, LooksAtNothing) {
  EXPECT_EQ(message([] { require_no_nan<int>("keys", {nullptr, 10}, nullptr); }), "nothing");
}

struct Falling {
  __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};

TEST(RequireSorted, NamesTheFirstInACheckedBuild) {
  std::vector<int> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i / 3);
  const auto said = [&](auto less) {
    const DeviceBuffer<int> device = on_device(values);
    return message([&] {
      require_sorted("keys", DeviceSpan<const int>{device.data(), device.count()}, less, nullptr);
    });
  };
  const auto rising = std::less<int>{};
  EXPECT_EQ(said(rising), "nothing");
  EXPECT_THAT(said(Falling{}), HasSubstr("keys[3] comes before keys[2]: expected sorted keys"));
  values[99'999] = 0;
  EXPECT_THAT(said(rising), HasSubstr("keys[99999] comes before keys[99998]"));
  values[50'000] = -1;
  EXPECT_THAT(said(rising), HasSubstr("keys[50000] comes before keys[49999]"));
  EXPECT_EQ(message([&] {
              require_sorted("keys", DeviceSpan<const int>{nullptr, 0}, rising, nullptr);
            }),
            "nothing");
}

TEST(RequireIndices, NamesTheFirstInACheckedBuild) {
  const auto said = [](const auto& values, std::int64_t bound) {
    using Index = typename std::decay_t<decltype(values)>::value_type;
    const DeviceBuffer<Index> device = on_device(values);
    return message([&] {
      require_indices("positions", DeviceSpan<const Index>{device.data(), device.count()}, bound,
                      nullptr);
    });
  };
  EXPECT_EQ(said(std::vector<int>{0, 6, 3}, 7), "nothing");
  EXPECT_THAT(said(std::vector<int>{0, 7, -1}, 7),
              HasSubstr("positions[1] is no index: expected 0 to 6"));
  EXPECT_THAT(said(std::vector<std::int64_t>{0, 1, -1}, 7), HasSubstr("positions[2]"));
  EXPECT_THAT(said(std::vector<std::uint32_t>{0, 4'000'000'000u}, 7), HasSubstr("positions[1]"));
}

TEST(RequireIndices, OfAnArrayWithoutElements) {
  const DeviceBuffer<int> positions = on_device(std::vector<int>{0});
  EXPECT_EQ(message([&] { require_indices("positions", positions.span(), 0, nullptr); }),
            "positions[0] is no index: the array has no elements");
  EXPECT_EQ(message([&] { require_indices("positions", DeviceSpan<const int>{}, 0, nullptr); }),
            "nothing");
}

TEST(RequireSpan, IsPartOfWhatIsSaidAboutSpans) {
  int value = 0;
  const DeviceSpan<int> good{&value, 1};
  const DeviceSpan<int> negative{&value, -1};
  const DeviceSpan<int> null{nullptr, 3};
  EXPECT_THAT(message([&] { require_room("out", negative, -5); }),
              HasSubstr("out has -1 elements"));
  EXPECT_THAT(message([&] { require_room("out", null, 1); }), HasSubstr("out is null"));
  EXPECT_THAT(message([&] { require_apart("in", negative, "out", good); }),
              HasSubstr("in has -1 elements"));
  EXPECT_THAT(message([&] { require_apart("in", good, "out", null); }), HasSubstr("out is null"));
}

}  // namespace
}  // namespace warpath::core_test
