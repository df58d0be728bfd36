// From a rule to its kernels: which variant, which shape, which grid. The host functions of
// warp_compaction.cuh end here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "warp_compaction/pipeline.cuh"
#include "warp_compaction/single_pass.cuh"
#include "warp_compaction/two_pass.cuh"
#include "warp_compaction/variant.hpp"

namespace warpath::warp_compaction {

template <class Rule>
using InputOf = Columns<const typename Rule::Item, const typename Rule::Companion>;
template <class Rule>
using OutputOf = Columns<typename Rule::Item, typename Rule::Companion>;

/// Bytes that an element takes in all columns of the input.
template <class Rule>
inline constexpr std::size_t element_bytes =
    sizeof(typename Rule::Item) + column_bytes<typename Rule::Companion>;

template <class Rule>
using TuningOf =
    SinglePassTuning<element_bytes<Rule>,
                     Rule::writes_companion ? element_bytes<Rule> : sizeof(typename Rule::Item)>;

/// Launches a single-pass kernel: as many blocks as fit at once, or as there are tiles.
template <class Shape, class Kernel, class Rule>
void launch_single_pass(Kernel kernel, std::size_t shared_bytes, const Rule& rule,
                        const InputOf<Rule>& in, const OutputOf<Rule>& out, std::int64_t* kept,
                        Workspace& workspace, cudaStream_t stream) {
  const std::int64_t tiles = (in.count + Shape::tile_items - 1) / Shape::tile_items;
  const std::int64_t blocks =
      std::min<std::int64_t>(tiles, resident_blocks(kernel, Shape::threads, shared_bytes));
  launch({static_cast<unsigned>(blocks), Shape::threads, shared_bytes, stream}, kernel, rule, in,
         out, workspace.look_back(stream, tiles), kept);
}

template <class Rule>
void run_single_pass(const Rule& rule, const InputOf<Rule>& in, const OutputOf<Rule>& out,
                     std::int64_t* kept, Workspace& workspace, cudaStream_t stream, Path path) {
  using Tuning = TuningOf<Rule>;
  const std::int64_t bytes = in.count * static_cast<std::int64_t>(element_bytes<Rule>);
  const auto is_aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % hopper::bulk_bytes == 0;
  };
  using Pipelined = PipelineStorage<Rule, typename Tuning::Pipeline>;
  const bool can_pipeline = is_aligned(in.items) && is_aligned(in.companions) &&
                            can_run(pipeline_kernel<Rule, typename Tuning::Pipeline>,
                                    {.hopper = true, .shared_bytes = sizeof(Pipelined)});
  if (path == Path::automatic) {
    path = can_pipeline && bytes >= Tuning::pipeline_bytes ? Path::pipeline
           : bytes <= Tuning::small_bytes                  ? Path::small
           : bytes <= Tuning::medium_bytes                 ? Path::medium
                                                           : Path::plain;
  }
  const auto plain = [&]<class Shape>(Shape) {
    launch_single_pass<Shape>(single_pass_kernel<Rule, Shape>,
                              sizeof(SinglePassStorage<Rule, Shape>), rule, in, out, kept,
                              workspace, stream);
  };
  if (path == Path::pipeline && can_pipeline) {
    using Shape = typename Tuning::Pipeline;
    launch_single_pass<Shape>(pipeline_kernel<Rule, Shape>, sizeof(Pipelined), rule, in, out, kept,
                              workspace, stream);
  } else if (path == Path::small) {
    plain(typename Tuning::Small{});
  } else if (path == Path::medium) {
    plain(typename Tuning::Medium{});
  } else {
    plain(typename Tuning::Plain{});
  }
}

template <bool Coalescing, class Rule>
void run_two_pass(const Rule& rule, const InputOf<Rule>& in, const OutputOf<Rule>& out,
                  std::int64_t* kept, Workspace& workspace, cudaStream_t stream, bool recount) {
  using Item = typename Rule::Item;
  using Companion =
      std::conditional_t<Rule::writes_companion, typename Rule::Companion, NoCompanion>;
  const LaunchShape counting{TwoPassShape::blocks, TwoPassShape::threads,
                             sizeof(TwoPassStorage<Rule>), stream};
  const LaunchShape copying{TwoPassShape::blocks, TwoPassShape::threads, 0, stream};
  if (recount) {
    const auto [counts] = workspace.take<std::int64_t>(stream, TwoPassShape::warps);
    launch(counting, count_segments_kernel<Rule>, rule, in, counts);
    launch(counting, recount_segments_kernel<Coalescing, Rule>, rule, in, counts, out, kept);
  } else {
    const std::int64_t companions = is_column<Companion> ? in.count : 0;
    const auto [counts, items, companion_items] = workspace.take<std::int64_t, Item, Companion>(
        stream, TwoPassShape::warps, in.count, companions);
    OutputOf<Rule> temporary{items, nullptr, in.count};
    if constexpr (Rule::writes_companion) temporary.companions = companion_items;
    launch(counting, compact_segments_kernel<Coalescing, Rule>, rule, in, temporary, counts);
    launch(copying, copy_segments_kernel<Rule>,
           InputOf<Rule>{temporary.items, temporary.companions, temporary.count}, counts, out,
           kept);
  }
}

/// Runs `rule` over `in`, which is not empty, by the variant that `options` name.
template <class Rule>
void run(const Rule& rule, const InputOf<Rule>& in, const OutputOf<Rule>& out, std::int64_t* kept,
         Workspace& workspace, cudaStream_t stream, const Options& options) {
  if (options.variant == Variant::single_pass) {
    run_single_pass(rule, in, out, kept, workspace, stream, options.path);
    return;
  }
  const bool recount = options.variant == Variant::two_pass_recount;
  if (options.coalescing) {
    run_two_pass<true>(rule, in, out, kept, workspace, stream, recount);
  } else {
    run_two_pass<false>(rule, in, out, kept, workspace, stream, recount);
  }
}

}  // namespace warpath::warp_compaction
