// JSON files: errors name file, line and column; files are written atomically.
#pragma once

#include <filesystem>
#include <string>

#include "harness/node.hpp"

namespace warpath::harness {

/// Parses JSON that may hold comments. Throws UserError "<file>:<line>:<column>: ..." for what is
/// not JSON, and for a key that an object has twice.
Json parse_json(const std::string& text, const std::string& file);
Json read_json(const std::filesystem::path& file);
/// The same, as the root "$" of its places.
Node read_document(const std::filesystem::path& file);

/// The content of a JSON file, indented. Bytes that are not UTF-8, which a command line may hold,
/// are replaced.
std::string file_text(const Json& json);

/// Writes a temporary file and renames it: a reader of `file` finds the old content or the new one.
/// Throws std::system_error.
void write_atomically(const std::filesystem::path& file, const std::string& content);

}  // namespace warpath::harness
