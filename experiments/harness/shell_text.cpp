#include "harness/shell_text.hpp"

#include <filesystem>
#include <system_error>

namespace warpath::harness {

std::string shell_word(const std::string& word) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";  // ends the quotes, and begins them again
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) {
    if (!command.empty()) command += ' ';
    command += shell_word(word);
  }
  return command;
}

std::string path_in_checkout(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  fs::path root = here;
  for (fs::path folder = here; folder.has_relative_path(); folder = folder.parent_path()) {
    if (!fs::exists(folder / "configs" / "schema.json", error)) continue;
    root = folder;
    break;
  }
  const fs::path seen = (here / path).lexically_normal().lexically_relative(root);
  const bool inside = !seen.empty() && *seen.begin() != "..";
  return inside ? seen.string() : fs::path(path).filename().string();
}

}  // namespace warpath::harness
