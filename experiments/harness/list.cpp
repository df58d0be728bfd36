#include "harness/list.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/json_file.hpp"
#include "harness/value.hpp"

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

Json describe(const Variant& variant) {
  return {{"name", variant.name},
          {"role", enum_name(variant.role)},
          {"runs", enum_name(variant.runs)},
          {"summary", variant.summary},
          {"program", variant.program.empty() ? Json(nullptr) : Json(variant.program)}};
}

Json describe(const Parameter& parameter) {
  Json json = {{"name", parameter.name},
               {"help", parameter.help},
               {"default", to_json(parameter.default_value)},
               {"shapes_problem", parameter.shapes_problem}};
  if (!parameter.choices.empty()) {
    json["choices"] = parameter.choices;
  } else if (!std::holds_alternative<std::string>(parameter.default_value)) {
    json["least"] = parameter.least;
    json["most"] = parameter.most;
  }
  return json;
}

Json describe(const Technique& technique) {
  Json json = {{"name", technique.name},
               {"summary", technique.summary},
               {"source", technique.source},
               {"variants", Json::array()},
               {"parameters", Json::array()},
               {"demonstration", static_cast<bool>(technique.demonstration)},
               {"configurations", find_configs(technique.name)}};
  for (const Variant& variant : technique.variants) json["variants"].push_back(describe(variant));
  for (const Parameter& parameter : technique.parameters) {
    json["parameters"].push_back(describe(parameter));
  }
  return json;
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

void print_list_as_json(const std::vector<Technique>& techniques) {
  Json list = Json::array();
  for (const Technique& technique : techniques) list.push_back(describe(technique));
  std::fputs(file_text(list).c_str(), stdout);
}

}  // namespace warpath::harness
