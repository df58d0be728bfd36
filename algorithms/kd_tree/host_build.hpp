// The build on the host: Brown's, with OpenMP tasks.
//
//   sort      a reference array for each coordinate, by the superkey that begins with it
//   levels    while segments are larger than a core's cache holds, or fewer than all threads need,
//             level after level: the median of each segment of the level's array is a node; each
//             tuple's side is noted, in the order of tuples; and the other arrays are split stably
//             by these sides
//   subtrees  a task each: its tuples get numbers of 16 bits, by which sides are noted and arrays
//             split in the cache, depth first
//
// Without OpenMP it runs on one thread. Memory besides the result, for each tuple: two references
// for each coordinate, 4 bytes and a bit; two items of 8 or 16 bytes while arrays are sorted; and
// for each thread a subtree's numbers, 2^15 times 4 bytes for each coordinate and one more.
//
// Source: R. A. Brown, "Building a Balanced k-d Tree in O(kn log n) Time", Journal of Computer
// Graphics Techniques 4(1), 2015, http://jcgt.org/published/0004/01/03/ . There, each split
// compares superkeys.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/arguments.hpp"
#include "core/superkey.cuh"
#include "kd_tree/host_sort.hpp"
#include "kd_tree/host_tasks.hpp"
#include "kd_tree/tree.cuh"
#include "kd_tree/variant.hpp"
#include "partitioners/levels.cuh"

namespace warpath::kd_tree {

struct HostOptions {
  int threads = 0;  ///< up to 1024; 0: as many as OpenMP has. Without OpenMP there is one
  /// Whether of wholly equal tuples only the one with the least number is in the tree.
  bool removes_duplicates = false;
  /// Told of Step::sort when all arrays are sorted, without duplicates where these are removed, and
  /// of Step::partition when all levels are partitioned; both with number 0, by the calling thread.
  StepObserver after_step = {};
};

/// Median stores, of all levels that a tree of so many nodes has, and how many nodes they hold.
struct HostTree {
  std::vector<std::uint32_t> medians;
  std::int64_t nodes = 0;
};

namespace detail {

/// Where a tuple lies, about the median of its segment.
enum class Side : unsigned char { less, greater, pivot };

/// Splits a segment of an array stably: what is less goes to its less side in another array, what
/// is greater to its greater side. side_of(element) says where it lies.
template <class Element, class SideOf>
void split(const Element* from, Element* to, partitioners::Segment segment, const SideOf& side_of) {
  std::uint32_t less = segment.begin;
  std::uint32_t greater = segment.median() + 1;
  for (std::uint32_t i = segment.begin; i < segment.end; ++i) {
    const Element element = from[i];
    const Side side = side_of(element);
    const std::uint32_t is_less = side == Side::less ? 1 : 0;
    const std::uint32_t is_greater = side == Side::greater ? 1 : 0;
    // Without a branch, which would be mispredicted for half of all. The median is overwritten, or
    // stays in its own place.
    to[is_greater != 0 ? greater : less] = element;
    less += is_less;
    greater += is_greater;
  }
}

/// Finishes the subtree of a segment that is small enough for a core's cache.
class HostSubtree {
 public:
  static constexpr std::uint32_t most_tuples = 1 << 15;

  /// medians: of all levels.
  HostSubtree(int dimensions, std::uint32_t* medians)
      : dimensions_(dimensions), medians_(medians) {}

  /// The root is entry `entry` of a level. arrays: of each coordinate, the references of the
  /// segment, sorted by its superkey; number_of: room for the number of each tuple.
  void build(const std::vector<const std::uint32_t*>& arrays, std::uint32_t count, int level,
             std::uint32_t entry, std::uint32_t* number_of) {
    references_ = arrays[0];
    for (std::uint32_t i = 0; i < count; ++i) number_of[references_[i]] = i;
    numbers_.resize(arrays.size());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      for (std::vector<Number>& numbers : numbers_[k]) numbers.resize(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        numbers_[k][0][i] = static_cast<Number>(k == 0 ? i : number_of[arrays[k][i]]);
      }
    }
    sides_.resize(count);
    build({0, count}, level, entry, 0);
  }

 private:
  /// Of a tuple of the subtree: its place in the first array.
  using Number = std::uint16_t;
  using Segment = partitioners::Segment;

  /// Bit k of `in_second`: array k of this segment lies in the second of its two arrays.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
  void build(Segment segment, int level, std::uint32_t entry, unsigned in_second) {
    if (segment.count() == 0) return;
    const int primary = level % dimensions_;
    const Number* const sorted = array(primary, in_second);
    const std::uint32_t median = segment.median();
    set_node(level, entry, sorted[median]);
    if (segment.count() <= 3) {
      // What is less and what is greater are leaves.
      if (segment.begin < median) set_node(level + 1, 2 * entry, sorted[segment.begin]);
      if (median + 1 < segment.end) set_node(level + 1, 2 * entry + 1, sorted[median + 1]);
      return;
    }
    for (std::uint32_t i = segment.begin; i < median; ++i) sides_[sorted[i]] = Side::less;
    sides_[sorted[median]] = Side::pivot;
    for (std::uint32_t i = median + 1; i < segment.end; ++i) sides_[sorted[i]] = Side::greater;
    // Arrays whose turn comes no more are left as they are.
    const int turns = std::min(dimensions_ - 1, partitioners::leaf_level(segment.count()));
    for (int turn = 1; turn <= turns; ++turn) {
      const int k = (primary + turn) % dimensions_;
      const unsigned from = in_second;
      in_second ^= 1u << k;
      split(array(k, from), array(k, in_second), segment,
            [&](Number number) { return sides_[number]; });
    }
    build(segment.less_side(), level + 1, 2 * entry, in_second);
    build(segment.greater_side(), level + 1, 2 * entry + 1, in_second);
  }
  Number* array(int k, unsigned in_second) {
    return numbers_[static_cast<std::size_t>(k)][in_second >> k & 1].data();
  }
  void set_node(int level, std::uint32_t entry, Number number) {
    medians_[first_entry(level) + entry] = references_[number];
  }

  int dimensions_;
  std::uint32_t* medians_;
  const std::uint32_t* references_ = nullptr;  ///< by number
  /// For each coordinate, sorted by its superkey: two arrays, from one of which a split goes to the
  /// other.
  std::vector<std::array<std::vector<Number>, 2>> numbers_;
  std::vector<Side> sides_;  ///< by number
};

template <class C>
class HostBuild {
 public:
  HostBuild(std::span<const C> coordinates, int dimensions, const HostOptions& options)
      : coordinates_(coordinates),
        dimensions_(dimensions),
        options_(options),
        threads_(thread_count(options.threads)),
        tuples_(static_cast<std::int64_t>(coordinates.size()) / dimensions),
        are_greater_(array_of<std::uint32_t>((tuples_ + word_bits - 1) / word_bits)),
        segments_(array_of<std::uint32_t>(tuples_)) {
    for (int k = 0; k < dimensions; ++k) {
      arrays_.push_back(array_of<std::uint32_t>(tuples_));
      targets_.push_back(array_of<std::uint32_t>(tuples_));
    }
  }

  HostTree run() {
    sort_arrays();
    tell(options_.after_step, Step::sort, 0);
    tree_.medians.assign(static_cast<std::size_t>(median_entries(tree_.nodes)), no_node);
    in_tasks(threads_, [&] { build_levels(); });
    tell(options_.after_step, Step::partition, 0);
    return std::move(tree_);
  }

 private:
  /// Not set: the threads that write it first bring its pages in.
  template <class T>
  using Array = std::unique_ptr<T[]>;  // NOLINT(modernize-avoid-c-arrays)
  using References = Array<std::uint32_t>;
  using Item = typename SuperkeySort<C>::Item;
  static constexpr int word_bits = 32;
  static_assert(Chunk::most % word_bits == 0);

  [[nodiscard]] const C* tuple(std::int64_t number) const {
    return coordinates_.data() + number * dimensions_;
  }
  template <class T>
  static Array<T> array_of(std::int64_t count) {
    return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count));
  }

  void sort_arrays() {
    SuperkeySort<C> sort(coordinates_, dimensions_);
    in_tasks(threads_, [&] {
      for (int k = 0; k < dimensions_; ++k) {
        take_references(sort.sort(k), arrays_[static_cast<std::size_t>(k)].get());
      }
    });
  }
  /// Takes the references of sorted items, but not of duplicates where these are removed.
  void take_references(std::span<const Item> items, std::uint32_t* references) {
    const auto is_kept = [&](std::int64_t i) {
      if (!options_.removes_duplicates || i == 0) return true;
      const Item& item = items[static_cast<std::size_t>(i)];
      const Item& before = items[static_cast<std::size_t>(i) - 1];
      return before.bits != item.bits ||
             compare_superkeys(tuple(before.reference), tuple(item.reference), dimensions_, 0) != 0;
    };
    // Where the references of each chunk begin.
    std::vector<std::int64_t> begins(static_cast<std::size_t>(Chunk::count(tuples_)) + 1);
    const auto begin_of = [&](Chunk chunk) -> std::int64_t& { return begins[chunk.number()]; };
    for_each_chunk(tuples_, [&](Chunk chunk) {
      for (std::int64_t i = chunk.begin; i < chunk.end; ++i) begin_of(chunk) += is_kept(i) ? 1 : 0;
    });
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), std::int64_t{0});
    tree_.nodes = begins.back();
    for_each_chunk(tuples_, [&](Chunk chunk) {
      std::int64_t next = begin_of(chunk);
      for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
        if (is_kept(i)) references[next++] = items[static_cast<std::size_t>(i)].reference;
      }
    });
  }

  void build_levels() {
    // Nobody asks for the side of a duplicate that is left out, or of a median above; they have
    // one, too.
    for_each_chunk(tuples_, [&](Chunk chunk) {
      std::fill(segments_.get() + chunk.begin, segments_.get() + chunk.end, 0);
    });
    partitioners::Level level{static_cast<std::uint32_t>(tree_.nodes), 0};
    while (must_split(level)) {
      split_level(level);
      ++level.number;
    }
    for_each_task(level.segments(), [&](std::int64_t number) {
      const auto entry = static_cast<std::uint32_t>(number);
      const partitioners::Segment segment = level.segment(entry);
      std::vector<const std::uint32_t*> parts;
      for (const References& array : arrays_) parts.push_back(array.get() + segment.begin);
      HostSubtree(dimensions_, tree_.medians.data())
          .build(parts, segment.count(), level.number, entry, segments_.get());
    });
  }

  /// Whether a level's segments are too large for a task each, or too few for all threads.
  [[nodiscard]] bool must_split(partitioners::Level level) const {
    constexpr std::uint32_t least_for_tasks = 1 << 10;
    constexpr std::int64_t tasks_of_thread = 4;
    const bool are_few = level.segments() < tasks_of_thread * threads_;
    return level.largest_segment() > (are_few ? least_for_tasks : HostSubtree::most_tuples);
  }
  void split_level(partitioners::Level level) {
    const int primary = level.number % dimensions_;
    std::uint32_t* const medians = tree_.medians.data() + first_entry(level.number);
    std::vector<C> splits;  // the primary coordinates of the medians
    for (std::uint32_t k = 0; k < level.segments(); ++k) {
      medians[k] = arrays_[static_cast<std::size_t>(primary)][level.segment(k).median()];
      splits.push_back(tuple(medians[k])[primary]);
    }
    for_each_chunk(tuples_, [&](Chunk chunk) {
      for (std::int64_t first = chunk.begin; first < chunk.end; first += word_bits) {
        std::uint32_t word = 0;
        for (std::int64_t t = first; t < std::min(first + word_bits, chunk.end); ++t) {
          const std::uint32_t segment = segments_[t];
          const std::uint32_t is_greater =
              is_less(t, primary, splits[segment], medians[segment]) ? 0 : 1;
          word |= is_greater << (t - first);
          segments_[t] = 2 * segment + is_greater;
        }
        are_greater_[first / word_bits] = word;
      }
    });
    const int others = dimensions_ - 1;
    for_each_task(std::int64_t{level.segments()} * others, [&](std::int64_t i) {
      const auto other = static_cast<std::size_t>(i % others);
      const std::size_t k = (static_cast<std::size_t>(primary) + 1 + other) % arrays_.size();
      const std::int64_t number = i / others;
      const partitioners::Segment segment = level.segment(static_cast<std::uint32_t>(number));
      const std::uint32_t median = medians[number];
      split(arrays_[k].get(), targets_[k].get(), segment, [&](std::uint32_t t) {
        const bool is_greater = (are_greater_[t / word_bits] >> t % word_bits & 1) != 0;
        return t == median ? Side::pivot : is_greater ? Side::greater : Side::less;
      });
    });
    for (std::size_t k = 0; k < arrays_.size(); ++k) {
      if (k != static_cast<std::size_t>(primary)) std::swap(arrays_[k], targets_[k]);
    }
  }
  /// Whether tuple t comes before the median of its segment, whose primary coordinate is `split`.
  [[nodiscard]] bool is_less(std::int64_t t, int primary, C split, std::uint32_t median) const {
    const C own = tuple(t)[primary];
    if (own != split) return own < split;
    const int order = compare_superkeys(tuple(t), tuple(median), dimensions_, primary, 1);
    return order < 0 || (order == 0 && t < median);
  }

  std::span<const C> coordinates_;
  int dimensions_;
  HostOptions options_;
  int threads_;
  std::int64_t tuples_;
  Array<std::uint32_t> are_greater_;  ///< a bit for each tuple: than the median of its segment
  Array<std::uint32_t> segments_;     ///< of each tuple; then its number in its subtree
  std::vector<References> arrays_;    ///< for each coordinate, sorted by its superkey
  std::vector<References> targets_;   ///< where splits of these go
  HostTree tree_;
};

}  // namespace detail

/// Builds the tree of all tuples, or of all but duplicates: the same as build() on the device,
/// whose median stores have room for as many nodes as there are tuples. coordinates: n tuples of
/// `dimensions` coordinates each; infinities are numbers like others, -0.0 is 0.0. Throws
/// std::invalid_argument, which names the argument, or the first tuple and coordinate that are NaN;
/// std::bad_alloc where memory lacks.
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
