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

/// Shared memory of a tensor kernel: a tile in one of two forms, and the sums of rows.
template <class Shape, int D, int E, class Column>
struct TensorStorage {
  static constexpr int chunks = chunks_of(D);
  static constexpr int tile = tensor_tile<D>;
  struct Gram {
    std::uint32_t halves[tile / 8][chunks][warp_threads];  ///< as the lanes of a warp take them
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

/// Coordinate k of a point, relative to the centre; 0 behind the last one.
template <int D>
__device__ __forceinline__ float centred(const float* point, int k, const float (&centre)[D],
                                         float scale) {
  return k < D ? scale * (point[k] - centre[k]) : 0.0f;
}
template <int D>
__device__ __forceinline__ float centred_square(const float* point, const float (&centre)[D],
                                                float scale) {
  float sum = 0;
#pragma unroll(D <= 16 ? D : 16)
  for (int k = 0; k < D; ++k) {
    const float u = centred(point, k, centre, scale);
    sum = fmaf(u, u, sum);
  }
  return sum;
}

/// A lane's part of 16 rows, (h, h, l, l) of its coordinate of each chunk.
template <int Chunks>
struct RowHalves {
  std::uint32_t a[Chunks][4];
  __device__ __forceinline__ void set(int chunk, int half, float u) {
    const std::uint32_t halves = hopper::split_halves(u);
    a[chunk][half] = __byte_perm(halves, halves, 0x1010);
    a[chunk][half + 2] = __byte_perm(halves, halves, 0x3232);
  }
  /// The products of the 16 rows with 8 columns, of which a lane has (h, l) of its coordinates.
  __device__ __forceinline__ void multiply(const std::uint32_t (&b)[Chunks],
                                           float (&product)[4]) const {
    const float zero[4] = {0, 0, 0, 0};
    hopper::multiply_16x16x8(a[0], {b[0], b[0]}, zero, product);
#pragma unroll
    for (int c = 1; c < Chunks; ++c) {
      const float sum[4] = {product[0], product[1], product[2], product[3]};
      hopper::multiply_16x16x8(a[c], {b[c], b[c]}, sum, product);
    }
  }
};

/// Sums of exponentials. Squares up to this are accurate enough: their rounding errors, and those
/// of products as large, are 2^-20 of an exponent at most.
inline constexpr float most_square = 16;

/// A column of a tile in Gram form: 2 v in halves, and 2^-|v|^2 b.
template <class Form, class Storage, class Problem>
__device__ __forceinline__ void thread_store_gram_column(const Problem& problem, std::int64_t j,
                                                         bool is_column, int t, float scale,
                                                         Storage& shared) {
  constexpr int D = Form::dimension;
  const float* y = get<0>(problem.y).data + (is_column ? j : 0) * D;
#pragma unroll
  for (int c = 0; c < Storage::chunks; ++c) {
    std::uint32_t halves[4];
#pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const float v = is_column ? centred(y, 4 * c + lane, shared.centre, 2 * scale) : 0.0f;
      halves[lane] = hopper::split_halves(v);
    }
    store_vector(&shared.gram.halves[t / 8][c][t % 8 * 4], halves);
  }
  Vector<float, Form::signal> weight{};
  if (is_column) {
    weight = scaled(exp2_of(-centred_square(y, shared.centre, scale)), Form::weight(problem.y, j));
  }
#pragma unroll
  for (int e = 0; e < Form::signal; ++e) shared.gram.weights[e][t] = weight[e];
}

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
#pragma unroll 2
  for (int eight = warp_index() / Shape::row_warps; eight < eights; eight += Shape::column_warps) {
    std::uint32_t halves[Storage::chunks];
#pragma unroll
    for (int c = 0; c < Storage::chunks; ++c) halves[c] = shared.gram.halves[eight][c][lane];
    float weights[E][2];
#pragma unroll
    for (int e = 0; e < E; ++e) {
      load_vector(&shared.gram.weights[e][eight * 8 + lane % 4 * 2], weights[e]);
    }
    float exponents[Shape::row_tiles][4];
#pragma unroll
    for (int m = 0; m < Shape::row_tiles; ++m) rows[m].multiply(halves, exponents[m]);
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

template <class Shape, class Problem>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    tensor_sum_kernel(Problem problem, Split split, typename Problem::State* partials,
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
  const auto square_of = [&](const auto& array, std::int64_t i) {
    return centred_square(array.data + i * D, shared.centre, scale);
  };

  block_find_centre(x, first_row, Shape::block_rows, shared.centre);
  RowHalves<Storage::chunks> rows[Shape::row_tiles];
  const int warp_row = warp_index() % Shape::row_warps * Shape::warp_rows;
#pragma unroll
  for (int m = 0; m < Shape::row_tiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* point =
          x.data + row_index(warp_row + m * 16 + half * 8 + lane_index() / 4) * D;
#pragma unroll
      for (int c = 0; c < Storage::chunks; ++c) {
        rows[m].set(c, half, centred(point, 4 * c + lane_index() % 4, shared.centre, scale));
      }
    }
  }
  bool are_far = false;
  for (int row = threadIdx.x; row < Shape::block_rows; row += Shape::threads) {
    are_far = are_far || !(square_of(x, row_index(row)) <= most_square);
  }
  const bool rows_are_far = __syncthreads_or(are_far);

  LaneSums<Shape::row_tiles, E> sums;
  sums.set_zero();
  // What is computed from differences: a thread has rows threadIdx.x, + threads, ...
  constexpr int R = (Shape::block_rows + Shape::threads - 1) / Shape::threads;
  State states[R];
#pragma unroll
  for (int r = 0; r < R; ++r) states[r] = problem.reduction.neutral();

  const Range range = range_of(split, part, problem.columns);
  for (std::int64_t first = range.begin; first < range.end; first += Storage::tile) {
    const int width = static_cast<int>(min(std::int64_t{Storage::tile}, range.end - first));
    bool is_far = rows_are_far;
    for (int t = threadIdx.x; t < width; t += Shape::threads) {
      is_far = is_far || !(square_of(y, first + t) <= most_square);
    }
    if (!__syncthreads_or(is_far)) {  // and nobody needs the last tile any more
      const int eights = (width + 7) / 8;
      for (int t = threadIdx.x; t < eights * 8; t += Shape::threads) {
        thread_store_gram_column<Form>(problem, first + t, t < width, t, scale, shared);
      }
      __syncthreads();  // the tile is there
      LaneSums<Shape::row_tiles, E> of_tile;
      of_tile.set_zero();
      warp_add_exponentials<Shape, Form>(rows, shared, eights, of_tile);
      sums.add(of_tile);
    } else {
      for (int t = threadIdx.x; t < width; t += Shape::threads) {
        shared.columns[t].column = problem.column(first + t);
      }
      __syncthreads();  // the tile is there
      RowOf<Problem> row[R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        row[r] = problem.row(row_index(static_cast<int>(threadIdx.x) + r * Shape::threads));
      }
      thread_reduce_tile<R>(problem, row, states, shared.columns, first, width);
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
        act(first_row + row, row, states[r]);
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
    problem.reduction.merge(state, Form::state(square_of(x, i), sum));
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
