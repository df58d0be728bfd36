// The source's two schemes, step by step, and the tensorized way that it compares itself with.
//
// Source: documentation of KeOps, "Map-Reduce schemes" (B. Charlier, J. Feydy, J. A. Glaunès,
// F.-D. Collin, G. Durif, "Kernel Operations on the GPU, with Autodiff, without Memory Overflows",
// JMLR 22(74), 2021, https://jmlr.org/papers/v22/20-275.html).
//
// The M x N plane of pairs (i, j) is cut into K x K tiles. In gpu_1d block A has all tiles of row
// A of this picture, one after the other, and thread k its row k + A K; in gpu_2d each tile is a
// block, and leaves a partial result for each of its rows:
//
//                 columns j
//                0         K        2K     N
//              0 +---------+---------+-----+
//                | block 0 | block 3 |  6  |   partials[B M + i]: the state of row i over the
//      rows i  K +---------+---------+-----+   columns of tile (A, B), written by its block
//                | block 1 | block 4 |  7  |   A + B ceil(M / K)
//             2K +---------+---------+-----+
//                | block 2 | block 5 |  8  |   out[i]: those of row i merged for B = 0, 1, ...,
//              M +---------+---------+-----+   by one thread of reduce_partials_kernel
//                   B = 0     B = 1   B = 2
//
// The schemes are the source's. How a thread adds up its columns, and so how exact sums are, is
// that of the tuned variants (thread_reduce_tile()).
#pragma once

#include <cstdint>
#include <limits>
#include <new>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "map_reduce/problem.cuh"

namespace warpath::map_reduce {

/// What a variant needs does not fit the device's memory: thrown by reduce() for naive and gpu_2d.
class DoesNotFit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpath::map_reduce

namespace warpath::map_reduce::detail {

/// Tile B of the columns into shared memory: thread k loads column k + B K. The caller's barrier
/// must follow.
template <class Problem>
__device__ __forceinline__ void block_load_columns(const Problem& problem, std::int64_t first,
                                                   Staged<ColumnOf<Problem>>* tile) {
  const std::int64_t j = first + threadIdx.x;
  if (j < problem.columns) tile[threadIdx.x].column = problem.column(j);
}

/// The 1D scheme: block A has rows A K to A K + K - 1, its thread k row k + A K, and all columns.
template <class Problem>
__global__ void gpu_1d_kernel(Problem problem) {
  auto* tile = &dynamic_shared<Staged<ColumnOf<Problem>>>();  // K columns
  const std::int64_t K = blockDim.x;
  const std::int64_t i = blockIdx.x * K + threadIdx.x;
  const bool has_row = i < problem.rows;
  // The row, in registers, and the running buffer a, which starts as the neutral element.
  const RowOf<Problem> row[1] = {problem.row(has_row ? i : 0)};
  typename Problem::State a[1] = {problem.reduction.neutral()};
  for (std::int64_t first = 0; first < problem.columns; first += K) {
    block_load_columns(problem, first, tile);
    __syncthreads();  // the columns are there
    const int width = static_cast<int>(min(K, problem.columns - first));
    if (has_row) thread_reduce_tile<1>(problem, row, a, tile, first, width);
    __syncthreads();  // all threads have read the tile
  }
  if (has_row) problem.out[i] = problem.reduction.result(a[0]);
}

/// The 2D scheme: a block a tile; tile (A, B) is block A + B ceil(M / K), and leaves partial
/// results a_i of its columns in partials[B M + i].
template <class Problem>
__global__ void gpu_2d_kernel(Problem problem, std::int64_t row_blocks,
                              typename Problem::State* partials) {
  auto* tile = &dynamic_shared<Staged<ColumnOf<Problem>>>();  // K columns
  const std::int64_t K = blockDim.x;
  const std::int64_t A = blockIdx.x % row_blocks;
  const std::int64_t B = blockIdx.x / row_blocks;
  const std::int64_t i = A * K + threadIdx.x;
  block_load_columns(problem, B * K, tile);
  __syncthreads();  // the columns are there
  if (i >= problem.rows) return;
  const RowOf<Problem> row[1] = {problem.row(i)};
  typename Problem::State a[1] = {problem.reduction.neutral()};
  const int width = static_cast<int>(min(K, problem.columns - B * K));
  thread_reduce_tile<1>(problem, row, a, tile, B * K, width);
  partials[B * problem.rows + i] = a[0];
}

/// The 2D scheme's final reduction: a thread a row.
template <class Problem>
__global__ void reduce_partials_kernel(Problem problem, const typename Problem::State* partials,
                                       std::int64_t parts) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= problem.rows) return;
  problem.out[i] = problem.reduction.result(thread_merge_parts(problem, partials, i, 0, 1, parts));
}

// ---------------------------------------------------------------- tensorized

/// values[i N + j] = F(x_i, y_j); any grid.
template <class Problem>
__global__ void map_kernel(Problem problem, ValueOfPair<Problem>* values) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t pairs = problem.rows * problem.columns;
  for (std::int64_t pair = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       pair < pairs; pair += stride) {
    values[pair] =
        problem.value(problem.row(pair / problem.columns), problem.column(pair % problem.columns));
  }
}

/// A block a row, a thread every blockDim-th column.
template <class Problem>
__global__ void reduce_values_kernel(Problem problem, const ValueOfPair<Problem>* values) {
  using State = typename Problem::State;
  auto* of_warp = &dynamic_shared<State>();  // one a warp
  const std::int64_t i = blockIdx.x;
  State state = problem.reduction.neutral();
  for (std::int64_t j = threadIdx.x; j < problem.columns; j += blockDim.x) {
    problem.reduction.add(state, values[i * problem.columns + j], j);
  }
  state = lanes_merge<warp_threads>(problem.reduction, state);
  if (lane_index() == 0) of_warp[warp_index()] = state;
  __syncthreads();  // the warps' states are there
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < blockDim.x / warp_threads; ++warp) {
    problem.reduction.merge(state, of_warp[warp]);
  }
  problem.out[i] = problem.reduction.result(state);
}

// ---------------------------------------------------------------- from the host

/// Throws DoesNotFit, with both numbers, unless `rows` x `parts` elements of `bytes` bytes are
/// free.
inline void require_memory(const std::string& what, std::int64_t rows, std::int64_t parts,
                           std::size_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const double needed =
      static_cast<double>(rows) * static_cast<double>(parts) * static_cast<double>(bytes);
  if (needed <= static_cast<double>(free)) return;
  char text[40];
  std::snprintf(text, sizeof text, "%.0f", needed);
  throw DoesNotFit(what + " needs " + text + " bytes of device memory for " + std::to_string(rows) +
                   " x " + std::to_string(parts) + " elements of " + std::to_string(bytes) +
                   " bytes, and " + std::to_string(free) + " are free");
}

/// Throws std::invalid_argument unless blocks of K threads, each with a column in shared memory,
/// can be had.
template <class Kernel>
void require_block(Kernel kernel, int K, std::size_t column_bytes) {
  cudaFuncAttributes attributes{};
  WARPATH_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  const int by_memory = static_cast<int>(device_shared_bytes() / column_bytes) / 32 * 32;
  const int most = std::min(attributes.maxThreadsPerBlock, by_memory);
  if (K >= 32 && K <= most && K % 32 == 0) return;
  if (most < 32) {
    throw std::invalid_argument(
        "gpu_1d and gpu_2d have a column for each of at least 32 threads in shared memory: columns "
        "of " +
        std::to_string(column_bytes) + " bytes are too long for the " +
        std::to_string(device_shared_bytes()) + " bytes of this device, expected another variant");
  }
  throw std::invalid_argument("block_threads is " + std::to_string(K) +
                              ": expected a multiple of 32, the threads of a warp, up to " +
                              std::to_string(most) + ", which is what this device has room for");
}

/// As a number of blocks. Throws std::invalid_argument where no grid has so many.
inline unsigned grid_of(std::int64_t blocks) {
  require_in_range("the number of blocks", blocks, 0, std::numeric_limits<int>::max());
  return static_cast<unsigned>(blocks);
}

/// K: as require_block() has it.
template <class Problem>
void run_gpu_1d(const Problem& problem, int K, cudaStream_t stream) {
  constexpr std::size_t column_bytes = sizeof(Staged<ColumnOf<Problem>>);
  launch({grid_of(divide_up(problem.rows, K)), static_cast<unsigned>(K),
          static_cast<std::size_t>(K) * column_bytes, stream},
         gpu_1d_kernel<Problem>, problem);
}

/// K: as require_block() has it.
template <class Problem>
void run_gpu_2d(const Problem& problem, int K, Workspace& workspace, cudaStream_t stream) {
  using State = typename Problem::State;
  constexpr std::size_t column_bytes = sizeof(Staged<ColumnOf<Problem>>);
  const std::int64_t row_blocks = divide_up(problem.rows, K);
  const std::int64_t parts = divide_up(problem.columns, K);
  const std::int64_t needed = problem.rows * parts * static_cast<std::int64_t>(sizeof(State));
  if (needed > workspace.bytes()) require_memory("gpu_2d", problem.rows, parts, sizeof(State));
  const unsigned blocks = grid_of(row_blocks * parts);
  const auto [partials] = workspace.template take<State>(stream, problem.rows * parts);
  launch({blocks, static_cast<unsigned>(K), static_cast<std::size_t>(K) * column_bytes, stream},
         gpu_2d_kernel<Problem>, problem, row_blocks, partials);
  launch({grid_of(divide_up(problem.rows, 128)), 128, 0, stream}, reduce_partials_kernel<Problem>,
         problem, partials, parts);
}

template <class Problem>
void run_naive(const Problem& problem, Workspace& workspace, cudaStream_t stream) {
  using Value = ValueOfPair<Problem>;
  constexpr unsigned threads = 256;
  const auto pairs = static_cast<double>(problem.rows) * static_cast<double>(problem.columns);
  if (pairs * sizeof(Value) > static_cast<double>(workspace.bytes())) {
    require_memory("naive", problem.rows, problem.columns, sizeof(Value));
  }
  const auto [values] = workspace.template take<Value>(stream, problem.rows * problem.columns);
  const std::int64_t blocks = std::min<std::int64_t>(
      divide_up(problem.rows * problem.columns, threads), std::int64_t{1} << 20);
  launch({grid_of(blocks), threads, 0, stream}, map_kernel<Problem>, problem, values);
  launch({grid_of(problem.rows), threads, threads / warp_threads * sizeof(typename Problem::State),
          stream},
         reduce_values_kernel<Problem>, problem, values);
}

}  // namespace warpath::map_reduce::detail
