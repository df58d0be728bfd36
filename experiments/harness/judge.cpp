#include "harness/judge.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/archive_files.hpp"
#include "harness/json_file.hpp"
#include "harness/store.hpp"
#include "harness/summary.hpp"
#include "harness/verdict.hpp"

namespace warpath::harness {

int judge_archives(const std::vector<std::string>& places,
                   const std::vector<Technique>& techniques) {
  const std::vector<std::filesystem::path> files = archive_files(places);
  for (const std::filesystem::path& file : files) experiment_of(read_document(file));
  // FolderLock creates its folder: lock only after all files were read.
  std::map<std::filesystem::path, FolderLock> locks;
  for (const std::filesystem::path& file : files) {
    const auto folder = std::filesystem::canonical(file).parent_path();
    locks.try_emplace(folder, folder);
  }
  std::vector<Json> judged;
  for (const std::filesystem::path& file : files) {
    const Node archive = read_document(file);
    const Config config = read_config("configs/" + experiment_of(archive) + ".json", techniques);
    judged.push_back(judge_again(archive.json(), config, file));
  }
  // All are written before the first is printed: printing may fail, on a closed pipe.
  for (std::size_t i = 0; i < files.size(); ++i) write_atomically(files[i], file_text(judged[i]));
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::printf("\n%s\n", files[i].c_str());
    print_verdicts(judged[i].at("verdicts"), stdout);
  }
  return 0;
}

}  // namespace warpath::harness
