// The four operations of one thread: cut along the balanced path, part by part, against std::set_*.
#include "balanced_path_sets/thread_set_operation.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "balanced_path_sets/balanced_path.cuh"
#include "inputs.hpp"

namespace warpath::balanced_path_sets::test {
namespace {

template <SetOperation operation, class Key, class Compare>
std::vector<Key> expected(const std::vector<Key>& a, const std::vector<Key>& b, Compare less) {
  std::vector<Key> out;
  const auto to = std::back_inserter(out);
  if constexpr (operation == SetOperation::intersection) {
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to, less);
  } else if constexpr (operation == SetOperation::set_union) {
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), to, less);
  } else if constexpr (operation == SetOperation::difference) {
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to, less);
  } else {
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), to, less);
  }
  return out;
}

/// A key that remembers where it came from: comparisons must not look there.
struct Origin {
  int key;
  int place;  ///< in A, or -1 - place in B
  bool operator==(const Origin&) const = default;
};
struct KeyLess {
  bool operator()(const Origin& x, const Origin& y) const { return x.key < y.key; }
};

template <SetOperation operation, int Items, bool RangeCheck>
void expect_operation(const Inputs& inputs) {
  SCOPED_TRACE(inputs.name + ", items " + std::to_string(Items));
  std::vector<Origin> a;
  std::vector<Origin> b;
  for (const int key : inputs.a) a.push_back({key, static_cast<int>(a.size())});
  for (const int key : inputs.b) b.push_back({key, -1 - static_cast<int>(b.size())});
  const int a_count = static_cast<int>(a.size());
  const int b_count = static_cast<int>(b.size());
  const int count = a_count + b_count;

  std::vector<Origin> keys = a;
  keys.insert(keys.end(), b.begin(), b.end());
  std::vector<Origin> found;
  for (int diagonal = 0; diagonal < count; diagonal += Items) {
    const int next = std::min(diagonal + Items, count);
    const auto from =
        balanced_path<true>(a.data(), a_count, b.data(), b_count, diagonal, 2, KeyLess{});
    const auto to = balanced_path<true>(a.data(), a_count, b.data(), b_count, next, 2, KeyLess{});
    const int elements = to.a - from.a + to.b(next) - from.b(diagonal);
    Origin results[Items];
    int indices[Items];
    const auto part = [&]<bool IsChecked>() {
      return thread_set_operation<operation, Items, IsChecked>(
          keys.data(), from.a, a_count, a_count + from.b(diagonal), count, elements, results,
          indices, KeyLess{});
    };
    // Unchecked, where both inputs go on.
    const bool goes_on = to.a < a_count && to.b(next) < b_count;
    const unsigned commit = RangeCheck || !goes_on ? part.template operator()<true>()
                                                   : part.template operator()<false>();
    for (int i = 0; i < Items; ++i) {
      if ((commit >> i & 1) == 0) continue;
      found.push_back(results[i]);
      EXPECT_TRUE(keys[static_cast<std::size_t>(indices[i])] == results[i]);
    }
  }
  EXPECT_TRUE(found == expected<operation>(a, b, KeyLess{}));
}

template <SetOperation operation>
void expect_operation() {
  for (const Inputs& inputs : multisets()) {
    expect_operation<operation, 1, true>(inputs);
    expect_operation<operation, 7, true>(inputs);
    expect_operation<operation, 11, true>(inputs);
    expect_operation<operation, 32, true>(inputs);
    expect_operation<operation, 7, false>(inputs);
    expect_operation<operation, 8, false>(inputs);
    expect_operation<operation, 11, false>(inputs);
  }
}

TEST(ThreadSetOperation, Intersection) {
  expect_operation<SetOperation::intersection>();
}
TEST(ThreadSetOperation, Union) {
  expect_operation<SetOperation::set_union>();
}
TEST(ThreadSetOperation, Difference) {
  expect_operation<SetOperation::difference>();
}
TEST(ThreadSetOperation, SymmetricDifference) {
  expect_operation<SetOperation::symmetric_difference>();
}

// The commit bit field of the source's slots: A 1 1 2 . 3 3 3, B 1 . 2 2 3 3 3.
TEST(ThreadSetOperation, CommitBitFields) {
  const int keys[] = {1, 1, 2, 3, 3, 3, /* B: */ 1, 2, 2, 3, 3, 3};
  int results[7];
  int indices[7];
  const auto commit = [&]<SetOperation operation>() {
    return thread_set_operation<operation, 7, true>(keys, 0, 6, 6, 12, 12, results, indices,
                                                    std::less<>{});
  };
  EXPECT_EQ(commit.template operator()<SetOperation::intersection>(), 0b1110101u);
  EXPECT_EQ(commit.template operator()<SetOperation::difference>(), 0b0000010u);
  EXPECT_EQ(commit.template operator()<SetOperation::symmetric_difference>(), 0b0001010u);
  EXPECT_EQ(commit.template operator()<SetOperation::set_union>(), 0b1111111u);
  EXPECT_EQ(results[3], 2);
  EXPECT_EQ(indices[3], 8);  // B's second 2
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
