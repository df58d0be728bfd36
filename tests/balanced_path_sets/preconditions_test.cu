// What bad arguments get: an exception that names the argument, the value and what was expected.
// Every argument: negative, null, too short, overlapping, unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../message_of.hpp"
#include "int_sets.hpp"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Arguments that are right, of which a test spoils one.
struct Call {
  DeviceSpan<int> a;
  DeviceSpan<int> a_values;
  DeviceSpan<int> b;
  DeviceSpan<int> b_values;
  DeviceSpan<int> out;
  DeviceSpan<int> out_values;
  Case which = {SetOperation::set_union};
  Options options = {};
};

class SetsPreconditions : public testing::Test {
 protected:
  SetsPreconditions() { WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), 0, 200 * sizeof(int))); }
  [[nodiscard]] DeviceSpan<int> part(std::int64_t begin, std::int64_t count) {
    return {memory_.data() + begin, count};
  }
  [[nodiscard]] Call right() {
    return {part(0, 10), part(10, 10), part(20, 20), part(40, 20), part(60, 30), part(90, 30)};
  }
  [[nodiscard]] std::string on_keys(const Call& call) {
    return message_of<std::invalid_argument>([&] {
      int_sets(call.which, call.a, call.b, call.out, count_, workspace_, nullptr, call.options);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }
  [[nodiscard]] std::string on_pairs(const Call& call) {
    return message_of<std::invalid_argument>([&] {
      int_pairs(call.which, call.a, call.a_values, call.b, call.b_values, call.out, call.out_values,
                count_, workspace_, nullptr, call.options);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }

  DeviceBuffer<int> memory_{200};
  DeviceCount count_;
  Workspace workspace_;
};

using Member = DeviceSpan<int> Call::*;
struct Argument {
  const char* name;
  Member span;
  bool is_of_keys;  ///< the call on keys alone has it, too
};
constexpr Argument arguments[] = {{"a", &Call::a, true},
                                  {"b", &Call::b, true},
                                  {"out", &Call::out, true},
                                  {"a_values", &Call::a_values, false},
                                  {"b_values", &Call::b_values, false},
                                  {"out_values", &Call::out_values, false}};

TEST_F(SetsPreconditions, RightArgumentsAreTaken) {
  EXPECT_EQ(on_keys(right()), "nothing");
  EXPECT_EQ(on_pairs(right()), "nothing");
}

TEST_F(SetsPreconditions, NegativeCountsAndNull) {
  for (const Argument& argument : arguments) {
    Call negative = right();
    (negative.*argument.span).count = -3;
    Call null = right();
    (null.*argument.span).data = nullptr;
    const std::string name = argument.name;
    EXPECT_EQ(on_pairs(negative), name + " has -3 elements: expected 0 or more");
    EXPECT_THAT(on_pairs(null), HasSubstr(name + " is null, but has"));
    if (!argument.is_of_keys) continue;
    EXPECT_EQ(on_keys(negative), name + " has -3 elements: expected 0 or more");
    EXPECT_THAT(on_keys(null), HasSubstr(name + " is null, but has"));
  }
}

TEST_F(SetsPreconditions, NoRoom) {
  for (const SetOperation operation : all_operations) {
    Call call = right();
    call.which.operation = operation;
    const std::int64_t needed = most_outputs(operation, 10, 20);
    call.out.count = needed;
    call.out_values.count = needed;
    EXPECT_EQ(on_keys(call), "nothing") << name_of(operation);
    EXPECT_EQ(on_pairs(call), "nothing") << name_of(operation);
    const std::string expected = " holds " + std::to_string(needed - 1) +
                                 " elements: " + std::to_string(needed) + " are needed";
    call.out_values.count = needed - 1;
    EXPECT_THAT(on_pairs(call), HasSubstr("out_values" + expected));
    call.out.count = needed - 1;
    EXPECT_THAT(on_keys(call), HasSubstr("out" + expected));
    EXPECT_THAT(on_pairs(call), HasSubstr("out" + expected));
  }
}

TEST_F(SetsPreconditions, ValuesAreAsManyAsKeys) {
  for (const int difference : {-1, 1}) {
    Call call = right();
    call.a_values.count += difference;
    EXPECT_THAT(on_pairs(call), AllOf(HasSubstr("a_values has"), HasSubstr("as many as a")));
    call = right();
    call.b_values.count += difference;
    EXPECT_THAT(on_pairs(call), AllOf(HasSubstr("b_values has"), HasSubstr("as many as b")));
  }
}

// The last element of one is the first of the other, and the other way round.
TEST_F(SetsPreconditions, OutputsOverlapNothing) {
  for (const Argument& output : {arguments[2], arguments[5]}) {
    for (const Argument& other : arguments) {
      if (other.span == output.span) continue;
      for (const bool is_behind : {false, true}) {
        Call call = right();
        const DeviceSpan<int> span = call.*other.span;
        DeviceSpan<int>& moved = call.*output.span;
        // Within memory that nothing else uses, but for one element.
        const std::int64_t begin = is_behind ? 120 + span.count - 1 : 120;
        moved = part(begin, 30);
        (call.*other.span).data = memory_.data() + (is_behind ? 120 : 149);
        SCOPED_TRACE(std::string(output.name) + " and " + other.name);
        const std::string said = on_pairs(call);
        EXPECT_THAT(said, HasSubstr("overlaps"));
        EXPECT_THAT(said, HasSubstr(output.name));
        EXPECT_THAT(said, HasSubstr(other.name));
        if (output.is_of_keys && other.is_of_keys) {
          EXPECT_EQ(on_keys(call), said);
        }
      }
    }
  }
}

TEST_F(SetsPreconditions, InputsOverlapNoCount) {
  for (const Argument& input : arguments) {
    Call call = right();
    DeviceSpan<int>& span = call.*input.span;
    if (&span == &call.out || &span == &call.out_values) continue;
    span.data = reinterpret_cast<int*>(count_.data());
    const std::string expected = std::string("count overlaps ") + input.name;
    EXPECT_THAT(on_pairs(call), HasSubstr(expected));
    if (input.is_of_keys) {
      EXPECT_THAT(on_keys(call), HasSubstr(expected));
    }
  }
}

TEST_F(SetsPreconditions, OutputsOverlapNoCount) {
  const DeviceSpan<int> on_count{reinterpret_cast<int*>(count_.data()), 30};
  Call call = right();
  call.out = on_count;
  EXPECT_THAT(on_keys(call), HasSubstr("out overlaps count"));
  EXPECT_THAT(on_pairs(call), HasSubstr("out overlaps count"));
  call = right();
  call.out_values = on_count;
  EXPECT_THAT(on_pairs(call), HasSubstr("out_values overlaps count"));
}

TEST_F(SetsPreconditions, MoreElementsThanCanBeCounted) {
  Call call = right();
  call.a.count = std::numeric_limits<std::int64_t>::max() - 5;
  EXPECT_THAT(on_keys(call), HasSubstr("a has 9223372036854775802 elements: expected at most"));
}

TEST_F(SetsPreconditions, UnknownVariant) {
  for (const int number : {-1, 3, 77}) {
    Call call = right();
    call.options.variant = static_cast<Variant>(number);
    const std::string expected = "variant is " + std::to_string(number) +
                                 ", which is not a value of its type: expected one of "
                                 "count_scan_stream, compact, single_pass";
    EXPECT_EQ(on_keys(call), expected);
    EXPECT_EQ(on_pairs(call), expected);
    // Also if there is nothing to do.
    call.a.count = call.b.count = call.a_values.count = call.b_values.count = 0;
    EXPECT_EQ(on_keys(call), expected);
    EXPECT_EQ(on_pairs(call), expected);
  }
}

TEST_F(SetsPreconditions, ChecksLookAtTheData) {
  const auto said = [&](const std::vector<int>& a, const std::vector<int>& b, bool duplicates) {
    DeviceBuffer<int> device_a = on_device(a);
    DeviceBuffer<int> device_b = on_device(b);
    Call call = right();
    call.a = device_a.span();
    call.b = device_b.span();
    call.a_values = part(0, call.a.count);
    call.b_values = part(10, call.b.count);
    call.which.duplicates = duplicates;
    const std::string of_keys = on_keys(call);
    EXPECT_EQ(on_pairs(call), of_keys);
    return of_keys;
  };
  EXPECT_EQ(said({1, 2, 2}, {1}, true), "nothing");
  EXPECT_EQ(said({1, 2}, {1}, false), "nothing");
  EXPECT_THAT(said({1, 3, 2, 1}, {1}, true), HasSubstr("a[2] comes before a[1]"));
  EXPECT_THAT(said({1}, {1, 2, 0}, true), HasSubstr("b[2] comes before b[1]"));
  EXPECT_THAT(said({1, 2, 2}, {1}, false), HasSubstr("a[2] equals a[1]"));
  EXPECT_THAT(said({1}, {3, 3}, false), HasSubstr("b[1] equals b[0]"));
}

// With `falls` as the order, rising keys are out of order.
TEST_F(SetsPreconditions, ChecksUseTheComparator) {
  DeviceBuffer<int> keys = on_device(std::vector<int>{1, 2});
  Call call = right();
  call.a = keys.span();
  call.which.order.falls = true;
  EXPECT_THAT(on_keys(call), HasSubstr("a[1] comes before a[0]"));
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
