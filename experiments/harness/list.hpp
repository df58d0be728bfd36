// `warpath list`: what there is to run.
#pragma once

#include <string>
#include <vector>

#include "harness/technique.hpp"

namespace warpath::harness {

/// The files configs/<technique>/*.json, sorted.
std::vector<std::string> find_configs(const std::string& technique);

void print_list(const std::vector<Technique>& techniques);
/// The same as a JSON list of techniques.
void print_list_as_json(const std::vector<Technique>& techniques);

}  // namespace warpath::harness
