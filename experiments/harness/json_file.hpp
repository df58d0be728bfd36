// JSON files: errors name file, line and column; files are written atomically.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "harness/node.hpp"

namespace warpath::harness {

/// Parses JSON that may hold comments. Throws UserError "<file>:<line>:<column>: ..." for what is
/// not JSON; and one that names the file for a key that an object has twice, a number beyond the
/// range of a double, more than 64 levels of lists and objects, and an object of more than 10000
/// keys.
Json parse_json(const std::string& text, const std::string& file);
/// The same of a regular file of at most 64 MiB. Never waits (for the writer of a FIFO).
Json read_json(const std::filesystem::path& file);
/// The same, as the root "$" of its places.
Node read_document(const std::filesystem::path& file);

/// The content of a JSON file, indented. Bytes that are not UTF-8, which a command line may hold,
/// are replaced.
std::string file_text(const Json& json);

/// Writes a temporary file beside `file` and renames it: a reader finds the old content or the new
/// one. Throws std::system_error, and leaves no temporary file.
void write_atomically(const std::filesystem::path& file, const std::string& content);

/// Whether the name is one of a temporary file that write_atomically() makes.
bool is_temporary(const std::filesystem::path& file);

/// Whether a file could not be written for want of room.
bool is_full(const std::system_error& error);

}  // namespace warpath::harness
