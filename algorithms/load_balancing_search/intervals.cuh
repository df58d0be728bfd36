// What load-balancing search is for: doing something with every work item. The source names
// IntervalExpand and IntervalMove as the first users of its embedded form.
//
// Offsets, counts and preconditions are those of load_balancing_search.cuh.
#pragma once

#include <cstdint>

#include "load_balancing_search/load_balancing_search.cuh"

namespace warpath::load_balancing_search {

/// One block a tile: calls body(item, object, rank) for each work item.
template <class Shape, class Offset, class Body>
__global__ void __launch_bounds__(Shape::threads)
    for_each_work_item_kernel(Work<Offset> work, const std::int64_t* partitions, Body body) {
  auto& shared = dynamic_shared<BlockSearchStorage<Offset, Shape>>();
  const TileRange range =
      block_load_balancing_search(work, blockIdx.x, partitions, /*load_preceding=*/true, shared);
  for (int item = static_cast<int>(threadIdx.x); item < range.items(); item += Shape::threads) {
    body(range.a0 + item, work_item_object(shared, range, item),
         work_item_rank(shared, range, item));
  }
}

/// Calls the device functor body(item, object, rank), three 64-bit integers, for each work item
/// once, in no order: `item` of all, number `rank` of object `object`.
template <class Offset, class Body>
void for_each_work_item(std::int64_t items, DeviceSpan<const Offset> scan, Body body,
                        Workspace& workspace, cudaStream_t stream) {
  using Shape = MergePathShape<128, 11>;
  const Work<Offset> work = checked_work(items, scan, stream);
  if (items == 0) return;
  const unsigned tiles = tile_blocks(work.steps(), Shape::tile_steps);
  const std::int64_t* partitions = partition<Shape>(work, workspace, stream);
  launch({tiles, Shape::threads, sizeof(BlockSearchStorage<Offset, Shape>), stream},
         for_each_work_item_kernel<Shape, Offset, Body>, work, partitions, body);
}

template <class T>
struct ExpandBody {
  const T* values;
  T* out;
  __device__ void operator()(std::int64_t item, std::int64_t object, std::int64_t) const {
    out[item] = values[object];
  }
};

/// out[i] becomes the value of the object of work item i. values: one element an object; out: at
/// least `items` elements.
template <class Offset, class T>
void interval_expand(std::int64_t items, DeviceSpan<const Offset> scan, DeviceSpan<const T> values,
                     DeviceSpan<T> out, Workspace& workspace, cudaStream_t stream) {
  require_count("values", values.count, "scan", scan.count);
  require_room("out", out, items);
  require_apart("scan", scan, "out", out);
  require_apart("values", values, "out", out);
  for_each_work_item(items, scan, ExpandBody<T>{values.data, out.data}, workspace, stream);
}

template <class T, class Offset>
struct MoveBody {
  const Offset* gather;
  const Offset* scatter;
  const T* in;
  T* out;
  __device__ void operator()(std::int64_t, std::int64_t interval, std::int64_t rank) const {
    out[scatter[interval] + rank] = in[gather[interval] + rank];
  }
};

/// Copies intervals: number i, of as many elements as object i has work items, from
/// in[gather[i] ...] to out[scatter[i] ...]. gather, scatter: one element an interval. The
/// intervals lie inside `in` and `out`, and those in `out` do not overlap: this is not tested.
template <class Offset, class T>
void interval_move(std::int64_t items, DeviceSpan<const Offset> scan,
                   DeviceSpan<const Offset> gather, DeviceSpan<const Offset> scatter,
                   DeviceSpan<const T> in, DeviceSpan<T> out, Workspace& workspace,
                   cudaStream_t stream) {
  require_count("gather", gather.count, "scan", scan.count);
  require_count("scatter", scatter.count, "scan", scan.count);
  require_apart("in", in, "out", out);
  require_apart("scan", scan, "out", out);
  require_apart("gather", gather, "out", out);
  require_apart("scatter", scatter, "out", out);
  for_each_work_item(items, scan, MoveBody<T, Offset>{gather.data, scatter.data, in.data, out.data},
                     workspace, stream);
}

}  // namespace warpath::load_balancing_search
