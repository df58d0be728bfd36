#include "harness/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace warpath::harness {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  // One row of the table of distances between prefixes: row[j] is that from from[0, i) to to[0, j).
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t substituted = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string suggestion(std::string_view unknown, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  unknown = unknown.substr(0, 100);  // the time grows with its length
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return edit_distance(unknown, a) < edit_distance(unknown, b);
      });
  std::string text = "; did you mean \"" + *nearest + "\"? Known: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i == 0 ? "" : ", ") + known[i];
  return text;
}

}  // namespace warpath::harness
