// Points as operands of a warpgroup's products, in shared memory: tensor_fragments.cuh says how a
// product of floats comes from halves, narrow points (all four products of a coordinate's halves)
// and wide ones (three). Both operands of a product have the same number of coordinates. After them
// come the other steps that warpgroup_sum.cuh and warpgroup_signals.cuh share: splitting, tiles on
// their way, and those that are far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/divide_up.hpp"
#include "core/vector.cuh"
#include "map_reduce/arrays.cuh"
#include "map_reduce/far_tiles.cuh"
#include "map_reduce/instructions.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_fragments.cuh"
#include "map_reduce/tensor_sum.cuh"
#include "map_reduce/tensor_tile.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/warpgroup.cuh"

namespace warpath::map_reduce::detail {

/// Words between eight halves of all points and the next eight: 16 bytes more than they take, so
/// that a thread that has four coordinates of a point writes to other banks than those that have
/// the next ones.
constexpr int operand_stride(int points) {
  return 4 * points + 4;
}

/// Four products of 16 for each coordinate.
template <int Coordinates, int Points>
struct NarrowPoints {
  static constexpr int chunks = chunks_of(Coordinates);
  static constexpr int stride = operand_stride(Points);
  alignas(16) std::uint32_t halves[2 * chunks][stride];

  /// Coordinates 4 c to 4 c + 3 of a point.
  __device__ __forceinline__ void set_row(int point, int c, const float (&v)[4]) {
    set(point, c, v, [](std::uint32_t both, std::uint32_t(&pairs)[2]) {
      pairs[0] = __byte_perm(both, both, 0x1010);
      pairs[1] = __byte_perm(both, both, 0x3232);
    });
  }
  __device__ __forceinline__ void set_column(int point, int c, const float (&v)[4]) {
    set(point, c, v, [](std::uint32_t both, std::uint32_t(&pairs)[2]) {
      pairs[0] = both;
      pairs[1] = both;
    });
  }
  /// A chunk of 64 points from `first` on.
  __device__ __forceinline__ WarpgroupOperand of(int c, int first) const {
    return {&halves[2 * c][4 * first], stride};
  }

 private:
  template <class Arrange>
  __device__ __forceinline__ void set(int point, int c, const float (&v)[4], Arrange arrange) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      std::uint32_t pairs[2];
      arrange(split_halves(v[k]).bits, pairs);
      store_vector(&halves[2 * c + k / 2][4 * point + k % 2 * 2], pairs);
    }
  }
};

/// High and low halves apart, steps of 16 coordinates; the last one is filled up by 0.
template <int Coordinates, int Points>
struct WidePoints {
  static constexpr int steps = divide_up(Coordinates, 16);
  static constexpr int chunks = 4 * steps;
  static constexpr int stride = operand_stride(Points);
  alignas(16) std::uint32_t high[2 * steps][stride];
  alignas(16) std::uint32_t low[2 * steps][stride];

  __device__ __forceinline__ void set_row(int point, int c, const float (&v)[4]) {
    std::uint32_t split[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) split[k] = split_halves(v[k]).bits;
    const std::uint32_t highs[2] = {__byte_perm(split[0], split[1], 0x5410),
                                    __byte_perm(split[2], split[3], 0x5410)};
    const std::uint32_t lows[2] = {__byte_perm(split[0], split[1], 0x7632),
                                   __byte_perm(split[2], split[3], 0x7632)};
    store_vector(&high[c / 2][4 * point + c % 2 * 2], highs);
    store_vector(&low[c / 2][4 * point + c % 2 * 2], lows);
  }
  __device__ __forceinline__ void set_column(int point, int c, const float (&v)[4]) {
    set_row(point, c, v);
  }
  /// A step's coordinates of 64 points from `first` on.
  __device__ __forceinline__ WarpgroupOperand high_of(int step, int first) const {
    return {&high[2 * step][4 * first], stride};
  }
  __device__ __forceinline__ WarpgroupOperand low_of(int step, int first) const {
    return {&low[2 * step][4 * first], stride};
  }
};

/// The products of 64 rows and 64 columns.
template <int Coordinates, int Rows, int Columns>
__device__ __forceinline__ void multiply_points(const NarrowPoints<Coordinates, Rows>& rows,
                                                int first_row,
                                                const NarrowPoints<Coordinates, Columns>& columns,
                                                int first_column, WarpgroupSums& products) {
  warpgroup_begin();
#pragma unroll
  for (int c = 0; c < chunks_of(Coordinates); ++c) {
    warpgroup_multiply(rows.of(c, first_row), columns.of(c, first_column), products, c == 0);
  }
  warpgroup_end(products);
}
/// A step of 16 coordinates is the product of the high halves and two small ones, which are added
/// first; steps are added outside of the tensor cores (WideTile).
template <int Coordinates, int Rows, int Columns>
__device__ __forceinline__ void multiply_points(const WidePoints<Coordinates, Rows>& rows,
                                                int first_row,
                                                const WidePoints<Coordinates, Columns>& columns,
                                                int first_column, WarpgroupSums& products) {
  const auto multiply_step = [&](int step, WarpgroupSums& sums) {
    const WarpgroupOperand row = rows.high_of(step, first_row);
    const WarpgroupOperand column = columns.high_of(step, first_column);
    warpgroup_begin();
    warpgroup_multiply(rows.low_of(step, first_row), column, sums, true);
    warpgroup_multiply(row, columns.low_of(step, first_column), sums, false);
    warpgroup_multiply(row, column, sums, false);
    warpgroup_end(sums);
  };
  multiply_step(0, products);
#pragma unroll
  for (int step = 1; step < WidePoints<Coordinates, Rows>::steps; ++step) {
    WarpgroupSums sums;
    multiply_step(step, sums);
#pragma unroll
    for (int e = 0; e < warpgroup_columns / 8; ++e) {
#pragma unroll
      for (int q = 0; q < 4; ++q) products[e][q] += sums[e][q];
    }
  }
}

/// A coordinate relative to the centre, scaled; of narrow points to what two halves hold.
template <int D>
__device__ __forceinline__ float relative_coordinate(float scale, float number, float centre) {
  const float u = scale * (number - centre);
  if constexpr (D > 8) return u;
  const TwoHalves halves = split_halves(u);
  return halves.high + halves.low;
}

/// One centre for all rows of a call.
template <class Problem, int D>
__device__ __forceinline__ void block_find_centre_of_all(const Problem& problem,
                                                         float (&centre)[D]) {
  block_find_centre(get<0>(problem.x), 0, problem.rows, centre);
}

template <int D, int Columns>
struct SplitterStorage {
  float centre[D];
  float squares[chunks_of(D)][Columns + 1];
};

/// The columns of the tile that a block splits, number blockIdx.x of `Columns` each: relative to
/// the centre of all rows, which is there, and scaled. Functions are called by the whole block.
template <class Problem, int Columns>
class ColumnSplitter {
 public:
  static constexpr int D = Problem::Formula::dimension;

  __device__ __forceinline__ ColumnSplitter(const Problem& problem,
                                            SplitterStorage<D, Columns>& shared, float scale)
      : problem_(problem),
        shared_(shared),
        scale_(scale),
        first_(static_cast<std::int64_t>(blockIdx.x) * Columns),
        width_(static_cast<int>(min(std::int64_t{Columns}, problem.columns - first_))) {}
  /// act(t, c, v): coordinates 4 c to 4 c + 3 of column t, for c < chunks; 0 beyond the last one.
  template <class Act>
  __device__ __forceinline__ void for_each_chunk(int chunks, Act act) const {
    const float* const y = get<0>(problem_.y).data + first_ * D;
    for (int item = threadIdx.x; item < Columns * chunks; item += blockDim.x) {
      const int t = item / chunks;
      const int c = item % chunks;
      float v[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int k = 4 * c + q;
        v[q] = k < D && t < width_ ? relative_coordinate<D>(scale_, y[t * D + k], shared_.centre[k])
                                   : 0.0f;
      }
      act(t, c, v);
    }
  }
  /// Of all columns. Returns whether one of them is larger than `most`, or not finite.
  __device__ __forceinline__ bool block_find_squares(float most) const {
    for_each_chunk(chunks_of(D), [&](int t, int c, const float(&v)[4]) {
      shared_.squares[c][t] = square_of_chunk(v);
    });
    __syncthreads();  // the chunks of the squares are there
    bool is_far = false;
    for_each_column([&](int, std::int64_t, float square) { is_far = is_far || !(square <= most); });
    return __syncthreads_or(is_far);
  }
  [[nodiscard]] __device__ __forceinline__ float square_of(int t) const {
    return sum_of_chunks<D>([&](int c) { return shared_.squares[c][t]; });
  }
  /// act(t, j, square) for each column j that there is, the tile's t-th.
  template <class Act>
  __device__ __forceinline__ void for_each_column(Act act) const {
    for (int t = threadIdx.x; t < width_; t += blockDim.x) act(t, first_ + t, square_of(t));
  }
  [[nodiscard]] __device__ __forceinline__ std::int64_t first() const {
    return first_;
  }
  [[nodiscard]] __device__ __forceinline__ int width() const {
    return width_;
  }

 private:
  const Problem& problem_;
  SplitterStorage<D, Columns>& shared_;
  float scale_;
  std::int64_t first_;
  int width_;
};

/// The block's rows as operand, `Rows` of them from first_row on, relative to the centre and
/// doubled, and in `squares` what |u|^2 is. Beyond the last row, the last row once more. If they
/// have one coordinate more than points have, it is -1. Returns whether a row is farther than the
/// form takes, or not finite. Ends with a barrier, for products too.
template <int Rows, class Problem, class Points, int D>
__device__ __forceinline__ bool block_split_rows(const Problem& problem, std::int64_t first_row,
                                                 const float (&centre)[D], Points& rows,
                                                 float (&squares_of_chunks)[chunks_of(D)][Rows + 1],
                                                 float (&squares)[Rows]) {
  const auto& x = get<0>(problem.x);
  const float scale =
      Exponential<typename Problem::Formula, typename Problem::Reduction>::scale(problem.formula);
  for (int item = threadIdx.x; item < Rows * Points::chunks; item += blockDim.x) {
    const int row = item / Points::chunks;
    const int c = item % Points::chunks;
    const float* const point = x.data + min(first_row + row, problem.rows - 1) * D;
    float u[4];
    float twice[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int k = 4 * c + q;
      u[q] = k < D ? relative_coordinate<D>(scale, point[k], centre[k]) : 0.0f;
      twice[q] = 2 * fmaf(u[q], D > 8 ? truncated_by_step : 0, u[q]);
      if (k == D) twice[q] = -1;
    }
    rows.set_row(row, c, twice);
    if (4 * c < D) squares_of_chunks[c][row] = square_of_chunk(u);
  }
  __syncthreads();  // the chunks of the squares are there
  bool is_far = false;
  for (int row = threadIdx.x; row < Rows; row += blockDim.x) {
    squares[row] = sum_of_chunks<D>([&](int c) { return squares_of_chunks[c][row]; });
    is_far = is_far || !(squares[row] <= most_square<D>);
  }
  hopper::fence_for_bulk();
  return __syncthreads_or(is_far);  // and the rows are there
}

/// The barriers of tiles that go through stages in shared memory.
template <int Stages>
struct TileBarriers {
  hopper::TransactionBarrier full[Stages];   ///< the stage's tile is there
  hopper::TransactionBarrier empty[Stages];  ///< all warps are done with it
};
/// A block's tiles on their way from global memory through stages, by bulk copies that thread 0
/// starts. No barrier of the block holds its warps together.
template <class Tile, int Stages>
class TileStream {
 public:
  /// A barrier of the block must follow before start().
  __device__ __forceinline__ TileStream(TileBarriers<Stages>& barriers, Tile (&stages)[Stages],
                                        const Tile* tiles, int count)
      : barriers_(barriers), stages_(stages), tiles_(tiles), count_(count) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < Stages; ++s) {
        hopper::init(barriers.full[s], 1);
        hopper::init(barriers.empty[s], blockDim.x / warp_threads);
      }
    }
  }
  /// Loads the first tiles. Nothing else lies in the stages from here on.
  __device__ __forceinline__ void start() {
    if (threadIdx.x != 0) return;
    for (int n = 0; n < Stages && n < count_; ++n) load(n);
  }
  /// Tile n, after n - 1. All lanes of a warp; converged after it, as products want them.
  __device__ __forceinline__ const Tile& wait(int n) {
    if (threadIdx.x == 0 && n > 0 && n - 1 + Stages < count_) {
      hopper::wait(barriers_.empty[(n - 1) % Stages], (n - 1) / Stages % 2);
      load(n - 1 + Stages);
    }
    hopper::wait(barriers_.full[n % Stages], n / Stages % 2);
    __syncwarp();  // a product takes whole warps
    return stages_[n % Stages];
  }
  /// The warp is done with tile n.
  __device__ __forceinline__ void release(int n) {
    // (Without the fence a warp now and then read the tile that is loaded next.)
    hopper::fence_for_bulk();
    __syncwarp();
    if (lane_index() == 0) hopper::arrive(barriers_.empty[n % Stages]);
  }

 private:
  __device__ __forceinline__ void load(int n) {
    const int s = n % Stages;
    hopper::arrive_expect(barriers_.full[s], sizeof(Tile));
    hopper::bulk_load(&stages_[s], tiles_ + n, sizeof(Tile), barriers_.full[s]);
  }
  TileBarriers<Stages>& barriers_;
  Tile (&stages_)[Stages];
  const Tile* tiles_;
  int count_;
};

/// Columns that are computed from the differences at once: of a tile, or as many tiles as take no
/// more memory than the stages.
template <class Tile, int Stages, class Column>
inline constexpr int far_columns = std::max<int>(1, Stages * sizeof(Tile) /
                                                        (Tile::columns * sizeof(Staged<Column>))) *
                                   Tile::columns;

/// The tiles of the block's part that are far, or all of them (`all_are_far`, the same in all
/// threads), from the differences: thread t < Rows gets the state of row t, if there is such a
/// tile. Returns whether there is. Not inlined, so that it takes no registers from the loop over
/// the other tiles. `columns`, of one tile or several, and `states` may be the same memory; ends
/// with a barrier.
template <int Rows, int Columns, class Problem, class Tile>
[[gnu::noinline]] __device__ bool block_reduce_far_tiles(
    const Problem& problem, const Split& split, const Tile* tiles, bool all_are_far,
    Staged<ColumnOf<Problem>> (&columns)[Columns], typename Problem::State (&states)[Rows],
    typename Problem::State& state) {
  constexpr int threads = 2 * Rows;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  bool has_far_tiles = all_are_far;
  for (int n = static_cast<int>(threadIdx.x); n < tile_count; n += threads) {
    has_far_tiles |= tiles[n].is_far;
  }
  if (!__syncthreads_or(has_far_tiles)) return false;

  FarRows<threads, Rows, 1, true, Problem> rows(problem, blockIdx.x % split.row_blocks * Rows);
  const auto is_far = [&](int n) { return n < tile_count && (all_are_far || tiles[n].is_far); };
  int n = 0;
  block_add_far_tiles(problem, rows, columns, [&] {  // neighbouring tiles at once
    while (n < tile_count && !is_far(n)) ++n;
    const std::int64_t first = range.begin + std::int64_t{n} * Tile::columns;
    for (int room = Columns / Tile::columns; room > 0 && is_far(n); --room) ++n;
    return Range{first, min(range.begin + std::int64_t{n} * Tile::columns, range.end)};
  });
  rows.block_for_each_state(states, [&](int, const typename Problem::State& of_group) {
    problem.reduction.merge(state, of_group);
  });
  return true;
}

}  // namespace warpath::map_reduce::detail
