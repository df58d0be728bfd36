// Parameter values as text (names, tables) and as JSON (records).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/technique.hpp"

namespace warpath::harness {

/// Complete only where <nlohmann/json.hpp> is included: sources that read or write JSON do that.
/// Objects keep the order in which they were written: sweeps expand in the order of the file.
using Json = nlohmann::ordered_json;

/// The shortest text that reads back as the same value: "65536", "0.5", "select_if".
std::string to_text(const Value& value);
Json to_json(const Value& value);
Json to_json(const Parameters& parameters);

/// Bytes with a binary unit: "1.50 GiB (1610612736 bytes)".
std::string bytes_text(std::int64_t bytes);

}  // namespace warpath::harness
