// The battery: what is fed to every operation, by every way of doing it.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warpath::warp_compaction::test {

/// Adversarial inputs. The first seven are about keys, the others about what is kept; each is read
/// both ways.
enum class Distribution {
  uniform,
  sorted,
  reversed,
  all_equal,
  few_unique,
  long_runs,  ///< up to two tiles long, so that runs cross the borders of warps, tiles and blocks
  organ_pipe,
  nothing,
  everything,
  only_first,
  only_last,
  alternating,
  every_33rd
};
inline constexpr std::array all_distributions = {
    Distribution::uniform,    Distribution::sorted,     Distribution::reversed,
    Distribution::all_equal,  Distribution::few_unique, Distribution::long_runs,
    Distribution::organ_pipe, Distribution::nothing,    Distribution::everything,
    Distribution::only_first, Distribution::only_last,  Distribution::alternating,
    Distribution::every_33rd,
};
std::string to_string(Distribution distribution);

using Random = std::mt19937_64;

/// n keys below 2^20 (or n). `tile` sets the length of long runs.
std::vector<std::uint64_t> make_keys(Distribution distribution, std::int64_t n, std::int64_t tile,
                                     Random& random);

/// n flags, 0 or 1: which elements are to be kept.
std::vector<unsigned char> make_flags(Distribution distribution, std::int64_t n, std::int64_t tile,
                                      Random& random);

}  // namespace warpath::warp_compaction::test
