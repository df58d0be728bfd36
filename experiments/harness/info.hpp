// `warpath info`: this machine, and what it can do at best.
#pragma once

#include <string>

namespace warpath::harness {

/// Measures the ceilings and links, prints them (with `as_json` as JSON) and writes them to
/// <out>/<device>/info.json. Returns the exit code. Throws UserError.
int print_info(const std::string& out, bool as_json);

}  // namespace warpath::harness
