// Verification on the host, depth first: as the source's, but against all ancestors of a node and
// not only its own children.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Completion".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/superkey.cuh"
#include "kd_tree/finding.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree {

namespace detail {

/// Nodes on the path from the root to one of them, with the side on which the path goes on.
template <class C>
class HostVerifier {
 public:
  HostVerifier(std::span<const C> coordinates, int dimensions, std::span<const Node> nodes)
      : coordinates_(coordinates),
        dimensions_(dimensions),
        nodes_(nodes),
        has_node_(nodes.size(), false) {}

  /// The first flaw, depth first, of a tree of `expected` nodes.
  Finding run(std::uint32_t root, std::int64_t expected) {
    const int levels = level_count(expected);
    struct Step {
      std::uint32_t tuple;
      std::uint32_t entry;
      int level;
    };
    std::vector<Step> steps;
    if (root != no_node) steps.push_back({root, 0, 0});
    std::int64_t count = 0;
    while (!steps.empty()) {
      const auto [tuple, entry, level] = steps.back();
      steps.pop_back();
      const Flaw flaw = flaw_of(tuple, entry, level, levels);
      if (flaw != Flaw::none) return {flaw, level, entry, tuple};
      ++count;
      has_node_[tuple] = true;
      path_.resize(static_cast<std::size_t>(level));
      path_.push_back(tuple);
      const Node& node = nodes_[tuple];
      if (node.greater_than != no_node)
        steps.push_back({node.greater_than, 2 * entry + 1, level + 1});
      if (node.less_than != no_node) steps.push_back({node.less_than, 2 * entry, level + 1});
    }
    if (count == expected) return {};
    return {Flaw::wrong_count, 0, static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(expected)};
  }

 private:
  [[nodiscard]] const C* coordinates_of(std::uint32_t tuple) const {
    return coordinates_.data() +
           static_cast<std::size_t>(tuple) * static_cast<std::size_t>(dimensions_);
  }
  [[nodiscard]] Flaw flaw_of(std::uint32_t tuple, std::uint32_t entry, int level,
                             int levels) const {
    if (tuple >= nodes_.size()) return Flaw::wild_reference;
    if (level >= levels) return Flaw::too_deep;
    if (has_node_[tuple]) return Flaw::twice;
    if (nodes_[tuple].tuple != tuple) return Flaw::wrong_tuple;
    for (int above = 0; above < level; ++above) {
      const std::uint32_t ancestor = path_[static_cast<std::size_t>(above)];
      const int order = compare_superkeys(coordinates_of(tuple), coordinates_of(ancestor),
                                          dimensions_, above % dimensions_);
      const bool is_less = order < 0 || (order == 0 && tuple < ancestor);
      const bool shall_be_less = (entry >> (level - 1 - above) & 1) == 0;
      if (is_less != shall_be_less) return shall_be_less ? Flaw::not_less : Flaw::not_greater;
    }
    return Flaw::none;
  }

  std::span<const C> coordinates_;
  int dimensions_;
  std::span<const Node> nodes_;
  std::vector<bool> has_node_;
  std::vector<std::uint32_t> path_;
};

}  // namespace detail

/// The first flaw, depth first, of the tree with this root, which shall have `expected` nodes.
/// nodes: one for each tuple. Ends on any input.
template <class C>
Finding verify_on_host(std::span<const C> coordinates, int dimensions, std::span<const Node> nodes,
                       std::uint32_t root, std::int64_t expected) {
  return detail::HostVerifier<C>(coordinates, dimensions, nodes).run(root, expected);
}

}  // namespace warpath::kd_tree
