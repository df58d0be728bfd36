// Set operations on the device by every variant, against std::set_*: keys to the element, and of
// each key the value that came with it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "../device_vectors.cuh"
#include "../stream.cuh"
#include "balanced_path_sets/balanced_path_sets.cuh"
#include "balanced_path_sets/oracle.hpp"
#include "core/buffer.cuh"
#include "inputs.hpp"

namespace warpath::balanced_path_sets::test {

/// An output that holds the worst case and not an element more, poisoned.
template <class T>
DeviceBuffer<T> poisoned(std::int64_t count) {
  DeviceBuffer<T> buffer(count);
  WARPATH_CUDA_CHECK(cudaMemset(buffer.data(), 0xA5, static_cast<std::size_t>(count) * sizeof(T)));
  return buffer;
}

/// Whether nothing behind the first `count` elements was written.
template <class T>
bool is_untouched_behind(const std::vector<T>& values, std::size_t count) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  return std::all_of(bytes + count * sizeof(T), bytes + values.size() * sizeof(T),
                     [](unsigned char byte) { return byte == 0xA5; });
}

/// Whether the output, which was poisoned, begins with what is expected and holds nothing else.
template <class T>
testing::AssertionResult holds(const DeviceBuffer<T>& output, const std::vector<T>& expected) {
  const std::vector<T> found = on_host(output);
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(expected.size());
  const auto wrong = std::mismatch(expected.begin(), expected.end(), found.begin(), end);
  if (wrong.first != expected.end()) {
    return testing::AssertionFailure() << "element " << wrong.first - expected.begin() << " is "
                                       << *wrong.second << ", expected " << *wrong.first;
  }
  if (is_untouched_behind(found, expected.size())) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "something is written behind the outputs";
}

inline constexpr Variant all_variants[] = {Variant::count_scan_stream, Variant::compact,
                                           Variant::single_pass};

template <class Key_, class Value_>
class Sets : public testing::Test {
 public:
  using Key = Key_;
  using Value = Value_;

  template <SetOperation operation, bool Duplicates, class Less>
  void expect_operation(const std::vector<Key>& a, const std::vector<Key>& b, Less less) {
    const DeviceBuffer<Key> device_a = on_device(a);
    const DeviceBuffer<Key> device_b = on_device(b);
    std::vector<Value> a_values(a.size());
    std::vector<Value> b_values(b.size());
    for (std::size_t i = 0; i < a.size(); ++i) a_values[i] = static_cast<Value>(i);
    for (std::size_t i = 0; i < b.size(); ++i) b_values[i] = static_cast<Value>(a.size() + i);
    const DeviceBuffer<Value> device_a_values = on_device(a_values);
    const DeviceBuffer<Value> device_b_values = on_device(b_values);
    const auto expected = oracle::set_operation<operation>(a, a_values, b, b_values, less);
    const std::int64_t room = most_outputs<operation>(device_a.count(), device_b.count());
    const std::size_t right = expected.keys.size();

    for (const Variant variant : all_variants) {
      SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + ", variant " +
                   std::to_string(static_cast<int>(variant)) + ", duplicates " +
                   std::to_string(Duplicates));
      DeviceBuffer<Key> out = poisoned<Key>(room);
      DeviceBuffer<Key> out_keys = poisoned<Key>(room);
      DeviceBuffer<Value> out_values = poisoned<Value>(room);
      DeviceCount count(stream_);
      DeviceCount pairs(stream_);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // the stream waits for no other
      set_operation<operation, Duplicates, Key, Less>(device_a.span(), device_b.span(), out.span(),
                                                      count, workspace_, stream_, {variant}, less);
      set_operation_by_key<operation, Duplicates, Key, Value, Less>(
          device_a.span(), device_a_values.span(), device_b.span(), device_b_values.span(),
          out_keys.span(), out_values.span(), pairs, workspace_, stream_, {variant}, less);
      ASSERT_EQ(count.get(stream_), static_cast<std::int64_t>(right));
      ASSERT_EQ(pairs.get(stream_), static_cast<std::int64_t>(right));
      EXPECT_TRUE(holds(out, expected.keys));
      EXPECT_TRUE(holds(out_keys, expected.keys));
      EXPECT_TRUE(holds(out_values, expected.values));
    }
  }

  template <bool Duplicates, class Less = std::less<Key>>
  void expect_all(const std::vector<Key>& a, const std::vector<Key>& b, Less less = {}) {
    expect_operation<SetOperation::intersection, Duplicates>(a, b, less);
    expect_operation<SetOperation::set_union, Duplicates>(a, b, less);
    expect_operation<SetOperation::difference, Duplicates>(a, b, less);
    expect_operation<SetOperation::symmetric_difference, Duplicates>(a, b, less);
  }

  Stream stream_;
  Workspace workspace_;
};
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
