// What load-balancing search and the interval operations must give, by std:: alone. Shares no code
// with what it judges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace warpath::load_balancing_search::oracle {

/// Where each object's work items begin.
template <class Offset>
std::vector<Offset> exclusive_scan(const std::vector<Offset>& counts) {
  std::vector<Offset> scan(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), scan.begin(), Offset{});
  return scan;
}

/// Each object's index, as often as it has work items.
template <class Index, class Offset>
std::vector<Index> objects(const std::vector<Offset>& counts) {
  std::vector<Index> objects;
  for (std::size_t object = 0; object < counts.size(); ++object) {
    objects.insert(objects.end(), static_cast<std::size_t>(counts[object]),
                   static_cast<Index>(object));
  }
  return objects;
}

/// Each work item's number within its object.
template <class Offset>
std::vector<Offset> ranks(const std::vector<Offset>& counts) {
  std::vector<Offset> ranks;
  for (const Offset count : counts) {
    for (Offset rank = 0; rank < count; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

/// Each object's value, as often as it has work items.
template <class T, class Offset>
std::vector<T> interval_expand(const std::vector<Offset>& counts, const std::vector<T>& values) {
  std::vector<T> out;
  for (std::size_t object = 0; object < counts.size(); ++object) {
    out.insert(out.end(), static_cast<std::size_t>(counts[object]), values[object]);
  }
  return out;
}

/// Interval i of `in`, from gather[i] on, goes to `out` from scatter[i] on.
template <class T, class Offset>
void interval_move(const std::vector<Offset>& counts, const std::vector<Offset>& gather,
                   const std::vector<Offset>& scatter, const std::vector<T>& in,
                   std::vector<T>& out) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (Offset k = 0; k < counts[i]; ++k) {
      out[static_cast<std::size_t>(scatter[i] + k)] = in[static_cast<std::size_t>(gather[i] + k)];
    }
  }
}

}  // namespace warpath::load_balancing_search::oracle
