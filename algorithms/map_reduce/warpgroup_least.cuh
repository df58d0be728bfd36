// Least distances in more than 8 dimensions on Hopper, by the products of warpgroups. As in
// tensor_least.cuh the Gram form only rules out, and distances come from the differences, so that
// the answer is the one that the other variants give. Therefore the form need not be accurate: one
// product of halves takes the place of three.
//
//     split_least_kernel          a block for each tile        y  ->  LeastTile
//
//     warpgroup_least_kernel      256 rows a block, for each tile of its part:
//        a warpgroup    64 rows, from registers, x 64 columns -> A = |v|^2 - 2 u . v, roughly
//                       candidates: columns with A <= least A so far of the row + 2 E -> shared
//                       memory, a few each row
//                 at the end: those candidates that are still below, by their differences
//
// E bounds the error of A: true values lie in [A - E, A + E]. So a column that is no candidate is
// farther than one that is. Columns that are far from the centre or not finite have no A, and are
// computed from the differences at the end, if they are few. Rows that are far, and rows with many
// columns that are alike (more than one of 32 would be computed from the differences), are left to
// undecided_rows_kernel.
#pragma once

#include <cstdint>
#include <limits>

#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/problem.cuh"
#include "map_reduce/tensor_least.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/undecided_rows.cuh"
#include "map_reduce/warpgroup_points.cuh"

namespace warpath::map_reduce::detail {

/// Whether the least distances of a problem can be found so: one a row, in more than 8 dimensions.
template <class Problem>
constexpr bool has_warpgroup_least = [] {
  if constexpr (LeastDistance<typename Problem::Formula, typename Problem::Reduction>::is_possible)
    return Problem::Formula::dimension > 8 && sizeof(typename Problem::State) <= 16;
  else
    return false;
}();

/// Points as halves, rounded: steps of 16 coordinates, the last one filled up by 0.
template <int Coordinates, int Points>
struct RoundedPoints {
  static constexpr int steps = divide_up(Coordinates, 16);
  static constexpr int chunks = 4 * steps;
  static constexpr int stride = operand_stride(Points);
  alignas(16) std::uint32_t halves[2 * steps][stride];

  /// Coordinates 4 c to 4 c + 3 of a point.
  __device__ __forceinline__ void set_column(int point, int c, const float (&v)[4]) {
    const std::uint32_t pairs[2] = {pair_of_halves(v[0], v[1]), pair_of_halves(v[2], v[3])};
    store_vector(&halves[c / 2][4 * point + c % 2 * 2], pairs);
  }
  /// A step's coordinates of 64 points from `first` on.
  __device__ __forceinline__ WarpgroupOperand of(int step, int first) const {
    return {&halves[2 * step][4 * first], stride};
  }
};

/// What a coordinate loses as a half.
__device__ __forceinline__ float lost_of_half(float v) {
  return v - half_value(half_bits(v));
}

/// A tile of columns as split_least_kernel leaves it in global memory.
template <int D>
struct LeastTile {
  static constexpr int columns = D <= 32 ? 256 : 128;
  RoundedPoints<D, columns> points;  ///< v
  float squares[columns];            ///< |v|^2; infinite beyond the last column, and of far ones
  std::uint32_t far[columns / 32];   ///< bits of columns that are too far for halves, or not finite
  int far_count;
  float reach;  ///< of the others no |v| is larger,
  float lost;   ///< nor |v - its halves|
  float scale;  ///< of all coordinates
};

/// A centre for all rows: the mean of what lies between the least and the greatest coordinate of 16
/// of them, so that a row that is far from all others does not move it. Only finite coordinates
/// count, so that the centre is finite. (Sums have block_find_centre(): calls with few rows lost up
/// to 17 % by what this one does more.) The whole block; a barrier must follow.
template <class Problem, int D>
__device__ __forceinline__ void block_find_middle(const Problem& problem, float (&centre)[D]) {
  constexpr int sampled = 16;
  constexpr float most = std::numeric_limits<float>::max();
  for (int k = threadIdx.x; k < D; k += blockDim.x) {
    float coordinates[sampled];
    float least = most;
    float greatest = -most;
#pragma unroll
    for (int s = 0; s < sampled; ++s) {
      coordinates[s] = get<0>(problem.x).data[problem.rows * s / sampled * D + k];
      if (!isfinite(coordinates[s])) continue;
      least = fminf(least, coordinates[s]);
      greatest = fmaxf(greatest, coordinates[s]);
    }
    float sum = 0;
    float count = 0;
#pragma unroll
    for (int s = 0; s < sampled; ++s) {
      if (!(least < coordinates[s] && coordinates[s] < greatest)) continue;
      sum += coordinates[s] * (1.0f / sampled);  // the sum of finite numbers stays finite
      count += 1.0f / sampled;
    }
    const float middle = least <= greatest ? least / 2 + greatest / 2 : 0;
    centre[k] = count > 0 ? sum / count : middle;
  }
}

/// Rows, and as many columns, that the scale is found from.
inline constexpr int sampled_points = 32;

template <int D>
struct LeastSplitterStorage {
  SplitterStorage<D, LeastTile<D>::columns> splitter;
  float sampled_squares[2 * sampled_points];
  float median;
  std::uint32_t far[LeastTile<D>::columns / 32];
  unsigned farthest;  ///< squares, as the bits of floats: their order is that of integers
  unsigned most_lost;
};

/// The root of a sum of squares, or a little more.
__device__ __forceinline__ float length_at_most(float square) {
  return sqrtf(square) * (1 + 0x1p-10f);
}

/// The scale of all coordinates: of some rows and columns half are at most 1 away from the centre.
/// (Those that are much farther must not make all others alike.) Points in the centre, and those
/// that are not finite, do not count. The whole block, of at least so many threads.
template <class Problem, int D>
__device__ __forceinline__ float block_find_scale(const Problem& problem,
                                                  LeastSplitterStorage<D>& shared) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto square_of = [&](const auto& points, int n) {
    const float* const point = points.data + points.count * n / sampled_points * D;
    float square = 0;
    for (int k = lane_index() % 4; k < D; k += 4) {
      const float u = point[k] - shared.splitter.centre[k];
      square = fmaf(u, u, square);
    }
    square += __shfl_xor_sync(full_warp, square, 1);
    square += __shfl_xor_sync(full_warp, square, 2);
    return square > 0 && square < infinity ? square : infinity;
  };
  for (int n = threadIdx.x / 4; n < 2 * sampled_points; n += blockDim.x / 4) {
    const float square = n < sampled_points ? square_of(get<0>(problem.x), n)
                                            : square_of(get<0>(problem.y), n - sampled_points);
    if (lane_index() % 4 == 0) shared.sampled_squares[n] = square;
  }
  if (threadIdx.x == 0) shared.median = 0;
  __syncthreads();  // the squares are there
  if (threadIdx.x < 2 * sampled_points) {
    const float mine = shared.sampled_squares[threadIdx.x];
    int counted = 0;
    int before = 0;
    for (int n = 0; n < 2 * sampled_points; ++n) {
      const float other = shared.sampled_squares[n];
      counted += static_cast<int>(other < infinity);
      before +=
          static_cast<int>(other < mine || (other == mine && n < static_cast<int>(threadIdx.x)));
    }
    if (mine < infinity && before == counted / 2) shared.median = mine;
  }
  __syncthreads();  // the median is there
  return power_below_inverse(sqrtf(shared.median));
}

/// One block for each tile; dynamic shared memory: one LeastSplitterStorage. No row is undecided
/// yet.
template <class Problem>
__global__ void split_least_kernel(const __grid_constant__ Problem problem,
                                   LeastTile<Problem::Formula::dimension>* tiles,
                                   UndecidedRows undecided) {
  constexpr int D = Problem::Formula::dimension;
  using Tile = LeastTile<D>;
  hopper::wait_for_kernel_before();
  if (blockIdx.x == 0 && threadIdx.x == 0) *undecided.count = 0;
  auto& shared = dynamic_shared<LeastSplitterStorage<D>>();
  Tile& tile = tiles[blockIdx.x];
  block_find_middle(problem, shared.splitter.centre);
  __syncthreads();  // the centre is there
  const float scale = block_find_scale(problem, shared);
  const ColumnSplitter<Problem, Tile::columns> columns(problem, shared.splitter, scale);
  constexpr float most = farthest_column * farthest_column;
  if (threadIdx.x < Tile::columns / 32) shared.far[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    shared.farthest = 0;
    shared.most_lost = 0;
  }
  for (int t = threadIdx.x; t < Tile::columns; t += blockDim.x) {
    tile.squares[t] = std::numeric_limits<float>::infinity();
  }
  columns.block_find_squares(most);  // (whether one is far does not matter, but which)
  columns.for_each_column([&](int t, std::int64_t, float square) {
    if (square <= most) {
      tile.squares[t] = square;
      atomicMax(&shared.farthest, __float_as_uint(square));
    } else {
      atomicOr(&shared.far[t / 32], 1u << t % 32);
    }
  });
  __syncthreads();  // it is known which are far, and the squares have been read
  columns.for_each_chunk(decltype(tile.points)::chunks, [&](int t, int c, const float(&v)[4]) {
    const bool is_far = (shared.far[t / 32] >> t % 32 & 1) != 0;
    float near[4];
    float lost[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      near[q] = is_far ? 0 : v[q];
      lost[q] = lost_of_half(near[q]);
    }
    if (c < chunks_of(D)) shared.splitter.squares[c][t] = square_of_chunk(lost);
    tile.points.set_column(t, c, near);
  });
  __syncthreads();  // the squares of what is lost are there
  columns.for_each_column([&](int, std::int64_t, float square) {
    atomicMax(&shared.most_lost, __float_as_uint(square));
  });
  __syncthreads();  // the largest ones are known
  if (threadIdx.x == 0) {
    tile.reach = length_at_most(__uint_as_float(shared.farthest));
    tile.lost = length_at_most(__uint_as_float(shared.most_lost));
    tile.scale = scale;
    tile.far_count = 0;
    for (const std::uint32_t far : shared.far) tile.far_count += __popc(far);
  }
  if (threadIdx.x < Tile::columns / 32) tile.far[threadIdx.x] = shared.far[threadIdx.x];
}

/// Whether so many far columns, of a part of so many, are too many to be computed by the kernels of
/// products: one by one, which takes several times as long as in undecided_rows_kernel.
__device__ __forceinline__ bool are_many_far_columns(int far, std::int64_t columns) {
  return far > 16 + columns / 64;
}

/// act(j) for each far column of some tiles, the first of which has column `first` first, by a
/// whole warp.
template <class Tile, class Act>
__device__ __forceinline__ void warp_for_each_far_column(const Tile* tiles, int tile_count,
                                                         std::int64_t first, Act act) {
  for (int first_tile = 0; first_tile < tile_count; first_tile += warp_threads) {
    const int own = first_tile + lane_index();
    const bool has_far = own < tile_count && tiles[own].far_count > 0;
    for (unsigned rest = __ballot_sync(full_warp, has_far); rest != 0; rest &= rest - 1) {
      const int n = first_tile + __ffs(static_cast<int>(rest)) - 1;
      for (int t = 0; t < Tile::columns; t += 32) {
        for (unsigned far = tiles[n].far[t / 32]; far != 0; far &= far - 1) {
          act(first + std::int64_t{n} * Tile::columns + t + __ffs(static_cast<int>(far)) - 1);
        }
      }
    }
  }
}

/// A candidate of a row: a column, counted from the part's first, and A, or less.
struct LeastCandidate {
  float value;
  std::uint32_t column;
};

/// Shared memory of warpgroup_least_kernel.
template <class Problem>
struct WarpgroupLeastStorage {
  using State = typename Problem::State;
  static constexpr int dimension = Problem::Formula::dimension;
  using Tile = LeastTile<dimension>;
  using Found = State;  ///< of a row, in a part of the columns
  static constexpr int groups = 4;
  static constexpr int threads = 128 * groups;
  static constexpr int block_rows = warpgroup_rows * groups;
  static constexpr int stages_of_tiles = 3;
  static constexpr int most_candidates = warp_threads;
  alignas(16) Tile stages[stages_of_tiles];
  LeastCandidate candidates[block_rows][most_candidates];
  TileBarriers<stages_of_tiles> barriers;
  float centre[dimension];
  unsigned counts[block_rows];  ///< of candidates
  float limits[block_rows];     ///< beyond which none of them is the least
  State states[2][block_rows];  ///< of candidates, from the differences; and of half of the columns
};

/// A warp's 16 rows as left operands of its products, -2 u.
template <int D>
struct LeastRows {
  static constexpr int steps = divide_up(D, 16);
  std::uint32_t halves[steps][4];
  float lengths[2];  ///< |u| of rows g and g + 8, at most,
  float lost[2];     ///< and |2 u - its halves|

  /// coordinate_of(half, k): of row g, or (half 1) g + 8.
  template <class CoordinateOf>
  __device__ __forceinline__ void set(CoordinateOf coordinate_of) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float square = 0;
      float lost_square = 0;
#pragma unroll
      for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int eight = 0; eight < 2; ++eight) {
          const int k = 16 * step + 8 * eight + lane_index() % 4 * 2;
          const float first = k < D ? coordinate_of(half, k) : 0.0f;
          const float second = k + 1 < D ? coordinate_of(half, k + 1) : 0.0f;
          square = fmaf(first, first, fmaf(second, second, square));
          const float lost_of_pair[2] = {lost_of_half(2 * first), lost_of_half(2 * second)};
          lost_square = fmaf(lost_of_pair[0], lost_of_pair[0],
                             fmaf(lost_of_pair[1], lost_of_pair[1], lost_square));
          halves[step][half + 2 * eight] = pair_of_halves(-2 * first, -2 * second);
        }
      }
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        square += __shfl_xor_sync(full_warp, square, distance);
        lost_square += __shfl_xor_sync(full_warp, lost_square, distance);
      }
      lengths[half] = length_at_most(square);
      lost[half] = length_at_most(lost_square);
    }
  }
  /// Of row g, or g + 8: whether halves hold it.
  [[nodiscard]] __device__ __forceinline__ bool is_near(int half) const {
    return lengths[half] <= farthest_column;
  }
  /// By how much A may be off, for columns up to `reach` away from the centre that lose up to
  /// `lost_of_columns` as halves: what both points lose (2 u . v - (2 u)' . v' is (2 u - (2 u)') .
  /// v and (2 u)' . (v - v'), where a prime stands for halves); and as in tensor_least.cuh
  /// (gram_error()) what sums and centring lose, and the differences. 2^-20: where squares are too
  /// small for floats, nothing is ruled out.
  [[nodiscard]] __device__ __forceinline__ float error(int half, float reach,
                                                       float lost_of_columns) const {
    const float sum = lengths[half] + reach;
    return lost[half] * reach + (2 * lengths[half] + lost[half]) * lost_of_columns +
           static_cast<float>(chunks_of(D) + 3) * 0x1p-21f * sum * sum + 0x1p-20f;
  }
};

/// A of a warpgroup's rows and of 64 columns of the tile, from `first` on, and the least of each of
/// a lane's rows, or what `least` has, if that is less. All warps of the group.
template <int D>
__device__ __forceinline__ void warpgroup_find_values(const LeastRows<D>& rows,
                                                      const LeastTile<D>& tile, int first,
                                                      WarpgroupSums& values, float (&least)[2]) {
  warpgroup_begin();
#pragma unroll
  for (int step = 0; step < LeastRows<D>::steps; ++step) {
    warpgroup_multiply(rows.halves[step], tile.points.of(step, first), values, step == 0);
  }
  warpgroup_end(values);
#pragma unroll
  for (int e = 0; e < warpgroup_columns / 8; ++e) {
    float squares[2];
    load_vector(&tile.squares[first + 8 * e + lane_index() % 4 * 2], squares);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      values[e][q] += squares[q % 2];
      least[q / 2] = fminf(least[q / 2], values[e][q]);
    }
  }
}

/// Adds to `found` which values of a lane's row r are at most `limit`: bit 2 e + q for column 8 e +
/// q of its own.
__device__ __forceinline__ void find_values_up_to(float limit, const WarpgroupSums& values, int r,
                                                  unsigned& found) {
#pragma unroll
  for (int c = 0; c < 16; ++c) {
    if (values[c / 2][2 * r + c % 2] <= limit) found |= 1u << c;
  }
}

/// Whether points can be loaded in vectors of four coordinates.
template <class Problem>
__device__ __forceinline__ bool are_in_vectors(const Problem& problem) {
  const auto address_bits = reinterpret_cast<std::uintptr_t>(get<0>(problem.x).data) |
                            reinterpret_cast<std::uintptr_t>(get<0>(problem.y).data);
  return Problem::Formula::dimension % 4 == 0 && address_bits % 16 == 0;
}
/// The squared distance of row i and column j, added up as SquaredDistance adds it up, but for the
/// copies of both points, which take more registers than there are. In vectors where that can be:
/// lanes read different points, and so each load takes as long as 32 of one point.
template <bool InVectors, class Problem>
__device__ __forceinline__ float squared_distance_of(const Problem& problem, std::int64_t i,
                                                     std::int64_t j) {
  constexpr int D = Problem::Formula::dimension;
  const float* const x = get<0>(problem.x).data + i * D;
  const float* const y = get<0>(problem.y).data + j * D;
  if constexpr (InVectors && D % 4 == 0) {
    float u[4];
    float v[4];
    return sum_of_squares<D, float>([&](int k) {
      if (k % 4 == 0) {
        load_vector(x + k, u);
        load_vector(y + k, v);
      }
      return u[k % 4] - v[k % 4];
    });
  }
  return sum_of_squares<D, float>([&](int k) { return x[k] - y[k]; });
}
template <class Problem>
__device__ __forceinline__ float squared_distance_of(const Problem& problem, std::int64_t i,
                                                     std::int64_t j) {
  return are_in_vectors(problem) ? squared_distance_of<true>(problem, i, j)
                                 : squared_distance_of<false>(problem, i, j);
}

/// Notes candidates of a lane's rows, bit 2 e + q for column first_column + 8 e + q: those that
/// there is room for are no longer in `candidates`. Returns whether no lane of the warp has any
/// left; ends with a warp barrier if one has.
template <class Storage>
__device__ __forceinline__ bool warp_note(unsigned (&candidates)[2], const float (&values)[2],
                                          const int (&rows)[2], int first_column, Storage& shared) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    for (unsigned rest = candidates[r]; rest != 0; rest &= rest - 1) {
      const unsigned place = atomicAdd(&shared.counts[rows[r]], 1u);
      if (place >= Storage::most_candidates) break;
      const int c = __ffs(static_cast<int>(rest)) - 1;
      const int column = first_column + c / 2 * 8 + c % 2;
      shared.candidates[rows[r]][place] = {values[r], static_cast<std::uint32_t>(column)};
      candidates[r] &= ~(1u << c);
    }
  }
  if (!__any_sync(full_warp, (candidates[0] | candidates[1]) != 0)) return true;
  __syncwarp();  // the candidates are there
  return false;
}

/// The candidates of a row, one a lane, from the differences into the row's state, all of them.
/// Called by one warp; starts and ends with a warp barrier. Not inlined, so that it takes no
/// registers from the loop over tiles.
template <class Problem>
[[gnu::noinline]] __device__ void warp_take_candidates(const Problem& problem,
                                                       std::int64_t first_row,
                                                       std::int64_t first_column, int row,
                                                       WarpgroupLeastStorage<Problem>& shared) {
  __syncwarp();  // the candidates are there
  const auto lane = static_cast<unsigned>(lane_index());
  const auto count =
      min(shared.counts[row], unsigned{WarpgroupLeastStorage<Problem>::most_candidates});
  typename Problem::State state = problem.reduction.neutral();
  if (lane < count) {
    const std::int64_t j = first_column + shared.candidates[row][lane].column;
    const std::int64_t i = min(first_row + row, problem.rows - 1);
    problem.reduction.add(state, squared_distance_of(problem, i, j), j);
  }
#pragma unroll
  for (int distance = 1; distance < warp_threads; distance *= 2) {
    problem.reduction.merge(state, shuffle_xor(state, distance));
  }
  __syncwarp();  // all lanes have read how many there are
  if (lane == 0) {
    problem.reduction.merge(shared.states[0][row], state);
    shared.counts[row] = 0;
  }
  __syncwarp();  // there are none
}

/// The candidates that are left of the warp's rows, those within their row's limit, from the
/// differences into the rows' states. Two lanes have a row.
template <class Problem>
[[gnu::noinline]] __device__ void warp_take_rest(const Problem& problem, std::int64_t first_row,
                                                 std::int64_t first_column,
                                                 WarpgroupLeastStorage<Problem>& shared) {
  __syncwarp();  // candidates and limits are there
  const int row = warp_index() * 16 + lane_index() / 2;
  const std::int64_t i = min(first_row + row, problem.rows - 1);
  typename Problem::State state = problem.reduction.neutral();
#pragma unroll 1
  for (unsigned place = lane_index() % 2; place < shared.counts[row]; place += 2) {
    const LeastCandidate candidate = shared.candidates[row][place];
    if (candidate.value > shared.limits[row]) continue;
    const std::int64_t j = first_column + candidate.column;
    problem.reduction.add(state, squared_distance_of(problem, i, j), j);
  }
  problem.reduction.merge(state, shuffle_xor(state, 1));
  if (lane_index() % 2 == 0) problem.reduction.merge(shared.states[0][row], state);
  __syncwarp();  // a barrier of the block takes whole warps
}

/// The far columns of the block's part, from the differences, to the threads' states: threads t and
/// t + block_rows have row t, and every other column. Not inlined, so that it takes no registers
/// from the loop over tiles.
template <class Problem>
[[gnu::noinline]] __device__ typename Problem::State thread_find_nearest_far_column(
    const Problem& problem, std::int64_t first_row, Range range,
    const LeastTile<Problem::Formula::dimension>* tiles) {
  using Storage = WarpgroupLeastStorage<Problem>;
  const auto thread = static_cast<int>(threadIdx.x);
  const std::int64_t i = min(first_row + thread % Storage::block_rows, problem.rows - 1);
  const auto tile_count =
      static_cast<int>(divide_up(range.end - range.begin, Storage::Tile::columns));
  typename Problem::State nearest = problem.reduction.neutral();
  int number = 0;
  warp_for_each_far_column(tiles, tile_count, range.begin, [&](std::int64_t j) {
    if (number++ % 2 != thread / Storage::block_rows) return;
    problem.reduction.add(nearest, squared_distance_of(problem, i, j), j);
  });
  return nearest;
}

/// `tiles`: all columns, split.
template <class Problem>
__global__ void __launch_bounds__(WarpgroupLeastStorage<Problem>::threads, 1)
    warpgroup_least_kernel(const __grid_constant__ Problem problem, Split split,
                           typename Problem::State* partials, unsigned* tickets,
                           const LeastTile<Problem::Formula::dimension>* tiles,
                           UndecidedRows undecided) {
  using Least = LeastDistance<typename Problem::Formula, typename Problem::Reduction>;
  using State = typename Problem::State;
  using Storage = WarpgroupLeastStorage<Problem>;
  using Tile = typename Storage::Tile;
  constexpr int D = Storage::dimension;
  constexpr int block_rows = Storage::block_rows;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (!hopper::is_compiled_for_90a()) return;
  hopper::wait_for_kernel_before();
  auto& shared = dynamic_shared<Storage>();
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = lane_index();
  const std::int64_t first_row = blockIdx.x % split.row_blocks * block_rows;
  const Range range = range_of(split, blockIdx.x / split.row_blocks, problem.columns);
  const auto tile_count = static_cast<int>(divide_up(range.end - range.begin, Tile::columns));
  const Tile* const own_tiles = tiles + range.begin / Tile::columns;
  TileStream stream(shared.barriers, shared.stages, own_tiles, tile_count);
  if (thread < block_rows) {
    shared.counts[thread] = 0;
    shared.states[0][thread] = problem.reduction.neutral();
  }
  block_find_middle(problem, shared.centre);
  __syncthreads();  // all is there
  stream.start();
  // A lane has rows lane / 4 and lane / 4 + 8 of its warp.
  const int rows_of_lane[2] = {warp_index() * 16 + lane / 4, warp_index() * 16 + lane / 4 + 8};
  LeastRows<D> rows;
  const float scale = tiles[0].scale;
  rows.set([&](int half, int k) {
    const std::int64_t i = min(first_row + rows_of_lane[half], problem.rows - 1);
    return scale * (get<0>(problem.x).data[i * D + k] - shared.centre[k]);
  });

  int far = 0;  // columns
  float reach = 0;
  float lost = 0;
  float least_ends[2] = {infinity, infinity};  // no least distance lies beyond
  // What the warp may still compute from the differences.
  std::int64_t left = 16 * (16 + (range.end - range.begin) / 32);
  // A candidate is at most that. (Infinite values are none.) A row that is undecided has none.
  const auto limit_of = [&](int r, float error) {
    const float most = std::numeric_limits<float>::max();
    return rows.is_near(r) && left >= 0 ? fminf(least_ends[r] + error, most)
                                        : std::numeric_limits<float>::quiet_NaN();
  };
#pragma unroll 1
  for (int n = 0; n < tile_count; ++n) {
    const Tile& tile = stream.wait(n);
    far += tile.far_count;
    reach = fmaxf(reach, tile.reach);
    lost = fmaxf(lost, tile.lost);
    float errors[2];
    float limits[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      errors[r] = rows.error(r, reach, lost);
      limits[r] = limit_of(r, errors[r]);
    }
#pragma unroll 1
    for (int first = 0; first < Tile::columns; first += warpgroup_columns) {
      WarpgroupSums values;
      float least[2] = {infinity, infinity};
      warpgroup_find_values(rows, tile, first, values, least);
      const bool is_near_end = least[0] <= limits[0] || least[1] <= limits[1];
      if (!__any_sync(full_warp, is_near_end)) continue;

#pragma unroll
      for (int r = 0; r < 2; ++r) {
        least_ends[r] = fminf(least_ends[r], quad_min(least[r]) + errors[r]);
        limits[r] = limit_of(r, errors[r]);
      }
      // Mostly a lane has one or none. All get the least value of the lane's.
      unsigned candidates[2] = {0, 0};
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        if (!(least[r] <= limits[r])) continue;
        find_values_up_to(limits[r], values, r, candidates[r]);
      }
      const int first_column = n * Tile::columns + first + lane % 4 * 2;
      while (!warp_note(candidates, least, rows_of_lane, first_column, shared)) {
        for (int row = warp_index() * 16; row < warp_index() * 16 + 16; ++row) {
          if (shared.counts[row] < Storage::most_candidates) continue;
          warp_take_candidates(problem, first_row, range.begin, row, shared);
          left -= Storage::most_candidates;
        }
      }
    }
    stream.release(n);
  }
  if (lane % 4 == 0) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      shared.limits[rows_of_lane[r]] = least_ends[r] + rows.error(r, reach, lost);
    }
  }
  warp_take_rest(problem, first_row, range.begin, shared);
  if (lane % 4 == 0) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (rows.is_near(r) && left >= 0) continue;
      problem.reduction.add(shared.states[0][rows_of_lane[r]], undecided_value, 0);
    }
  }
  State state = problem.reduction.neutral();
  const bool has_many_far = are_many_far_columns(far, range.end - range.begin);
  if (far > 0 && !has_many_far) {
    state = thread_find_nearest_far_column(problem, first_row, range, own_tiles);
  }
  if (thread >= block_rows) shared.states[1][thread - block_rows] = state;
  __syncthreads();  // all states are there
  const bool has_row = thread < block_rows && first_row + thread < problem.rows;
  if (has_row) {
    problem.reduction.merge(state, shared.states[0][thread]);
    problem.reduction.merge(state, shared.states[1][thread]);
    // Without a finite distance: squares have overflowed, or there is none.
    if (has_many_far || !(Least::bound(state) < infinity)) {
      problem.reduction.add(state, undecided_value, 0);
    }
  }
  block_merge_states(
      problem, split, partials, tickets,
      [&](auto act) {
        if (has_row) act(first_row + thread, state);
      },
      [&](std::int64_t i, const State& nearest) {
        if (Least::bound(nearest) == undecided_value) {
          undecided.add(i);
        } else {
          problem.out[i] = problem.reduction.result(nearest);
        }
      });
}

}  // namespace warpath::map_reduce::detail
