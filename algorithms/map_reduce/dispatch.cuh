// From a call to the kernels of its scheme. The host function of map_reduce.cuh ends here.
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
  Scheme scheme = Scheme::naive;  ///< never automatic
  bool is_over_columns = false;   ///< threads over the columns: columns_kernel
  int rows_per_thread = 0;        ///< of rows_kernel, and of the block in columns_kernel
  std::int64_t parts = 1;         ///< parts of the columns
  std::int64_t span = 0;          ///< columns of a part, but for the last one
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
template <class Problem>
constexpr bool has_columns_kernel(int rows) {
  return rows == 1 || has_rows_kernel<Problem>(rows);
}
template <class Problem>
constexpr bool has_short_rows = sizeof(RowOf<Problem>) + sizeof(typename Problem::State) <= 32;
template <class Problem, int Rows>
using ColumnsShapeOf = ColumnsShape<Rows, !has_short_rows<Problem> ? 1 : Rows == 1 ? 6 : 3>;
template <class Problem, int Rows>
using RowsShapeOf =
    RowsShape<Rows, Rows * (sizeof(RowOf<Problem>) + 2 * sizeof(typename Problem::State)) <= 160
                        ? 4
                        : 2>;

/// Nanoseconds that a multiprocessor takes for a pair at best, about: a formula is taken to cost
/// what its numbers do, and an exponential. Double has half the units.
template <class Problem>
constexpr double pair_ns() {
  using Column = ColumnOf<Problem>;
  using Number = std::conditional_t<sizeof(ValueOfPair<Problem>) % 8 == 0, double, float>;
  const double numbers = sizeof(Column) / 4.0;
  return (1.5 * numbers + 4) * (sizeof(Number) == 8 ? 0.0055 : 0.0044);
}

template <class Problem>
KernelCost rows_cost(int rows_per_thread) {
  const double R = rows_per_thread;
  const double staged = sizeof(ColumnOf<Problem>) / 16.0 * 0.0044;  // loads from shared memory
  return {128 * rows_per_thread,
          columns_of_tile(sizeof(Staged<ColumnOf<Problem>>)),
          pair_ns<Problem>() + staged / R,
          1.0,
          std::max(1.0, 8 / R),
          4,
          2000,
          20};
}
template <class Problem>
KernelCost columns_cost(int rows) {
  return {rows, 1024, pair_ns<Problem>(), sizeof(ColumnOf<Problem>) / 16.0 * 0.3 / 8, 4, 8, 1500, 2};
}

template <class Problem>
constexpr bool is_tensor_sum =
    Exponential<typename Problem::Formula, typename Problem::Reduction>::is_possible;
template <class Problem>
constexpr bool is_tensor_least =
    LeastDistance<typename Problem::Formula, typename Problem::Reduction>::is_possible;
template <class Problem>
constexpr bool has_tensor = is_tensor_sum<Problem> || is_tensor_least<Problem>;

/// Shape number `which` of the tensor kernels, as a type: act.operator()<Shape>(), largest first. Long
/// states, and rows of many dimensions, take registers.
template <class Problem, class Act>
void with_tensor_shape(int which, Act&& act) {
  constexpr bool is_wide = sizeof(RowOf<Problem>) > 32;
  if constexpr (sizeof(typename Problem::State) > 16) {
    if (which == 0) return act.template operator()<TensorShape<1, 8, 1, 2>>();
    if (which == 1) return act.template operator()<TensorShape<1, 4, 1, 4>>();
  } else if constexpr (is_wide) {
    if (which == 0) return act.template operator()<TensorShape<4, 8, 1, 1>>();
    if (which == 1) return act.template operator()<TensorShape<2, 8, 1, 1>>();
  } else {
    if constexpr (is_tensor_sum<Problem>) {
      if (which == 0) return act.template operator()<TensorShape<4, 8, 1, 2>>();
    }
    if (which == 1) return act.template operator()<TensorShape<2, 8, 1, 3>>();
    if (which == 2) return act.template operator()<TensorShape<2, 4, 1, 6>>();
  }
}
inline constexpr int tensor_shapes = 3;

template <class Problem, class Shape>
KernelCost tensor_cost() {
  constexpr int D = sizeof(RowOf<Problem>) / sizeof(float);
  const double chunks = chunks_of(is_tensor_least<Problem> ? D + 1 : D);
  const double pair = (is_tensor_least<Problem> ? 0.014 : 0.0315) + (chunks - 1) * 0.0065;
  return {Shape::block_rows,
          tensor_tile<D>,
          pair,
          0.35 * chunks,
          16.0 / Shape::warps,
          static_cast<double>(Shape::blocks),
          4000,
          20};
}

/// The scheme, rows a thread and parts of the columns for a call.
template <class Problem>
Plan plan_of(std::int64_t rows, std::int64_t columns, const Options& options, bool has_tensor_cores,
             int processors) {
  std::optional<Plan> best;
  const auto consider = [&](Plan plan, const KernelCost& cost, std::int64_t most_parts) {
    const Cut cut = options.splits > 0
                        ? cut_of(cost, rows, columns, options.splits, processors)
                        : best_cut(cost, rows, columns, most_parts, processors);
    plan.parts = cut.parts;
    plan.span = cut.span;
    plan.expected_ns = cut.expected_ns;
    if (!best || plan.expected_ns < best->expected_ns) best = plan;
  };
  const bool is_any = options.scheme == Scheme::automatic;
  constexpr std::int64_t no_limit = 4096;
  for (const int R : {1, 4, 8}) {
    if (options.rows_per_thread > 0 && options.rows_per_thread != R) continue;
    if (!has_rows_kernel<Problem>(R)) continue;
    if (is_any || options.scheme == Scheme::tuned_1d) {
      Plan plan{Scheme::tuned_1d, false, R};
      const KernelCost cost = rows_cost<Problem>(R);
      const Cut cut = cut_of(cost, rows, columns, 1, processors);
      plan.span = cut.span;
      plan.expected_ns = cut.expected_ns;
      if (!best || plan.expected_ns < best->expected_ns) best = plan;
    }
    if (is_any || options.scheme == Scheme::tuned_2d) {
      consider({Scheme::tuned_2d, false, R}, rows_cost<Problem>(R), no_limit);
    }
  }
  if ((is_any || options.scheme == Scheme::tuned_2d) && options.rows_per_thread == 0) {
    for (const int R : {1, 8}) {
      if (has_columns_kernel<Problem>(R)) {
        consider({Scheme::tuned_2d, true, R}, columns_cost<Problem>(R), no_limit);
      }
    }
  }
  if constexpr (has_tensor<Problem>) {
    if ((is_any && has_tensor_cores) || options.scheme == Scheme::tensor) {
      for (int shape = 0; shape < tensor_shapes; ++shape) {
        with_tensor_shape<Problem>(shape, [&]<class Shape>() {
          Plan plan{Scheme::tensor};
          plan.shape = shape;
          consider(plan, tensor_cost<Problem, Shape>(), no_limit);
        });
      }
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
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major >= 8;
}
inline int device_processors() {
  int device = 0;
  int processors = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return processors;
}

/// The plan of a call with these options. Throws std::invalid_argument for a scheme that this
/// formula, reduction or device has not.
template <class Problem>
Plan plan_for(std::int64_t rows, std::int64_t columns, const Options& options) {
  require_in_range("splits", options.splits, 0, 65535);
  if (options.scheme == Scheme::tensor) {
    if constexpr (!has_tensor<Problem>) {
      throw std::invalid_argument(
          "scheme tensor has no such formula and reduction: expected float, and Gaussian with Sum "
          "by blocks, LogGaussian with LogSumExp, or SquaredDistance with Min or ArgMin");
    }
    if (!device_has_tensor_cores()) {
      throw std::invalid_argument("scheme tensor needs compute capability 8.0 or more");
    }
  }
  if (options.scheme == Scheme::naive || options.scheme == Scheme::gpu_1d) return {options.scheme};
  if (options.scheme == Scheme::gpu_2d) {
    Plan plan{Scheme::gpu_2d};
    plan.parts = divide_up(columns, std::max(1, options.block_threads));
    plan.span = options.block_threads;
    return plan;
  }
  return plan_of<Problem>(rows, columns, options, device_has_tensor_cores(), device_processors());
}

/// Launches a tuned kernel over its row blocks and parts, with room for partial states.
template <class Problem, class Kernel>
void launch_parts(const Problem& problem, const Plan& plan, std::int64_t block_rows,
                  unsigned threads, std::size_t shared_bytes, Kernel kernel, Workspace& workspace,
                  cudaStream_t stream) {
  using State = typename Problem::State;
  const std::int64_t row_blocks = divide_up(problem.rows, block_rows);
  const Split split{row_blocks, plan.parts, plan.span};
  State* partials = nullptr;
  unsigned* tickets = nullptr;
  if (plan.parts > 1) {
    const auto [states] =
        workspace.template take<State>(stream, row_blocks * block_rows * plan.parts);
    partials = states;
    tickets = workspace.tickets(stream, split.tickets());
  }
  launch({grid_of(row_blocks * plan.parts), threads, shared_bytes, stream}, kernel, problem, split,
         partials, tickets);
}

template <class Problem>
void run_rows(const Problem& problem, const Plan& plan, Workspace& workspace, cudaStream_t stream) {
  using Column = Staged<ColumnOf<Problem>>;
  const auto with = [&]<int R>() {
    if constexpr (has_rows_kernel<Problem>(R)) {
      using Shape = RowsShapeOf<Problem, R>;
      launch_parts(problem, plan, Shape::block_rows, Shape::threads,
                   columns_of_tile(sizeof(Column)) * sizeof(Column), rows_kernel<Shape, Problem>,
                   workspace, stream);
    }
  };
  if (plan.rows_per_thread == 1) return with.template operator()<1>();
  if (plan.rows_per_thread == 4) return with.template operator()<4>();
  with.template operator()<8>();
}

/// Whether batches of columns can be loaded in whole vectors.
template <class... Arrays>
bool are_aligned(const Pack<Arrays...>& arrays) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return ((reinterpret_cast<std::uintptr_t>(get<I>(arrays).data) % 16 == 0) && ...);
  }(std::make_integer_sequence<int, sizeof...(Arrays)>());
}

template <class Problem>
void run_columns(const Problem& problem, const Plan& plan, Workspace& workspace,
                 cudaStream_t stream) {
  const auto with = [&]<int R, int Batch>() {
    if constexpr (has_columns_kernel<Problem>(R)) {
      using Shape = ColumnsShapeOf<Problem, R>;
      launch_parts(problem, plan, R, Shape::threads,
                   sizeof(typename Problem::State) * R * (Shape::threads / warp_threads),
                   columns_kernel<Shape, Batch, Problem>, workspace, stream);
    }
  };
  constexpr int batch = sizeof(ColumnOf<Problem>) <= 32 ? 4 : 1;
  const auto with_rows = [&]<int Batch>() {
    if (plan.rows_per_thread == 1) return with.template operator()<1, Batch>();
    with.template operator()<8, Batch>();
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
        using Storage =
            TensorStorage<Shape, Form::dimension, Form::signal, ColumnOf<Problem>>;
        launch_parts(problem, plan, Shape::block_rows, Shape::threads, sizeof(Storage),
                     tensor_sum_kernel<Shape, Problem>, workspace, stream);
      } else {
        launch_parts(problem, plan, Shape::block_rows, Shape::threads,
                     sizeof(LeastStorage<Shape, Problem>), tensor_least_kernel<Shape, Problem>,
                     workspace, stream);
      }
    });
  }
}

template <class Problem>
void run(const Problem& problem, const Options& options, Workspace& workspace,
         cudaStream_t stream) {
  if (problem.rows == 0) return;
  if (problem.columns == 0) {
    launch({grid_of(divide_up(problem.rows, 128)), 128, 0, stream}, fill_neutral_kernel<Problem>,
           problem);
    return;
  }
  const Plan plan = plan_for<Problem>(problem.rows, problem.columns, options);
  switch (plan.scheme) {
    case Scheme::naive:
      return run_naive(problem, workspace, stream);
    case Scheme::gpu_1d:
      return run_gpu_1d(problem, options.block_threads, stream);
    case Scheme::gpu_2d:
      return run_gpu_2d(problem, options.block_threads, workspace, stream);
    case Scheme::tensor:
      return run_tensor(problem, plan, workspace, stream);
    default:
      return plan.is_over_columns ? run_columns(problem, plan, workspace, stream)
                                  : run_rows(problem, plan, workspace, stream);
  }
}

}  // namespace warpath::map_reduce
