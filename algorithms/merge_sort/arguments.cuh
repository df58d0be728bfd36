// What the host functions demand of their arguments beyond core/preconditions.cuh.
#pragma once

#include <stdexcept>
#include <type_traits>

#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "merge_sort/orders.cuh"
#include "merge_sort/variant.hpp"

namespace warpath::merge_sort::detail {

/// What a key or a value can be. Does not compile otherwise.
template <class T>
constexpr void require_element() {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "keys and values must be trivially copyable and not const: kernels copy their "
                "bytes, and the sort is in place");
}

inline void require_options(const Options& options) {
  require_enum("options.variant", options.variant);
  require_enum("options.low_level", options.low_level);
}

/// Throws if the variant sorts superkeys only.
inline void require_comparing(const Options& options) {
  if (options.variant != Variant::key_then_ties) return;
  throw std::invalid_argument(
      "options.variant is key_then_ties, which sorts superkeys only: expected binary_merge or "
      "multiway_merge");
}

/// Where checks are on: throws if a key is NaN, which < and > do not order.
template <class Less, class K>
void require_ordered_keys(DeviceSpan<K> keys, cudaStream_t stream) {
  if constexpr (is_built_in<Less, K>) {
    warpath::require_no_nan("keys", DeviceSpan<const K>(keys), stream);
  }
}

}  // namespace warpath::merge_sort::detail
