// A breadth-first k-d tree build on the host, a level at a time: what a level is given, and what
// must come out. Shares no code with what it judges.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host_inputs.hpp"

namespace warpath::experiments {

/// The reference arrays of a level of a tree over all tuples. Array p is sorted by the superkeys
/// that begin with coordinate p, within each segment; the places of earlier pivots have `hole`.
class TreeLevels {
 public:
  using References = std::vector<std::uint32_t>;
  static constexpr std::uint32_t hole = 0xA5A5A5A5U;
  static constexpr std::uint32_t no_node = 0xFFFFFFFFU;

  /// Level 0. tuples: d coordinates each.
  TreeLevels(std::vector<float> tuples, int d)
      : tuples_(std::move(tuples)), d_(d), arrays_(static_cast<std::size_t>(d)) {
    const auto n = static_cast<std::uint32_t>(tuples_.size() / static_cast<std::size_t>(d));
    // A reference with its coordinate: so most comparisons read no tuple.
    std::vector<std::pair<float, std::uint32_t>> entries(n);
    for (int p = 0; p < d; ++p) {
      for (std::uint32_t i = 0; i < n; ++i) entries[i] = {coordinate(i, p), i};
      sort_in_parts(entries, [this, p](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : less(a.second, b.second, p);
      });
      for (const auto& entry : entries) {
        arrays_[static_cast<std::size_t>(p)].push_back(entry.second);
      }
    }
    segments_ = {{0, n}};
  }

  [[nodiscard]] int level() const { return level_; }
  /// The coordinate that this level's medians are of.
  [[nodiscard]] int primary() const { return level_ % d_; }
  [[nodiscard]] const std::vector<float>& tuples() const { return tuples_; }
  [[nodiscard]] const std::vector<References>& arrays() const { return arrays_; }
  /// References in segments: all but the pivots of the levels before.
  [[nodiscard]] std::int64_t references() const {
    std::int64_t sum = 0;
    for (const auto& [begin, end] : segments_) sum += end - begin;
    return sum;
  }
  /// The nodes of this level: of each segment its median, or no_node.
  [[nodiscard]] References medians() const {
    References medians;
    for (const auto& [begin, end] : segments_) {
      medians.push_back(begin == end ? no_node : primary_array()[begin + (end - begin - 1) / 2]);
    }
    return medians;
  }

  /// Splits all arrays about the medians.
  void advance() {
    const References pivots = medians();
    std::vector<References> next(arrays_.size(), References(primary_array().size(), hole));
    const auto count = static_cast<std::int64_t>(segments_.size());
    in_parts(count * d_, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const auto segment = static_cast<std::size_t>(i / d_);
        const auto array = static_cast<std::size_t>(i % d_);
        split(segments_[segment], pivots[segment], arrays_[array], next[array]);
      }
    });
    std::vector<Segment> halves;
    for (const auto& [begin, end] : segments_) {
      const std::uint32_t median = begin == end ? begin : begin + (end - begin - 1) / 2;
      halves.push_back({begin, median});
      halves.push_back({begin == end ? end : median + 1, end});
    }
    arrays_.swap(next);
    segments_.swap(halves);
    ++level_;
  }

 private:
  using Segment = std::pair<std::uint32_t, std::uint32_t>;

  [[nodiscard]] const References& primary_array() const {
    return arrays_[static_cast<std::size_t>(primary())];
  }
  [[nodiscard]] float coordinate(std::uint32_t reference, int k) const {
    return tuples_[std::size_t{reference} * static_cast<std::size_t>(d_) +
                   static_cast<std::size_t>(k)];
  }
  [[nodiscard]] bool less(std::uint32_t a, std::uint32_t b, int p) const {
    for (int k = 0; k < d_; ++k) {
      const float x = coordinate(a, (p + k) % d_);
      const float y = coordinate(b, (p + k) % d_);
      if (x != y) return x < y;
    }
    return a < b;
  }
  void split(const Segment& segment, std::uint32_t pivot, const References& in,
             References& out) const {
    const auto& [begin, end] = segment;
    if (begin == end) return;
    std::uint32_t at_less = begin;
    std::uint32_t at_greater = begin + (end - begin - 1) / 2 + 1;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (in[i] == pivot) continue;
      out[less(in[i], pivot, primary()) ? at_less++ : at_greater++] = in[i];
    }
  }

  std::vector<float> tuples_;
  int d_;
  int level_ = 0;
  std::vector<References> arrays_;
  std::vector<Segment> segments_;
};

}  // namespace warpath::experiments
