// The source's two passes. A fixed number of warps, each with its own segment of the input.
//
//   two_pass_copy     first pass: each warp compacts its segment into the same segment of a
//                     temporary buffer, and stores how many it kept; second pass: each warp sums
//                     the counts of all lower warps, and copies its segment there. Source: J.
//                     Robinson, "KdTreeGPU", GitHub: "Remove Duplicates".
//   two_pass_recount  first pass: each warp only counts; second pass: it sums the lower counts,
//                     decides again, and writes in place. Source: M. Billeter, O. Olsson,
//                     U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
//                     Architectures", HPG 2009.
//
// A warp goes through its segment by rows of 32 items: the rows go through shared memory, where
// each thread finds the item before its own; a ballot tells all threads which items are kept; the
// ones below its own bit tell a thread its place.
#pragma once

#include <cstdint>

#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

/// The row that a warp looks at, after the last element of the row before.
template <class T>
struct StagedRow {
  T elements[1 + warp_threads];
};
/// The coalescing buffer: two halves of 32 elements; a full half is written at once.
template <class T>
struct WriteBuffer {
  T elements[2 * warp_threads];
};
template <>
struct StagedRow<NoCompanion> {};
template <>
struct WriteBuffer<NoCompanion> {};

template <class Rule>
struct TwoPassStorage {
  struct OfWarp {
    StagedRow<typename Rule::Item> items;
    StagedRow<typename Rule::Companion> companions;
    WriteBuffer<typename Rule::Item> item_buffer;
    WriteBuffer<typename Rule::Companion> companion_buffer;
  };
  static constexpr int warp_count = two_pass_warps_a_block(sizeof(OfWarp));
  OfWarp warps[warp_count];
};

/// The shape of all kernels of a rule, since they share its segments.
template <class Rule>
struct TwoPassShape {
  static constexpr int warps_a_block = TwoPassStorage<Rule>::warp_count;
  static constexpr unsigned threads = warps_a_block * warp_threads;
  static constexpr unsigned blocks = two_pass_warps / warps_a_block;
};

/// Writes what a warp keeps of one column, in order, from out[begin] on: through the coalescing
/// buffer if asked to. Full warps call it.
template <class T>
class WarpWriter {
 public:
  __device__ WarpWriter(T* out, std::int64_t begin, WriteBuffer<T>& buffer, bool coalesces)
      : out_(out), begin_(begin), next_(begin), buffer_(buffer), coalesces_(coalesces) {}

  /// Takes this lane's element, if its bit is set in `kept`.
  __device__ void append(unsigned kept, const T& element) {
    const std::int64_t own = next_ + __popc(kept & lanes_below());
    const bool is_kept = (kept >> lane_index() & 1) != 0;
    const std::int64_t end = next_ + __popc(kept);
    if (coalesces_) {
      if (is_kept) buffer_.elements[slot(own)] = element;
      __syncwarp();  // the half is written before it is read
      // The output address, masked, is the address in the buffer; so all that is asked is whether a
      // half is full.
      if (half(end) != half(next_)) flush(half(next_) + warp_threads);
      __syncwarp();  // and read before it is written again
    } else if (is_kept) {
      out_[own] = element;
    }
    next_ = end;
  }
  /// Writes what is left in the buffer.
  __device__ void finish() {
    if (coalesces_) flush(next_);
  }
  [[nodiscard]] __device__ std::int64_t count() const { return next_ - begin_; }

 private:
  __device__ static int slot(std::int64_t i) { return static_cast<int>(i % (2 * warp_threads)); }
  __device__ static std::int64_t half(std::int64_t i) { return i / warp_threads * warp_threads; }
  __device__ void flush(std::int64_t end) {
    const std::int64_t i = half(next_) + lane_index();
    if (i >= begin_ && i < end) out_[i] = buffer_.elements[slot(i)];
  }

  T* out_;
  std::int64_t begin_;
  std::int64_t next_;
  WriteBuffer<T>& buffer_;
  bool coalesces_;
};

/// A warp's segment of n items: [begin, end).
struct Segment {
  std::int64_t begin;
  std::int64_t end;
};

__device__ __forceinline__ std::int64_t two_pass_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_threads) + warp_index();
}

/// Equal parts of whole rows; the last warps may have none.
__device__ __forceinline__ Segment two_pass_segment(std::int64_t n) {
  constexpr std::int64_t warps = two_pass_warps;
  const std::int64_t rows = divide_up(n, warp_threads);
  const std::int64_t items = divide_up(rows, warps) * warp_threads;
  return {min(two_pass_warp() * items, n), min((two_pass_warp() + 1) * items, n)};
}

/// Goes through a segment by rows, and gives each row to take(kept, item, companion): the ballot,
/// and this lane's elements.
template <class Rule, class Take>
__device__ __forceinline__ void warp_for_each_row(const Rule& rule, const InputOf<Rule>& in,
                                                  Segment segment,
                                                  typename TwoPassStorage<Rule>::OfWarp& shared,
                                                  Take take) {
  constexpr bool has_companion = is_column<typename Rule::Companion>;
  auto* item = shared.items.elements + 1 + lane_index();
  typename Rule::Companion* companion = nullptr;
  if constexpr (has_companion) companion = shared.companions.elements + 1 + lane_index();

  for (std::int64_t row = segment.begin; row < segment.end; row += warp_threads) {
    const std::int64_t i = row + lane_index();
    const bool exists = i < segment.end;
    if (exists) {
      *item = in.items[i];
      if constexpr (has_companion) *companion = in.companions[i];
      if (Rule::reads_previous && lane_index() == 0 && i > 0) {
        item[-1] = in.items[i - 1];
        if constexpr (has_companion) companion[-1] = in.companions[i - 1];
      }
    }
    __syncwarp();  // the row is staged
    const unsigned kept = __ballot_sync(full_warp, exists && rule.keep(item, companion, i));
    take(kept, item, companion);
    __syncwarp();  // and read, before the next row is staged
  }
}

/// Compacts a segment to out[begin], out[begin + 1], ... Returns how many items were kept.
template <class Rule>
__device__ __forceinline__ std::int64_t warp_compact(const Rule& rule, const InputOf<Rule>& in,
                                                     Segment segment, const OutputOf<Rule>& out,
                                                     std::int64_t begin,
                                                     typename TwoPassStorage<Rule>::OfWarp& shared,
                                                     bool coalesces) {
  WarpWriter<typename Rule::Item> items(out.items, begin, shared.item_buffer, coalesces);
  if constexpr (Rule::writes_companion) {
    WarpWriter<typename Rule::Companion> companions(out.companions, begin, shared.companion_buffer,
                                                    coalesces);
    warp_for_each_row(rule, in, segment, shared,
                      [&](unsigned kept, const auto* item, const auto* companion) {
                        items.append(kept, *item);
                        companions.append(kept, *companion);
                      });
    companions.finish();
  } else {
    warp_for_each_row(rule, in, segment, shared, [&](unsigned kept, const auto* item, const auto*) {
      items.append(kept, *item);
    });
  }
  items.finish();
  return items.count();
}

/// The sum of the counts of all lower warps. They are few and fixed in number, so the warp sums
/// them 32 at a time.
__device__ __forceinline__ std::int64_t warp_sum_lower_counts(const std::int64_t* counts) {
  std::uint64_t sum = 0;
  for (std::int64_t i = lane_index(); i < two_pass_warp(); i += warp_threads) {
    sum += static_cast<std::uint64_t>(counts[i]);
  }
  return static_cast<std::int64_t>(warp_sum(sum));
}

/// First pass of two_pass_copy: to the warp's own segment of `temporary`, which is as large as the
/// input.
template <class Rule>
__global__ void __launch_bounds__(TwoPassShape<Rule>::threads)
    compact_segments_kernel(Rule rule, InputOf<Rule> in, OutputOf<Rule> temporary,
                            std::int64_t* counts, bool coalesces) {
  auto& shared = dynamic_shared<TwoPassStorage<Rule>>().warps[warp_index()];
  const Segment segment = two_pass_segment(in.count);
  const std::int64_t kept =
      warp_compact(rule, in, segment, temporary, segment.begin, shared, coalesces);
  if (lane_index() == 0) counts[two_pass_warp()] = kept;
}

/// Second pass of two_pass_copy. *kept becomes the sum of all counts.
template <class Rule>
__global__ void __launch_bounds__(TwoPassShape<Rule>::threads)
    copy_segments_kernel(InputOf<Rule> temporary, const std::int64_t* counts, OutputOf<Rule> out,
                         std::int64_t* kept) {
  const std::int64_t place = warp_sum_lower_counts(counts);
  const std::int64_t count = counts[two_pass_warp()];
  const std::int64_t from = two_pass_segment(temporary.count).begin;
  for (std::int64_t i = lane_index(); i < count; i += warp_threads) {
    out.items[place + i] = temporary.items[from + i];
    if constexpr (Rule::writes_companion) {
      out.companions[place + i] = temporary.companions[from + i];
    }
  }
  if (two_pass_warp() == two_pass_warps - 1 && lane_index() == 0) *kept = place + count;
}

/// First pass of two_pass_recount.
template <class Rule>
__global__ void __launch_bounds__(TwoPassShape<Rule>::threads)
    count_segments_kernel(Rule rule, InputOf<Rule> in, std::int64_t* counts) {
  auto& shared = dynamic_shared<TwoPassStorage<Rule>>().warps[warp_index()];
  std::int64_t count = 0;
  warp_for_each_row(rule, in, two_pass_segment(in.count), shared,
                    [&](unsigned kept, const auto*, const auto*) { count += __popc(kept); });
  if (lane_index() == 0) counts[two_pass_warp()] = count;
}

/// Second pass of two_pass_recount.
template <class Rule>
__global__ void __launch_bounds__(TwoPassShape<Rule>::threads)
    recount_segments_kernel(Rule rule, InputOf<Rule> in, const std::int64_t* counts,
                            OutputOf<Rule> out, std::int64_t* kept, bool coalesces) {
  auto& shared = dynamic_shared<TwoPassStorage<Rule>>().warps[warp_index()];
  const std::int64_t place = warp_sum_lower_counts(counts);
  const std::int64_t count =
      warp_compact(rule, in, two_pass_segment(in.count), out, place, shared, coalesces);
  if (two_pass_warp() == two_pass_warps - 1 && lane_index() == 0) *kept = place + count;
}

}  // namespace warpath::warp_compaction::detail
