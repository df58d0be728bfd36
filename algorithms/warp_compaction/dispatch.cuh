// From a rule to its kernels: which variant, which shape, which grid. The host functions of
// warp_compaction.cuh end here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "warp_compaction/pipeline.cuh"
#include "warp_compaction/single_pass.cuh"
#include "warp_compaction/staged.cuh"
#include "warp_compaction/two_pass.cuh"
#include "warp_compaction/variant.hpp"

namespace warpath::warp_compaction::detail {

/// The shapes of a rule.
template <class Rule>
constexpr auto tuning_of() {
  if constexpr (!is_in_registers<Rule>) {
    return ListedTuning<element_bytes<Rule>, written_bytes<Rule>>{};
  } else if constexpr (Rule::fetches) {
    return FetchingTuning<element_bytes<Rule>>{};
  } else {
    return SinglePassTuning<element_bytes<Rule>, written_bytes<Rule>>{};
  }
}
template <class Rule>
using TuningOf = decltype(tuning_of<Rule>());

/// Whether a rule has a pipeline: its elements fit in a few stages, and it looks nowhere else. If
/// they are listed, they consist of words: of others, staged_kernel copies words all the same.
template <class Rule>
constexpr bool has_pipeline() {
  if constexpr (Rule::fetches) {
    return false;
  } else if constexpr (is_in_registers<Rule>) {
    return true;
  } else {
    return element_bytes<Rule> <= 64 && writes_words<Rule>;
  }
}

/// Whether the pipeline runs on the current device, with this input.
template <class Rule>
bool can_pipeline(const InputOf<Rule>& in) {
  if constexpr (!has_pipeline<Rule>()) {
    return false;
  } else {
    using Shape = typename TuningOf<Rule>::Pipeline;
    return items_before_lines<Rule>(in) >= 0 &&
           can_run(pipeline_kernel<Rule, Shape>,
                   {.hopper = true, .shared_bytes = sizeof(PipelineStorage<Rule, Shape>)});
  }
}

/// Whether it shall run, and does: where it is asked for, or for large inputs.
template <class Rule>
bool takes_pipeline(Path asked, const InputOf<Rule>& in) {
  const std::int64_t bytes = in.count * static_cast<std::int64_t>(element_bytes<Rule>);
  const bool is_large = bytes >= TuningOf<Rule>::pipeline_bytes;
  return (asked == Path::pipeline || (asked == Path::automatic && is_large)) &&
         can_pipeline<Rule>(in);
}

/// The path that is asked for if the device and the input allow it, or else the fastest that they
/// do allow. Small and medium always run; elements that are listed have no medium one.
template <class Rule>
Path possible_path(Path asked, const InputOf<Rule>& in) {
  using Tuning = TuningOf<Rule>;
  const std::int64_t bytes = in.count * static_cast<std::int64_t>(element_bytes<Rule>);
  if (asked == Path::small || (asked == Path::automatic && bytes <= Tuning::small_bytes)) {
    return Path::small;
  }
  if constexpr (!is_in_registers<Rule> || is_listed_without_pipeline<Rule>) {
    return takes_pipeline<Rule>(asked, in) ? Path::pipeline : Path::plain;
  } else {
    using Plain = typename Tuning::Plain;
    static_assert(sizeof(SinglePassStorage<Rule, typename Tuning::Medium>) <= least_shared_bytes);
    if (asked == Path::medium || (asked == Path::automatic && bytes <= Tuning::medium_bytes)) {
      return Path::medium;
    }
    if (takes_pipeline<Rule>(asked, in)) return Path::pipeline;
    const bool plain_fits = can_run(single_pass_kernel<Rule, Plain>,
                                    {.shared_bytes = sizeof(SinglePassStorage<Rule, Plain>)});
    return plain_fits ? Path::plain : Path::medium;
  }
}

template <class Rule>
void run_single_pass(const Rule& rule, const InputOf<Rule>& in, const OutputOf<Rule>& out,
                     std::int64_t* kept, Workspace& workspace, cudaStream_t stream, Path asked) {
  // `head` items are a tile of their own, and `more` are further arguments.
  const auto launch_shape = [&]<class Shape>(Shape, auto kernel, std::size_t shared_bytes, int head,
                                             auto... more) {
    const std::int64_t after = std::max<std::int64_t>(in.count - head, 0);
    const std::int64_t tiles = (head > 0 ? 1 : 0) + divide_up(after, Shape::tile_items);
    // As many blocks as fit at once, or as there are tiles.
    const std::int64_t blocks =
        std::min<std::int64_t>(tiles, resident_blocks(kernel, Shape::threads, shared_bytes));
    launch({static_cast<unsigned>(blocks), Shape::threads, shared_bytes, stream}, kernel, rule, in,
           out, workspace.look_back(stream, tiles), kept, more...);
  };
  const auto launch_pipeline = [&] {
    if constexpr (has_pipeline<Rule>()) {
      using Shape = typename TuningOf<Rule>::Pipeline;
      const int head = items_before_lines<Rule>(in);
      launch_shape(Shape{}, pipeline_kernel<Rule, Shape>, sizeof(PipelineStorage<Rule, Shape>),
                   head, head);
    }
  };
  const auto launch_plain = [&]<class Shape>(Shape shape) {
    launch_shape(shape, single_pass_kernel<Rule, Shape>, sizeof(SinglePassStorage<Rule, Shape>), 0);
  };
  const auto launch_staged = [&]<class Shape>(Shape shape) {
    static_assert(sizeof(StagedStorage<Rule, Shape>) <= least_shared_bytes);
    launch_shape(shape, staged_kernel<Rule, Shape>, sizeof(StagedStorage<Rule, Shape>), 0);
  };
  using Tuning = TuningOf<Rule>;
  const Path path = possible_path<Rule>(asked, in);
  if (path == Path::pipeline) {
    launch_pipeline();
  } else if constexpr (!is_in_registers<Rule>) {
    if (path == Path::small) {
      launch_staged(typename Tuning::Small{});
    } else {
      launch_staged(typename Tuning::Plain{});
    }
  } else if (path == Path::small) {
    launch_plain(typename Tuning::Small{});
  } else if constexpr (is_listed_without_pipeline<Rule>) {
    launch_staged(typename ListedTuning<element_bytes<Rule>, written_bytes<Rule>>::Plain{});
  } else if (path == Path::medium) {
    launch_plain(typename Tuning::Medium{});
  } else {
    launch_plain(typename Tuning::Plain{});
  }
}

template <class Rule>
void run_two_pass(const Rule& rule, const InputOf<Rule>& in, const OutputOf<Rule>& out,
                  std::int64_t* kept, Workspace& workspace, cudaStream_t stream, bool recounts,
                  bool coalesces) {
  using Item = typename Rule::Item;
  using Companion =
      std::conditional_t<Rule::writes_companion, typename Rule::Companion, NoCompanion>;
  using Shape = TwoPassShape<Rule>;
  static_assert(sizeof(TwoPassStorage<Rule>) <= least_shared_bytes);
  const LaunchShape counting{Shape::blocks, Shape::threads, sizeof(TwoPassStorage<Rule>), stream};
  const LaunchShape copying{Shape::blocks, Shape::threads, 0, stream};
  if (recounts) {
    const auto [counts] = workspace.take<std::int64_t>(stream, two_pass_warps);
    launch(counting, count_segments_kernel<Rule>, rule, in, counts);
    launch(counting, recount_segments_kernel<Rule>, rule, in, counts, out, kept, coalesces);
  } else {
    const std::int64_t companions = is_column<Companion> ? in.count : 0;
    const auto [counts, items, companion_items] =
        workspace.take<std::int64_t, Item, Companion>(stream, two_pass_warps, in.count, companions);
    OutputOf<Rule> temporary{items, nullptr, in.count};
    if constexpr (Rule::writes_companion) temporary.companions = companion_items;
    launch(counting, compact_segments_kernel<Rule>, rule, in, temporary, counts, coalesces);
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
  } else {
    run_two_pass(rule, in, out, kept, workspace, stream,
                 options.variant == Variant::two_pass_recount, options.coalescing);
  }
}

}  // namespace warpath::warp_compaction::detail
