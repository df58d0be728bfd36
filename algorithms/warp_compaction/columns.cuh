// The columns that a compaction moves: the items, and perhaps a companion of each (its flag, its
// reference, its value).
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpath::warp_compaction {

/// The companion of items that have none.
struct NoCompanion {};

template <class T>
inline constexpr bool is_column = !std::is_same_v<T, NoCompanion>;

/// Bytes that an element of a column takes: 0 where there is no column.
template <class T>
inline constexpr int column_bytes = is_column<T> ? static_cast<int>(sizeof(T)) : 0;

/// Element i of a column, or null where there is no column.
template <class T>
constexpr T* column_at(T* column, std::int64_t i) {
  if constexpr (is_column<std::remove_const_t<T>>) {
    return column + i;
  } else {
    return nullptr;
  }
}

/// `count` items in global memory and, unless U is NoCompanion, as many companions.
template <class T, class U>
struct Columns {
  T* items = nullptr;
  U* companions = nullptr;
  std::int64_t count = 0;
};

}  // namespace warpath::warp_compaction
