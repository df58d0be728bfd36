// Verification on the host, depth first, in OpenMP tasks: as the source's, but against all
// ancestors of a node and not only its own children.
//
// Source: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Completion".
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/arguments.hpp"
#include "core/superkey.cuh"
#include "kd_tree/finding.hpp"
#include "kd_tree/host_tasks.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree {

namespace detail {

template <class C>
class HostVerifier {
 public:
  /// expected: how many nodes the tree has, if it is right.
  HostVerifier(std::span<const C> coordinates, int dimensions, std::span<const Node> nodes,
               std::int64_t expected)
      : coordinates_(coordinates),
        dimensions_(dimensions),
        nodes_(nodes),
        expected_(expected),
        has_node_(nodes.size()) {}

  /// The nodes of a subtree and the first flaw, depth first; what comes after a flaw is not looked
  /// at.
  struct Result {
    std::int64_t count = 0;
    Finding finding;
  };
  Result by_one_thread(std::uint32_t root) { return visit<false>({root, 0, 0}, {}); }
  /// Finds the first flaw if there is only one, some flaw if there are more.
  Result in_tasks(std::uint32_t root, int threads) {
    Result result;
    detail::in_tasks(threads, [&] { result = visit<true>({root, 0, 0}, {}); });
    return result;
  }

 private:
  /// The tuple that an entry of a level names.
  struct Place {
    std::uint32_t tuple;
    std::uint32_t entry;
    int level;
  };
  /// The ancestors of a node, from the root on.
  using Path = std::array<std::uint32_t, 32>;
  /// The subtrees below this level are a task each.
  static constexpr int task_levels = 10;

  template <bool HasTasks>
  Result visit(Place place, Path path) {  // NOLINT(misc-no-recursion): as deep as the tree
    if (place.tuple == no_node) return {};
    const Flaw flaw = flaw_of(place, path);
    if (flaw != Flaw::none) return {0, {flaw, place.level, place.entry, place.tuple}};
    path[static_cast<std::size_t>(place.level)] = place.tuple;
    const Node& node = nodes_[place.tuple];
    const Place less_than{node.less_than, 2 * place.entry, place.level + 1};
    const Place greater_than{node.greater_than, 2 * place.entry + 1, place.level + 1};
    Result less;
    Result greater;
    if constexpr (HasTasks) {
      if (place.level < task_levels) {
        WARPATH_OMP(omp task shared(less) firstprivate(less_than, path))
        less = visit<true>(less_than, path);
        greater = visit<true>(greater_than, path);
        WARPATH_OMP(omp taskwait)
        return sum_of(less, greater);
      }
    }
    less = visit<false>(less_than, path);
    if (!less.finding.is_right()) return less;
    greater = visit<false>(greater_than, path);
    return sum_of(less, greater);
  }
  static Result sum_of(const Result& less, const Result& greater) {
    return {1 + less.count + greater.count,
            less.finding.is_right() ? greater.finding : less.finding};
  }

  [[nodiscard]] const C* coordinates_of(std::uint32_t tuple) const {
    return coordinates_.data() +
           static_cast<std::size_t>(tuple) * static_cast<std::size_t>(dimensions_);
  }
  [[nodiscard]] Flaw flaw_of(const Place& place, const Path& path) {
    const auto [tuple, entry, level] = place;
    if (level >= level_count(expected_)) return Flaw::too_deep;
    if (tuple >= nodes_.size()) return Flaw::wild_reference;
    if (has_node_[tuple].exchange(true, std::memory_order_relaxed)) return Flaw::twice;
    if (nodes_[tuple].tuple != tuple) return Flaw::wrong_tuple;
    if (!has_entry(expected_, level, entry)) return Flaw::too_deep;
    for (int above = 0; above < level; ++above) {
      const std::uint32_t ancestor = path[static_cast<std::size_t>(above)];
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
  std::int64_t expected_;
  std::vector<std::atomic<bool>> has_node_;
};

}  // namespace detail

/// The first flaw, depth first, of the tree with this root, which shall be that of `expected`
/// nodes. coordinates: n tuples of `dimensions` each, 1 to 16; nodes: one for each tuple; threads:
/// 0 for as many as OpenMP has. Ends on any tree. Throws std::invalid_argument, which names the
/// argument.
template <class C>
Finding verify_on_host(std::span<const C> coordinates, int dimensions, std::span<const Node> nodes,
                       std::uint32_t root, std::int64_t expected, int threads = 0) {
  require_in_range("dimensions", dimensions, 1, most_dimensions);
  require_in_range("threads", threads, 0, most_threads);
  const auto tuples = static_cast<std::int64_t>(nodes.size());
  require_in_range("the number of nodes", tuples, 0, most_tuples);
  require_count("coordinates", static_cast<std::int64_t>(coordinates.size()),
                "the tuples of the nodes", tuples * dimensions);
  require_in_range("the expected number of nodes", expected, 0, tuples);
  using Verifier = detail::HostVerifier<C>;
  auto result = Verifier(coordinates, dimensions, nodes, expected).in_tasks(root, threads);
  // With more flaws than one, which of them tasks come to first is left to chance.
  if (!result.finding.is_right()) {
    result = Verifier(coordinates, dimensions, nodes, expected).by_one_thread(root);
  }
  if (!result.finding.is_right() || result.count == expected) return result.finding;
  return {Flaw::wrong_count, 0, static_cast<std::uint32_t>(result.count),
          static_cast<std::uint32_t>(expected)};
}

}  // namespace warpath::kd_tree
