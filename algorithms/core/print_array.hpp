// Arrays as the demonstrations of one source print them (S. Baxter, "Modern GPU 1.1", NVIDIA
// Research 2013, https://moderngpu.github.io/). In core, since two techniques have such a
// demonstration.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace warpath {

/// Ten numbers a line, each in `width` columns, at most 6, after the index of the first of them,
/// which has the same columns for every width.
inline std::string print_array(const std::vector<int>& numbers, int width) {
  std::string text;
  std::array<char, 16> field{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % 10 == 0) {
      std::snprintf(field.data(), field.size(), "%5d:%*s", static_cast<int>(i), 6 - width, "");
      text += field.data();
    }
    std::snprintf(field.data(), field.size(), "%*d", width, numbers[i]);
    text += field.data();
    if (i % 10 == 9 || i + 1 == numbers.size()) text += '\n';
  }
  return text;
}

}  // namespace warpath
