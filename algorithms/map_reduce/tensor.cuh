// Gram form on the tensor cores, in float: of |u - v|^2 = |u|^2 - 2 u . v + |v|^2 the products are a
// matrix product, and what is left of a pair is an exponential and an addition, or a comparison.
//
// How a product of floats comes from halves: x = h + l, two halves (11 bits each), and
// (h, h, l, l) . (h', l', h', l') is x x' but for 2^-24 of it. A coordinate takes four of the 16
// products of an instruction, so a lane of four has a coordinate, and a chunk has four.
//
// How the form stays accurate: it subtracts squares that the distance does not have. So all points
// are taken relative to the centre of the block's rows, and where rows or columns of a tile lie too
// far from it for the accuracy, the block computes that tile from the differences.
#pragma once

#include <cstdint>

#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "map_reduce/formulas.cuh"
#include "map_reduce/reductions.cuh"
#include "map_reduce/tuned.cuh"

namespace warpath::map_reduce {

/// Chunks of four coordinates.
constexpr int chunks_of(int coordinates) {
  return (coordinates + 3) / 4;
}

/// What is to be summed up over the columns as 2^(-|u - v|^2) w, with u = scale x and v = scale y.
template <class Formula, class Reduction>
struct Exponential {
  static constexpr bool is_possible = false;
};
template <int D, int E>
struct Exponential<Gaussian<float, D, E>, Sum<ValueOf<float, E>, Accuracy::block>> {
  static constexpr bool is_possible = true;
  static constexpr int dimension = D;
  static constexpr int signal = E;
  using State = ValueOf<float, E>;

  __device__ __forceinline__ static float scale(const Gaussian<float, D, E>& formula) {
    return formula.scale;
  }
  template <class Arrays>
  __device__ __forceinline__ static Vector<float, E> weight(const Arrays& y, std::int64_t j) {
    return get<1>(y)[j];
  }
  /// The state that has sum * 2^-square.
  __device__ __forceinline__ static State state(float square, const Vector<float, E>& sum) {
    return weighted(exp2_of(-square), sum);
  }
};
template <int D>
struct Exponential<LogGaussian<float, D>, LogSumExp<float>> {
  static constexpr bool is_possible = true;
  static constexpr int dimension = D;
  static constexpr int signal = 1;
  using State = LogSumExp<float>::State;

  __device__ __forceinline__ static float scale(const LogGaussian<float, D>& formula) {
    return formula.scale * 1.2011224087864498f;  // sqrt(log2 e)
  }
  template <class Arrays>
  __device__ __forceinline__ static Vector<float, 1> weight(const Arrays&, std::int64_t) {
    return {1};
  }
  __device__ __forceinline__ static State state(float square, const Vector<float, 1>& sum) {
    if (sum == 0.0f) return LogSumExp<float>().neutral();
    return {-square, sum};
  }
};

/// Columns of a tile of a tensor kernel.
template <int D>
inline constexpr int tensor_tile = D <= 8 ? 256 : D <= 32 ? 128 : 64;

/// A tile of columns in Gram form.
template <int Chunks, int Tile>
struct TileHalves {
  static constexpr int chunks = Chunks;
  static constexpr int tile = Tile;
  /// (h, l, h, l) of a coordinate, as the lanes of a warp take them.
  std::uint32_t halves[Tile / 8][Chunks][warp_threads][2];
  float squares[Chunks][Tile];  ///< of each column, the part of each chunk; in the end [0] has all

  __device__ __forceinline__ void set(int t, int k, float v) {
    const std::uint32_t half = hopper::split_halves(v);
    const std::uint32_t both[2] = {half, half};
    store_vector(halves[t / 8][k / 4][t % 8 * 4 + k % 4], both);
  }
  /// What a lane takes of chunk c of columns 8 eight to 8 eight + 7.
  __device__ __forceinline__ void load(int eight, int c, std::uint32_t (&of_lane)[2]) const {
    load_vector(halves[eight][c][lane_index()], of_lane);
  }
};

/// Shared memory of a tensor kernel: a tile in one of two forms, and the sums of rows.
template <class Shape, int D, int E, class Column>
struct TensorStorage {
  static constexpr int chunks = chunks_of(D);
  static constexpr int tile = tensor_tile<D>;
  struct Gram {
    TileHalves<chunks, tile> columns;
    float weights[E][tile];
  };
  union {
    Gram gram;
    Staged<Column> columns[tile];
    float sums[Shape::column_warps][Shape::block_rows][E];
  };
  float centre[D];
};

/// The centre of the block's rows, about: the mean of some of them.
template <class T, int D>
__device__ __forceinline__ void block_find_centre(const Array<T, D>& x, std::int64_t first_row,
                                                  int block_rows, float (&centre)[D]) {
  constexpr int looked_at = 16;
  for (int k = threadIdx.x; k < D; k += blockDim.x) {
    float sum = 0;
#pragma unroll
    for (int s = 0; s < looked_at; ++s) {
      const std::int64_t i = min(first_row + s * block_rows / looked_at, x.count - 1);
      sum += x.data[i * D + k];
    }
    centre[k] = sum * (1.0f / looked_at);
  }
  __syncthreads();  // the centre is there
}

/// Coordinates 4 c to 4 c + 3 of a point, relative to the centre; 0 behind the last one.
template <int D>
__device__ __forceinline__ void load_chunk(const float* point, int c, const float (&centre)[D],
                                           float (&u)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int coordinate = 4 * c + k;
    const bool is_coordinate = D % 4 == 0 || coordinate < D;
    u[k] = is_coordinate ? point[coordinate] - centre[coordinate] : 0.0f;
  }
}
__device__ __forceinline__ float square_of_chunk(const float (&u)[4]) {
  return fmaf(u[3], u[3], fmaf(u[2], u[2], fmaf(u[1], u[1], u[0] * u[0])));
}
/// |point - centre|^2, added up as the columns' are.
template <int D>
__device__ __forceinline__ float centred_square(const float* point, const float (&centre)[D]) {
  float sum = 0;
  for (int c = 0; c < chunks_of(D); ++c) {
    float u[4];
    load_chunk(point, c, centre, u);
    sum += square_of_chunk(u);
  }
  return sum;
}

/// The columns of a tile on their way from global to shared memory, in the registers of `Threads`
/// threads: those of the next tile are fetched before this one is worked on.
template <int D, class Tile, int Threads>
struct Fetched {
  static constexpr int chunks = chunks_of(D);
  static constexpr int items = (Tile::tile * chunks + Threads - 1) / Threads;
  float v[items][4];

  /// Chunks of `width` columns from y on; 0 behind them.
  __device__ __forceinline__ void fetch(const float* y, int width) {
    for_each_item([&](int i, int t, int c) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const bool is_there = t < width && (D % 4 == 0 || 4 * c + k < D);
        v[i][k] = is_there ? y[t * D + 4 * c + k] : 0.0f;
      }
    });
  }
  /// Stores factor (y - centre), and in squares[0] each column's |y - centre|^2. No thread needs the
  /// tile any more, and a barrier must follow; but a thread may go on at once with what it has of
  /// columns threadIdx.x, + Threads, ...
  __device__ __forceinline__ void store(float factor, const float (&centre)[D], Tile& tile) const {
    for_each_item([&](int i, int t, int c) {
      float u[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int coordinate = 4 * c + k;
        const bool is_there = D % 4 == 0 || coordinate < D;
        u[k] = is_there ? v[i][k] - centre[coordinate] : 0.0f;
        tile.set(t, coordinate, factor * u[k]);
      }
      tile.squares[c][t] = square_of_chunk(u);
    });
    if constexpr (chunks > 1) {
      __syncthreads();  // the parts of the squares are there
      for (int t = threadIdx.x; t < Tile::tile; t += Threads) {
        float sum = 0;
        for (int c = 0; c < chunks; ++c) sum += tile.squares[c][t];
        tile.squares[0][t] = sum;
      }
    }
  }

 private:
  template <class Act>
  __device__ __forceinline__ static void for_each_item(Act act) {
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int item = i * Threads + static_cast<int>(threadIdx.x);
      if (Tile::tile * chunks % Threads == 0 || item < Tile::tile * chunks) {
        act(i, item % Tile::tile, item / Tile::tile);
      }
    }
  }
};

/// A lane's part of 16 rows, (h, h, l, l) of its coordinate of each chunk.
template <int Chunks>
struct RowHalves {
  std::uint32_t a[Chunks][4];
  __device__ __forceinline__ void set(int chunk, int half, float u) {
    const std::uint32_t halves = hopper::split_halves(u);
    a[chunk][half] = __byte_perm(halves, halves, 0x1010);
    a[chunk][half + 2] = __byte_perm(halves, halves, 0x3232);
  }
  /// Row lane / 4, or (half 1) the one eight behind it: factor (point - centre).
  template <int D>
  __device__ __forceinline__ void set_row(int half, const float* point, const float (&centre)[D],
                                          float factor) {
#pragma unroll
    for (int c = 0; c < chunks_of(D); ++c) {
      const int k = 4 * c + lane_index() % 4;
      set(c, half, k < D ? factor * (point[k] - centre[k]) : 0.0f);
    }
  }
};

/// The products of a warp's rows with columns 8 eight to 8 eight + 7 of a tile.
template <int RowTiles, class Tile>
__device__ __forceinline__ void warp_multiply(const RowHalves<Tile::chunks> (&rows)[RowTiles],
                                              const Tile& tile, int eight,
                                              float (&products)[RowTiles][4]) {
#pragma unroll
  for (int c = 0; c < Tile::chunks; ++c) {
    std::uint32_t halves[2];
    tile.load(eight, c, halves);
#pragma unroll
    for (int m = 0; m < RowTiles; ++m) {
      const float zero[4] = {0, 0, 0, 0};
      const float sum[4] = {products[m][0], products[m][1], products[m][2], products[m][3]};
      hopper::multiply_16x16x8(rows[m].a[c], halves, c == 0 ? zero : sum, products[m]);
    }
  }
}

/// Sums of exponentials. Squares up to this are accurate enough: their rounding errors, and those
/// of products as large, are 2^-20 of an exponent at most.
inline constexpr float most_square = 16;

/// The sums over the columns of a lane: of row g of each of the warp's row tiles, then of row g + 8.
template <int RowTiles, int E>
struct LaneSums {
  float of[RowTiles][2][E];
  __device__ __forceinline__ void set_zero() {
#pragma unroll
    for (int m = 0; m < RowTiles; ++m) {
#pragma unroll
      for (int e = 0; e < E; ++e) of[m][0][e] = of[m][1][e] = 0;
    }
  }
  __device__ __forceinline__ void add(const LaneSums& other) {
#pragma unroll
    for (int m = 0; m < RowTiles; ++m) {
#pragma unroll
      for (int e = 0; e < E; ++e) {
        of[m][0][e] += other.of[m][0][e];
        of[m][1][e] += other.of[m][1][e];
      }
    }
  }
};

/// One warp adds 2^(2 u . v) w of its rows and its share of a tile's columns, eight by eight.
template <class Shape, class Form, class Storage>
__device__ __forceinline__ void warp_add_exponentials(
    const RowHalves<Storage::chunks> (&rows)[Shape::row_tiles], const Storage& shared, int eights,
    LaneSums<Shape::row_tiles, Form::signal>& sums) {
  constexpr int E = Form::signal;
  const int lane = lane_index();
#pragma unroll(Storage::chunks <= 4 ? 2 : 1)
  for (int eight = warp_index() / Shape::row_warps; eight < eights; eight += Shape::column_warps) {
    float weights[E][2];
#pragma unroll
    for (int e = 0; e < E; ++e) {
      load_vector(&shared.gram.weights[e][eight * 8 + lane % 4 * 2], weights[e]);
    }
    float exponents[Shape::row_tiles][4] = {};
    warp_multiply(rows, shared.gram.columns, eight, exponents);
#pragma unroll
    for (int m = 0; m < Shape::row_tiles; ++m) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        // The special function unit and the FMA units share the work.
        const float power =
            q == 0 ? exp2_by_polynomial(exponents[m][q]) : exp2_of(exponents[m][q]);
#pragma unroll
        for (int e = 0; e < E; ++e) {
          sums.of[m][q / 2][e] = fmaf(power, weights[e][q % 2], sums.of[m][q / 2][e]);
        }
      }
    }
  }
}

/// What the warps' lanes have of each row, added in a fixed order: shared.sums[warp column][row].
template <class Shape, int E, class Storage>
__device__ __forceinline__ void warp_store_sums(const LaneSums<Shape::row_tiles, E>& sums,
                                                Storage& shared) {
  const int first = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
  for (int m = 0; m < Shape::row_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int e = 0; e < E; ++e) {
        float sum = sums.of[m][half][e];
        sum += __shfl_xor_sync(full_warp, sum, 1);
        sum += __shfl_xor_sync(full_warp, sum, 2);
        if (lane_index() % 4 == 0) {
          const int row = first + m * 16 + half * 8 + lane_index() / 4;
          shared.sums[warp_index() / Shape::row_warps][row][e] = sum;
        }
      }
    }
  }
}

/// The states of a thread's rows.
template <class State, int R>
struct States {
  State of[R];
};

/// A tile from the differences: a thread has rows threadIdx.x, + threads, ... of its block. Not
/// inlined, so that it takes no registers from the loop that it stands in for.
template <class Shape, int R, class Problem>
[[gnu::noinline]] __device__ States<typename Problem::State, R> thread_reduce_far_tile(
    const Problem& problem, States<typename Problem::State, R> states, std::int64_t first_row,
    const Staged<ColumnOf<Problem>>* tile, std::int64_t first, int width) {
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const std::int64_t i = first_row + threadIdx.x + r * Shape::threads;
    const RowOf<Problem> row[1] = {problem.row(min(i, problem.rows - 1))};
    typename Problem::State state[1] = {states.of[r]};
    thread_reduce_tile<1>(problem, row, state, tile, first, width);
    states.of[r] = state[0];
  }
  return states;
}

template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    tensor_sum_kernel(const __grid_constant__ Problem problem, Split split, typename Problem::State* partials,
                      unsigned* tickets) {
  using Form = Exponential<typename Problem::Formula, typename Problem::Reduction>;
  using State = typename Problem::State;
  constexpr int D = Form::dimension;
  constexpr int E = Form::signal;
  using Storage = TensorStorage<Shape, D, E, ColumnOf<Problem>>;
  auto& shared = dynamic_shared<Storage>();
  const std::int64_t row_block = blockIdx.x % split.row_blocks;
  const std::int64_t part = blockIdx.x / split.row_blocks;
  const std::int64_t first_row = row_block * Shape::block_rows;
  const auto& x = get<0>(problem.x);
  const auto& y = get<0>(problem.y);
  const float scale = Form::scale(problem.formula);
  // Behind the last row, that one again: it is not stored.
  const auto row_index = [&](int row) { return min(first_row + row, problem.rows - 1); };
  const auto square_of_row = [&](int row) {
    return scale * scale * centred_square(x.data + row_index(row) * D, shared.centre);
  };

  block_find_centre(x, first_row, Shape::block_rows, shared.centre);
  RowHalves<Storage::chunks> rows[Shape::row_tiles];
  const int warp_row = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
  for (int r = 0; r < 2 * Shape::row_tiles; ++r) {
    const float* point = x.data + row_index(warp_row + r * 8 + lane_index() / 4) * D;
    rows[r / 2].set_row(r % 2, point, shared.centre, scale);
  }
  bool are_far = false;
  for (int row = threadIdx.x; row < Shape::block_rows; row += Shape::threads) {
    are_far = are_far || !(square_of_row(row) <= most_square);
  }
  const bool rows_are_far = __syncthreads_or(are_far);

  LaneSums<Shape::row_tiles, E> sums;
  sums.set_zero();
  // What is computed from differences: a thread has rows threadIdx.x, + threads, ...
  constexpr int R = (Shape::block_rows + Shape::threads - 1) / Shape::threads;
  States<State, R> states;
#pragma unroll
  for (int r = 0; r < R; ++r) states.of[r] = problem.reduction.neutral();

  const Range range = range_of(split, part, problem.columns);
  const auto width_at = [&](std::int64_t first) {
    return static_cast<int>(max(std::int64_t{0}, min(std::int64_t{Storage::tile}, range.end - first)));
  };
  Fetched<D, decltype(shared.gram.columns), Shape::threads> fetched;
  constexpr int own_columns = (Storage::tile + Shape::threads - 1) / Shape::threads;
  Vector<float, E> weights[own_columns];
  const auto fetch = [&](std::int64_t first) {
    const int width = width_at(first);
    fetched.fetch(y.data + first * D, width);
#pragma unroll
    for (int n = 0; n < own_columns; ++n) {
      const int t = static_cast<int>(threadIdx.x) + n * Shape::threads;
      weights[n] = Vector<float, E>{};
      if (t < width) weights[n] = Form::weight(problem.y, first + t);
    }
  };
  fetch(range.begin);
  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile) {
    const int width = width_at(first);
    __syncthreads();  // nobody needs the last tile any more
    fetched.store(2 * scale, shared.centre, shared.gram.columns);
    bool is_far = rows_are_far;
#pragma unroll
    for (int n = 0; n < own_columns; ++n) {
      const int t = static_cast<int>(threadIdx.x) + n * Shape::threads;
      if (Storage::tile % Shape::threads != 0 && t >= Storage::tile) break;
      const float square = scale * scale * shared.gram.columns.squares[0][t];
      is_far = is_far || (t < width && !(square <= most_square));
      const Vector<float, E> weight = scaled(t < width ? exp2_of(-square) : 0.0f, weights[n]);
#pragma unroll
      for (int e = 0; e < E; ++e) shared.gram.weights[e][t] = weight[e];
    }
    if (!__syncthreads_or(is_far)) {  // and the tile is there
      fetch(first + Storage::tile);
      LaneSums<Shape::row_tiles, E> of_tile;
      of_tile.set_zero();
      warp_add_exponentials<Shape, Form>(rows, shared, (width + 7) / 8, of_tile);
      sums.add(of_tile);
    } else {
      for (int t = threadIdx.x; t < width; t += Shape::threads) {
        shared.columns[t].column = problem.column(first + t);
      }
      __syncthreads();  // the tile is there
      states = thread_reduce_far_tile<Shape, R>(problem, states, first_row, shared.columns, first,
                                                width);
      fetch(first + Storage::tile);
    }
  }

  __syncthreads();  // nobody needs the last tile any more
  warp_store_sums<Shape, E>(sums, shared);
  __syncthreads();  // the sums are there
  const auto for_each_row = [&](auto act) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int row = static_cast<int>(threadIdx.x) + r * Shape::threads;
      if (row < Shape::block_rows && first_row + row < problem.rows) {
        act(first_row + row, row, states.of[r]);
      }
    }
  };
  for_each_row([&](std::int64_t i, int row, State& state) {
    Vector<float, E> sum{};
#pragma unroll
    for (int warp = 0; warp < Shape::column_warps; ++warp) {
#pragma unroll
      for (int e = 0; e < E; ++e) sum[e] += shared.sums[warp][row][e];
    }
    problem.reduction.merge(state, Form::state(square_of_row(row), sum));
    if (split.parts > 1) partials[part * problem.rows + i] = state;
  });
  if (split.parts > 1) {
    if (!is_last_block(&tickets[row_block], static_cast<unsigned>(split.parts))) return;
    for_each_row([&](std::int64_t i, int, State& state) {
      state = thread_merge_parts(problem, partials, i, split.parts);
    });
  }
  for_each_row([&](std::int64_t i, int, State& state) {
    problem.out[i] = problem.reduction.result(state);
  });
}

}  // namespace warpath::map_reduce
