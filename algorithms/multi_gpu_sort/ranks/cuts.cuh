// Where the sorted parts of all ranks are cut, so that each rank gets its slice of the sequence
// that they are merged to: exactly, and all cuts at once.
//
// Each rank looks for the begin of its own slice, in all parts; each answers the questions of all,
// from its own part. Of every part an interval is left that the cut lies in. In a round
//
//   the ranks answer   how many elements come before the pivot, and the middle of the interval that
//                      is left then, for either outcome
//   the rank asks      with the median of these middles, weighted by how long the intervals are, as
//                      the next pivot
//
// At least a quarter of all that is left goes in each round, about half of it if the parts' keys
// are alike: N elements take log2(N) to 2.4 log2(N) rounds, of two messages between any two ranks,
// however the keys lie, on any number of ranks. Source of the median: E. Saukas, S. Song, "A note
// on parallel selection on coarse-grained multicomputers", Algorithmica 24, 1999.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/span.hpp"
#include "multi_gpu_sort/ranks/transport.hpp"
#include "multi_gpu_sort/splitters.cuh"

namespace warpath::multi_gpu_sort::detail {

/// What a rank wants to know of another one's part.
template <class K>
struct Question {
  Interval interval;        ///< that the cut lies in
  std::int64_t place;       ///< of the pivot in its own part
  std::int32_t pivot_rank;  ///< whose part that is; -1 if there is no pivot yet
  std::int32_t is_found;    ///< the interval's begin is the cut
  K pivot;
};

template <class K>
struct Answer {
  std::int64_t count;  ///< elements before the pivot: in the interval, or its begin
  K before_middle;     ///< of the interval's places before `count`, if there are any
  K after_middle;      ///< of those from there on, without the pivot
};

inline __host__ __device__ std::int64_t middle_of(Interval interval) {
  return interval.low + (interval.high - interval.low) / 2;
}

/// One thread a question. keys: of this rank, sorted.
template <class K, class Less>
__global__ void answer_kernel(const K* keys, std::int32_t own_rank, const Question<K>* questions,
                              std::int64_t count, Less less, Answer<K>* answers) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Question<K> question = questions[i];
  const bool has_pivot = question.pivot_rank >= 0;
  Interval left = question.interval;
  if (!has_pivot) left.high = left.low;
  if (question.pivot_rank == own_rank) left = {question.place, question.place};
  while (left.low < left.high) {
    const std::int64_t middle = middle_of(left);
    const bool is_before = own_rank < question.pivot_rank
                               ? !less(question.pivot, keys[middle])  // equal ones come before it
                               : less(keys[middle], question.pivot);
    if (is_before) {
      left.low = middle + 1;
    } else {
      left.high = middle;
    }
  }
  answers[i].count = left.low;
  const Interval before{question.interval.low, left.low};
  const Interval after{left.low + (question.pivot_rank == own_rank ? 1 : 0),
                       question.interval.high};
  if (before.low < before.high) answers[i].before_middle = keys[middle_of(before)];
  if (after.low < after.high) answers[i].after_middle = keys[middle_of(after)];
}

/// chosen becomes the rank whose key is the weighted median: those before it have at most half of
/// all weights, and with its own more. Of equal keys, those of earlier ranks come first; those
/// without weight are none. One block.
template <class K, class Less>
__global__ void weighted_median_kernel(const K* keys, const std::int64_t* weights, int ranks,
                                       Less less, int* chosen) {
  for (int i = static_cast<int>(threadIdx.x); i < ranks; i += static_cast<int>(blockDim.x)) {
    if (weights[i] == 0) continue;
    std::int64_t all = 0;
    std::int64_t before = 0;
    for (int j = 0; j < ranks; ++j) {
      all += weights[j];
      if (weights[j] == 0 || i == j) continue;
      const bool is_before = j < i ? !less(keys[i], keys[j]) : less(keys[j], keys[i]);
      if (is_before) before += weights[j];
    }
    if (before <= all / 2 && all / 2 < before + weights[i]) *chosen = i;
  }
}

template <class K, class Less>
class Cuts {
 public:
  /// part: this rank's, sorted, complete in `stream`. counts: elements of each rank's part.
  Cuts(Transport& transport, DeviceSpan<const K> part, const std::vector<std::int64_t>& counts,
       Less less, Workspace& workspace, cudaStream_t stream)
      : transport_(transport), part_(part), less_(less), stream_(stream) {
    const auto ranks = static_cast<std::int64_t>(counts.size());
    std::tie(questions_, answers_, keys_, weights_, chosen_) =
        workspace.take<Question<K>, Answer<K>, K, std::int64_t, int>(stream, ranks, ranks, ranks,
                                                                     ranks, 1);
    // Middles of empty intervals are sent, too.
    WARPATH_CUDA_CHECK(cudaMemsetAsync(static_cast<void*>(answers_), 0,
                                       counts.size() * sizeof(Answer<K>), stream));
    WARPATH_CUDA_CHECK(cudaMemsetAsync(chosen_, 0, sizeof(int), stream));
    for (const std::int64_t count : counts) intervals_.push_back({0, count});
    const auto own = static_cast<std::size_t>(transport.rank());
    for (std::size_t i = 0; i < own; ++i) wanted_ += counts[i];
  }

  /// How many elements of this rank's part come before each rank's slice: of equal ones, those of
  /// earlier parts come first. Blocks the host.
  std::vector<std::int64_t> find() {
    std::vector<Question<K>> questions;
    for (const Interval& interval : intervals_) questions.push_back({interval, 0, -1, 0, {}});
    for (;;) {
      const std::vector<Question<K>> asked = all_to_all(transport_, questions);
      const bool all_found = std::all_of(asked.begin(), asked.end(),
                                         [](const auto& question) { return question.is_found; });
      if (all_found) {
        std::vector<std::int64_t> cuts;
        for (const Question<K>& question : asked) cuts.push_back(question.interval.low);
        return cuts;
      }
      const std::vector<Answer<K>> answers = all_to_all(transport_, answer(asked));
      if (!is_found_) questions = next_questions(questions.front(), answers);
    }
  }

 private:
  std::vector<Answer<K>> answer(const std::vector<Question<K>>& asked) {
    constexpr unsigned threads = 32;
    const auto count = static_cast<std::int64_t>(asked.size());
    upload(questions_, asked);
    launch({static_cast<unsigned>(divide_up(count, threads)), threads, 0, stream_},
           answer_kernel<K, Less>, part_.data, transport_.rank(), questions_, count, less_,
           answers_);
    return download(answers_, asked.size());
  }

  /// last: one of those that are answered.
  std::vector<Question<K>> next_questions(const Question<K>& last,
                                          const std::vector<Answer<K>>& answers) {
    std::int64_t before = 0;
    for (const Answer<K>& answer : answers) before += answer.count;
    const bool is_after = before < wanted_;  // the cut is after the pivot
    std::vector<K> middles;
    std::vector<std::int64_t> widths;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      Interval& interval = intervals_[i];
      if (is_after) {
        const bool has_pivot = static_cast<std::int32_t>(i) == last.pivot_rank;
        interval.low = answers[i].count + (has_pivot ? 1 : 0);
      } else {
        interval.high = answers[i].count;
      }
      middles.push_back(is_after ? answers[i].after_middle : answers[i].before_middle);
      widths.push_back(interval.high - interval.low);
    }
    close_if_found();
    Question<K> next{{}, 0, -1, is_found_ ? 1 : 0, {}};
    if (!is_found_) {
      next.pivot_rank = weighted_median(middles, widths);
      const auto chosen = static_cast<std::size_t>(next.pivot_rank);
      next.pivot = middles[chosen];
      next.place = middle_of(intervals_[chosen]);
    }
    std::vector<Question<K>> questions(answers.size(), next);
    for (std::size_t i = 0; i < questions.size(); ++i) questions[i].interval = intervals_[i];
    return questions;
  }
  /// Ends the search where all intervals' ends, or begins, are the cuts.
  void close_if_found() {
    std::int64_t lows = 0;
    std::int64_t highs = 0;
    for (const Interval& interval : intervals_) {
      lows += interval.low;
      highs += interval.high;
    }
    is_found_ = highs == wanted_ || lows == wanted_ || lows == highs;
    if (!is_found_) return;
    for (Interval& interval : intervals_) {
      if (highs == wanted_) interval.low = interval.high;
      interval.high = interval.low;
    }
  }
  std::int32_t weighted_median(const std::vector<K>& keys,
                               const std::vector<std::int64_t>& weights) {
    upload(keys_, keys);
    upload(weights_, weights);
    launch({1, 128, 0, stream_}, weighted_median_kernel<K, Less>, keys_, weights_,
           static_cast<int>(keys.size()), less_, chosen_);
    const int chosen = download(chosen_, 1).front();
    if (weights[static_cast<std::size_t>(chosen)] > 0) return chosen;
    // Were `less` no order, there may be no median: any pivot ends the search.
    return static_cast<std::int32_t>(std::max_element(weights.begin(), weights.end()) -
                                     weights.begin());
  }

  template <class T>
  void upload(T* target, const std::vector<T>& values) const {
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(static_cast<void*>(target), values.data(),
                                       values.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }
  template <class T>
  [[nodiscard]] std::vector<T> download(const T* source, std::size_t count) const {
    std::vector<T> values(count);
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(static_cast<void*>(values.data()), source, count * sizeof(T),
                                       cudaMemcpyDeviceToHost, stream_));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return values;
  }

  Transport& transport_;
  DeviceSpan<const K> part_;
  Less less_;
  cudaStream_t stream_;
  std::vector<Interval> intervals_;  ///< of each part, that the begin of this rank's slice lies in
  std::int64_t wanted_ = 0;          ///< elements before that
  bool is_found_ = false;
  Question<K>* questions_ = nullptr;
  Answer<K>* answers_ = nullptr;
  K* keys_ = nullptr;
  std::int64_t* weights_ = nullptr;
  int* chosen_ = nullptr;
};

}  // namespace warpath::multi_gpu_sort::detail
