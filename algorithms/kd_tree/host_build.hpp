// The build on the host: Brown's, with OpenMP tasks.
//
//   sort     a reference array for each coordinate, by the superkey that begins with it
//   build    the median of the level's array is the node. Each tuple's side is noted once, and the
//            other arrays are split stably by it; then both sides, in tasks.
//
// Without OpenMP it runs on one thread. Memory, for each tuple: two references for each coordinate
// and a byte; while arrays are sorted, an item of 8 or 16 bytes and its copy for each.
//
// Source: R. A. Brown, "Building a Balanced k-d Tree in O(kn log n) Time", Journal of Computer
// Graphics Techniques 4(1), 2015, http://jcgt.org/published/0004/01/03/ . There, each split
// compares superkeys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/arguments.hpp"
#include "core/key_order.cuh"
#include "core/superkey.cuh"
#include "kd_tree/host_tasks.hpp"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree {

struct HostOptions {
  int threads = 0;  ///< 0: as many as OpenMP has
  /// Whether of wholly equal tuples only the one with the least number is in the tree.
  bool removes_duplicates = false;
  /// Told when all arrays are sorted, without duplicates where these are removed, and when all
  /// levels are partitioned.
  StepObserver after_step = {};
};

/// Median stores, of all levels, and how many nodes they hold.
struct HostTree {
  std::vector<std::uint32_t> medians;
  std::int64_t nodes = 0;
};

namespace detail {

template <class C>
class HostBuild {
 public:
  HostBuild(std::span<const C> coordinates, int dimensions, const HostOptions& options)
      : coordinates_(coordinates), dimensions_(dimensions), options_(options) {}

  HostTree run() {
    const std::int64_t tuples = static_cast<std::int64_t>(coordinates_.size()) / dimensions_;
    arrays_.resize(static_cast<std::size_t>(dimensions_));
    in_tasks(options_.threads, [&] {
      for (int k = 0; k < dimensions_; ++k) {
        WARPATH_OMP(omp task firstprivate(k))
        arrays_[static_cast<std::size_t>(k)] = sorted_references(k, tuples);
      }
      WARPATH_OMP(omp taskwait)
    });
    tell(options_.after_step, Step::sort, 0);
    const std::size_t n = arrays_[0].size();
    tree_.nodes = static_cast<std::int64_t>(n);
    tree_.medians.assign(static_cast<std::size_t>(median_entries(tree_.nodes)), no_node);
    sides_.resize(static_cast<std::size_t>(tuples));
    spares_.assign(arrays_.size(), References(n));
    in_tasks(options_.threads, [&] { build({0, static_cast<std::uint32_t>(n)}, 0, 0); });
    tell(options_.after_step, Step::partition, 0);
    return std::move(tree_);
  }

 private:
  using References = std::vector<std::uint32_t>;
  using Segment = partitioners::Segment;
  /// A tuple by its first coordinate: only where that ties, tuples are read.
  struct Item {
    OrderedBits<C> bits;
    std::uint32_t reference;
  };
  enum class Side : unsigned char { less, pivot, greater };
  /// What smaller parts are sorted, noted or built by one thread.
  static constexpr std::uint32_t least_for_tasks = 1 << 13;

  [[nodiscard]] const C* tuple(std::uint32_t number) const {
    return coordinates_.data() +
           static_cast<std::size_t>(number) * static_cast<std::size_t>(dimensions_);
  }

  [[nodiscard]] References sorted_references(int primary, std::int64_t tuples) const {
    std::vector<Item> items(static_cast<std::size_t>(tuples));
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto reference = static_cast<std::uint32_t>(i);
      items[i] = {key_bits(tuple(reference)[primary]), reference};
    }
    const auto less = [&](const Item& a, const Item& b) {
      if (a.bits != b.bits) return a.bits < b.bits;
      const int order =
          compare_superkeys(tuple(a.reference), tuple(b.reference), dimensions_, primary, 1);
      return order < 0 || (order == 0 && a.reference < b.reference);
    };
    std::vector<Item> copy(items.size());
    sort(std::span(items), std::span(copy), less);
    References references;
    references.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool is_copy = options_.removes_duplicates && i > 0 &&
                           items[i - 1].bits == items[i].bits &&
                           compare_superkeys(tuple(items[i - 1].reference),
                                             tuple(items[i].reference), dimensions_, primary) == 0;
      if (!is_copy) references.push_back(items[i].reference);
    }
    return references;
  }
  /// Halves in tasks, then one merge. copy: as large as items.
  template <class Less>
  void sort(std::span<Item> items, std::span<Item> copy, const Less& less) const {
    if (items.size() <= 8 * std::size_t{least_for_tasks}) {
      std::sort(items.begin(), items.end(), less);
      return;
    }
    const std::size_t half = items.size() / 2;
    WARPATH_OMP(omp task)
    sort(items.first(half), copy.first(half), less);
    sort(items.subspan(half), copy.subspan(half), less);
    WARPATH_OMP(omp taskwait)
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(half);
    std::merge(items.begin(), middle, middle, items.end(), copy.begin(), less);
    std::copy(copy.begin(), copy.end(), items.begin());
  }

  /// The subtree of a segment, whose node is entry `entry` of a level.
  void build(Segment segment, int level, std::uint32_t entry) {
    if (segment.count() == 0) return;
    const auto primary = static_cast<std::size_t>(level % dimensions_);
    tree_.medians[static_cast<std::size_t>(first_entry(level) + entry)] =
        arrays_[primary][segment.median()];
    if (segment.count() == 1) return;
    note_sides(arrays_[primary], segment);
    if (segment.count() < least_for_tasks) {
      for (std::size_t k = 0; k < arrays_.size(); ++k) {
        if (k != primary) split(arrays_[k], spares_[k], segment);
      }
      build(segment.less_side(), level + 1, 2 * entry);
      build(segment.greater_side(), level + 1, 2 * entry + 1);
      return;
    }
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      if (k == primary) continue;
      WARPATH_OMP(omp task firstprivate(k, segment))
      split(arrays_[k], spares_[k], segment);
    }
    WARPATH_OMP(omp taskwait)
    WARPATH_OMP(omp task firstprivate(segment, level, entry))
    build(segment.less_side(), level + 1, 2 * entry);
    build(segment.greater_side(), level + 1, 2 * entry + 1);
    WARPATH_OMP(omp taskwait)
  }
  void note_sides(const References& primary, Segment segment) {
    const std::uint32_t median = segment.median();
    for (std::uint32_t i = segment.begin; i < median; ++i) sides_[primary[i]] = Side::less;
    sides_[primary[median]] = Side::pivot;
    for (std::uint32_t i = median + 1; i < segment.end; ++i) sides_[primary[i]] = Side::greater;
  }
  /// What is less goes to the front, in its order, what is greater behind the median's place.
  void split(References& array, References& spare, Segment segment) const {
    std::uint32_t less = segment.begin;
    std::uint32_t greater = segment.begin;
    for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
      const std::uint32_t reference = array[i];
      const Side side = sides_[reference];
      if (side == Side::less) array[less++] = reference;
      if (side == Side::greater) spare[greater++] = reference;
    }
    std::copy(spare.begin() + segment.begin, spare.begin() + greater,
              array.begin() + segment.median() + 1);
  }

  std::span<const C> coordinates_;
  int dimensions_;
  HostOptions options_;
  std::vector<References> arrays_;  ///< for each coordinate, sorted by its superkey
  std::vector<Side> sides_;         ///< of each tuple, about the median of its segment
  std::vector<References> spares_;  ///< as large as the arrays
  HostTree tree_;
};

}  // namespace detail

/// Builds the tree of all tuples, or of all but duplicates: the same as build() on the device.
/// coordinates: n tuples of `dimensions` coordinates each. Throws std::invalid_argument, which
/// names the argument, or the first tuple and coordinate that are NaN.
template <class C>
HostTree build_on_host(std::span<const C> coordinates, int dimensions,
                       const HostOptions& options = {}) {
  static_assert(std::is_arithmetic_v<C> && (sizeof(C) == 4 || sizeof(C) == 8),
                "a coordinate must be a number of 4 or 8 bytes");
  require_in_range("dimensions", dimensions, 1, most_dimensions);
  require_in_range("options.threads", options.threads, 0, most_threads);
  const auto count = static_cast<std::int64_t>(coordinates.size());
  if (count % dimensions != 0) {
    throw std::invalid_argument("points has " + std::to_string(count) +
                                " coordinates: expected a multiple of dimensions, which is " +
                                std::to_string(dimensions));
  }
  require_in_range("the number of points", count / dimensions, 0, most_tuples);
  for (std::int64_t i = 0; i < count; ++i) {
    const C coordinate = coordinates[static_cast<std::size_t>(i)];
    if (coordinate == coordinate) continue;
    throw std::invalid_argument("points: coordinate " + std::to_string(i % dimensions) +
                                " of tuple " + std::to_string(i / dimensions) +
                                " is NaN: expected numbers, which have an order");
  }
  return detail::HostBuild<C>(coordinates, dimensions, options).run();
}

}  // namespace warpath::kd_tree
