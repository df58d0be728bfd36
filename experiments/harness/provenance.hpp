// Where a number comes from: source, compiler, device and host.
#pragma once

#include <string>
#include <string_view>

#include "harness/device.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

/// The "provenance" object of records and archives; README.md lists its fields.
Json provenance(const Device& device);

/// "0.1.0 (commit 7d831de..., backend emulated)", with "changed" after the commit if the tree
/// differed from it.
std::string version();

/// A hash of this program's file: another build is another one.
std::string build_id();

std::string cpu_name();

/// Now, as "2026-11-21T05:10:00Z".
std::string utc_now();

/// 16 hexadecimal digits of the FNV-1a hash.
std::string hash_text(std::string_view bytes);

}  // namespace warpath::harness
