// What the tests of set operations share: inputs at any element of a line, watched outputs, and the
// comparison with std::set_*, keys to the element and of each key the value that came with it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../stream.cuh"
#include "balanced_path_sets/oracle.hpp"
#include "balanced_path_sets/variant.hpp"
#include "core/buffer.cuh"
#include "inputs.hpp"

namespace warpath::balanced_path_sets::test {

inline constexpr SetOperation all_operations[] = {SetOperation::intersection,
                                                  SetOperation::set_union, SetOperation::difference,
                                                  SetOperation::symmetric_difference};
inline constexpr Variant all_variants[] = {Variant::count_scan_stream, Variant::compact,
                                           Variant::single_pass};

inline std::string name_of(SetOperation operation) {
  return std::string(enum_name(operation));
}
inline std::string name_of(Variant variant) {
  return std::string(enum_name(variant));
}

/// Values on the device that begin `offset` elements after a 256-byte boundary, and end with the
/// allocation: a read past them is reported.
template <class T>
class ShiftedInput {
 public:
  ShiftedInput(const std::vector<T>& values, std::size_t offset)
      : offset_(static_cast<std::int64_t>(offset)) {
    std::vector<T> shifted(offset);
    shifted.insert(shifted.end(), values.begin(), values.end());
    memory_ = on_device(shifted);
  }
  [[nodiscard]] DeviceSpan<const T> span() const {
    return {memory_.data() + offset_, memory_.count() - offset_};
  }

 private:
  std::int64_t offset_;
  DeviceBuffer<T> memory_;
};

/// first, first + 1, ...: a value for each key.
template <class Value>
std::vector<Value> values_from(std::size_t first, std::size_t count) {
  std::vector<Value> values;
  for (std::size_t i = first; i < first + count; ++i) values.push_back(static_cast<Value>(i));
  return values;
}

/// The arrays of one operation on the device. Each begins at an element of its own in a line, which
/// `shift` moves.
template <class Key, class Value>
class Arrays {
 public:
  Arrays(const std::vector<Key>& a, const std::vector<Key>& b,
         const oracle::Pairs<Key, Value>& expected, std::int64_t room, std::size_t shift)
      : expected_(expected),
        a_(a, shift % 4),
        b_(b, shift / 4 % 4),
        a_values_(values_from<Value>(0, a.size()), (shift + 1) % 4),
        b_values_(values_from<Value>(a.size(), b.size()), (shift + 2) % 4),
        room_(room),
        shift_(static_cast<int>((shift + 3) % 4)) {}

  [[nodiscard]] DeviceSpan<const Key> a() const { return a_.span(); }
  [[nodiscard]] DeviceSpan<const Key> b() const { return b_.span(); }
  [[nodiscard]] DeviceSpan<const Value> a_values() const { return a_values_.span(); }
  [[nodiscard]] DeviceSpan<const Value> b_values() const { return b_values_.span(); }

  /// act(out, count) runs the operation on keys, in `stream`.
  template <class Act>
  void expect_keys(cudaStream_t stream, const Act& act) const {
    Guarded<Key> out(room_, shift_);
    DeviceCount count(stream);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
    act(out.span(), count);
    if (is_count(count.get(stream))) expect_equal("key", out, expected_.keys);
  }
  /// act(out, out_values, count) runs it on keys with values.
  template <class Act>
  void expect_pairs(cudaStream_t stream, const Act& act) const {
    Guarded<Key> out(room_, shift_);
    Guarded<Value> out_values(room_, (shift_ + 1) % 4);
    DeviceCount count(stream);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    act(out.span(), out_values.span(), count);
    if (!is_count(count.get(stream))) return;
    expect_equal("key", out, expected_.keys);
    expect_equal("value", out_values, expected_.values);
  }

 private:
  [[nodiscard]] bool is_count(std::int64_t found) const {
    EXPECT_EQ(found, static_cast<std::int64_t>(expected_.keys.size())) << "outputs";
    return found == static_cast<std::int64_t>(expected_.keys.size());
  }
  template <class T>
  static void expect_equal(const char* what, const Guarded<T>& out,
                           const std::vector<T>& expected) {
    const std::vector<T> found = out.get(static_cast<std::int64_t>(expected.size()));
    const auto wrong = std::mismatch(expected.begin(), expected.end(), found.begin());
    if (wrong.first == expected.end()) return;
    ADD_FAILURE() << what << " " << wrong.first - expected.begin() << " is "
                  << testing::PrintToString(*wrong.second) << ", expected "
                  << testing::PrintToString(*wrong.first);
  }

  const oracle::Pairs<Key, Value>& expected_;
  ShiftedInput<Key> a_;
  ShiftedInput<Key> b_;
  ShiftedInput<Value> a_values_;
  ShiftedInput<Value> b_values_;
  std::int64_t room_;
  int shift_;
};

/// The keys in another type, in the same order.
template <class Key>
std::vector<Key> keys_of(const std::vector<int>& keys) {
  std::vector<Key> converted;
  // Unsigned keys keep the order.
  for (const int key : keys) {
    converted.push_back(std::is_unsigned_v<Key>
                            ? static_cast<Key>(static_cast<unsigned>(key) ^ 0x80000000u)
                            : static_cast<Key>(key));
  }
  return converted;
}

/// Tiles of every kind, around `total` elements.
inline std::vector<Inputs> many_tiles(std::size_t total) {
  std::mt19937 random(5);
  const std::size_t half = total / 2;
  const auto all = [](std::size_t count, int key) { return std::vector<int>(count, key); };
  std::vector<Inputs> inputs = {
      {"uniform", sorted_keys(random, half, static_cast<unsigned>(half)),
       sorted_keys(random, total - half, static_cast<unsigned>(half))},
      {"few", sorted_keys(random, half, 7), sorted_keys(random, total - half, 7)},
      {"runs of a thousand", sorted_keys(random, half, static_cast<unsigned>(half / 1000 + 1)),
       sorted_keys(random, total - half, static_cast<unsigned>(half / 1000 + 1))},
      {"one key", all(half, 3), all(total - half, 3)},
      {"one key each", all(half, 3), all(total - half, 4)},
      {"one key each, swapped", all(half, 4), all(total - half, 3)},
      {"b empty", sorted_keys(random, total, 100), {}},
      {"a empty", {}, sorted_keys(random, total, 100)},
      {"99 to 1", sorted_keys(random, total - total / 100, 500),
       sorted_keys(random, total / 100, 500)},
      {"1 to 99", sorted_keys(random, total / 100, 500),
       sorted_keys(random, total - total / 100, 500)},
  };
  Inputs pairs{"every other diagonal starred", {}, {}};
  for (std::size_t i = 0; i < half; ++i) pairs.a.push_back(static_cast<int>(i));
  pairs.b = pairs.a;
  inputs.push_back(pairs);
  inputs.push_back({"the same, and one before", pairs.a, pairs.b});
  inputs.back().a.insert(inputs.back().a.begin(), -1);
  return inputs;
}

}  // namespace warpath::balanced_path_sets::test
