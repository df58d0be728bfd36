// What bad arguments get: an exception that names the argument, the value and what was expected.
// Every argument of every function: negative, null, too short, overlapping, unknown, out of range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "../message_of.hpp"
#include "load_balancing_search/intervals.cuh"
#include "load_balancing_search/row_products.cuh"
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message(const std::function<void()>& act) {
  return message_of<std::invalid_argument>([&] {
    act();
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  });
}

class Preconditions : public testing::Test {
 protected:
  std::string search(std::int64_t items, const std::vector<std::int32_t>& scan,
                     std::int64_t room = 100, const Options& options = {}) {
    return message([&] {
      const auto device_scan = on_device(scan);
      Guarded<std::int32_t> out(room);
      load_balancing_search(items, device_scan.span(), out.span(), workspace_, nullptr, options);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    });
  }
  Workspace workspace_;
};

TEST_F(Preconditions, DecreasingScan) {
  EXPECT_EQ(search(10, {0, 2, 7, 5, 4, 9}),
            "scan[3] is 5: expected at least scan[2], 7, since no count is negative");
}
TEST_F(Preconditions, ScanThatDoesNotBeginWithZero) {
  EXPECT_EQ(search(10, {1, 2}), "scan[0] is 1: expected 0, where the first object begins");
  EXPECT_EQ(search(10, {-1, 2}), "scan[0] is -1: expected 0, where the first object begins");
}
TEST_F(Preconditions, TotalThatDisagreesWithTheScan) {
  EXPECT_EQ(search(10, {0, 2, 12, 13}),
            "scan[2] is 12: expected at most 10, the number of work items");
  EXPECT_EQ(search(10, {0, 2, 10}), "nothing");  // the last object is empty
}
TEST_F(Preconditions, NoRoom) {
  EXPECT_THAT(search(10, {0, 2}, 9), HasSubstr("objects holds 9 elements: 10 are needed"));
}
TEST_F(Preconditions, NegativeOrTooManyItems) {
  EXPECT_THAT(search(-1, {0}), HasSubstr("items is -1: expected 0 to 2147483647"));
  EXPECT_THAT(search(std::int64_t{1} << 31, {0}), HasSubstr("items is 2147483648"));
}
TEST_F(Preconditions, ItemsWithoutObjects) {
  EXPECT_THAT(search(1, {}), HasSubstr("the number of objects is 0: expected 1 to"));
  EXPECT_EQ(search(0, {}), "nothing");
  EXPECT_EQ(search(0, {0, 0, 0}), "nothing");
}
TEST_F(Preconditions, UnknownItemsPerThread) {
  for (const int number : {-1, 0, 4, 12, 24}) {
    EXPECT_EQ(
        search(10, {0, 2}, 10, {Variant::merge_path, number}),
        "items_per_thread is " + std::to_string(number) + ": expected one of 3, 7, 11, 15, 23");
    // Also if there is nothing to search, or nothing that needs it.
    EXPECT_THAT(search(0, {}, 0, {Variant::merge_path, number}), HasSubstr("items_per_thread is"));
    EXPECT_THAT(search(10, {0, 2}, 10, {Variant::output_aligned, number}),
                HasSubstr("items_per_thread is"));
  }
  for (const int number : merge_path_items_per_thread) {
    EXPECT_EQ(search(10, {0, 2}, 10, {Variant::merge_path, number}), "nothing");
  }
}
TEST_F(Preconditions, UnknownVariant) {
  for (const int number : {-1, 3, 100}) {
    const std::string expected = "variant is " + std::to_string(number) +
                                 ", which is not a value of its type: expected one of "
                                 "merge_path, upper_bound, output_aligned";
    EXPECT_EQ(search(10, {0, 2}, 10, {static_cast<Variant>(number), 11}), expected);
    EXPECT_EQ(search(0, {}, 0, {static_cast<Variant>(number), 11}), expected);
  }
}

/// Right arguments of one of the functions, each of which a test spoils: the spans by name, and a
/// call of the function with them.
struct Spans {
  std::vector<std::pair<std::string, DeviceSpan<std::int32_t>>> all;
  std::function<void(const std::vector<DeviceSpan<std::int32_t>>&)> call;
  std::size_t output;  ///< which of them is written

  [[nodiscard]] std::string spoiled(std::size_t which, DeviceSpan<std::int32_t> by) const {
    std::vector<DeviceSpan<std::int32_t>> spans;
    for (const auto& [name, span] : all) spans.push_back(span);
    spans[which] = by;
    return message([&] { call(spans); });
  }
};

/// All functions on five objects with two work items each; everything lies in `memory`, whose
/// first five elements are their scan, and whose next ten are 0.
class AllFunctions : public Preconditions {
 protected:
  AllFunctions() {
    const std::vector<std::int32_t> scan = {0, 2, 4, 6, 8};
    WARPATH_CUDA_CHECK(cudaMemset(memory_.data(), 0, 200 * sizeof(std::int32_t)));
    WARPATH_CUDA_CHECK(
        cudaMemcpy(memory_.data(), scan.data(), 5 * sizeof(std::int32_t), cudaMemcpyHostToDevice));
    // Where interval_move scatters to: apart.
    WARPATH_CUDA_CHECK(cudaMemcpy(memory_.data() + 30, scan.data(), 5 * sizeof(std::int32_t),
                                  cudaMemcpyHostToDevice));
    const auto part = [&](std::int64_t begin, std::int64_t count) {
      return DeviceSpan<std::int32_t>{memory_.data() + begin, count};
    };
    functions_ = {
        {{{"scan", part(0, 5)}, {"objects", part(100, 10)}},
         [this](const auto& of) { load_balancing_search(10, of[0], of[1], workspace_, nullptr); },
         1},
        {{{"scan", part(0, 5)}, {"values", part(20, 5)}, {"out", part(100, 10)}},
         [this](const auto& of) { interval_expand(10, of[0], of[1], of[2], workspace_, nullptr); },
         2},
        {{{"scan", part(0, 5)},
          {"gather", part(20, 5)},
          {"scatter", part(30, 5)},
          {"in", part(40, 10)},
          {"out", part(100, 10)}},
         [this](const auto& of) {
           interval_move(10, of[0], of[1], of[2], of[3], of[4], workspace_, nullptr);
         },
         4},
        {{{"row_begins", part(0, 5)},
          {"columns", part(20, 10)},
          {"values", part(40, 10)},
          {"x", part(60, 3)},
          {"y", part(100, 5)}},
         [this](const auto& of) {
           row_products({of[0], of[1], of[2]}, of[3], of[4], workspace_, nullptr);
         },
         4}};
  }
  DeviceBuffer<std::int32_t> memory_{200};
  std::vector<Spans> functions_;
};

TEST_F(AllFunctions, TakeWhatIsRight) {
  for (const Spans& function : functions_) {
    EXPECT_EQ(function.spoiled(0, function.all[0].second), "nothing");
  }
}

TEST_F(AllFunctions, NameNegativeCountsAndNull) {
  for (const Spans& function : functions_) {
    for (std::size_t i = 0; i < function.all.size(); ++i) {
      const auto& [name, span] = function.all[i];
      const std::string negative = function.spoiled(i, {span.data, -2});
      const std::string null = function.spoiled(i, {nullptr, span.count});
      EXPECT_EQ(negative, name + " has -2 elements: expected 0 or more");
      EXPECT_THAT(null, HasSubstr(name + " is null, but has"));
    }
  }
}

TEST_F(AllFunctions, NameOutputsThatOverlapInputs) {
  for (const Spans& function : functions_) {
    const auto& [output, span] = function.all[function.output];
    for (std::size_t i = 0; i < function.all.size(); ++i) {
      if (i == function.output) continue;
      // The input's last element is the output's first, and the other way round.
      const DeviceSpan<std::int32_t> input = function.all[i].second;
      for (std::int32_t* const begin :
           {input.data + input.count - 1, input.data - span.count + 1}) {
        if (begin < memory_.data()) continue;
        const std::string said = function.spoiled(function.output, {begin, span.count});
        EXPECT_THAT(said, HasSubstr(output + " overlaps")) << function.all[i].first;
      }
    }
  }
}

TEST_F(AllFunctions, NameWhatIsTooShortOrTooLong) {
  for (const Spans& function : functions_) {
    for (std::size_t i = 1; i < function.all.size(); ++i) {
      const auto& [name, span] = function.all[i];
      // Of x and in, the data decide how many are needed.
      if (name == "x" || name == "in") continue;
      EXPECT_THAT(function.spoiled(i, {span.data, span.count - 1}), HasSubstr("elements")) << name;
      if (i != function.output) {
        EXPECT_THAT(function.spoiled(i, {span.data, span.count + 1}), HasSubstr("elements"))
            << name;
      }
    }
  }
}

TEST_F(Preconditions, ValuesOfOtherObjects) {
  const auto scan = on_device<std::int32_t>({0, 1});
  const auto values = on_device<float>({1, 2, 3});
  Guarded<float> out(2);
  EXPECT_THAT(message([&] {
                interval_expand(2, scan.span(), values.span(), out.span(), workspace_, nullptr);
              }),
              HasSubstr("values has 3 elements: expected 2, as many as scan"));
}

struct NoBody {
  __device__ void operator()(std::int64_t, std::int64_t, std::int64_t) const {}
};

TEST_F(Preconditions, ForEachWorkItemChecksItsScan) {
  const auto scan = on_device<std::int32_t>({0, 3, 1});
  const NoBody body;
  EXPECT_THAT(message([&] { for_each_work_item(3, scan.span(), body, workspace_, nullptr); }),
              HasSubstr("scan[2] is 1: expected at least scan[1], 3"));
  EXPECT_THAT(message([&] { for_each_work_item(-3, scan.span(), body, workspace_, nullptr); }),
              HasSubstr("items is -3"));
}

TEST_F(Preconditions, NothingToMoveFrom) {
  const auto starts = on_device<std::int32_t>({0});
  Guarded<float> out(2);
  const auto said = [&](std::int64_t items) {
    return message([&] {
      interval_move(items, starts.span(), starts.span(), starts.span(), DeviceSpan<const float>{},
                    out.span(), workspace_, nullptr);
    });
  };
  EXPECT_THAT(said(2), HasSubstr("in: the number of elements is 0"));
  EXPECT_EQ(said(0), "nothing");
}

// Types of 8 bytes that are not std::int64_t or std::uint64_t.
template <class Index>
void expect_numbers_of() {
  const auto scan = on_device<std::int32_t>({0, 2});
  Guarded<Index> out(3);
  Workspace workspace;
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  load_balancing_search(3, scan.span(), out.span(), workspace, nullptr);
  EXPECT_EQ(out.get(), (std::vector<Index>{0, 0, 1}));
}
TEST_F(Preconditions, NumbersOfAnyIntegerOf8Bytes) {
  expect_numbers_of<long long>();
  expect_numbers_of<unsigned long long>();
  expect_numbers_of<long>();
  expect_numbers_of<unsigned long>();
}

// Two intervals of 2 and 3 elements, and an empty one between them.
TEST_F(Preconditions, IntervalsThatLeaveTheArrays) {
  const auto said = [&](const std::vector<std::int32_t>& gather,
                        const std::vector<std::int32_t>& scatter) {
    const auto scan = on_device<std::int32_t>({0, 2, 2});
    const auto device_gather = on_device(gather);
    const auto device_scatter = on_device(scatter);
    const auto in = on_device(std::vector<float>(7));
    Guarded<float> out(6);
    return message([&] {
      interval_move(5, scan.span(), device_gather.span(), device_scatter.span(), in.span(),
                    out.span(), workspace_, nullptr);
    });
  };
  EXPECT_EQ(said({5, 0, 4}, {0, 0, 3}), "nothing");
  EXPECT_EQ(said({5, -9, 4}, {4, 99, 0}), "nothing");  // an empty interval may begin anywhere
  EXPECT_EQ(said({6, 0, 4}, {0, 0, 3}),
            "gather[0] is 6: expected interval 0 to lie inside in, which has 7 elements");
  EXPECT_EQ(said({0, 0, 5}, {0, 0, 3}),
            "gather[2] is 5: expected interval 2 to lie inside in, which has 7 elements");
  EXPECT_EQ(said({0, 0, -1}, {0, 0, 3}),
            "gather[2] is -1: expected interval 2 to lie inside in, which has 7 elements");
  EXPECT_EQ(said({0, 0, 4}, {5, 0, 0}),
            "scatter[0] is 5: expected interval 0 to lie inside out, which has 6 elements");
  EXPECT_EQ(said({0, 0, 4}, {0, 0, 4}),
            "scatter[2] is 4: expected interval 2 to lie inside out, which has 6 elements");
  EXPECT_EQ(said({0, 0, 4}, {-1, 0, 3}),
            "scatter[0] is -1: expected interval 0 to lie inside out, which has 6 elements");
}

TEST_F(Preconditions, ColumnsThatAreNoIndices) {
  const auto said = [&](const std::vector<std::int32_t>& columns) {
    const auto begins = on_device<std::int32_t>({0, 1});
    const auto device_columns = on_device(columns);
    const auto values = on_device<float>({1, 2});
    const auto x = on_device<float>({1, 1, 1});
    Guarded<float> y(2);
    return message([&] {
      row_products({begins.span(), device_columns.span(), values.span()}, x.span(), y.span(),
                   workspace_, nullptr);
    });
  };
  EXPECT_EQ(said({0, 2}), "nothing");
  EXPECT_EQ(said({0, 3}), "columns[1] is no index: expected 0 to 2");
  EXPECT_EQ(said({-1, 0}), "columns[0] is no index: expected 0 to 2");
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
