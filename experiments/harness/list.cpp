#include "harness/list.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "harness/row.hpp"

namespace warpath::harness {
namespace {

std::string allowed(const Parameter& parameter) {
  if (parameter.choices.empty()) {
    if (std::holds_alternative<std::string>(parameter.default_value)) return "any text";
    return to_text(Value(parameter.least)) + " to " + to_text(Value(parameter.most));
  }
  std::string text;
  for (const std::string& choice : parameter.choices) text += (text.empty() ? "" : ", ") + choice;
  return text;
}

}  // namespace

std::vector<std::string> find_configs(const std::string& technique) {
  std::vector<std::string> files;
  const std::filesystem::path folder = std::filesystem::path("configs") / technique;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void print_list(const std::vector<Technique>& techniques) {
  for (const Technique& technique : techniques) {
    std::printf("%s: %s\n  source: %s\n  variants\n", technique.name.c_str(),
                technique.summary.c_str(), technique.source.c_str());
    for (const Variant& variant : technique.variants) {
      std::printf("    %-20s %-10s runs: %-9s %s\n", variant.name.c_str(),
                  std::string(enum_name(variant.role)).c_str(),
                  std::string(enum_name(variant.runs)).c_str(), variant.summary.c_str());
    }
    std::printf("  parameters\n");
    for (const Parameter& parameter : technique.parameters) {
      std::printf("    %-20s %s (%s; default %s)\n", parameter.name.c_str(), parameter.help.c_str(),
                  allowed(parameter).c_str(), to_text(parameter.default_value).c_str());
    }
    if (technique.demonstration) {
      std::printf("  demonstration: warpath demo %s\n", technique.name.c_str());
    }
    std::printf("  configurations\n");
    for (const std::string& file : find_configs(technique.name))
      std::printf("    %s\n", file.c_str());
  }
}

}  // namespace warpath::harness
