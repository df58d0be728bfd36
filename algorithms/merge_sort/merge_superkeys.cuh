// Merges sorted references to tuples by superkey, and finds where such a merge is cut: what
// merge.cuh does with keys.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "core/warp.cuh"
#include "merge_sort/merge.cuh"
#include "merge_sort/orders.cuh"
#include "merge_sort/partition.cuh"

namespace warpath::merge_sort {

/// Sorted references to tuples, and the tuples' primary coordinates.
template <class C>
struct SuperkeyRun {
  DeviceSpan<const C> values;
  DeviceSpan<const std::uint32_t> references;
};

/// The same, with the tuples: those of one device.
template <class C>
struct SuperkeyPart {
  SuperkeyRun<C> run;
  DeviceSpan<const C> coordinates;
};

namespace detail {

/// The sorted tuples of several devices as one group of a merge: see ScatteredRuns.
template <class C>
struct ScatteredTuples {
  using Item = TupleItem<C>;
  static constexpr int index_bits = 48;
  static constexpr std::int64_t run_items = std::int64_t{1} << index_bits;
  static constexpr int slack = 0;

  SortedTuples<C> runs[most_runs];
  std::int64_t counts[most_runs];
  int ways;  ///< a power of two

  [[nodiscard]] __device__ __forceinline__ std::int64_t run_count(std::int64_t begin) const {
    return counts[begin >> index_bits];
  }
  [[nodiscard]] __device__ __forceinline__ Item load(std::int64_t i) const {
    return runs[i >> index_bits][i & (run_items - 1)];
  }
};

/// As find_splits_kernel.
template <class C>
__global__ void find_superkey_splits_kernel(ScatteredTuples<C> tuples, Ranks ranks,
                                            ByTuple<C> order, std::int64_t* positions) {
  const int lane = lane_index();
  const std::int64_t rank = ranks.values[blockIdx.x];
  const std::int64_t own = lane < tuples.ways ? tuples.counts[lane] : 0;
  const auto all = static_cast<std::int64_t>(warp_sum(static_cast<std::uint64_t>(own)));
  const std::int64_t position =
      rank == all ? own : warp_find_position(tuples, tuples, 0, rank, order);
  if (own > 0) {
    positions[std::int64_t{ranks.runs} * blockIdx.x + ranks.number_of[lane]] = position;
  }
}

}  // namespace detail

/// Merges sorted runs of references to tuples by superkey, or a slice of them: references_to and
/// values_to become elements first, first + 1, ... of the merged sequence. Of wholly equal tuples,
/// those of earlier runs come first.
///
/// runs: up to most_runs, of tuples without NaN. references_to, values_to: as many elements, on the
/// current device, apart from the runs. Extra memory and errors: as merge_keys().
template <class C>
void merge_superkeys(const Tuples<C>& tuples,
                     std::type_identity_t<std::span<const SuperkeyRun<C>>> runs, std::int64_t first,
                     DeviceSpan<std::uint32_t> references_to,
                     DeviceSpan<std::type_identity_t<C>> values_to, Workspace& workspace,
                     cudaStream_t stream) {
  detail::RunsToMerge<C, std::uint32_t> collected("runs", runs.size());
  for (const SuperkeyRun<C>& run : runs) {
    collected.add(run.values, run.references);
    require_apart("runs", run.values, "values_to", DeviceSpan<const C>(values_to));
    require_apart("runs", run.references, "references_to",
                  DeviceSpan<const std::uint32_t>(references_to));
  }
  require_span("tuples", tuples.coordinates);
  require_span("references_to", references_to);
  require_span("values_to", values_to);
  require_count("values_to", values_to.count, "references_to", references_to.count);
  require_apart("references_to", references_to, "values_to", values_to);
  require_tuples(tuples, collected.total());
  detail::run_merge(
      collected, first, detail::Columns<C, std::uint32_t>{values_to.data, references_to.data},
      values_to.count,
      detail::ByReferencedTuple<C>{tuples.coordinates.data, tuples.dimensions, tuples.primary},
      workspace, stream);
}

/// Where a merge of sorted parts is cut: positions[parts.size() * i + r] becomes how many tuples of
/// part r come before the one of rank ranks[i]. Parts may lie on any device that the current one
/// has access to; each one's references are numbers of its own tuples. Ranks, positions and errors:
/// as find_splits() has them.
template <class C>
void find_superkey_splits(std::span<const SuperkeyPart<C>> parts, int dimensions, int primary,
                          std::span<const std::int64_t> ranks, DeviceSpan<std::int64_t> positions,
                          cudaStream_t stream) {
  detail::RunsToMerge<C, std::uint32_t> collected("parts", parts.size());
  detail::ScatteredTuples<C> tuples{};
  int kept = 0;
  for (const SuperkeyPart<C>& part : parts) {
    collected.add(part.run.values, part.run.references);
    require_tuples(Tuples<C>{part.coordinates, dimensions, primary}, part.run.references.count);
    if (part.run.values.count == 0) continue;
    tuples.runs[kept] = {part.run.values.data, part.run.references.data, part.coordinates.data,
                         dimensions};
    tuples.counts[kept++] = part.run.values.count;
  }
  tuples.ways = power_of_two_from(kept);
  const detail::Ranks of_kernel = detail::require_ranks(collected, ranks, positions);
  if (!detail::clear_positions(of_kernel, collected.total(), positions, stream)) return;
  launch({static_cast<unsigned>(of_kernel.count), warp_threads, 0, stream},
         detail::find_superkey_splits_kernel<C>, tuples, of_kernel, ByTuple<C>{dimensions, primary},
         positions.data);
}

}  // namespace warpath::merge_sort
