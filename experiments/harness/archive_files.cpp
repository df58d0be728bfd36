#include "harness/archive_files.hpp"

#include <algorithm>
#include <system_error>

#include "harness/error.hpp"

namespace warpath::harness {

std::vector<std::filesystem::path> archive_files(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::is_directory(name, error)) {
      files.emplace_back(name);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(name)) {
      const std::filesystem::path& file = entry.path();
      if (file.extension() == ".json" && file.stem().has_extension()) files.push_back(file);
    }
    if (files.size() == before) {
      throw UserError(abridged(name) + ": no archive is in this folder");
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string experiment_of(const Node& archive) {
  for (const char* key : {"technique", "experiment", "rows"}) {
    if (!archive.is_object() || !archive.has(key)) {
      archive.fail(std::string("is no archive: it has no key \"") + key + "\"");
    }
  }
  return archive["technique"].text() + "/" + archive["experiment"].text();
}

}  // namespace warpath::harness
