// A worked example of the block form: y = A x, where A is a sparse matrix in CSR form whose rows
// may differ in length by any factor. A row is an object, and its nonzeros are its work items: each
// block gets equally many of both together, however long the rows are.
#pragma once

#include <cstdint>

#include "load_balancing_search/load_balancing_search.cuh"

namespace warpath::load_balancing_search {

/// A matrix of row_begins.count rows: row r has the nonzeros from row_begins[r] on, up to where the
/// next row begins. columns, values: one element a nonzero.
template <class T>
struct CsrMatrix {
  DeviceSpan<const std::int32_t> row_begins;
  DeviceSpan<const std::int32_t> columns;
  DeviceSpan<const T> values;
};

namespace detail {

template <class T, class Shape>
struct RowProductsStorage {
  BlockSearchStorage<std::int32_t, Shape> search;
  T products[Shape::tile_steps];
};

template <class T, class Shape>
__global__ void __launch_bounds__(Shape::threads)
    row_products_kernel(Work<std::int32_t> work, const std::int64_t* partitions,
                        const std::int32_t* columns, const T* values, const T* x, T* y) {
  auto& shared = dynamic_shared<RowProductsStorage<T, Shape>>();
  const TileRange range = block_load_balancing_search(work, blockIdx.x, partitions,
                                                      /*load_preceding=*/false, shared.search);
  // All nonzeros of the tile, neighbours by neighbours.
  for (int item = static_cast<int>(threadIdx.x); item < range.items(); item += Shape::threads) {
    const std::int64_t nonzero = range.a0 + item;
    shared.products[item] = values[nonzero] * x[columns[nonzero]];
  }
  __syncthreads();  // the products are there

  // Each thread sums a run of them, and adds to y wherever the row changes.
  const int begin = static_cast<int>(threadIdx.x) * Shape::items_per_thread;
  const int end = min(begin + Shape::items_per_thread, range.items());
  if (begin >= end) return;
  std::int64_t row = work_item_object(shared.search, range, begin);
  T sum{};
  for (int item = begin; item < end; ++item) {
    const std::int64_t next = work_item_object(shared.search, range, item);
    if (next != row) {
      atomicAdd(y + row, sum);
      row = next;
      sum = T{};
    }
    sum += shared.products[item];
  }
  atomicAdd(y + row, sum);
}

}  // namespace detail

/// y = A x. y: one element a row. The sums of a row's parts are added in no fixed order. Where
/// checks are on, a column that is no index of x throws std::invalid_argument.
template <class T>
void row_products(const std::type_identity_t<CsrMatrix<T>>& matrix, InputSpan<T> x, DeviceSpan<T> y,
                  Workspace& workspace, cudaStream_t stream) {
  using Shape = MergePathShape<128, 11>;
  require_span("row_begins", matrix.row_begins);
  require_span("columns", matrix.columns);
  require_span("values", matrix.values);
  require_span("x", x);
  require_span("y", y);
  require_count("columns", matrix.columns.count, "values", matrix.values.count);
  require_count("y", y.count, "row_begins", matrix.row_begins.count);
  require_apart("row_begins", matrix.row_begins, "y", y);
  require_apart("columns", matrix.columns, "y", y);
  require_apart("values", matrix.values, "y", y);
  require_apart("x", x, "y", y);
  const auto work = checked_work(matrix.values.count, matrix.row_begins, stream);
  require_indices("columns", matrix.columns, x.count, stream);
  if (y.count == 0) return;
  WARPATH_CUDA_CHECK(
      cudaMemsetAsync(y.data, 0, static_cast<std::size_t>(y.count) * sizeof(T), stream));
  if (work.items == 0) return;
  const Tiles tiles = partition_tiles<Shape>(work, workspace, stream);
  launch({tiles.blocks, Shape::threads, sizeof(detail::RowProductsStorage<T, Shape>), stream},
         detail::row_products_kernel<T, Shape>, work, tiles.partitions, matrix.columns.data,
         matrix.values.data, x.data, y.data);
}

}  // namespace warpath::load_balancing_search
