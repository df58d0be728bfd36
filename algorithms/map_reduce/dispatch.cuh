// From a plan to the launches of its kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "map_reduce/plan.cuh"

namespace warpath::map_reduce::detail {

/// No columns: every row gets the neutral element.
template <class Problem>
__global__ void fill_neutral_kernel(Problem problem) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= problem.rows) return;
  problem.out[i] = problem.reduction.result(problem.reduction.neutral());
}

inline Split split_of(std::int64_t rows, const Choice& choice, std::int64_t block_rows) {
  return {divide_up(rows, block_rows), choice.parts, choice.span};
}

/// What the blocks of a tuned kernel have in common, in a workspace.
template <class Partial, class Extra>
struct Parts {
  Split split;
  Partial* partials = nullptr;  ///< of each row and part
  unsigned* tickets = nullptr;
  Extra* extra = nullptr;

  Parts(std::int64_t rows, const Choice& choice, std::int64_t block_rows, std::int64_t extra_count,
        Workspace& workspace, cudaStream_t stream)
      : split(split_of(rows, choice, block_rows)) {
    const std::int64_t states = choice.parts > 1 ? rows * choice.parts : 0;
    if (states == 0 && extra_count == 0) return;
    std::tie(partials, extra) =
        workspace.template take<Partial, Extra>(stream, states, extra_count);
    if (choice.parts > 1) tickets = workspace.tickets(stream, split.tickets());
  }
};

/// Launches a tuned kernel over its row blocks and parts, with room for a Partial of each row and
/// part.
template <class Partial, class Problem, class Kernel>
void launch_parts(const Problem& problem, const Choice& choice, std::int64_t block_rows,
                  unsigned threads, std::size_t shared_bytes, Kernel kernel, Workspace& workspace,
                  cudaStream_t stream) {
  const Parts<Partial, char> parts(problem.rows, choice, block_rows, 0, workspace, stream);
  launch({grid_of(parts.split.blocks()), threads, shared_bytes, stream, /*starts_early=*/true},
         kernel, problem, parts.split, parts.partials, parts.tickets);
}

template <class Problem>
void run_rows(const Problem& problem, const Choice& choice, Workspace& workspace,
              cudaStream_t stream) {
  using Column = Staged<ColumnOf<Problem>>;
  const auto with = [&]<int R>() {
    if constexpr (keeps_lists<Problem>) {
      if (R > 1) return;
      using Shape = typename ListStorage<Problem>::Shape;
      launch_parts<typename Problem::State>(problem, choice, Shape::block_rows, Shape::threads,
                                            sizeof(ListStorage<Problem>), list_rows_kernel<Problem>,
                                            workspace, stream);
    } else if constexpr (has_rows_kernel<Problem>(R)) {
      using Shape = RowsShapeOf<Problem, R>;
      if (Shape::block_rows != choice.block_rows) return;
      launch_parts<typename Problem::State>(problem, choice, Shape::block_rows, Shape::threads,
                                            columns_of_tile(sizeof(Column)) * sizeof(Column),
                                            rows_kernel<Shape, Problem>, workspace, stream);
    }
  };
  with.template operator()<1>();
  with.template operator()<4>();
  with.template operator()<8>();
}

/// Whether columns can be loaded in whole vectors.
template <class... Arrays>
bool are_aligned(const Pack<Arrays...>& arrays) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return ((reinterpret_cast<std::uintptr_t>(get<I>(arrays).data) % 16 == 0) && ...);
  }
  (std::make_integer_sequence<int, sizeof...(Arrays)>());
}

template <class Problem>
void run_columns(const Problem& problem, const Choice& choice, Workspace& workspace,
                 cudaStream_t stream) {
  const auto with = [&]<int Rows, int Batch, bool Aligned>() {
    if constexpr (is_staged<Problem>(Rows) && has_columns_kernel<Problem>(Rows)) {
      using Shape = StagedShapeOf<Problem, Rows>;
      launch_parts<ShareOf<Problem>>(problem, choice, Shape::block_rows, Shape::threads,
                                     sizeof(StagedStorage<Shape, Problem>),
                                     staged_columns_kernel<Shape, Problem>, workspace, stream);
    } else if constexpr (has_columns_kernel<Problem>(Rows)) {
      using Shape = ColumnsShapeOf<Problem, Rows>;
      constexpr int warps_of_row = Shape::threads / Shape::teams / warp_threads;
      launch_parts<ShareOf<Problem>>(problem, choice, Shape::block_rows, Shape::threads,
                                     sizeof(ShareOf<Problem>) * Shape::block_rows * warps_of_row,
                                     columns_kernel<Shape, Batch, Aligned, Problem>, workspace,
                                     stream);
    }
  };
  const auto with_rows = [&]<int Rows>() {
    if (are_aligned(problem.y)) {
      with.template operator()<Rows, batch_of<Problem>(Rows), true>();
    } else {
      with.template operator()<Rows, 1, false>();
    }
  };
  if (choice.block_rows == 1) return with_rows.template operator()<1>();
  if (choice.block_rows == 4) return with_rows.template operator()<4>();
  with_rows.template operator()<16>();
}

/// Sums on the tensor cores; signals of several numbers are split by a preceding kernel.
template <class Shape, class Problem>
void run_tensor_sum(const Problem& problem, const Choice& choice, Workspace& workspace,
                    cudaStream_t stream) {
  using Source = SignalSourceOf<Shape, Problem>;
  using Rows = FarRows<Shape::threads, Shape::block_rows, Shape::blocks, false, Problem>;
  using Storage = TensorStorageOf<Shape, Problem>;
  using Far = FarPointsOf<Shape, Problem>;
  using Rest = FarStorage<Rows, Far, Storage::tile, Problem>;
  std::int64_t tiles = 0;
  if constexpr (is_second_product<Problem>) tiles = divide_up(problem.columns, Source::columns);
  const Split split = split_of(problem.rows, choice, Shape::block_rows);
  const auto [partials, source, far] =
      workspace.template take<typename Problem::State, Source, Far>(
          stream, problem.rows * split.parts, tiles, split.blocks());
  unsigned* const tickets = split.parts > 1 ? workspace.tickets(stream, split.tickets()) : nullptr;
  if constexpr (is_second_product<Problem>) {
    using Form = ExponentialOf<Problem>;
    constexpr unsigned threads = 256;
    launch({grid_of(tiles), threads, sizeof(SplitSignalsStorage<Form::dimension, Form::signal>),
            stream, /*starts_early=*/true},
           split_signals_kernel<Form::dimension, Form::signal>, get<1>(problem.y), source);
  }
  launch({grid_of(split.blocks()), Shape::threads, sizeof(Storage), stream, /*starts_early=*/true},
         tensor_sum_kernel<Shape, Problem>, problem, split, partials, tickets, source, far);
  launch({grid_of(split.blocks()), Rows::threads, sizeof(Rest), stream, /*starts_early=*/true},
         far_points_kernel<Rows, Storage::tile, Problem, Far>, problem, split, partials, tickets,
         static_cast<const Far*>(far));
}

/// Sums by the products of warpgroups; the columns, and signals, are split by a preceding kernel.
template <class Problem>
void run_warpgroups(const Problem& problem, const Choice& choice, Workspace& workspace,
                    cudaStream_t stream) {
  with_warpgroup_kernels<Problem>([&]<class Storage, class Splitter>(auto kernel, auto splitting) {
    using Tile = typename Storage::Tile;
    const std::int64_t tiles = divide_up(problem.columns, Tile::columns);
    const Parts<typename Problem::State, Tile> parts(problem.rows, choice, Storage::block_rows,
                                                     tiles, workspace, stream);
    constexpr unsigned threads = 256;
    launch({grid_of(tiles), threads, sizeof(Splitter), stream, /*starts_early=*/true}, splitting,
           problem, parts.extra);
    launch({grid_of(parts.split.blocks()), Storage::threads, sizeof(Storage), stream,
            /*starts_early=*/true},
           kernel, problem, parts.split, parts.partials, parts.tickets, parts.extra);
  });
}

/// Nearest columns by the products of warpgroups: the columns are split, rows are searched, lists
/// of several columns are finished, and rows that are undecided are searched by the differences.
template <class Problem>
void run_nearest(const Problem& problem, const Choice& choice, Workspace& workspace,
                 cudaStream_t stream) {
  with_warpgroup_kernels<Problem>([&]<class Storage, class Splitter>(auto kernel, auto splitting) {
    using State = typename Problem::State;
    using Tile = typename Storage::Tile;
    using Rest = UndecidedStorage<Problem>;
    const std::int64_t tile_count = divide_up(problem.columns, Tile::columns);
    const Split split = split_of(problem.rows, choice, Storage::block_rows);
    const unsigned rest_blocks = undecided_blocks();
    // The last kernel's states lie where the parts have lain.
    const auto [memory, tiles, numbers] =
        workspace.template take<unsigned char, Tile, unsigned long long>(
            stream, bytes_of_parts<Problem, Storage>(choice, problem.rows), tile_count,
            undecided_numbers(problem.rows));
    auto* const parts = reinterpret_cast<typename Storage::Found*>(memory);
    auto* const states = reinterpret_cast<State*>(memory);
    unsigned* const tickets =
        workspace.tickets(stream, std::max(split.tickets(), undecided_tickets(rest_blocks)));
    const UndecidedRows undecided = undecided_rows_in(numbers);
    const auto launch_early = [&](std::int64_t blocks, unsigned threads, std::size_t shared_bytes,
                                  auto kernel_of_step, const auto&... arguments) {
      launch({grid_of(blocks), threads, shared_bytes, stream, /*starts_early=*/true},
             kernel_of_step, problem, arguments...);
    };
    launch_early(tile_count, 256, sizeof(Splitter), splitting, tiles, undecided);
    if constexpr (has_warpgroup_lists<Problem>) {
      using Finish = FinishStorage<Problem>;
      launch_early(split.blocks(), Storage::threads, sizeof(Storage), kernel, split, parts, tiles);
      launch_early(divide_up(problem.rows, Finish::block_rows), Finish::threads, sizeof(Finish),
                   finish_lists_kernel<Problem>, parts, split.parts, tiles, undecided);
    } else {
      launch_early(split.blocks(), Storage::threads, sizeof(Storage), kernel, split, parts, tickets,
                   tiles, undecided);
    }
    launch_early(rest_blocks, Rest::threads, sizeof(Rest), undecided_rows_kernel<Problem>,
                 undecided, states, tickets);
  });
}

template <class Problem>
void run_tensor(const Problem& problem, const Choice& choice, Workspace& workspace,
                cudaStream_t stream) {
  if constexpr (has_warpgroups<Problem>) {
    if (choice.takes_warpgroups) {
      if constexpr (is_tensor_least<Problem>) {
        return run_nearest(problem, choice, workspace, stream);
      } else {
        return run_warpgroups(problem, choice, workspace, stream);
      }
    }
  }
  if constexpr (has_tensor<Problem>) {
    for_each_tensor_shape<Problem>([&]<class Shape>() {
      if (Shape::block_rows != choice.block_rows) return;
      if constexpr (is_tensor_sum<Problem>) {
        run_tensor_sum<Shape>(problem, choice, workspace, stream);
      } else {
        with_tensor_kernel<Problem, Shape>([&](auto kernel, std::size_t shared_bytes) {
          launch_parts<typename Problem::State>(problem, choice, Shape::block_rows, Shape::threads,
                                                shared_bytes, kernel, workspace, stream);
        });
      }
    });
  }
}

/// choice: of this problem's plan.
template <class Problem>
void run(const Problem& problem, const Choice& choice, Workspace& workspace, cudaStream_t stream) {
  if (problem.rows == 0) return;
  if (problem.columns == 0) {
    launch({grid_of(divide_up(problem.rows, 128)), 128, 0, stream}, fill_neutral_kernel<Problem>,
           problem);
    return;
  }
  switch (choice.variant) {
    case Variant::naive:
      return run_naive(problem, workspace, stream);
    case Variant::gpu_1d:
      return run_gpu_1d(problem, choice.block_rows, stream);
    case Variant::gpu_2d:
      return run_gpu_2d(problem, choice.block_rows, workspace, stream);
    case Variant::tuned_1d:
    case Variant::tuned_2d:
      return choice.is_over_columns ? run_columns(problem, choice, workspace, stream)
                                    : run_rows(problem, choice, workspace, stream);
    case Variant::tensor:
      return run_tensor(problem, choice, workspace, stream);
    case Variant::automatic:
      break;  // no plan has it
  }
}

}  // namespace warpath::map_reduce::detail
