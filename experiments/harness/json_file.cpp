#include "harness/json_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/error.hpp"
#include "harness/interrupt.hpp"

namespace warpath::harness {
namespace {

constexpr int max_depth = 64;
/// The library searches the keys of an object linearly.
constexpr std::size_t max_keys = 10'000;
constexpr std::size_t max_file_bytes = std::size_t{64} << 20;

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

constexpr std::string_view temporary_infix = ".json.tmp.";

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string read_text(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(abridged(file.string(), 400) + ": cannot be read: " + why);
  };
  const Descriptor stream(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (stream.get() < 0) refuse(std::string(std::strerror(errno)) + "; is the path right?");
  struct stat status {};
  if (fstat(stream.get(), &status) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (!S_ISREG(status.st_mode)) refuse("it is no regular file");
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t count = read(stream.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(std::strerror(errno));
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > max_file_bytes) refuse("it has more than 64 MiB");
  }
}

/// Writes all of it to the disk; errno says why it could not.
bool write_whole(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(descriptor) == 0;
}

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    throw UserError(abridged(file, 400) + ":" + line_and_column(text, zero) +
                    ": not valid JSON: a zero byte");
  }
  std::vector<std::set<std::string>> open_objects;
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    // Deeper ones would exhaust the stack where they are copied or printed.
    if (depth > max_depth) {
      throw UserError(file + ": lists and objects are nested deeper than " +
                      std::to_string(max_depth) + " levels");
    }
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key && open_objects.back().size() == max_keys) {
      throw UserError(file + ": an object has more than " + std::to_string(max_keys) + " keys");
    }
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw UserError(file + ": the key \"" + abridged(parsed.get<std::string>()) +
                      "\" stands twice in one object; remove one");
    }
    return true;
  };
  try {
    return Json::parse(text, check, true, /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    // The library's text is "[json.exception...] parse error at line 1, column 2: <what>".
    const std::string what = error.what();
    const std::size_t reason = what.find(": ");
    throw UserError(file + ":" + line_and_column(text, error.byte == 0 ? 0 : error.byte - 1) +
                    ": not valid JSON: " +
                    abridged(reason == std::string::npos ? what : what.substr(reason + 2), 200));
  } catch (const Json::out_of_range&) {
    // The library does not say where it stands.
    throw UserError(file + ": a number is too large: at most 1.8e308 can be read");
  }
}

Json read_json(const std::filesystem::path& file) {
  return parse_json(read_text(file), abridged(file.string(), 400));
}

Node read_document(const std::filesystem::path& file) {
  return {abridged(file.string(), 400), "$", read_json(file)};
}

std::string file_text(const Json& json) {
  return json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

void write_atomically(const std::filesystem::path& file, const std::string& content) {
  std::filesystem::path beside = file;
  beside += ".tmp." + std::to_string(getpid());
  const FileOfThisProcess temporary(beside);
  // One of this name is of a killed process that had the same number. O_EXCL follows no link.
  unlink(beside.c_str());
  const int created = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (created < 0) throw_errno("cannot create " + beside.string());
  const Descriptor stream(created);
  if (write_whole(stream.get(), content) && std::rename(beside.c_str(), file.c_str()) == 0) return;
  const int error = errno;
  unlink(beside.c_str());
  throw std::system_error(error, std::generic_category(), "cannot write " + file.string());
}

bool is_temporary(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::size_t infix = name.rfind(temporary_infix);
  if (infix == std::string::npos) return false;
  const std::string number = name.substr(infix + temporary_infix.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

bool is_full(const std::system_error& error) {
  const int code = error.code().value();
  return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

}  // namespace warpath::harness
