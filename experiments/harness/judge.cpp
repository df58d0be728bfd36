#include "harness/judge.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/archive_files.hpp"
#include "harness/campaign.hpp"
#include "harness/error.hpp"
#include "harness/json_file.hpp"
#include "harness/store.hpp"
#include "harness/summary.hpp"
#include "harness/verdict.hpp"

namespace warpath::harness {

int judge_archives(const std::vector<std::string>& places,
                   const std::vector<Technique>& techniques) {
  std::vector<std::filesystem::path> files = archive_files(places);
  bool all = true;
  // Calls `step`; what the user can put right is said, and keeps no other archive from being
  // judged.
  const auto succeeds = [&all](const std::filesystem::path& file, const auto& step) {
    try {
      step();
      return true;
    } catch (const UserError& error) {
      std::fprintf(stderr, "warpath: %s was not judged: %s\n", abridged(file.string(), 400).c_str(),
                   error.what());
      all = false;
      return false;
    }
  };
  std::erase_if(files, [&](const std::filesystem::path& file) {
    return !succeeds(file, [&] { experiment_of(read_document(file)); });
  });
  // FolderLock creates its folder: lock only where an archive was read.
  std::map<std::filesystem::path, FolderLock> locks;
  for (const std::filesystem::path& file : files) {
    const auto folder = std::filesystem::canonical(file).parent_path();
    locks.try_emplace(folder, folder);
  }
  std::vector<std::pair<std::filesystem::path, Json>> judged;
  for (const std::filesystem::path& file : files) {
    succeeds(file, [&] {
      const Node archive = read_document(file);
      const Config config = read_config("configs/" + experiment_of(archive) + ".json", techniques);
      judged.emplace_back(file, judge_again(archive.json(), config, file));
    });
  }
  // All are written before the first is printed: printing may fail, on a closed pipe.
  for (const auto& [file, archive] : judged) write_atomically(file, file_text(archive));
  for (const auto& [file, archive] : judged) {
    std::printf("\n%s\n", file.c_str());
    print_verdicts(archive.at("verdicts"), stdout);
  }
  if (judged.empty()) return exit_bad_input;
  return all ? exit_good : exit_failed_points;
}

}  // namespace warpath::harness
