// Commands as texts that a shell takes as they are meant.
#pragma once

#include <string>
#include <vector>

namespace warpath::harness {

/// The word, in quotes if a shell would take it for more than one word, or for something else.
std::string shell_word(const std::string& word);
std::string shell_command(const std::vector<std::string>& words);

/// The path seen from the root of the checkout that the current folder is in (the next folder
/// upwards that has configs/schema.json; else the current folder itself). Of a file outside, the
/// name alone: a path says nothing on another machine.
std::string path_in_checkout(const std::string& path);

}  // namespace warpath::harness
