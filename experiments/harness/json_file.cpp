#include "harness/json_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <vector>

#include "harness/error.hpp"

namespace warpath::harness {
namespace {

/// "12:7", counted from 1, of a position in the text.
std::string line_and_column(const std::string& text, std::size_t position) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (std::size_t i = 0; i < std::min(position, text.size()); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
  std::vector<std::set<std::string>> open_objects;
  const auto reject_duplicates = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw UserError(file + ": the key \"" + parsed.get<std::string>() +
                      "\" stands twice in one object; remove one");
    }
    return true;
  };
  try {
    return Json::parse(text, reject_duplicates, true, /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    // The library's text is "[json.exception...] parse error at line 1, column 2: <what>".
    const std::string what = error.what();
    const std::size_t reason = what.find(": ");
    throw UserError(
        file + ":" + line_and_column(text, error.byte == 0 ? 0 : error.byte - 1) +
        ": not valid JSON: " + (reason == std::string::npos ? what : what.substr(reason + 2)));
  }
}

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) {
    throw UserError(file.string() + ": cannot be read; is the path right?");
  }
  return parse_json({std::istreambuf_iterator<char>(stream), {}}, file.string());
}

Node read_document(const std::filesystem::path& file) {
  return {file.string(), "$", read_json(file)};
}

std::string file_text(const Json& json) {
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

void write_atomically(const std::filesystem::path& file, const std::string& content) {
  std::filesystem::path beside = file;
  beside += ".tmp." + std::to_string(getpid());
  const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) throw_errno("cannot create " + beside.string());
  const ssize_t written = write(descriptor, content.data(), content.size());
  const bool whole = written == static_cast<ssize_t>(content.size()) && fsync(descriptor) == 0;
  const int error = errno;
  close(descriptor);
  if (!whole || std::rename(beside.c_str(), file.c_str()) != 0) {
    if (!whole) errno = error;
    const std::system_error failure(errno, std::generic_category(),
                                    "cannot write " + file.string());
    unlink(beside.c_str());
    throw failure;
  }
}

}  // namespace warpath::harness
