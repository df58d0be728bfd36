// Every kind of input for keys and values of one type. The kernels differ by the keys' size (4
// bytes, 8, those that divide a line, and others), by whether there are values, and by whether
// outputs can come from B: so every type has one operation, and the ints of sets_test.cu all.
#pragma once

#include <gtest/gtest.h>

#include <limits>

#include "../test_size.hpp"
#include "balanced_path_sets/balanced_path_sets.cuh"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {

/// Keys in another type, in the same order where the type can hold them. Small types wrap around,
/// so their keys are sorted again.
template <class Key>
std::vector<Key> converted(const std::vector<int>& keys) {
  std::vector<Key> all = keys_of<Key>(keys);
  if constexpr (sizeof(Key) < sizeof(int)) std::sort(all.begin(), all.end());
  return all;
}

/// Runs of the type's extreme values, beside those next to them.
template <class Key>
std::vector<Key> extremes(std::size_t run) {
  using Limits = std::numeric_limits<Key>;
  std::vector<Key> keys;
  const auto add = [&](Key key) { keys.insert(keys.end(), run, key); };
  if constexpr (std::is_floating_point_v<Key>) {
    for (const Key key : {-Limits::infinity(), Limits::lowest(), -Limits::denorm_min(), Key{-0.0},
                          Key{0.0}, Limits::denorm_min(), Limits::max(), Limits::infinity()}) {
      add(key);
    }
  } else {
    for (const Key key : {Limits::lowest(), static_cast<Key>(Limits::lowest() + 1),
                          static_cast<Key>(Limits::max() - 1), Limits::max()}) {
      add(key);
    }
  }
  return keys;
}

template <class Key, class Value>
class Types : public testing::Test {
 protected:
  template <SetOperation operation, bool OnKeys = false, bool OnPairs = true>
  void expect_all_inputs() {
    std::vector<Inputs> all = multisets();
    for (Inputs& inputs : many_tiles(is_small() ? 3'001 : 5'001)) all.push_back(std::move(inputs));
    for (const Inputs& inputs : all) {
      SCOPED_TRACE(inputs.name);
      expect<operation, OnKeys, OnPairs>(converted<Key>(inputs.a), converted<Key>(inputs.b));
    }
    if constexpr (std::numeric_limits<Key>::is_specialized) {
      for (const std::size_t run : {1, 3, 600}) {
        expect<operation, OnKeys, OnPairs>(extremes<Key>(run), extremes<Key>(run + 1));
        expect<operation, OnKeys, OnPairs>(extremes<Key>(run), extremes<Key>(run));
      }
    }
  }

  template <SetOperation operation, bool OnKeys, bool OnPairs>
  void expect(const std::vector<Key>& a, const std::vector<Key>& b) {
    const auto expected =
        oracle::set_operation(operation, a, values_from<Value>(0, a.size()), b,
                              values_from<Value>(a.size(), b.size()), std::less<Key>{});
    const Arrays<Key, Value> arrays(a, b, expected,
                                    most_outputs(operation, static_cast<std::int64_t>(a.size()),
                                                 static_cast<std::int64_t>(b.size())),
                                    shift_++);
    for (const Variant variant : all_variants) {
      SCOPED_TRACE(name_of(variant));
      if constexpr (OnKeys) {
        arrays.expect_keys(stream_, [&](auto out, auto& count) {
          set_operation<operation>(arrays.a(), arrays.b(), out, count, workspace_, stream_,
                                   {variant});
        });
      }
      if constexpr (OnPairs) {
        arrays.expect_pairs(stream_, [&](auto out, auto out_values, auto& count) {
          set_operation_by_key<operation>(arrays.a(), arrays.a_values(), arrays.b(),
                                          arrays.b_values(), out, out_values, count, workspace_,
                                          stream_, {variant});
        });
      }
    }
  }

  std::size_t shift_ = 0;
  Stream stream_;
  Workspace workspace_;
};

}  // namespace warpath::balanced_path_sets::test
