// Arrays as the demonstrations of Modern GPU print them.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace warpath {

/// Ten numbers a line, each in `width` columns, 6 at most, behind the index of the line's first
/// one, which stands in the same columns whatever the width.
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
