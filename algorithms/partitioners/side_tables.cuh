// Sides of a block's tuples in shared memory: which of some thousand tuples is on which side, found
// again by their references.
//
// A cell, two bits, belongs to all references with one hash; whoever has noted a side has set its
// bit. Only noted tuples are looked up, and so a cell with one bit tells their side, whichever
// tuple set it. Tuples whose cell has both bits are noted in a second table. The few that share
// their cell there too, with 24 cells a tuple about 1 in 14000, are left to a comparison of
// superkeys.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/divide_up.hpp"
#include "partitioners/warp_sides.cuh"

namespace warpath::partitioners::detail {

/// Words of the two tables, both multiples of 4. A word has 16 cells.
struct SideTableSize {
  std::uint32_t first;
  std::uint32_t second;

  [[nodiscard]] __host__ __device__ std::uint32_t words() const { return first + second; }
};

/// Tables for `tuples` tuples: `cells` cells for each, and an eighth of that in the second table;
/// fewer if they would have more than `most_bytes`, which is at least 256.
inline SideTableSize side_table_size(std::uint32_t tuples, int cells, std::size_t most_bytes) {
  const std::uint64_t first_wanted = divide_up(static_cast<std::int64_t>(tuples) * cells, 16);
  const std::uint64_t wanted = std::max<std::uint64_t>(first_wanted * 9 / 8, 64);
  const auto words = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, most_bytes / 4));
  const std::uint32_t first = words / 9 * 8 / 4 * 4;
  return {first, (words - first) / 4 * 4};
}

/// The most tuples that tables of so many bytes should have: with fewer than 6 cells for each, too
/// many tuples are left to comparisons.
inline std::uint32_t most_tuples_of_tables(std::size_t bytes) {
  return static_cast<std::uint32_t>(bytes / 27 * 16);
}

/// Two tables in shared memory.
class SideTables {
 public:
  /// words: size.words() of them, aligned to 16 bytes.
  __device__ __forceinline__ SideTables(std::uint32_t* words, SideTableSize size)
      : first_(words), second_(words + size.first), size_(size) {}

  /// Forgets all sides. The whole block; a barrier must follow.
  __device__ __forceinline__ void block_clear() const {
    struct alignas(16) Line {
      std::uint32_t words[4];
    };
    auto* const lines = reinterpret_cast<Line*>(first_);
    for (std::uint32_t i = threadIdx.x; i < size_.words() / 4; i += blockDim.x) lines[i] = Line{};
  }

  // All sides are noted in two steps, with a barrier before each of them and after the last.
  __device__ __forceinline__ void note(std::uint32_t reference, std::uint32_t side) const {
    const Cell cell = first_cell(reference);
    atomicOr(first_ + cell.word, side << cell.shift);
  }
  __device__ __forceinline__ void note_again(std::uint32_t reference, std::uint32_t side) const {
    if (read(first_, first_cell(reference)) != both_sides) return;
    const Cell cell = second_cell(reference);
    atomicOr(second_ + cell.word, side << cell.shift);
  }

  /// The side of a tuple that was noted, or both_sides. For others something.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t find(std::uint32_t reference) const {
    const std::uint32_t side = read(first_, first_cell(reference));
    return side == both_sides ? read(second_, second_cell(reference)) : side;
  }

 private:
  struct Cell {
    std::uint32_t word;
    std::uint32_t shift;
  };
  // The topmost bits of the product choose the word, those below the cell.
  __device__ __forceinline__ static Cell cell(std::uint32_t hash, std::uint32_t words) {
    return {__umulhi(hash, words), hash >> 11 & 30};
  }
  [[nodiscard]] __device__ __forceinline__ Cell first_cell(std::uint32_t reference) const {
    return cell(reference * 0x9E3779B1u, size_.first);
  }
  [[nodiscard]] __device__ __forceinline__ Cell second_cell(std::uint32_t reference) const {
    return cell(reference * 0x85EBCA77u, size_.second);
  }
  __device__ __forceinline__ static std::uint32_t read(const std::uint32_t* table, Cell cell) {
    return table[cell.word] >> cell.shift & both_sides;
  }

  std::uint32_t* first_;
  std::uint32_t* second_;
  SideTableSize size_;
};

}  // namespace warpath::partitioners::detail
