// Expands a configuration to its list of points.
#pragma once

#include <string>
#include <vector>

#include "harness/config.hpp"
#include "harness/point.hpp"

namespace warpath::harness {

/// More points than this need --force.
inline constexpr std::int64_t max_points = 10'000;
/// Every configuration has it: without an entry it is the configuration as it stands.
inline constexpr const char* default_profile = "paper";

/// The points in the order of the file, each once. A parameter that the profile or `overrides`
/// names takes these values wherever the configuration has it, crossed with all else; `overrides`
/// win. Without a `variant` anywhere, all variants are taken. Throws UserError if no point is left,
/// if there are more than `limit`, or if the profile is unknown.
std::vector<Point> expand(const Config& config, const std::string& profile,
                          const std::vector<Values>& overrides, std::int64_t limit = max_points);

}  // namespace warpath::harness
