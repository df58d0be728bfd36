// How a sort over several devices is done: what configurations, tests and callers name.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "core/enum_names.hpp"
#include "merge_sort/variant.hpp"

namespace warpath::multi_gpu_sort {

enum class Variant {
  swap_merge,  ///< the source: halves swap what belongs to the other one, and merge; 2, 4, 8, ...
               ///< devices
  splitter_merge,  ///< each device gets its slice of all sorted parts, and merges them at once
  radix_exchange   ///< keys that are numbers: moved to their devices first, and sorted there
};
constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::swap_merge, "swap_merge"},
                                           {Variant::splitter_merge, "splitter_merge"},
                                           {Variant::radix_exchange, "radix_exchange"}});
}

/// How elements come from one device to another.
enum class Exchange {
  copy,   ///< copies between devices; by way of the host where they have no access
  direct  ///< kernels read, and write, the other devices' memory: they need access to it
};
constexpr auto enum_table(Exchange) {
  return std::to_array<EnumName<Exchange>>(
      {{Exchange::copy, "copy"}, {Exchange::direct, "direct"}});
}

/// What a sort does, in this order; the last three once for each swap of swap_merge.
enum class Step {
  sort,      ///< each device its part
  split,     ///< which elements go where
  exchange,  ///< `moved` elements come to another device
  merge      ///< each device what it has then
};
constexpr auto enum_table(Step) {
  return std::to_array<EnumName<Step>>({{Step::sort, "sort"},
                                        {Step::split, "split"},
                                        {Step::exchange, "exchange"},
                                        {Step::merge, "merge"}});
}
/// Told of each step once all of its work is in the devices' streams.
using StepObserver = std::function<void(Step step, std::int64_t moved)>;

struct Options {
  Variant variant = Variant::splitter_merge;
  Exchange exchange = Exchange::direct;
  merge_sort::Options sort = {};  ///< of each device's part
  StepObserver after_step = {};   ///< none if empty
};

namespace detail {

inline void tell(const StepObserver& observer, Step step, std::int64_t moved = 0) {
  if (observer) observer(step, moved);
}

}  // namespace detail

}  // namespace warpath::multi_gpu_sort
