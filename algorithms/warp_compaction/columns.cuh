// The columns that a compaction moves: the items, and perhaps a companion of each (its flag, its
// reference, its value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpath::warp_compaction::detail {

/// The companion of items that have none.
struct NoCompanion {};

template <class T>
inline constexpr bool is_column = !std::is_same_v<T, NoCompanion>;

/// Bytes that an element of a column takes: 0 where there is no column.
template <class T>
inline constexpr std::size_t column_bytes = is_column<T> ? sizeof(T) : 0;

/// Bytes that an element takes in all columns of a rule's input.
template <class Rule>
inline constexpr std::size_t element_bytes =
    column_bytes<typename Rule::Item> + column_bytes<typename Rule::Companion>;

/// Bytes that a kept element takes in all columns of a rule's output.
template <class Rule>
inline constexpr std::size_t written_bytes = Rule::writes_companion ? element_bytes<Rule>
                                                                    : sizeof(typename Rule::Item);

/// Whether elements of a column may go through registers: those that a few whole accesses bring.
template <class T>
inline constexpr bool fits_registers =
    !is_column<T> || (sizeof(T) <= 16 && std::is_default_constructible_v<T> &&
                      (alignof(T) >= 4 || sizeof(T) <= 3 * alignof(T)));

/// Whether single_pass moves a rule's elements through registers; else they stay in memory, and
/// their bytes are copied by lists of those that are kept.
template <class Rule>
inline constexpr bool is_in_registers =
    fits_registers<typename Rule::Item>&& fits_registers<typename Rule::Companion>;

/// Whether elements that go through registers take several accesses each: a lane's lie apart then,
/// and where the pipeline does not run, it is faster to list them.
template <class T>
inline constexpr bool takes_accesses = is_column<T> && sizeof(T) > 8 && sizeof(T) > alignof(T);
template <class Rule>
inline constexpr bool is_listed_without_pipeline =
    !Rule::fetches &&
    (takes_accesses<typename Rule::Item> || takes_accesses<typename Rule::Companion>);

/// Whether the elements of each column that a rule writes consist of 4-byte words.
template <class Rule>
inline constexpr bool writes_words = sizeof(typename Rule::Item) % 4 == 0 &&
                                     (!Rule::writes_companion ||
                                      sizeof(typename Rule::Companion) % 4 == 0);

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

/// Where the elements of a tile are: its items, and their companions if there are any.
template <class T, class U>
struct TilePointers {
  T* items;
  U* companions;
};

template <class Rule>
using InputOf = Columns<const typename Rule::Item, const typename Rule::Companion>;
template <class Rule>
using OutputOf = Columns<typename Rule::Item, typename Rule::Companion>;

}  // namespace warpath::warp_compaction::detail
