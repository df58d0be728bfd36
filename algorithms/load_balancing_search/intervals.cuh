// What load-balancing search is for: doing something with every work item. The source names
// IntervalExpand and IntervalMove as the first users of its embedded form.
//
// Offsets, counts and preconditions are those of load_balancing_search.cuh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/vector.cuh"
#include "load_balancing_search/copy_items.cuh"
#include "load_balancing_search/guessed_shares.cuh"
#include "load_balancing_search/load_balancing_search.cuh"

namespace warpath::load_balancing_search {

namespace detail {

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

template <class Offset, class Body>
void run_for_each(const Work<Offset>& work, Body body, Workspace& workspace, cudaStream_t stream) {
  using Shape = MergePathShape<128, 11>;
  if (work.items == 0) return;
  const Tiles tiles = partition_tiles<Shape>(work, workspace, stream);
  launch({tiles.blocks, Shape::threads, sizeof(BlockSearchStorage<Offset, Shape>), stream},
         for_each_work_item_kernel<Shape, Offset, Body>, work, tiles.partitions, body);
}

/// What a value can be. Does not compile otherwise.
template <class T>
constexpr void require_value() {
  static_assert(std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T>,
                "a value must be trivially copyable and assignable: kernels copy its bytes");
}

/// `Bytes` bytes whose address is a multiple of `Align`: an element of a copy.
template <std::size_t Bytes, std::size_t Align>
struct Parts {
  using Part = Access<Align>;
  Part parts[Bytes / Align];
};

/// Calls with.template operator()<Align>(), where Align is the largest power of two, up to 16, that
/// divides sizeof(T) if it divides both addresses too; else the alignment of T, or 16.
template <class T, class With>
void with_alignment(const T* in, const T* out, With with) {
  constexpr std::size_t most = (sizeof(T) | 16) & (~(sizeof(T) | 16) + 1);  // the lowest bit
  constexpr std::size_t least = alignof(T) < most ? alignof(T) : most;
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  if constexpr (least < most) {
    if (addresses % most != 0) return with.template operator()<least>();
  }
  with.template operator()<most>();
}

template <class T>
struct ExpandBody {
  const T* values;
  T* out;
  __device__ void operator()(std::int64_t item, std::int64_t object, std::int64_t) const {
    out[item] = values[object];
  }
};

/// By vectors of values where they have as many bytes as an access, else by accesses, unless these
/// are small: a body for each work item then has more loads on their way.
template <class T, class Offset>
void run_expand(const Work<Offset>& work, const T* values, T* out, Workspace& workspace,
                cudaStream_t stream) {
  if (work.items == 0) return;
  with_alignment(values, out, [&]<std::size_t Align>() {
    using Part = Access<Align>;
    const auto* const in_parts = reinterpret_cast<const Part*>(values);
    auto* const out_parts = reinterpret_cast<Part*>(out);
    if constexpr (sizeof(T) == Align && Align <= 8) {
      run_search<ExpandTuning<Align>>(work, ObjectValues<Part>{in_parts}, out_parts, stream);
    } else if constexpr (Align >= 4) {
      if (Align == 4 && are_short(work)) {
        return run_for_each(work, ExpandBody<T>{values, out}, workspace, stream);
      }
      run_copy_items<static_cast<int>(sizeof(T) / Align)>(work, ValueCopies<Offset>{}, in_parts,
                                                          out_parts, stream);
    } else {
      run_for_each(work, ExpandBody<T>{values, out}, workspace, stream);
    }
  });
}

/// By elements of up to 16 bytes, the larger ones by accesses.
template <class T, class Offset>
void run_move(const Work<Offset>& work, const Offset* gather, const Offset* scatter, const T* in,
              T* out, cudaStream_t stream) {
  if (work.items == 0) return;
  with_alignment(in, out, [&]<std::size_t Align>() {
    constexpr int units = sizeof(T) <= 16 ? 1 : static_cast<int>(sizeof(T) / Align);
    using Unit = std::conditional_t<sizeof(T) == Align || units != 1, Access<Align>,
                                    Parts<sizeof(T), Align>>;
    run_copy_items<units>(work, IntervalMoves<Offset>{gather, scatter},
                          reinterpret_cast<const Unit*>(in), reinterpret_cast<Unit*>(out), stream);
  });
}

/// Whether interval i, which begins at starts[i], is not empty and leaves an array of `bound`
/// elements.
template <class Offset>
struct IsOutside {
  Work<Offset> work;
  std::int64_t bound;
  __device__ bool operator()(const Offset* starts, std::int64_t i) const {
    const std::int64_t end = i + 1 < work.objects ? work.scan[i + 1] : work.items;
    const std::int64_t length = end - work.scan[i];
    const std::int64_t start = starts[i];
    return length > 0 && (start < 0 || start > bound - length);
  }
};

/// Where checks are on: throws std::invalid_argument unless every interval lies inside `array`,
/// with the first one that does not.
template <class Offset>
void require_intervals_inside(const std::string& name, DeviceSpan<const Offset> starts,
                              const Work<Offset>& work, const std::string& array,
                              std::int64_t bound, cudaStream_t stream) {
  if (!is_checked()) return;
  const std::int64_t index = first_broken(starts, IsOutside<Offset>{work, bound}, stream);
  if (index < 0) return;
  Offset start{};
  WARPATH_CUDA_CHECK(
      cudaMemcpyAsync(&start, starts.data + index, sizeof start, cudaMemcpyDeviceToHost, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  throw std::invalid_argument(name + "[" + std::to_string(index) + "] is " + std::to_string(start) +
                              ": expected interval " + std::to_string(index) + " to lie inside " +
                              array + ", which has " + std::to_string(bound) + " elements");
}

}  // namespace detail

/// Calls the device functor body(item, object, rank), three 64-bit integers, for each work item
/// once, in no order: `item` of all, number `rank` of object `object`.
template <class Scan, class Body>
void for_each_work_item(std::int64_t items, DeviceSpan<Scan> scan, Body body, Workspace& workspace,
                        cudaStream_t stream) {
  detail::run_for_each(checked_work(items, scan, stream), body, workspace, stream);
}

/// out[i] becomes the value of the object of work item i. values: one element an object; out: at
/// least `items` elements.
template <class Scan, class T>
void interval_expand(std::int64_t items, DeviceSpan<Scan> scan, InputSpan<T> values,
                     DeviceSpan<T> out, Workspace& workspace, cudaStream_t stream) {
  detail::require_value<T>();
  const auto work = checked_work(items, scan, stream);
  require_span("values", values);
  require_span("out", out);
  require_count("values", values.count, "scan", scan.count);
  require_room("out", out, items);
  require_apart("scan", scan, "out", out);
  require_apart("values", values, "out", out);
  detail::run_expand(work, values.data, out.data, workspace, stream);
}

/// Copies intervals: number i, of as many elements as object i has work items, from
/// in[gather[i] ...] to out[scatter[i] ...]. gather, scatter: one element an interval. The
/// intervals lie inside `in` and `out`, which is tested where checks are on; an empty one may begin
/// anywhere. Those in `out` do not overlap: this is not tested, but that `out` has at least `items`
/// elements.
template <class Scan, class T>
void interval_move(std::int64_t items, DeviceSpan<Scan> scan,
                   InputSpan<std::remove_const_t<Scan>> gather,
                   InputSpan<std::remove_const_t<Scan>> scatter, InputSpan<T> in, DeviceSpan<T> out,
                   [[maybe_unused]] Workspace& workspace, cudaStream_t stream) {
  detail::require_value<T>();
  const auto work = checked_work(items, scan, stream);
  require_span("gather", gather);
  require_span("scatter", scatter);
  require_span("in", in);
  require_span("out", out);
  require_count("gather", gather.count, "scan", scan.count);
  require_count("scatter", scatter.count, "scan", scan.count);
  require_room("out", out, items);
  if (items > 0) {
    require_in_range("in: the number of elements", in.count, 1,
                     std::numeric_limits<std::int64_t>::max());
  }
  require_apart("in", in, "out", out);
  require_apart("scan", scan, "out", out);
  require_apart("gather", gather, "out", out);
  require_apart("scatter", scatter, "out", out);
  detail::require_intervals_inside("gather", gather, work, "in", in.count, stream);
  detail::require_intervals_inside("scatter", scatter, work, "out", out.count, stream);
  detail::run_move(work, gather.data, scatter.data, in.data, out.data, stream);
}

}  // namespace warpath::load_balancing_search
