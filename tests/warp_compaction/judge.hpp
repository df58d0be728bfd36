// The comparison of what came from the device with what the oracle says: whole, byte by byte, with
// everything around it. Mutated results must not pass it (compaction_suite.cuh).
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warpath::warp_compaction::test {

using Bytes = std::vector<unsigned char>;

/// Guard zones before and after an output, in bytes: a multiple of every alignment.
inline constexpr std::size_t guard_bytes = 256;

/// What byte i of an output buffer holds before the call. It differs from its neighbours, so that
/// elements which moved within untouched memory are seen too.
constexpr unsigned char poison(std::size_t i) {
  return static_cast<unsigned char>((i * 2654435761u) >> 13 ^ 0xA5);
}
Bytes poisoned(std::size_t count);

/// A column that the oracle gave.
struct Column {
  Bytes bytes;
  std::size_t element_bytes = 1;
};
template <class T>
Column column_of(const std::vector<T>& elements) {
  Column column{Bytes(elements.size() * sizeof(T)), sizeof(T)};
  if (!elements.empty()) std::memcpy(column.bytes.data(), elements.data(), column.bytes.size());
  return column;
}

struct Expected {
  std::vector<Column> columns;
  std::int64_t first_disorder = -1;

  [[nodiscard]] std::int64_t kept() const {
    return static_cast<std::int64_t>(columns[0].bytes.size() / columns[0].element_bytes);
  }
};

/// A whole output buffer as the call has left it, with its guard zones.
struct Image {
  Bytes bytes;
  std::size_t begin = guard_bytes;  ///< of the output in it
};

struct Result {
  std::vector<Image> columns;
  std::int64_t kept = 0;
  std::int64_t first_disorder = -1;
  bool inputs_intact = true;
};

/// Success only if the counts agree, each column's kept elements are the expected ones in order,
/// and every other byte of every output buffer is still poison.
testing::AssertionResult judge(const Result& result, const Expected& expected);

}  // namespace warpath::warp_compaction::test
