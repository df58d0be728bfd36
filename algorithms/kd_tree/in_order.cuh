// A third form of a tree, for many queries: its tuples in their order from the least to the
// greatest subtree, so that no search follows a reference.
//
//   n tuples      less than the root      |root|      greater than it
//   rows          0 ... r - 1             |  r |      r + 1 ... n - 1         r = (n - 1) / 2
//
// and so on in both parts: where a part's root lies, and where its parts begin, follows from its
// size. The rows of a small part lie side by side, and are looked through one after another.
//
// For queries that come in any order, there is also a copy of the coordinates by which the first
// levels split, entry after entry: queries that take the same path through them are asked together.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "core/span.hpp"
#include "kd_tree/coordinates.cuh"
#include "kd_tree/nodes.cuh"
#include "kd_tree/search.cuh"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree {

/// A tree in order, made by put_in_order(): a view of memory that its Workspace keeps.
template <class C>
struct InOrderTree {
  const C* rows = nullptr;                ///< of row_length<C>(dimensions) coordinates each
  const std::uint32_t* tuples = nullptr;  ///< the number of each row's tuple
  const C* splits = nullptr;              ///< the first levels' coordinates, entry after entry
  int dimensions = 1;
  std::int64_t node_count = 0;
};

namespace detail {

/// How many levels have a copy of what they split by. All their entries are nodes.
__host__ __device__ constexpr int split_levels(std::int64_t node_count) {
  const int levels = level_count(node_count) - 5;
  return levels < 0 ? 0 : levels < 16 ? levels : 16;
}

/// What a tree in order is made of. Entries may hold anything.
template <class C>
struct MediansToOrder {
  const C* coordinates;
  std::int64_t tuples;
  const std::uint32_t* medians;
};

/// Row by row: finds the row's entry as a search would, and copies its tuple. A row whose entry
/// holds no tuple has the number no_node.
template <class C>
__global__ void put_in_order_kernel(MediansToOrder<C> from, InOrderTree<C> to, C* rows,
                                    std::uint32_t* tuples, C* splits) {
  const int dimensions = to.dimensions;
  const int length = row_length<C>(dimensions);
  const std::int64_t split_entries = first_entry(split_levels(to.node_count));
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       row < to.node_count; row += stride) {
    std::uint32_t entry = 0;
    int k = 0;
    auto place = static_cast<std::uint32_t>(row);
    auto count = static_cast<std::uint32_t>(to.node_count);
    for (;;) {
      const std::uint32_t root = (count - 1) / 2;
      if (place == root) break;
      const bool is_greater = place > root;
      entry = 2 * entry + (is_greater ? 2 : 1);
      count = is_greater ? count - root - 1 : root;
      if (is_greater) place -= root + 1;
      k = k + 1 == dimensions ? 0 : k + 1;
    }
    const std::uint32_t tuple = from.medians[entry];
    const bool is_tuple = tuple < from.tuples;
    tuples[row] = is_tuple ? tuple : no_node;
    const C* const coordinates = from.coordinates + std::int64_t{tuple} * dimensions;
    for (int i = 0; i < dimensions; ++i) {
      rows[row * length + i] = is_tuple ? coordinates[i] : C{};
    }
    if (entry < split_entries) splits[entry] = is_tuple ? coordinates[k] : C{};
  }
}

/// From the nodes of a level's entries to the entries of the next level, if there is one. The first
/// level's is `root`.
template <class Tree>
__global__ void list_children_kernel(const Tree* nodes, std::int64_t tuples, std::uint32_t root,
                                     std::uint32_t* level, std::int64_t entries,
                                     std::uint32_t* next_level) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < entries; i += stride) {
    if (entries == 1) level[0] = root;
    if (next_level == nullptr) continue;
    Tree node{};
    if (level[i] < tuples) node = nodes[level[i]];
    next_level[2 * i] = node.less_than;
    next_level[2 * i + 1] = node.greater_than;
  }
}

/// `medians`: as many entries as median stores have.
inline void run_list_nodes(DeviceSpan<const Node> nodes, std::uint32_t root,
                           std::int64_t node_count, std::uint32_t* medians, cudaStream_t stream) {
  const int levels = level_count(node_count);
  for (int level = 0; level == 0 || level + 1 < levels; ++level) {
    const std::int64_t entries = std::int64_t{1} << level;
    std::uint32_t* const of_level = medians + first_entry(level);
    launch({blocks_of_256(entries), 256, 0, stream}, list_children_kernel<Node>, nodes.data,
           nodes.count, root, of_level, entries, level + 1 < levels ? of_level + entries : nullptr);
  }
}

/// `root` is that of `nodes`; of a tree that is given by median stores, `nodes` is empty.
template <class C>
InOrderTree<C> run_put_in_order(const Points<C>& points, DeviceSpan<const std::uint32_t> medians,
                                DeviceSpan<const Node> nodes, std::uint32_t root,
                                std::int64_t node_count, Workspace& memory, cudaStream_t stream) {
  const int dimensions = points.dimensions;
  const std::int64_t listed = nodes.count > 0 ? median_entries(node_count) : 0;
  const auto [rows, tuples, splits, entries] =
      memory.template take<C, std::uint32_t, C, std::uint32_t>(
          stream, node_count * row_length<C>(dimensions), node_count,
          first_entry(split_levels(node_count)), listed);
  const InOrderTree<C> tree{rows, tuples, splits, dimensions, node_count};
  if (node_count == 0) return tree;
  if (listed > 0) run_list_nodes(nodes, root, node_count, entries, stream);
  launch({blocks_of_256(node_count), 256, 0, stream}, put_in_order_kernel<C>,
         MediansToOrder<C>{points.coordinates.data, points.count(),
                           listed > 0 ? entries : medians.data},
         tree, rows, tuples, splits);
  return tree;
}

/// Rows of which one is the root of the others, and the coordinate that it splits them by.
struct Part {
  std::uint32_t first;
  std::uint32_t count;
  int k;
};
template <class C>
__device__ __forceinline__ Part whole(const InOrderTree<C>& tree) {
  return {0, static_cast<std::uint32_t>(tree.node_count), 0};
}

/// A tree in order as threads search it, of D coordinates; of any number if D is 0.
template <class C, int D>
struct SearchedOrder {
  using Query = Coordinates<C, D>;
  InOrderTree<C> tree;
  int dimensions;

  /// The places of a visit are rows.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t number(std::uint32_t place) const {
    return place == no_node ? no_node : tree.tuples[place];
  }
  [[nodiscard]] __device__ __forceinline__ Query row(std::uint32_t row) const {
    const int length = row_length<C>(D == 0 ? dimensions : D);
    return Query::of_row(tree.rows + std::int64_t{row} * length, dimensions);
  }
};

/// Parts of so few tuples are looked through, one after another.
inline constexpr std::uint32_t looked_through = 16;

/// Offers the tuples of the part that the query lies in. How near they are says at once how far to
/// search: else the first way down would note every node's farther side, to no purpose.
template <class C, int D, class Visit>
__device__ __forceinline__ void look_around(const SearchedOrder<C, D>& searched, Visit& visit) {
  const int dimensions = D == 0 ? searched.dimensions : D;
  Part part = whole(searched.tree);
  while (part.count > looked_through) {
    const std::uint32_t root = (part.count - 1) / 2;
    const bool is_greater = visit.nearer(part.k, searched.row(part.first + root)[part.k]);
    if (is_greater) part.first += root + 1;
    part.count = is_greater ? part.count - root - 1 : root;
    part.k = part.k + 1 == dimensions ? 0 : part.k + 1;
  }
  for (std::uint32_t i = 0; i < part.count; ++i) {
    visit.offer(part.first + i, searched.row(part.first + i));
  }
}

/// Visits the tuples that `visit` wants: see visits.cuh. It ends because each part is smaller than
/// the one it is a part of.
template <class C, int D, class Visit>
__device__ __forceinline__ void search(const SearchedOrder<C, D>& searched, Visit& visit) {
  struct WaitingPart {
    Distance<C> distance;
    std::uint32_t first;
    std::uint32_t count;
    int k;
  };
  const int dimensions = D == 0 ? searched.dimensions : D;
  const auto after = [&](int k) { return k + 1 == dimensions ? 0 : k + 1; };
  WaitingPart sides[most_levels];
  int waiting = 0;
  Part part = whole(searched.tree);
  const auto look_at = [&](std::uint32_t row) {
    const auto tuple = searched.row(row);
    visit.offer(row, tuple);
    return tuple;
  };
  for (;;) {
    while (part.count > looked_through) {
      const std::uint32_t root = (part.count - 1) / 2;
      const C coordinate = look_at(part.first + root)[part.k];
      const Part less{part.first, root, after(part.k)};
      const Part greater{part.first + root + 1, part.count - root - 1, after(part.k)};
      const bool is_greater = visit.nearer(part.k, coordinate);
      const Distance<C> farther = visit.distance(part.k, coordinate, !is_greater);
      const bool enters_nearer = visit.wants(visit.distance(part.k, coordinate, is_greater));
      if (visit.wants(farther)) {
        const Part& there = is_greater ? less : greater;
        sides[waiting++] = {farther, there.first, there.count, there.k};
      }
      part = is_greater ? greater : less;
      if (!enters_nearer) part.count = 0;
    }
    for (std::uint32_t i = 0; i < part.count; ++i) look_at(part.first + i);
    // The next side that waits and may still hold something.
    for (;;) {
      if (waiting == 0) return;
      const WaitingPart& side = sides[--waiting];
      if (!visit.wants(side.distance)) continue;
      part = {side.first, side.count, side.k};
      break;
    }
  }
}

}  // namespace detail

}  // namespace warpath::kd_tree
