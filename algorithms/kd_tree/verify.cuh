// Verification on the device, breadth first: every node against all of its ancestors.
//
// Nodes are brought to median stores first, level after level, as the source's verifier goes
// through them: that takes as many levels as a balanced tree has and no more, whatever the nodes
// say. Then each entry is looked at alone:
//
//   its number is that of a tuple; no other entry before it has the same; its parent has a node;
//   it comes before each ancestor in whose less-than subtree it lies, and after all others
//
// Sources: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Completion".
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "kd_tree/arguments.cuh"
#include "kd_tree/finding.hpp"
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
};

/// Notes of each tuple the first entry that holds it, and counts the entries that hold any.
template <class Entry>
__global__ void note_entries_kernel(SomeMedians medians, std::int64_t tuples, Entry* first_entries,
                                    unsigned long long* nodes) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x;
  unsigned long long found = 0;
  for (std::int64_t base = first; base < medians.count; base += stride) {
    const std::int64_t i = base + threadIdx.x;
    const std::uint32_t tuple = i < medians.count ? medians.entries[i] : no_node;
    if (tuple < tuples) atomicMin(&first_entries[tuple], static_cast<Entry>(i));
    found += static_cast<unsigned>(__syncthreads_count(tuple != no_node));
  }
  if (threadIdx.x == 0 && found > 0) atomicAdd(nodes, found);
}

/// What is wrong with entry i, which is not empty.
template <class C>
__device__ Flaw flaw_of_entry(const SomeMedians& medians, std::int64_t i, const Tuples<C>& points,
                              std::int64_t tuples, const std::uint32_t* first_entries) {
  const std::uint32_t tuple = medians.entries[i];
  if (i >= medians.needed) return Flaw::too_deep;
  if (tuple >= tuples) return Flaw::wild_reference;
  if (first_entries[tuple] != i) return Flaw::twice;
  if (i > 0 && medians.entries[(i - 1) / 2] == no_node) return Flaw::orphan;
  const int dimensions = points.dimensions;
  const C* const own = points.coordinates.data + std::int64_t{tuple} * dimensions;
  int level = level_count(i + 1) - 1;
  for (std::int64_t below = i; below > 0;) {
    const std::int64_t above = (below - 1) / 2;
    const bool shall_be_less = below == 2 * above + 1;
    --level;
    const std::uint32_t ancestor = medians.entries[above];
    below = above;
    if (ancestor >= tuples) continue;  // a flaw of that entry
    const C* const other = points.coordinates.data + std::int64_t{ancestor} * dimensions;
    const int order = compare_superkeys(own, other, dimensions, level % dimensions);
    const bool is_less = order < 0 || (order == 0 && tuple < ancestor);
    if (is_less != shall_be_less) return shall_be_less ? Flaw::not_less : Flaw::not_greater;
  }
  return Flaw::none;
}

template <class C>
__global__ void find_flaws_kernel(SomeMedians medians, Tuples<C> points, std::int64_t tuples,
                                  const std::uint32_t* first_entries, FirstFlaw flaws) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < medians.count; i += stride) {
    if (medians.entries[i] == no_node) continue;
    const Flaw flaw = flaw_of_entry(medians, i, points, tuples, first_entries);
    if (flaw != Flaw::none) flaws.report(i, flaw);
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

inline unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::min<std::int64_t>(divide_up(threads, 256), 1 << 16));
}

/// The words that verification leaves on the device.
struct VerifyState {
  FirstFlaw first_flaw;
  unsigned long long* nodes;  ///< how many entries hold any
};

/// Looks at all entries. `first_entries`: a word for each tuple.
template <class C>
void run_verify(const Tuples<C>& points, const SomeMedians& medians, std::int64_t tuples,
                std::uint32_t* first_entries, const VerifyState& state, cudaStream_t stream) {
  if (medians.count == 0) return;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(
      first_entries, 0xFF, static_cast<std::size_t>(tuples) * sizeof(std::uint32_t), stream));
  launch({blocks_for(medians.count), 256, 0, stream}, note_entries_kernel<std::uint32_t>, medians,
         tuples, first_entries, state.nodes);
  launch({blocks_for(medians.count), 256, 0, stream}, find_flaws_kernel<C>, medians, points, tuples,
         first_entries, state.first_flaw);
}

/// Waits for what was found. `tuple_at(index)` is what entry `index` holds, or would hold.
template <class TupleAt>
Finding finding_of(const VerifyState& state, std::int64_t expected, cudaStream_t stream,
                   const TupleAt& tuple_at) {
  const DeviceSpan<const unsigned long long> words{state.first_flaw.packed, 1};
  const unsigned long long packed = value_at(words, 0, stream);
  if (packed == FirstFlaw::none) {
    const DeviceSpan<const unsigned long long> counts{state.nodes, 1};
    const auto nodes = static_cast<std::int64_t>(value_at(counts, 0, stream));
    if (nodes == expected) return {};
    return {Flaw::wrong_count, 0, static_cast<std::uint32_t>(nodes),
            static_cast<std::uint32_t>(expected)};
  }
  const auto index = static_cast<std::int64_t>(packed >> FirstFlaw::flaw_bits);
  const int level = level_count(index + 1) - 1;
  return {static_cast<Flaw>(packed & ((1u << FirstFlaw::flaw_bits) - 1)), level,
          static_cast<std::uint32_t>(index - first_entry(level)), tuple_at(index)};
}

}  // namespace detail

/// The first flaw of the tree that median stores hold, which shall have `node_count` nodes: of the
/// least entry, level after level. Any numbers may stand in them: it always ends, and reads nothing
/// else. medians: median_entries(node_count) or more, of which the rest shall be empty. Blocks the
/// host.
template <class C>
Finding verify(const Points<C>& points,
               std::type_identity_t<DeviceSpan<const std::uint32_t>> medians,
               std::int64_t node_count, Workspace& workspace, cudaStream_t stream) {
  const std::int64_t tuples = detail::require_points(points);
  require_span("medians", medians);
  require_in_range("node_count", node_count, 0, tuples);
  require_room("medians", medians, median_entries(node_count));
  require_in_range("the number of medians", medians.count, 0, median_entries(most_tuples));
  const auto [words, first_entries] =
      workspace.template take<unsigned long long, std::uint32_t>(stream, 2, tuples);
  const detail::VerifyState state{{words}, words + 1};
  WARPATH_CUDA_CHECK(cudaMemsetAsync(words, 0xFF, sizeof *words, stream));
  WARPATH_CUDA_CHECK(cudaMemsetAsync(words + 1, 0, sizeof *words, stream));
  detail::run_verify(Tuples<C>{points.coordinates, points.dimensions, 0},
                     {medians.data, medians.count, median_entries(node_count)}, tuples,
                     first_entries, state, stream);
  return detail::finding_of(state, node_count, stream,
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
  const auto [words, first_entries, medians] =
      workspace.template take<unsigned long long, std::uint32_t, std::uint32_t>(stream, 2, tuples,
                                                                                entries);
  const detail::VerifyState state{{words}, words + 1};
  WARPATH_CUDA_CHECK(cudaMemsetAsync(words, 0xFF, sizeof *words, stream));
  WARPATH_CUDA_CHECK(cudaMemsetAsync(words + 1, 0, sizeof *words, stream));
  WARPATH_CUDA_CHECK(cudaMemcpyAsync(medians, &root, sizeof root, cudaMemcpyHostToDevice, stream));
  for (int level = 0; level < levels; ++level) {
    const std::int64_t first = first_entry(level);
    std::uint32_t* const of_level = medians + first;
    launch({detail::blocks_for(first + 1), 256, 0, stream}, detail::follow_nodes_kernel<Node>,
           nodes.data, tuples, of_level, first, first + 1,
           level + 1 < levels ? of_level + first + 1 : nullptr, state.first_flaw);
  }
  detail::run_verify(Tuples<C>{points.coordinates, points.dimensions, 0},
                     {medians, entries, median_entries(node_count)}, tuples, first_entries, state,
                     stream);
  const DeviceSpan<const std::uint32_t> stores{medians, entries};
  return detail::finding_of(state, node_count, stream, [&](std::int64_t index) {
    if (index < entries) return value_at(stores, index, stream);
    // A child of the last level.
    const Node parent = value_at(nodes, value_at(stores, (index - 1) / 2, stream), stream);
    return index % 2 == 1 ? parent.less_than : parent.greater_than;
  });
}

}  // namespace warpath::kd_tree
