// Gram form on the tensor cores, in float: of |u - v|^2 = |u|^2 - 2 u . v + |v|^2 the products are
// a matrix product, and what is left of a pair is an exponential and an addition, or a comparison.
//
// How a product of floats comes from halves: x = h + l, two halves (11 bits each), and with
// y = h' + l', x y = h h' + h l' + l h' but for 2^-21 of it. An instruction adds up 16 products.
// Narrow points (up to 8 coordinates) put (h, h, l, l) . (h', l', h', l') of a coordinate into a
// lane's four of the 16, so that three coordinates take one instruction; wide ones take three
// instructions for 16 coordinates, one for each of the three products.
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
  using State = typename Sum<ValueOf<float, E>, Accuracy::block>::State;

  __device__ __forceinline__ static float scale(const Gaussian<float, D, E>& formula) {
    return formula.scale;
  }
  template <class Arrays>
  __device__ __forceinline__ static Vector<float, E> weight(const Arrays& y, std::int64_t j) {
    return get<1>(y)[j];
  }
  /// The state that has sum * 2^-square.
  __device__ __forceinline__ static State state(float square, const Vector<float, E>& sum) {
    return {weighted(exp2_of(-square), sum), {}};
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
inline constexpr int tensor_tile = D <= 8    ? 256
                                   : D <= 32 ? 128
                                             : 64;

/// A warp's 16 rows, as its lanes hold them: lane 4 g + t has rows g and g + 8, and with them
/// coordinates t, t + 4, ... of narrow points, 4 t to 4 t + 3 of each 16 of wide ones.
template <int Coordinates>
struct NarrowRows {
  std::uint32_t a[chunks_of(Coordinates)][4];

  /// Row g, or (half 1) g + 8: coordinate_of(k) for k < Coordinates.
  template <class CoordinateOf>
  __device__ __forceinline__ void set(int half, CoordinateOf coordinate_of) {
#pragma unroll
    for (int c = 0; c < chunks_of(Coordinates); ++c) {
      const int k = 4 * c + lane_index() % 4;
      const std::uint32_t halves = hopper::split_halves(k < Coordinates ? coordinate_of(k) : 0.0f);
      a[c][half] = __byte_perm(halves, halves, 0x1010);
      a[c][half + 2] = __byte_perm(halves, halves, 0x3232);
    }
  }
};
template <int Coordinates>
struct WideRows {
  static constexpr int chunks = (Coordinates + 15) / 16;
  std::uint32_t high[chunks][4];
  std::uint32_t low[chunks][4];

  template <class CoordinateOf>
  __device__ __forceinline__ void set(int half, CoordinateOf coordinate_of) {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const int k = 16 * c + lane_index() % 4 * 4 + pair * 2;
        const std::uint32_t first = hopper::split_halves(k < Coordinates ? coordinate_of(k) : 0.0f);
        const std::uint32_t second =
            hopper::split_halves(k + 1 < Coordinates ? coordinate_of(k + 1) : 0.0f);
        high[c][half + 2 * pair] = __byte_perm(first, second, 0x5410);
        low[c][half + 2 * pair] = __byte_perm(first, second, 0x7632);
      }
    }
  }
};

/// A tile of columns, as the lanes of a warp take them; squares[0] has the square of each column,
/// in the end, and squares[c] what chunk c gives of it.
template <int Coordinates, int Tile>
struct NarrowTile {
  using Rows = NarrowRows<Coordinates>;
  static constexpr int tile = Tile;
  static constexpr int chunks = chunks_of(Coordinates);  ///< that are stored
  std::uint32_t halves[Tile / 8][chunks_of(Coordinates)][warp_threads][2];
  float squares[chunks_of(Coordinates)][Tile];

  __device__ __forceinline__ void set_one(int t, int k, float v) {
    const std::uint32_t half = hopper::split_halves(v);
    const std::uint32_t both[2] = {half, half};
    store_vector(halves[t / 8][k / 4][t % 8 * 4 + k % 4], both);
  }
  /// Coordinates 4 c to 4 c + 3 of column t.
  __device__ __forceinline__ void set(int t, int c, const float (&v)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) set_one(t, 4 * c + k, v[k]);
  }
  /// The products of the warp's rows with columns 8 eight to 8 eight + 7.
  template <int RowTiles>
  __device__ __forceinline__ void multiply(const Rows (&rows)[RowTiles], int eight,
                                           float (&products)[RowTiles][4]) const {
#pragma unroll
    for (int c = 0; c < chunks_of(Coordinates); ++c) {
      std::uint32_t b[2];
      load_vector(halves[eight][c][lane_index()], b);
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) {
        const float sum[4] = {products[m][0], products[m][1], products[m][2], products[m][3]};
        const float zero[4] = {0, 0, 0, 0};
        hopper::multiply_16x16x8(rows[m].a[c], b, c == 0 ? zero : sum, products[m]);
      }
    }
  }
};
template <int Coordinates, int Tile>
struct WideTile {
  using Rows = WideRows<Coordinates>;
  static constexpr int tile = Tile;
  static constexpr int chunks = 4 * Rows::chunks;
  std::uint32_t halves[Tile / 8][Rows::chunks][warp_threads][4];  ///< two of high, two of low
  float squares[chunks_of(Coordinates)][Tile];

  /// Coordinate k, a multiple of four, with zeros behind it.
  __device__ __forceinline__ void set_one(int t, int k, float v) { set(t, k / 4, {v, 0, 0, 0}); }
  __device__ __forceinline__ void set(int t, int c, const float (&v)[4]) {
    std::uint32_t split[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) split[k] = hopper::split_halves(v[k]);
    const std::uint32_t pairs[4] = {
        __byte_perm(split[0], split[1], 0x5410), __byte_perm(split[2], split[3], 0x5410),
        __byte_perm(split[0], split[1], 0x7632), __byte_perm(split[2], split[3], 0x7632)};
    store_vector(halves[t / 8][c / 4][t % 8 * 4 + c % 4], pairs);
  }
  /// The tensor cores cut off what they add up, and do not round it: sums of more than 64 products
  /// are added up outside of them.
  template <int RowTiles>
  __device__ __forceinline__ void multiply(const Rows (&rows)[RowTiles], int eight,
                                           float (&products)[RowTiles][4]) const {
    constexpr bool is_long = Rows::chunks > 4;
#pragma unroll
    for (int c = 0; c < Rows::chunks; ++c) {
      std::uint32_t both[4];
      load_vector(halves[eight][c][lane_index()], both);
      const std::uint32_t high[2] = {both[0], both[1]};
      const std::uint32_t low[2] = {both[2], both[3]};
      float of_chunk[RowTiles][4];
      float(&sums)[RowTiles][4] = is_long ? of_chunk : products;
      const auto multiply_add = [&](const auto& a, const auto& b, int m, bool is_first) {
        const float sum[4] = {sums[m][0], sums[m][1], sums[m][2], sums[m][3]};
        const float zero[4] = {0, 0, 0, 0};
        hopper::multiply_16x16x8(a, b, is_first ? zero : sum, sums[m]);
      };
      const bool is_first = is_long || c == 0;
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].high[c], high, m, is_first);
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].high[c], low, m, false);
#pragma unroll
      for (int m = 0; m < RowTiles; ++m) multiply_add(rows[m].low[c], high, m, false);
      if constexpr (is_long) {
#pragma unroll
        for (int m = 0; m < RowTiles; ++m) {
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            products[m][q] = c == 0 ? of_chunk[m][q] : products[m][q] + of_chunk[m][q];
          }
        }
      }
    }
  }
};
template <int Coordinates, int Tile>
using GramTile = std::conditional_t<Coordinates <= 8, NarrowTile<Coordinates, Tile>,
                                    WideTile<Coordinates, Tile>>;

/// Shared memory of a tensor kernel: a tile in one of two forms, and the sums of rows.
template <class Shape, int D, int E, class Column>
struct TensorStorage {
  static constexpr int tile = tensor_tile<D>;
  struct Gram {
    GramTile<D, tile> columns;
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
  const std::int64_t rows = min(std::int64_t{block_rows}, x.count - first_row);
  for (int k = threadIdx.x; k < D; k += blockDim.x) {
    float sum = 0;
#pragma unroll
    for (int s = 0; s < looked_at; ++s) {
      const std::int64_t i = first_row + s * rows / looked_at;
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
/// The sum of square_of(c) for all chunks of D coordinates, by fours (sum_of_squares()).
template <int D, class SquareOf>
__device__ __forceinline__ float sum_of_chunks(SquareOf square_of) {
  float sum = 0;
  for (int first = 0; first < chunks_of(D); first += 4) {
    float part = 0;
#pragma unroll
    for (int c = first; c < first + 4; ++c) {
      if (c < chunks_of(D)) part += square_of(c);
    }
    sum += part;
  }
  return sum;
}
/// |point - centre|^2, added up as the columns' are.
template <int D>
__device__ __forceinline__ float centred_square(const float* point, const float (&centre)[D]) {
  return sum_of_chunks<D>([&](int c) {
    float u[4];
    load_chunk(point, c, centre, u);
    return square_of_chunk(u);
  });
}

/// The columns of a tile on their way from global to shared memory, in the registers of `Threads`
/// threads: those of the next tile are fetched before this one is worked on.
template <int D, class Tile, int Threads>
struct Fetched {
  static constexpr int items = (Tile::tile * Tile::chunks + Threads - 1) / Threads;
  float v[items][4];

  /// Chunks of `width` columns from y on; 0 behind them, and behind their coordinates.
  __device__ __forceinline__ void fetch(const float* y, int width) {
    for_each_item([&](int i, int t, int c) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const bool is_there = t < width && 4 * c + k < D;
        v[i][k] = is_there ? y[t * D + 4 * c + k] : 0.0f;
      }
    });
  }
  /// Stores factor (y - centre), and in squares[0] each column's |y - centre|^2. No thread needs
  /// the tile any more, and a barrier must follow; but a thread may go on at once with what it has
  /// of columns threadIdx.x, + Threads, ...
  __device__ __forceinline__ void store(float factor, const float (&centre)[D], Tile& tile) const {
    for_each_item([&](int i, int t, int c) {
      float u[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int coordinate = 4 * c + k;
        u[k] = coordinate < D ? v[i][k] - centre[coordinate] : 0.0f;
      }
      if (4 * c < D) tile.squares[c][t] = square_of_chunk(u);
      tile.set(t, c, {factor * u[0], factor * u[1], factor * u[2], factor * u[3]});
    });
    if constexpr (Tile::chunks > 1) {
      __syncthreads();  // the parts of the squares are there
      for (int t = threadIdx.x; t < Tile::tile; t += Threads) {
        tile.squares[0][t] = sum_of_chunks<D>([&](int c) { return tile.squares[c][t]; });
      }
    }
  }

 private:
  template <class Act>
  __device__ __forceinline__ static void for_each_item(Act act) {
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int item = i * Threads + static_cast<int>(threadIdx.x);
      if (Tile::tile * Tile::chunks % Threads == 0 || item < Tile::tile * Tile::chunks) {
        act(i, item % Tile::tile, item / Tile::tile);
      }
    }
  }
};

/// Sums of exponentials. Squares up to this are accurate enough: their rounding errors, and those
/// of products as large, are 2^-20 of an exponent at most. In more than 64 dimensions the
/// coordinates' own rounding is as much.
template <int D>
inline constexpr float most_square = D <= 64 ? 16 : 32;

/// The sums over the columns of a lane: of row g of each of the warp's row tiles, then of row g
/// + 8.
template <int RowTiles, int E>
struct LaneSums {
  float of[RowTiles][2][E];
  __device__ __forceinline__ void set_zero() {
    for_each([](float& sum) { sum = 0; }, *this);
  }
  /// act(number of each...).
  template <class Act, class... Sums>
  __device__ __forceinline__ static void for_each(Act act, Sums&... sums) {
#pragma unroll
    for (int m = 0; m < RowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int e = 0; e < E; ++e) act(sums.of[m][half][e]...);
      }
    }
  }
};

/// Those of all tiles: what each addition of a tile loses is carried along (Kahan).
template <int RowTiles, int E>
struct LaneTotals {
  LaneSums<RowTiles, E> sums;
  LaneSums<RowTiles, E> excess;
  __device__ __forceinline__ void set_zero() {
    sums.set_zero();
    excess.set_zero();
  }
  __device__ __forceinline__ void add(const LaneSums<RowTiles, E>& of_tile) {
    LaneSums<RowTiles, E>::for_each(
        [](float& sum, float& too_much, const float& more) {
          Sum<float, Accuracy::kahan>::State state{sum, too_much};
          Sum<float, Accuracy::kahan>().add(state, more, 0);
          sum = state.sum;
          too_much = state.excess;
        },
        sums, excess, of_tile);
  }
};

/// One warp adds 2^(2 u . v) w of its rows and its share of a tile's columns, eight by eight.
template <class Shape, class Form, class Rows, class Storage>
__device__ __forceinline__ void warp_add_exponentials(
    const Rows (&rows)[Shape::row_tiles], const Storage& shared, int eights,
    LaneSums<Shape::row_tiles, Form::signal>& sums) {
  constexpr int E = Form::signal;
  const int lane = lane_index();
#pragma unroll 2
  for (int eight = warp_index() / Shape::row_warps; eight < eights; eight += Shape::column_warps) {
    float weights[E][2];
#pragma unroll
    for (int e = 0; e < E; ++e) {
      load_vector(&shared.gram.weights[e][eight * 8 + lane % 4 * 2], weights[e]);
    }
    float exponents[Shape::row_tiles][4] = {};
    shared.gram.columns.multiply(rows, eight, exponents);
#pragma unroll
    for (int m = 0; m < Shape::row_tiles; ++m) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        // The special function unit and the FMA units share the work.
        const float power = q == 0 ? exp2_by_polynomial(exponents[m][q]) : exp2_of(exponents[m][q]);
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
    tensor_sum_kernel(const __grid_constant__ Problem problem, Split split,
                      typename Problem::State* partials, unsigned* tickets) {
  using Form = Exponential<typename Problem::Formula, typename Problem::Reduction>;
  using State = typename Problem::State;
  constexpr int D = Form::dimension;
  constexpr int E = Form::signal;
  using Storage = TensorStorage<Shape, D, E, ColumnOf<Problem>>;
  hopper::wait_for_kernel_before();  // launch_parts() lets this one start early
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

  using Tile = decltype(shared.gram.columns);
  const Range range = range_of(split, part, problem.columns);
  const auto width_at = [&](std::int64_t first) {
    return static_cast<int>(
        max(std::int64_t{0}, min(std::int64_t{Storage::tile}, range.end - first)));
  };
  Fetched<D, Tile, Shape::threads> fetched;
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

  block_find_centre(x, first_row, Shape::block_rows, shared.centre);
  typename Tile::Rows rows[Shape::row_tiles];
  const int warp_row = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
  for (int r = 0; r < 2 * Shape::row_tiles; ++r) {
    const float* point = x.data + row_index(warp_row + r * 8 + lane_index() / 4) * D;
    rows[r / 2].set(r % 2, [&](int k) { return scale * (point[k] - shared.centre[k]); });
  }
  bool are_far = false;
  for (int row = threadIdx.x; row < Shape::block_rows; row += Shape::threads) {
    are_far = are_far || !(square_of_row(row) <= most_square<D>);
  }
  const bool rows_are_far = __syncthreads_or(are_far);

  LaneTotals<Shape::row_tiles, E> totals;
  totals.set_zero();
  // What is computed from differences: a thread has rows threadIdx.x, + threads, ...
  constexpr int R = (Shape::block_rows + Shape::threads - 1) / Shape::threads;
  States<State, R> states;
#pragma unroll
  for (int r = 0; r < R; ++r) states.of[r] = problem.reduction.neutral();

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
      is_far = is_far || (t < width && !(square <= most_square<D>));
      const Vector<float, E> weight = scaled(t < width ? exp2_of(-square) : 0.0f, weights[n]);
#pragma unroll
      for (int e = 0; e < E; ++e) shared.gram.weights[e][t] = weight[e];
    }
    if (!__syncthreads_or(is_far)) {  // and the tile is there
      fetch(first + Storage::tile);
      LaneSums<Shape::row_tiles, E> of_tile;
      of_tile.set_zero();
      warp_add_exponentials<Shape, Form>(rows, shared, (width + 7) / 8, of_tile);
      totals.add(of_tile);
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
  warp_store_sums<Shape, E>(totals.sums, shared);
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
  for_each_row([&](std::int64_t, int row, State& state) {
    Vector<float, E> sum{};
#pragma unroll
    for (int warp = 0; warp < Shape::column_warps; ++warp) {
#pragma unroll
      for (int e = 0; e < E; ++e) sum[e] += shared.sums[warp][row][e];
    }
    problem.reduction.merge(state, Form::state(square_of_row(row), sum));
  });
  block_finish_rows(problem, split, partials, tickets, [&](auto act) {
    for_each_row([&](std::int64_t i, int, State& state) { act(i, state); });
  });
}

}  // namespace warpath::map_reduce
