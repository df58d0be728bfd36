// Verification on the device, breadth first: every node against all of its ancestors.
//
// Nodes are brought to median stores first, level after level, as the source's verifier goes
// through them: that takes as many levels as a balanced tree has and no more, whatever the nodes
// say. Then each entry is looked at alone:
//
//   its number is that of a tuple; its parent has a node; a balanced tree has a node there; it
//   comes before each ancestor in whose less-than subtree it lies, and after all others; no entry
//   before it has the same number
//
// So a tree without a flaw is the tree: its nodes are as many, and where a balanced tree has them.
//
// Most entries lie in the last levels. A block takes a subtree of these and brings its tuples into
// shared memory once. Of the ancestors above the subtree it needs only the nearest ones, one for
// each superkey and side: take a node that comes before the nearest ancestor A which it shall come
// before by a superkey, and another ancestor B farther away which it shall come before by the same
// one. A lies below B, on the same side of B as the node. So A comes before B, and the node with
// it; or A or what lies above it has a flaw, and is the lesser entry.
//
// Whether a tuple has two entries is seen by a bit for each tuple. Which entry has the flaw is
// looked for only where there is one.
//
// Sources: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Completion".
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "core/warp.cuh"
#include "kd_tree/arguments.cuh"
#include "kd_tree/finding.hpp"
#include "kd_tree/nodes.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree {

namespace detail {

/// The first flaw that any thread has found: of the least entry, counted over all levels.
struct FirstFlaw {
  static constexpr int flaw_bits = 8;
  static constexpr unsigned long long none = ~0ull;
  unsigned long long* packed;

  __device__ __forceinline__ void report(std::int64_t index, Flaw flaw) const {
    atomicMin(packed, static_cast<unsigned long long>(index) << flaw_bits |
                          static_cast<unsigned long long>(flaw));
  }
};

/// Median stores as they may be: any entry may hold anything.
struct SomeMedians {
  const std::uint32_t* entries;
  std::int64_t count;   ///< of entries
  std::int64_t needed;  ///< entries of the levels that a balanced tree has
  std::int64_t nodes;   ///< of that tree
};

/// What entries are looked at for.
template <class C>
struct Verified {
  SomeMedians medians;
  Tuples<C> points;
  std::int64_t tuples;
  std::uint32_t* seen;  ///< a bit for each tuple: whether an entry has it
  FirstFlaw first_flaw;
  unsigned long long* nodes;  ///< how many entries hold any
  unsigned long long* twice;  ///< not 0 if some tuple has two entries

  [[nodiscard]] __device__ __forceinline__ bool is_tuple(std::uint32_t number) const {
    return number < tuples;
  }
  [[nodiscard]] __device__ __forceinline__ const C* tuple(std::uint32_t number) const {
    return points.coordinates.data + std::int64_t{number} * points.dimensions;
  }
  __device__ __forceinline__ void see(std::uint32_t number) const {
    const std::uint32_t bit = 1u << number % 32;
    if ((atomicOr(&seen[number / 32], bit) & bit) != 0) atomicExch(twice, 1ULL);
  }
};

/// A tuple: its number, and where its coordinates lie.
template <class C>
struct Numbered {
  const C* coordinates;
  std::uint32_t number;
};

/// Out of line, since hardly two tuples need it.
template <class C>
__device__ __noinline__ bool tie_is_less(Numbered<C> a, Numbered<C> b, int dimensions,
                                         int primary) {
  const int order = compare_superkeys(a.coordinates, b.coordinates, dimensions, primary, 1);
  return order < 0 || (order == 0 && a.number < b.number);
}
/// Whether tuple a comes before b by the superkey that begins with coordinate `primary`.
template <class C>
__device__ __forceinline__ bool is_less(const Numbered<C>& a, const Numbered<C>& b, int dimensions,
                                        int primary) {
  const C own = a.coordinates[primary];
  const C other = b.coordinates[primary];
  if (own < other) return true;
  if (other < own) return false;
  return tie_is_less(a, b, dimensions, primary);
}
/// The flaw of a node that lies on a side of another: `shall_be_less`.
template <class C>
__device__ __forceinline__ Flaw flaw_below(const Numbered<C>& node, const Numbered<C>& ancestor,
                                           int dimensions, int primary, bool shall_be_less) {
  if (is_less(node, ancestor, dimensions, primary) == shall_be_less) return Flaw::none;
  return shall_be_less ? Flaw::not_less : Flaw::not_greater;
}

/// What is wrong with entry i, which is not empty; but for a number that another entry has too.
template <class C>
__device__ Flaw flaw_of_entry(const Verified<C>& verified, std::int64_t i) {
  const std::uint32_t* const entries = verified.medians.entries;
  const std::uint32_t number = entries[i];
  if (i >= verified.medians.needed) return Flaw::too_deep;
  if (!verified.is_tuple(number)) return Flaw::wild_reference;
  if (i > 0 && entries[(i - 1) / 2] == no_node) return Flaw::orphan;
  const int level = level_count(i + 1) - 1;
  if (!has_entry(verified.medians.nodes, level,
                 static_cast<std::uint32_t>(i - first_entry(level)))) {
    return Flaw::too_deep;
  }
  const int dimensions = verified.points.dimensions;
  const Numbered<C> node{verified.tuple(number), number};
  int k = level % dimensions;
  Flaw flaw = Flaw::none;
  for (std::int64_t below = i; below > 0 && flaw == Flaw::none;) {
    const std::int64_t above = (below - 1) / 2;
    const bool shall_be_less = below == 2 * above + 1;
    k = k == 0 ? dimensions - 1 : k - 1;
    const std::uint32_t ancestor = entries[above];
    below = above;
    if (!verified.is_tuple(ancestor)) continue;  // a flaw of that entry
    flaw = flaw_below(node, {verified.tuple(ancestor), ancestor}, dimensions, k, shall_be_less);
  }
  return flaw;
}

/// The subtrees of the last levels that blocks take.
struct SubtreeShape {
  int above = 0;          ///< levels that lie above them
  int levels = 0;         ///< of a subtree; 0: there are none
  unsigned blocks = 0;    ///< one for each
  int row = 0;            ///< words between the coordinates of one tuple in shared memory
  std::size_t bytes = 0;  ///< of shared memory

  [[nodiscard]] __host__ __device__ std::int64_t entries() const {
    return levels == 0 ? 0 : first_entry(levels);
  }
};

/// As many levels as fit into shared memory, if that leaves work for all multiprocessors.
template <class C>
SubtreeShape subtrees_of(std::int64_t node_count, int dimensions) {
  constexpr std::int64_t most_bytes = 28 * 1024;
  constexpr int least_above = 9;
  constexpr int least_levels = 3;
  SubtreeShape shape;
  shape.row = dimensions | 1;  // an odd number: neighbouring rows begin in other banks
  const std::int64_t of_tuple = std::int64_t{shape.row} * static_cast<std::int64_t>(sizeof(C)) + 4;
  const int levels = level_count(node_count);
  while (levels - shape.levels > least_above && (of_tuple << (shape.levels + 1)) <= most_bytes) {
    ++shape.levels;
  }
  if (shape.levels < least_levels) shape.levels = 0;
  shape.above = levels - shape.levels;
  shape.blocks = shape.levels == 0 ? 0 : 1u << shape.above;
  shape.bytes = static_cast<std::size_t>(shape.entries() * of_tuple);
  return shape;
}

/// The nearest ancestors above a subtree, one for each superkey and side: bit t of `needed` is that
/// of the one t + 1 levels above its root.
template <class C>
struct Above {
  unsigned needed;
  std::uint32_t numbers[32];
  C rows[32][most_dimensions];
};

/// All entries of one subtree, by a block.
template <class C>
__device__ __forceinline__ void find_flaws_of_subtree(const Verified<C>& verified,
                                                      const SubtreeShape& shape,
                                                      std::uint32_t subtree, C* rows,
                                                      Above<C>& above) {
  const int dimensions = verified.points.dimensions;
  const auto count = static_cast<int>(shape.entries());
  auto* const numbers = reinterpret_cast<std::uint32_t*>(rows + count * shape.row);
  const std::uint32_t* const entries = verified.medians.entries;
  // Entry j of the subtree, of its level l, among all entries.
  const auto place_of = [&](int j, int l) {
    return first_entry(shape.above + l) + (std::int64_t{subtree} << l) + (j - first_entry(l));
  };
  const auto level_of = [](int j) { return 31 - __clz(j + 1); };
  // Bit t of the subtree's number says on which side of the ancestor t + 1 levels above it lies.
  const auto is_greater_than = [&](int t) { return (subtree >> t & 1) != 0; };
  const auto k_of = [&](int t) { return (shape.above - 1 - t) % dimensions; };

  for (int j = static_cast<int>(threadIdx.x); j < count; j += static_cast<int>(blockDim.x)) {
    const std::uint32_t number = entries[place_of(j, level_of(j))];
    numbers[j] = number;
    if (!verified.is_tuple(number)) continue;
    const C* const coordinates = verified.tuple(number);
    for (int k = 0; k < dimensions; ++k) rows[j * shape.row + k] = coordinates[k];
    verified.see(number);
  }
  if (warp_index() == 0) {
    const int t = lane_index();
    bool is_needed = t < shape.above;
    for (int nearer = 0; nearer < t && is_needed; ++nearer) {
      is_needed = k_of(nearer) != k_of(t) || is_greater_than(nearer) != is_greater_than(t);
    }
    if (t < shape.above) {
      const std::uint32_t number = entries[first_entry(shape.above - 1 - t) + (subtree >> (t + 1))];
      above.numbers[t] = number;
      // If it is no tuple, that is a flaw of its entry.
      is_needed = is_needed && verified.is_tuple(number);
      if (is_needed) {
        const C* const coordinates = verified.tuple(number);
        for (int k = 0; k < dimensions; ++k) above.rows[t][k] = coordinates[k];
      }
    }
    const unsigned needed = __ballot_sync(full_warp, is_needed);
    if (t == 0) above.needed = needed;
  }
  __syncthreads();

  const auto flaw_of = [&](int j, int level) {
    const std::uint32_t number = numbers[j];
    if (!verified.is_tuple(number)) return Flaw::wild_reference;
    const std::uint32_t parent = j > 0 ? numbers[(j - 1) / 2] : above.numbers[0];
    if (parent == no_node) return Flaw::orphan;
    if (!has_entry(verified.medians.nodes, shape.above + level,
                   (subtree << level) + static_cast<unsigned>(j - first_entry(level)))) {
      return Flaw::too_deep;
    }
    const Numbered<C> node{rows + j * shape.row, number};
    Flaw flaw = Flaw::none;
    int k = (shape.above + level) % dimensions;
    for (int below = j; below > 0 && flaw == Flaw::none;) {
      const int ancestor = (below - 1) / 2;
      const bool shall_be_less = below == 2 * ancestor + 1;
      k = k == 0 ? dimensions - 1 : k - 1;
      below = ancestor;
      if (!verified.is_tuple(numbers[ancestor])) continue;  // a flaw of that entry
      flaw = flaw_below(node, {rows + ancestor * shape.row, numbers[ancestor]}, dimensions, k,
                        shall_be_less);
    }
    for (unsigned left = above.needed; left != 0 && flaw == Flaw::none; left &= left - 1) {
      const int t = __ffs(static_cast<int>(left)) - 1;
      flaw = flaw_below(node, {above.rows[t], above.numbers[t]}, dimensions, k_of(t),
                        !is_greater_than(t));
    }
    return flaw;
  };
  unsigned found = 0;
  for (int j = static_cast<int>(threadIdx.x); j < count; j += static_cast<int>(blockDim.x)) {
    if (numbers[j] == no_node) continue;
    ++found;
    const int level = level_of(j);
    const Flaw flaw = flaw_of(j, level);
    if (flaw != Flaw::none) verified.first_flaw.report(place_of(j, level), flaw);
  }
  found = warp_sum(found);
  if (lane_index() == 0 && found > 0) {
    atomicAdd(verified.nodes, static_cast<unsigned long long>(found));
  }
}

/// The first blocks take one subtree each, the others all entries that lie in none: those above,
/// and those that no balanced tree has.
template <class C>
__global__ void __launch_bounds__(256) find_flaws_kernel(Verified<C> verified, SubtreeShape shape) {
  __shared__ Above<C> above;
  if (blockIdx.x < shape.blocks) {
    find_flaws_of_subtree(verified, shape, blockIdx.x, &dynamic_shared<C>(), above);
    return;
  }
  const std::int64_t first_below = first_entry(shape.above);
  const std::int64_t in_subtrees = verified.medians.needed - first_below;
  const std::int64_t count = verified.medians.count - in_subtrees;
  const std::int64_t stride = std::int64_t{gridDim.x - shape.blocks} * blockDim.x;
  unsigned found = 0;
  for (std::int64_t j = std::int64_t{blockIdx.x - shape.blocks} * blockDim.x + threadIdx.x;
       j < count; j += stride) {
    const std::int64_t i = j < first_below ? j : j + in_subtrees;
    const std::uint32_t number = verified.medians.entries[i];
    if (number == no_node) continue;
    ++found;
    if (verified.is_tuple(number)) verified.see(number);
    const Flaw flaw = flaw_of_entry(verified, i);
    if (flaw != Flaw::none) verified.first_flaw.report(i, flaw);
  }
  if (found > 0) atomicAdd(verified.nodes, static_cast<unsigned long long>(found));
}

/// Notes of each tuple the first entry that holds it.
template <class Entry>
__global__ void note_entries_kernel(SomeMedians medians, std::int64_t tuples,
                                    Entry* first_entries) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < medians.count; i += stride) {
    const std::uint32_t tuple = medians.entries[i];
    if (tuple < tuples) atomicMin(&first_entries[tuple], static_cast<Entry>(i));
  }
}
/// Reports the entries that are not their tuples' first.
template <class Entry>
__global__ void report_second_entries_kernel(SomeMedians medians, std::int64_t tuples,
                                             const Entry* first_entries, FirstFlaw first_flaw) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < medians.needed; i += stride) {
    const std::uint32_t tuple = medians.entries[i];
    if (tuple < tuples && first_entries[tuple] != i) first_flaw.report(i, Flaw::twice);
  }
}

/// From the nodes of a level's entries to the entries of the next level, if there is one. `first`:
/// the number of the level's first entry.
template <class Tree>
__global__ void follow_nodes_kernel(const Tree* nodes, std::int64_t tuples,
                                    const std::uint32_t* level, std::int64_t first,
                                    std::int64_t entries, std::uint32_t* next_level,
                                    FirstFlaw flaws) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       k < entries; k += stride) {
    const std::uint32_t tuple = level[k];
    Tree node{};
    if (tuple < tuples) {
      node = nodes[tuple];
      if (node.tuple != tuple) flaws.report(first + k, Flaw::wrong_tuple);
    }
    const std::int64_t child = first_entry(1) + 2 * (first + k);
    if (next_level != nullptr) {
      next_level[2 * k] = node.less_than;
      next_level[2 * k + 1] = node.greater_than;
    } else if (node.less_than != no_node) {
      flaws.report(child, Flaw::too_deep);
    } else if (node.greater_than != no_node) {
      flaws.report(child + 1, Flaw::too_deep);
    }
  }
}

/// What verification leaves on the device.
struct VerifyWords {
  unsigned long long first_flaw = FirstFlaw::none;
  unsigned long long nodes = 0;
  unsigned long long twice = 0;
};
inline constexpr int verify_words = 3;

/// A bit for each tuple.
inline std::int64_t words_of_bits(std::int64_t tuples) {
  return divide_up(tuples, 32);
}

/// Before anything is found.
inline void clear_words(unsigned long long* words, cudaStream_t stream) {
  WARPATH_CUDA_CHECK(cudaMemsetAsync(words, 0xFF, sizeof *words, stream));
  WARPATH_CUDA_CHECK(cudaMemsetAsync(words + 1, 0, 2 * sizeof *words, stream));
}

/// Looks at all entries and waits for what was found. `seen`: words_of_bits(tuples) words.
template <class C>
VerifyWords run_verify(const Points<C>& points, const SomeMedians& medians, std::uint32_t* seen,
                       unsigned long long* words, cudaStream_t stream) {
  if (medians.count == 0) return {};
  const std::int64_t tuples = points.count();
  WARPATH_CUDA_CHECK(cudaMemsetAsync(
      seen, 0, static_cast<std::size_t>(words_of_bits(tuples)) * sizeof *seen, stream));
  const SubtreeShape shape = subtrees_of<C>(medians.nodes, points.dimensions);
  const std::int64_t others = medians.count - medians.needed + first_entry(shape.above);
  const FirstFlaw first_flaw{words};
  launch({shape.blocks + blocks_of_256(others), 256, shape.bytes, stream}, find_flaws_kernel<C>,
         Verified<C>{medians,
                     {points.coordinates, points.dimensions, 0},
                     tuples,
                     seen,
                     first_flaw,
                     words + 1,
                     words + 2},
         shape);
  const auto found = [&] {
    VerifyWords values;
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(&values, words, sizeof values, cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    return values;
  };
  const VerifyWords values = found();
  // Of a tree without nodes, every entry is too deep.
  if (values.twice == 0 || medians.needed == 0) return values;
  DeviceBuffer<std::uint32_t> first_entries(tuples, stream);
  WARPATH_CUDA_CHECK(cudaMemsetAsync(first_entries.data(), 0xFF,
                                     static_cast<std::size_t>(tuples) * sizeof(std::uint32_t),
                                     stream));
  launch({blocks_of_256(medians.count), 256, 0, stream}, note_entries_kernel<std::uint32_t>,
         medians, tuples, first_entries.data());
  launch({blocks_of_256(medians.needed), 256, 0, stream},
         report_second_entries_kernel<std::uint32_t>, medians, tuples, first_entries.data(),
         first_flaw);
  return found();
}

/// `tuple_at(index)` is what entry `index` holds, or would hold.
template <class TupleAt>
Finding finding_of(const VerifyWords& words, std::int64_t expected, const TupleAt& tuple_at) {
  if (words.first_flaw == FirstFlaw::none) {
    const auto nodes = static_cast<std::int64_t>(words.nodes);
    if (nodes == expected) return {};
    return {Flaw::wrong_count, 0, static_cast<std::uint32_t>(nodes),
            static_cast<std::uint32_t>(expected)};
  }
  const auto index = static_cast<std::int64_t>(words.first_flaw >> FirstFlaw::flaw_bits);
  const int level = level_count(index + 1) - 1;
  return {static_cast<Flaw>(words.first_flaw & ((1u << FirstFlaw::flaw_bits) - 1)), level,
          static_cast<std::uint32_t>(index - first_entry(level)), tuple_at(index)};
}

}  // namespace detail

/// The first flaw of the tree that median stores hold, which shall be that of `node_count` nodes:
/// of the least entry, level after level. Any numbers may stand in them: it always ends, and reads
/// nothing else. medians: median_entries(node_count) or more, of which the rest shall be empty.
/// Blocks the host.
template <class C>
Finding verify(const Points<C>& points,
               std::type_identity_t<DeviceSpan<const std::uint32_t>> medians,
               std::int64_t node_count, Workspace& workspace, cudaStream_t stream) {
  const std::int64_t tuples = detail::require_points(points);
  require_span("medians", medians);
  require_in_range("node_count", node_count, 0, tuples);
  require_room("medians", medians, median_entries(node_count));
  require_in_range("the number of medians", medians.count, 0, median_entries(most_tuples));
  const auto [words, seen] = workspace.template take<unsigned long long, std::uint32_t>(
      stream, detail::verify_words, detail::words_of_bits(tuples));
  detail::clear_words(words, stream);
  const detail::VerifyWords found = detail::run_verify(
      points, {medians.data, medians.count, median_entries(node_count), node_count}, seen, words,
      stream);
  return detail::finding_of(found, node_count,
                            [&](std::int64_t index) { return value_at(medians, index, stream); });
}

/// The same for nodes: those of the tree with this root. nodes: one for each tuple; root: a tuple,
/// or no_node.
template <class C>
Finding verify(const Points<C>& points, std::type_identity_t<DeviceSpan<const Node>> nodes,
               std::uint32_t root, std::int64_t node_count, Workspace& workspace,
               cudaStream_t stream) {
  const std::int64_t tuples = detail::require_points(points);
  require_span("nodes", nodes);
  require_count("nodes", nodes.count, "points", tuples);
  require_in_range("node_count", node_count, 0, tuples);
  // A tree without nodes may have a root, which is a flaw.
  const int levels = std::max(level_count(node_count), 1);
  const std::int64_t entries = first_entry(levels);
  const auto [words, seen, medians] =
      workspace.template take<unsigned long long, std::uint32_t, std::uint32_t>(
          stream, detail::verify_words, detail::words_of_bits(tuples), entries);
  detail::clear_words(words, stream);
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(medians, &root, sizeof root, cudaMemcpyHostToDevice, stream));
  for (int level = 0; level < levels; ++level) {
    const std::int64_t first = first_entry(level);
    std::uint32_t* const of_level = medians + first;
    launch({detail::blocks_of_256(first + 1), 256, 0, stream}, detail::follow_nodes_kernel<Node>,
           nodes.data, tuples, of_level, first, first + 1,
           level + 1 < levels ? of_level + first + 1 : nullptr, detail::FirstFlaw{words});
  }
  const detail::VerifyWords found = detail::run_verify(
      points, {medians, entries, median_entries(node_count), node_count}, seen, words, stream);
  const DeviceSpan<const std::uint32_t> stores{medians, entries};
  return detail::finding_of(found, node_count, [&](std::int64_t index) {
    if (index < entries) return value_at(stores, index, stream);
    // A child of the last level.
    const Node parent = value_at(nodes, value_at(stores, (index - 1) / 2, stream), stream);
    return index % 2 == 1 ? parent.less_than : parent.greater_than;
  });
}

}  // namespace warpath::kd_tree
