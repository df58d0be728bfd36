// From a call to the kernels of its variant. The host function of map_reduce.cuh ends here.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "map_reduce/cost_model.hpp"
#include "map_reduce/source_schemes.cuh"
#include "map_reduce/tensor.cuh"
#include "map_reduce/tensor_least.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/variant.hpp"

namespace warpath::map_reduce {

/// What was chosen for a call.
struct Plan {
  Variant variant = Variant::naive;  ///< never automatic
  bool is_over_columns = false;      ///< threads over the columns: columns_kernel
  int rows = 0;                      ///< of a thread in rows_kernel, of a block in columns_kernel
  std::int64_t parts = 1;            ///< parts of the columns
  std::int64_t span = 0;             ///< columns of a part, but for the last one
  double expected_ns = 0;
  int shape = 0;  ///< of tensor: which of its shapes
};

template <class Problem>
__global__ void fill_neutral_kernel(Problem problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= problem.rows) return;
  problem.out[i] = problem.reduction.result(problem.reduction.neutral());
}

/// Registers of the rows of a thread, about: four rows of 44 bytes are as good as eight of 20.
template <class Problem>
constexpr bool has_rows_kernel(int rows_per_thread) {
  return rows_per_thread == 1 ||
         rows_per_thread * (sizeof(RowOf<Problem>) + 2 * sizeof(typename Problem::State)) <= 240;
}
/// columns_kernel: 1, 4 or 16 rows a block; up to four in the registers of a thread.
template <class Problem>
constexpr bool has_columns_kernel(int rows) {
  return rows == 1 || has_rows_kernel<Problem>(4);
}
template <class Problem>
constexpr bool has_short_rows = sizeof(RowOf<Problem>) + sizeof(typename Problem::State) <= 32;
template <class Problem, int Rows>
using ColumnsShapeOf = ColumnsShape<(Rows < 4 ? 1 : 4), (Rows < 16 ? 1 : 4),
                                    !has_short_rows<Problem> ? 1
                                    : Rows == 1              ? 5
                                                             : 4>;
template <class Problem, int Rows>
using RowsShapeOf =
    RowsShape<Rows,
              Rows*(sizeof(RowOf<Problem>) + 2 * sizeof(typename Problem::State)) <= 160 ? 4 : 2>;

/// Instructions that the reduction of a value costs about.
template <class Reduction>
constexpr double instructions_of() {
  if constexpr (requires { Reduction::instructions; }) return Reduction::instructions;
  return 1;
}
/// What a pair costs beside one of the Gaussian in three dimensions, for which the figures stand:
/// two instructions a number, and those of the reduction; more than twice as much in double.
template <class Problem>
constexpr double relative_pair_cost() {
  constexpr bool is_double = sizeof(ValueOfPair<Problem>) % sizeof(double) == 0;
  constexpr double instructions =
      sizeof(ColumnOf<Problem>) / 2.0 + instructions_of<typename Problem::Reduction>();
  return instructions / 8 * (is_double ? 2.5 : 1);
}

template <class Problem>
KernelCost rows_cost(int rows_per_thread) {
  constexpr double column_bytes = sizeof(ColumnOf<Problem>);
  constexpr std::int64_t tile = columns_of_tile(sizeof(Staged<ColumnOf<Problem>>));
  // One row a thread: of long columns most of the time goes into loading them from shared memory.
  constexpr double of_long = column_bytes > 128 ? 1.8 : 1;
  constexpr double pair = relative_pair_cost<Problem>();
  if (rows_per_thread == 1) {
    return {128, tile, 0.0443 * pair * of_long, 1, 1.6, 5, 450, 2000, 520, 16, column_bytes};
  }
  if (rows_per_thread == 4) {
    return {512, tile, 0.0447 * pair, 0.25, 1.35, 5, 1270, 2170, 390, 16, column_bytes};
  }
  return {1024, tile, 0.0411 * pair, 1, 1.25, 4, 4000, 2600, 10, 16, column_bytes};
}
template <class Problem>
KernelCost columns_cost(int rows) {
  constexpr double column_bytes = sizeof(ColumnOf<Problem>);
  constexpr double pair = relative_pair_cost<Problem>();
  // Long columns are not loaded in whole vectors.
  constexpr double load = column_bytes > 32 ? column_bytes * 0.03 : 0.02;
  std::int64_t most = any_span;
  if constexpr (TakesAnyColumns<typename Problem::Reduction>) {
    // All columns of a thread are one group.
    const int threads = rows == 16 ? ColumnsShapeOf<Problem, 16>::group_threads
                                   : ColumnsShapeOf<Problem, 1>::group_threads;
    most = threads * Problem::Reduction::group_columns;
  }
  if (rows == 1) {
    return {1, 1024, 0.0775 * pair, 2.5 * load, 2.45, 5, 1410, 575, 246, 256, column_bytes, most};
  }
  if (rows == 4) {
    return {4, 1024, 0.056 * pair, load, 1.22, 4, 1000, 1310, 1280, 256, column_bytes, most};
  }
  return {16, 256, 0.0468 * pair, load, 1.29, 4, 1100, 1500, 1655, 256, column_bytes, most};
}

template <class Problem>
constexpr bool is_tensor_sum =
    Exponential<typename Problem::Formula, typename Problem::Reduction>::is_possible;
template <class Problem>
constexpr bool is_tensor_least =
    LeastDistance<typename Problem::Formula, typename Problem::Reduction>::is_possible;
template <class Problem>
constexpr bool has_tensor = is_tensor_sum<Problem> || is_tensor_least<Problem>;

/// Shape number `which` of the tensor kernels, as a type: act.operator()<Shape>(), largest first.
/// Long states, and rows of many dimensions, take registers.
template <class Problem, class Act>
void with_tensor_shape(int which, Act&& act) {
  constexpr bool is_wide = sizeof(RowOf<Problem>) > 32;
  constexpr bool is_very_wide = sizeof(RowOf<Problem>) > 256;
  if constexpr (sizeof(typename Problem::State) > 16) {
    if (which == 0) return act.template operator()<TensorShape<1, 8, 1, 2>>();
  } else if constexpr (is_very_wide) {
    if (which == 0) return act.template operator()<TensorShape<2, 8, 1, 1>>();
  } else if constexpr (is_wide) {
    if (which == 0) return act.template operator()<TensorShape<4, 8, 1, 1>>();
    if (which == 1) return act.template operator()<TensorShape<2, 8, 1, 1>>();
  } else {
    if constexpr (is_tensor_sum<Problem>) {
      if (which == 0) return act.template operator()<TensorShape<4, 8, 1, 2>>();
    }
    if (which == 1) return act.template operator()<TensorShape<2, 8, 1, 3>>();
    if (which == 2) return act.template operator()<TensorShape<2, 4, 2, 3>>();
  }
}
inline constexpr int tensor_shapes = 3;

template <class Problem, class Shape>
KernelCost tensor_cost() {
  constexpr int D = sizeof(RowOf<Problem>) / sizeof(float);
  constexpr double column_bytes = sizeof(ColumnOf<Problem>);
  constexpr int coordinates = is_tensor_least<Problem> ? D + 1 : D;
  // Instructions of the tensor cores for 16 rows and 8 columns.
  constexpr int products = coordinates <= 8 ? chunks_of(coordinates) : (coordinates + 15) / 16 * 3;
  constexpr double column = chunks_of(coordinates);
  if constexpr (is_tensor_least<Problem>) {
    // A block looks at many columns before it has bounds, more often where K are wanted.
    constexpr double states = sizeof(typename Problem::State) / 16.0;
    constexpr double pair = 0.0145 + products * 0.007 + (states > 1 ? 0.025 : 0);
    return {Shape::block_rows, tensor_tile<D>, pair, column, 1.3,         Shape::blocks,
            50000 * states,    1230,           1320, 16,     column_bytes};
  } else {
    constexpr double more = (products - 1) * (coordinates <= 8 ? 0.013 : 0.0075);
    if constexpr (Shape::block_rows > 256) {
      return {Shape::block_rows, tensor_tile<D>, 0.0318 + more, column, 1.14,
              Shape::blocks,     1770,           2150,          720,    16,
              column_bytes};
    } else if constexpr (Shape::block_rows > 128) {
      return {Shape::block_rows, tensor_tile<D>, 0.0304 + more, column, 1.29,
              Shape::blocks,     1490,           1230,          1320,   16,
              column_bytes};
    } else {
      return {Shape::block_rows, tensor_tile<D>, 0.0425 + more, 0.23 * column, 1.24,
              Shape::blocks,     1230,           1000,          300,           16,
              column_bytes};
    }
  }
}

/// The variant, rows a thread and parts of the columns for a call.
template <class Problem>
Plan plan_of(std::int64_t rows, std::int64_t columns, const Options& options, bool has_tensor_cores,
             int processors) {
  std::optional<Plan> best;
  const bool is_any = options.variant == Variant::automatic;
  const auto consider = [&](Plan plan, const KernelCost& cost) {
    if (!is_any && options.variant != plan.variant) return;
    const int wanted = plan.variant == Variant::tuned_1d ? 1 : options.splits;
    if (wanted > 0 && divide_up(columns, wanted) > cost.most_span) return;
    const Cut cut = wanted > 0 ? cut_of(cost, rows, columns, wanted, processors)
                               : best_cut(cost, rows, columns, processors);
    plan.parts = cut.parts;
    plan.span = cut.span;
    plan.expected_ns = cut.expected_ns;
    if (!best || plan.expected_ns < best->expected_ns) best = plan;
  };
  for (const int R : {1, 4, 8}) {
    if (options.rows_per_thread > 0 && options.rows_per_thread != R) continue;
    if (!has_rows_kernel<Problem>(R)) continue;
    consider({Variant::tuned_1d, false, R}, rows_cost<Problem>(R));
    consider({Variant::tuned_2d, false, R}, rows_cost<Problem>(R));
  }
  for (const int rows_of_block : {1, 4, 16}) {
    if (options.rows_per_thread > 0 || !has_columns_kernel<Problem>(rows_of_block)) continue;
    consider({Variant::tuned_2d, true, rows_of_block}, columns_cost<Problem>(rows_of_block));
  }
  if constexpr (has_tensor<Problem>) {
    for (int shape = 0; has_tensor_cores && shape < tensor_shapes; ++shape) {
      with_tensor_shape<Problem>(shape, [&]<class Shape>() {
        Plan plan{Variant::tensor};
        plan.shape = shape;
        consider(plan, tensor_cost<Problem, Shape>());
      });
    }
  }
  if (!best) {
    throw std::invalid_argument("rows_per_thread is " + std::to_string(options.rows_per_thread) +
                                ": expected 1, 4 or 8, or fewer where rows and states are long");
  }
  return *best;
}

/// Compute capability 8.0 or more: halves to single precision, 16 x 8 x 16.
inline bool device_has_tensor_cores() {
  int device = 0;
  int major = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 8;
}
inline int device_processors() {
  int device = 0;
  int processors = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return processors;
}

/// Throws std::invalid_argument for a variant that this formula, reduction or device has not, and
/// for numbers out of their range.
template <class Problem>
void require_options(const Options& options) {
  require_enum("variant", options.variant);
  require_in_range("splits", options.splits, 0, 65535);
  constexpr std::size_t column_bytes = sizeof(Staged<ColumnOf<Problem>>);
  if (options.variant == Variant::gpu_1d) {
    require_block(gpu_1d_kernel<Problem>, options.block_threads, column_bytes);
  }
  if (options.variant == Variant::gpu_2d) {
    require_block(gpu_2d_kernel<Problem>, options.block_threads, column_bytes);
  }
  if (options.variant != Variant::tensor) return;
  if constexpr (!has_tensor<Problem>) {
    throw std::invalid_argument(
        "variant tensor has no such formula and reduction: expected float, and Gaussian with Sum "
        "by blocks, LogGaussian with LogSumExp, or SquaredDistance with Min, ArgMin, KMin or "
        "ArgKMin");
  }
  if (!device_has_tensor_cores()) {
    throw std::invalid_argument("variant tensor needs compute capability 8.0 or more");
  }
}

template <class Problem>
Plan make_plan(std::int64_t rows, std::int64_t columns, const Options& options) {
  require_options<Problem>(options);
  if (options.variant == Variant::naive || options.variant == Variant::gpu_1d)
    return {options.variant};
  if (options.variant == Variant::gpu_2d) {
    Plan plan{Variant::gpu_2d};
    plan.parts = divide_up(columns, options.block_threads);
    plan.span = options.block_threads;
    return plan;
  }
  return plan_of<Problem>(rows, columns, options, device_has_tensor_cores(), device_processors());
}

/// The plan of a call with these options. Throws std::invalid_argument for a variant that this
/// formula, reduction or device has not. A thread keeps its last one: to make it takes longer than
/// the shortest kernels, and the same call often comes again.
template <class Problem>
Plan plan_for(std::int64_t rows, std::int64_t columns, const Options& options) {
  struct Last {
    int device = -1;
    std::int64_t rows;
    std::int64_t columns;
    Options options;
    Plan plan;
  };
  thread_local Last last;
  int device = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&device));
  if (last.device != device || last.rows != rows || last.columns != columns ||
      last.options != options) {
    last = {device, rows, columns, options, make_plan<Problem>(rows, columns, options)};
  }
  return last.plan;
}

/// Launches a tuned kernel over its row blocks and parts, with room for a Partial of each row and
/// part.
template <class Partial, class Problem, class Kernel>
void launch_parts(const Problem& problem, const Plan& plan, std::int64_t block_rows,
                  unsigned threads, std::size_t shared_bytes, Kernel kernel, Workspace& workspace,
                  cudaStream_t stream) {
  const std::int64_t row_blocks = divide_up(problem.rows, block_rows);
  const Split split{row_blocks, plan.parts, plan.span};
  Partial* partials = nullptr;
  unsigned* tickets = nullptr;
  if (plan.parts > 1) {
    const auto [taken] = workspace.template take<Partial>(stream, problem.rows * plan.parts);
    partials = taken;
    tickets = workspace.tickets(stream, split.tickets());
  }
  launch({grid_of(row_blocks * plan.parts), threads, shared_bytes, stream, /*starts_early=*/true},
         kernel, problem, split, partials, tickets);
}

template <class Problem>
void run_rows(const Problem& problem, const Plan& plan, Workspace& workspace, cudaStream_t stream) {
  using Column = Staged<ColumnOf<Problem>>;
  const auto with = [&]<int R>() {
    if constexpr (has_rows_kernel<Problem>(R)) {
      using Shape = RowsShapeOf<Problem, R>;
      launch_parts<typename Problem::State>(problem, plan, Shape::block_rows, Shape::threads,
                                            columns_of_tile(sizeof(Column)) * sizeof(Column),
                                            rows_kernel<Shape, Problem>, workspace, stream);
    }
  };
  if (plan.rows == 1) return with.template operator()<1>();
  if (plan.rows == 4) return with.template operator()<4>();
  with.template operator()<8>();
}

/// Whether batches of columns can be loaded in whole vectors.
template <class... Arrays>
bool are_aligned(const Pack<Arrays...>& arrays) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return ((reinterpret_cast<std::uintptr_t>(get<I>(arrays).data) % 16 == 0) && ...);
  }
  (std::make_integer_sequence<int, sizeof...(Arrays)>());
}

template <class Problem>
void run_columns(const Problem& problem, const Plan& plan, Workspace& workspace,
                 cudaStream_t stream) {
  const auto with = [&]<int Rows, int Batch>() {
    if constexpr (has_columns_kernel<Problem>(Rows)) {
      using Shape = ColumnsShapeOf<Problem, Rows>;
      constexpr int warps_of_row = Shape::threads / Shape::groups / warp_threads;
      launch_parts<ShareOf<Problem>>(problem, plan, Shape::block_rows, Shape::threads,
                                     sizeof(ShareOf<Problem>) * Shape::block_rows * warps_of_row,
                                     columns_kernel<Shape, Batch, Problem>, workspace, stream);
    }
  };
  constexpr int batch = sizeof(ColumnOf<Problem>) <= 32 ? 4 : 1;
  const auto with_rows = [&]<int Batch>() {
    if (plan.rows == 1) return with.template operator()<1, Batch>();
    if (plan.rows == 4) return with.template operator()<4, Batch>();
    with.template operator()<16, Batch>();
  };
  if (batch == 1 || are_aligned(problem.y)) return with_rows.template operator()<batch>();
  with_rows.template operator()<1>();
}

template <class Problem>
void run_tensor(const Problem& problem, const Plan& plan, Workspace& workspace,
                cudaStream_t stream) {
  if constexpr (has_tensor<Problem>) {
    with_tensor_shape<Problem>(plan.shape, [&]<class Shape>() {
      if constexpr (is_tensor_sum<Problem>) {
        using Form = Exponential<typename Problem::Formula, typename Problem::Reduction>;
        using Storage = TensorStorage<Shape, Form::dimension, Form::signal, ColumnOf<Problem>>;
        launch_parts<typename Problem::State>(problem, plan, Shape::block_rows, Shape::threads,
                                              sizeof(Storage), tensor_sum_kernel<Shape, Problem>,
                                              workspace, stream);
      } else {
        launch_parts<typename Problem::State>(
            problem, plan, Shape::block_rows, Shape::threads, sizeof(LeastStorage<Shape, Problem>),
            tensor_least_kernel<Shape, Problem>, workspace, stream);
      }
    });
  }
}

template <class Problem>
void run(const Problem& problem, const Options& options, Workspace& workspace,
         cudaStream_t stream) {
  if (problem.rows == 0 || problem.columns == 0) require_options<Problem>(options);
  if (problem.rows == 0) return;
  if (problem.columns == 0) {
    launch({grid_of(divide_up(problem.rows, 128)), 128, 0, stream}, fill_neutral_kernel<Problem>,
           problem);
    return;
  }
  const Plan plan = plan_for<Problem>(problem.rows, problem.columns, options);
  switch (plan.variant) {
    case Variant::naive:
      return run_naive(problem, workspace, stream);
    case Variant::gpu_1d:
      return run_gpu_1d(problem, options.block_threads, stream);
    case Variant::gpu_2d:
      return run_gpu_2d(problem, options.block_threads, workspace, stream);
    case Variant::tensor:
      return run_tensor(problem, plan, workspace, stream);
    default:
      return plan.is_over_columns ? run_columns(problem, plan, workspace, stream)
                                  : run_rows(problem, plan, workspace, stream);
  }
}

}  // namespace warpath::map_reduce
