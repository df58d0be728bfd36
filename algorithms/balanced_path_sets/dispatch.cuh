// From a call to the kernels of its variant. The host functions of balanced_path_sets.cuh end here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "balanced_path_sets/single_pass.cuh"
#include "balanced_path_sets/two_pass.cuh"
#include "balanced_path_sets/variant.hpp"
#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/scan.cuh"

namespace warpath::balanced_path_sets::detail {

/// One call: its inputs, of which at least one is not empty, and where everything goes.
template <class Key, class Value, class Less>
struct Call {
  Input<Key, Value> a;
  Input<Key, Value> b;
  Output<Key, Value> out;
  std::int64_t* count;
  Less less;
  Workspace& workspace;
  cudaStream_t stream;
};

/// How many tiles of `tile_items` the inputs fill.
template <class Key, class Value, class Less>
std::int64_t tiles_of(const Call<Key, Value, Less>& call, std::int64_t tile_items) {
  const std::int64_t elements = call.a.count + call.b.count;
  const std::int64_t tiles = divide_up(elements, tile_items);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (tiles > most) {
    throw std::invalid_argument(std::to_string(elements) + " elements: at most " +
                                std::to_string(most * tile_items) + " fit one call");
  }
  return tiles;
}

/// `count_scan_stream`, and `compact`.
template <SetOperation operation, bool Duplicates, class Key, class Value, class Less>
void run_two_pass(const Call<Key, Value, Less>& call, bool is_compact, bool range_checks) {
  using Shape = SetTuning;
  const std::int64_t tiles = tiles_of(call, Shape::tile_items);
  const auto blocks = static_cast<unsigned>(tiles);
  const std::int64_t room = is_compact ? tiles * Shape::tile_items : 0;
  const bool has_values = !std::is_same_v<Value, NoValue>;
  const auto [partitions, counts, keys, values] =
      call.workspace.template take<std::int64_t, std::int64_t, Key, Value>(
          call.stream, tiles + 1, tiles, room, has_values ? room : 0);
  launch({blocks / 128 + 1, 128, 0, call.stream},
         find_set_partitions_kernel<Duplicates, Key, Value, Less>, call.a, call.b,
         Shape::tile_items, tiles, call.less, partitions);

  // (Clang before 16 does not let a lambda refer to a structured binding: hence the two copies.)
  const auto stage = [&, partitions = partitions,
                      counts = counts]<Stage which>(const Output<Key, Value>& out) {
    launch({blocks, Shape::threads, sizeof(BlockSetStorage<Shape, Key>), call.stream},
           set_operation_kernel<Shape, operation, Duplicates, which, Key, Value, Less>, call.a,
           call.b, partitions, out, counts, range_checks, call.less);
  };
  if (!is_compact) {
    stage.template operator()<Stage::count>(call.out);
    exclusive_sum({counts, tiles}, call.count, call.workspace, call.stream);
    stage.template operator()<Stage::stream>(call.out);
  } else {
    stage.template operator()<Stage::compact>({keys, values});
    exclusive_sum({counts, tiles}, call.count, call.workspace, call.stream);
    launch({blocks, Shape::threads, 0, call.stream}, close_gaps_kernel<Shape, Key, Value>,
           Output<Key, Value>{keys, values}, counts, tiles, call.count, call.out);
  }
}

/// `single_pass`.
template <class Shape, SetOperation operation, bool Duplicates, class Key, class Value, class Less>
void run_single_pass(const Call<Key, Value, Less>& call) {
  const std::int64_t tiles = tiles_of(call, Shape::tile_items);
  const auto [ends] = call.workspace.template take<std::int64_t>(call.stream, tiles + 1);
  // With a warp for each end, few ends are found sooner, and many later.
  const auto find_ends = [&, ends = ends]<int EndsPerWarp>() {
    constexpr unsigned threads = 128;
    constexpr int ends_per_block = threads / warp_threads * EndsPerWarp;
    launch({static_cast<unsigned>(tiles / ends_per_block + 1), threads, 0, call.stream},
           find_tile_ends_kernel<EndsPerWarp, Duplicates, Key, Value, Less>, call.a, call.b,
           Shape::tile_items, tiles, call.less, ends);
  };
  if (tiles < least_tiles_for_shared_searches) {
    find_ends.template operator()<1>();
  } else {
    find_ends.template operator()<32>();
  }
  const auto kernel = single_pass_kernel<Shape, operation, Duplicates, Key, Value, Less>;
  constexpr std::size_t bytes = sizeof(SinglePassStorage<Shape, Key, Value>);
  const LookBack look_back = call.workspace.look_back(call.stream, tiles);
  const std::int64_t resident = resident_blocks(kernel, Shape::block_threads, bytes);
  launch({static_cast<unsigned>(std::min(tiles, resident)), Shape::block_threads, bytes,
          call.stream, /*starts_early=*/true},
         kernel, call.a, call.b, call.out, ends, look_back, call.count, call.less);
}

/// Whether `single_pass` can have such keys: bulk copies are of whole lines of them.
template <class Key>
inline constexpr bool has_lines = hopper::bulk_bytes % sizeof(Key) == 0 &&
                                  alignof(Key) == sizeof(Key);

template <SetOperation operation, bool Duplicates, class Key, class Value, class Less>
void run(const Call<Key, Value, Less>& call, const Options& options) {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_default_constructible_v<Key>,
                "keys are copied as bytes: they must be trivially copyable and default "
                "constructible");
  static_assert(std::is_trivially_copyable_v<Value> && std::is_default_constructible_v<Value>,
                "values are copied as bytes: they must be trivially copyable and default "
                "constructible");
  static_assert(sizeof(Key) <= 64 && alignof(Key) <= 16,
                "a tile of keys must fit the shared memory of every device (99 KiB), whose "
                "alignment is 16: keys have 64 bytes at most; sort references to larger ones");
  if (options.variant == Variant::compact) {
    return run_two_pass<operation, Duplicates>(call, /*is_compact=*/true, options.range_checks);
  }
  if constexpr (has_lines<Key>) {
    using Shape = SinglePassTuning<operation, Key, Value>;
    constexpr std::size_t bytes = sizeof(SinglePassStorage<Shape, Key, Value>);
    if (options.variant == Variant::single_pass &&
        can_run(single_pass_kernel<Shape, operation, Duplicates, Key, Value, Less>,
                {.hopper = true, .shared_bytes = bytes})) {
      return run_single_pass<Shape, operation, Duplicates>(call);
    }
  }
  run_two_pass<operation, Duplicates>(call, /*is_compact=*/false, options.range_checks);
}

}  // namespace warpath::balanced_path_sets::detail
