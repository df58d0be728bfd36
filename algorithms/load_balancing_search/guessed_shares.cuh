// `output_aligned` for few work items, where latency is all that counts: a block guesses at which
// objects its share begins and ends, as if all objects had as many items, and loads those around
// before it knows. Their number before the share's begin, and before its end, is the search: memory
// is waited for once. A block whose guess was too far off searches as other shares do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/launch.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "load_balancing_search/block_load_balancing_search.cuh"
#include "load_balancing_search/output_aligned.cuh"
#include "load_balancing_search/partition_tiles.cuh"
#include "load_balancing_search/tuning.hpp"

namespace warpath::load_balancing_search::detail {

template <class Shape, class Offset>
struct GuessedShareStorage {
  OutputAlignedStorage<Shape, Offset> share;
  unsigned warp_before[Shape::warps];
};

/// Neighbouring objects in a block's registers: vectors of four for each thread, those of a warp
/// side by side. Numbers of objects count from `first`, which is where a vector of the scan begins.
template <class Shape>
class LoadedObjects {
 public:
  /// Loads the objects [first, last], or more; `first` may be below 0, and `last` the number of
  /// objects.
  template <class Offset>
  __device__ __forceinline__ LoadedObjects(const Work<Offset>& work, int first, int last)
      : first_(first), last_(last) {
    for_each_vector([&](int v, int object) {
      const int of_warp = object - 4 * lane_index();
      Offset begins[4];
      Offset next = 0;
      if (of_warp >= 0 && of_warp + 4 * warp_threads < static_cast<int>(work.objects)) {
        load_vector(work.scan + object, begins);
        if (lane_index() == warp_threads - 1) next = work.scan[object + 4];
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) begins[k] = begin_of(work, object + k);
        next = begin_of(work, object + 4);
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) begins_[v][k] = static_cast<int>(begins[k]);
      next_[v] = static_cast<int>(next);
    });
  }

  /// How many of the thread's objects come before step `begin` of the path, and before step `end`
  /// in the upper 16 bits.
  [[nodiscard]] __device__ __forceinline__ unsigned count_before(int begin, int end) const {
    unsigned before = 0;
    for_each_vector([&](int v, int object) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int step = begins_[v][k] + object + k;
        before += (step < begin ? 1u : 0u) + (step < end ? 1u << 16 : 0u);
      }
    });
    return before;
  }

  /// Calls put(place, number) for each object whose head lies in [0, count) places from work item
  /// `origin` on. Numbers count from 1. All of the warp.
  template <class Put>
  __device__ __forceinline__ void place_heads(int origin, int count, Put put) const {
    for_each_vector([&](int v, int object) {
      const int neighbour = __shfl_down_sync(full_warp, begins_[v][0], 1);
      const int next = lane_index() == warp_threads - 1 ? next_[v] : neighbour;
      place_objects(begins_[v], next, static_cast<unsigned>(object - first_ + 1), origin, count,
                    put);
    });
  }

 private:
  /// Calls body(v, object) for each of the thread's vectors that its warp has to load, and its
  /// first object.
  template <class Body>
  __device__ __forceinline__ void for_each_vector(Body body) const {
#pragma unroll
    for (int v = 0; v < Shape::vectors; ++v) {
      const int of_warp = first_ + v * Shape::batch_objects + warp_index() * 4 * warp_threads;
      if (of_warp <= last_) body(v, of_warp + lane_index() * 4);
    }
  }

  int first_;
  int last_;
  int begins_[Shape::vectors][4];
  int next_[Shape::vectors];  ///< of the last lane: where the object after its four begins
};

/// How many threads a multiprocessor holds of the architecture that is compiled for, and where that
/// is not known here as few as any does: launch bounds that ask for more do not compile.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || \
    __CUDA_ARCH__ / 100 == 10
inline constexpr int multiprocessor_threads = 2048;
#else
inline constexpr int multiprocessor_threads = 1536;
#endif

/// One block a share of `share_steps` steps, few enough for a tile; dynamic shared memory: one
/// GuessedShareStorage. objects_per_step: of all of the at most most_guessed_steps steps. Objects
/// up to `margin` from the guesses are loaded, but no more than the block holds. out: work.items
/// elements.
template <class Shape, class Offset, class Source>
__global__ void __launch_bounds__(Shape::threads, std::min(Shape::min_blocks,
                                                           multiprocessor_threads / Shape::threads))
    guessed_share_kernel(Work<Offset> work, int share_steps, float objects_per_step, int margin,
                         Source source, typename Source::Element* out) {
  auto& shared = dynamic_shared<GuessedShareStorage<Shape, Offset>>();
  std::uint16_t* const heads = shared.share.heads;
  warp_clear_heads<Shape>(heads + warp_index() * Shape::rows * Shape::row_items);
  const int begin = static_cast<int>(blockIdx.x) * share_steps;
  const int end = min(begin + share_steps, static_cast<int>(work.steps()));
  const auto guess = [&](int step) {
    return static_cast<int>(static_cast<float>(step) * objects_per_step);
  };
  const int first = static_cast<int>(vector_begin(work.scan, max(guess(begin) - margin, 0)));
  const int last = min(min(guess(end) + margin, static_cast<int>(work.objects)),
                       first + Shape::vectors * Shape::batch_objects - 1);
  const LoadedObjects<Shape> objects(work, first, last);
  const unsigned of_warp = __reduce_add_sync(full_warp, objects.count_before(begin, end));
  if (lane_index() == 0) shared.warp_before[warp_index()] = of_warp;
  __syncthreads();  // what the warps count is there
  const unsigned before = __reduce_add_sync(
      full_warp, lane_index() < Shape::warps ? shared.warp_before[lane_index()] : 0);
  const int before_begin = static_cast<int>(before & 0xFFFF);
  const int before_end = static_cast<int>(before >> 16);
  const bool has_begin = before_begin > 0 || first <= 0;  // or no object comes before
  const bool has_end = first + before_end <= last;
  if (!has_begin || !has_end) {
    return block_store_share(work, share_steps, source, out, shared.share);
  }

  TileRange range;
  range.b0 = first + before_begin;
  range.b1 = first + before_end;
  range.a0 = begin - range.b0;
  range.a1 = end - range.b1;
  const Share<Offset> share(range, first, place_in_line<Shape>(out + range.a0));
  objects.place_heads(
      static_cast<int>(share.origin), share.end,
      [&](unsigned place, unsigned number) { heads[place] = static_cast<std::uint16_t>(number); });
  __syncthreads();  // the heads are there
  unsigned carry = share.before;
  block_store_tile<Shape>(heads, shared.share.warp_last, share, 0, carry, source.from(first - 1),
                          out);
}

/// How a call is cut into guessed shares.
struct GuessedShares {
  int share_steps;
  int margin;  ///< objects that a guess may be off
};

/// Shares that fill a tile, wherever in a line of the output they begin. Where sizes of objects are
/// random, of a mean m and a deviation s, the path is sqrt(objects) / 2 * s / (m + 1) objects off
/// in its middle: the margin is over three times that for sizes that are even from 0 to 2 m on.
template <class Shape, class Element, class Offset>
GuessedShares guessed_shares_of(const Work<Offset>& work) {
  const double items_per_step = static_cast<double>(work.items) / static_cast<double>(work.steps());
  const double margin = guess_margin * std::sqrt(static_cast<double>(work.objects));
  return {Shape::tile_items - line_elements<Shape, Element>,
          static_cast<int>(margin * items_per_step) + 1};
}

/// Whether the call is small, and its blocks hold the objects that their guesses are about.
template <class Shape, class Offset>
bool fit_guesses(const Work<Offset>& work, const GuessedShares& shares) {
  if (work.steps() > most_guessed_steps) return false;
  const double of_share =
      static_cast<double>(work.objects) / static_cast<double>(work.steps()) * shares.share_steps;
  return of_share + 2 * shares.margin + 4 < Shape::vectors * Shape::batch_objects;
}

/// At most most_guessed_steps steps, and at least one work item.
template <class Shape, class Offset, class Source>
void run_guessed_shares(const Work<Offset>& work, const GuessedShares& shares, Source source,
                        typename Source::Element* out, cudaStream_t stream) {
  const float objects_per_step =
      static_cast<float>(work.objects) / static_cast<float>(work.steps());
  launch({tile_blocks(work.steps(), shares.share_steps), Shape::threads,
          sizeof(GuessedShareStorage<Shape, Offset>), stream},
         guessed_share_kernel<Shape, Offset, Source>, work, shares.share_steps, objects_per_step,
         shares.margin, source, out);
}

/// What `source` has for each work item's object. Shape: of the shares that are not guessed.
template <class Shape, class Offset, class Source>
void run_search(const Work<Offset>& work, Source source, typename Source::Element* out,
                cudaStream_t stream) {
  using Guessed = GuessedTuning;
  const GuessedShares shares = guessed_shares_of<Guessed, typename Source::Element>(work);
  if (fit_guesses<Guessed>(work, shares)) {
    return run_guessed_shares<Guessed>(work, shares, source, out, stream);
  }
  run_output_aligned<Shape>(work, source, out, stream);
}

}  // namespace warpath::load_balancing_search::detail
