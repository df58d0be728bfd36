// What the experiments of numbers and those of records share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/technique.hpp"
#include "warp_compaction/variant.hpp"

namespace warpath::experiments {

inline warp_compaction::Options options_of(const harness::Parameters& point) {
  return {harness::named<warp_compaction::Variant>(point, "variant"), point.on("coalescing")};
}

inline std::optional<std::string> wrong_count(std::int64_t kept, std::size_t expected) {
  if (kept == static_cast<std::int64_t>(expected)) return std::nullopt;
  return "kept " + std::to_string(kept) + " elements, expected " + std::to_string(expected);
}

}  // namespace warpath::experiments
