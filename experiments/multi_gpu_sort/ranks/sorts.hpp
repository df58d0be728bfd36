// What warpath_ranks does once the ranks are connected: sorts generated elements, verifies each
// result, and measures the steps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/enum_names.hpp"
#include "multi_gpu_sort/ranks/transport.hpp"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::experiments {

enum class KeyType { u32, u64, f32 };
constexpr auto enum_table(KeyType) {
  return std::to_array<EnumName<KeyType>>(
      {{KeyType::u32, "u32"}, {KeyType::u64, "u64"}, {KeyType::f32, "f32"}});
}

enum class Arrangement { uniform, sorted, reversed, all_equal };
constexpr auto enum_table(Arrangement) {
  return std::to_array<EnumName<Arrangement>>({{Arrangement::uniform, "uniform"},
                                               {Arrangement::sorted, "sorted"},
                                               {Arrangement::reversed, "reversed"},
                                               {Arrangement::all_equal, "all_equal"}});
}

struct SortsOfRanks {
  std::int64_t n = 0;  ///< of all ranks together, in equal parts
  KeyType type = KeyType::u32;
  bool has_values = false;  ///< 32 bits each, which say where the key was
  Arrangement arrangement = Arrangement::uniform;
  std::uint64_t seed = 42;
  int repeats = 10;
  /// Called after each step of each sort: for the ways to fail.
  std::function<void(multi_gpu_sort::Step)> after_step = {};
};

struct TimesOfRanks {
  /// By the step's name, of each repetition, the longest of all ranks: milliseconds. "write": from
  /// the last step to the end; "total": the whole sort, which is less than the steps' sum.
  std::map<std::string, std::vector<double>> milliseconds;
  double moved_share = 0;   ///< of all elements, that came to another rank
  std::int64_t memory = 0;  ///< bytes of scratch memory of the rank that has most
};

/// All ranks call it. The current device is the rank's. Throws std::runtime_error, on all ranks, if
/// a result is wrong; if a sort throws, that error, with "; its part is as it was" at its end, or a
/// std::logic_error if it is not.
TimesOfRanks sort_and_verify(multi_gpu_sort::Transport& transport, const SortsOfRanks& sorts);

/// The name of the current device.
std::string device_name();

}  // namespace warpath::experiments
