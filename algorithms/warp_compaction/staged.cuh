// `single_pass` for elements that fit registers badly: any GPU, any size, any alignment. A
// block brings a tile to shared memory, in lines of 16 bytes; each warp decides there which items
// of its segment are kept, and lists them; then it copies their bytes to their place. While a block
// waits, the multiprocessor's other blocks work.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/block_look_back.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "core/look_back.cuh"
#include "core/vector.cuh"
#include "core/warp.cuh"
#include "warp_compaction/columns.cuh"
#include "warp_compaction/listed.cuh"
#include "warp_compaction/tuning.hpp"

namespace warpath::warp_compaction::detail {

/// Room for a column of a tile, wherever in a line it begins, and for the element before it.
template <class T, int TileItems>
struct ColumnLines {
  static constexpr int line = 16;
  static constexpr auto most_bytes = static_cast<int>((TileItems + 1) * sizeof(T)) + line - 1;
  alignas(line) unsigned char bytes[divide_up(most_bytes, line) * line];

  /// All threads of the block start to copy `count` elements from `from` on, and the one before if
  /// asked to. Of lines that are not wholly theirs, only their bytes are read. Returns where the
  /// first of the `count` will be: at the same place in a line as `from`.
  __device__ __forceinline__ int start_load(const T* from, int count, bool with_previous) {
    const int before = with_previous ? static_cast<int>(sizeof(T)) : 0;
    const auto* source = reinterpret_cast<const unsigned char*>(from) - before;
    const int begin = static_cast<int>(reinterpret_cast<std::uintptr_t>(source) % line);
    const int end = begin + before + count * static_cast<int>(sizeof(T));
    source -= begin;
    const int thread = static_cast<int>(threadIdx.x);
    const int lines_begin = (begin + line - 1) / line * line;
    const int lines_end = end / line * line;
    for (int i = lines_begin + thread * line; i < lines_end; i += blockDim.x * line) {
      __pipeline_memcpy_async(bytes + i, source + i, line);
    }
    if (const int i = begin + thread; i < min(lines_begin, end)) bytes[i] = source[i];
    if (const int i = max(lines_begin, lines_end) + thread; i < end) bytes[i] = source[i];
    return begin + before;
  }
};
template <int TileItems>
struct ColumnLines<NoCompanion, TileItems> {
  unsigned char bytes[1];
  __device__ __forceinline__ int start_load(const NoCompanion*, int, bool) { return 0; }
};

template <class Rule, class Shape>
struct StagedStorage {
  ColumnLines<typename Rule::Item, Shape::tile_items> items;
  ColumnLines<typename Rule::Companion, Shape::tile_items> companions;
  std::uint16_t kept[Shape::tile_items];  ///< a list for each warp, of numbers in the tile
  int warp_kept[Shape::warps];
  BlockTile tile;
};

/// Copies the listed ones of the elements that lie in `lines` from byte `place` on, `count` of
/// them, to `to` without gaps: by words of the target, each of which is put together from one
/// element or two. Words at both ends belong to other warps as well: there it copies bytes. One
/// full warp.
template <class T>
__device__ __forceinline__ void warp_copy_listed_by_words(T* to, const unsigned char* lines,
                                                          int place, const std::uint16_t* list,
                                                          int count) {
  constexpr int size = sizeof(T);
  static_assert(size > 2, "a word is of two elements at most");
  auto* const target = reinterpret_cast<unsigned char*>(to);
  const auto* const words_of_lines = reinterpret_cast<const unsigned*>(lines);
  const auto source_of = [&](int i) { return place + list[i / size] * size + i % size; };
  // `n` bytes from byte `i` on, 1 to 4, as the low ones of a word. No word is read that has none of
  // them.
  const auto bytes_at = [&](int i, int n) {
    return __funnelshift_r(words_of_lines[i / 4], words_of_lines[(i + n - 1) / 4],
                           8 * (static_cast<unsigned>(i) % 4));
  };

  const int bytes = count * size;
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  const int head = min(bytes, static_cast<int>((4 - address % 4) % 4));
  const int words = (bytes - head) / 4;
  const int tail = head + 4 * words;
  if (lane_index() < head) target[lane_index()] = lines[source_of(lane_index())];
  if (const int i = tail + lane_index(); i < bytes) target[i] = lines[source_of(i)];
#pragma unroll 4
  for (int w = lane_index(); w < words; w += warp_threads) {
    const int i = head + 4 * w;
    const int own = min(4, size - i % size);  // bytes of the element that byte i belongs to
    // The next element gives the others. Where there are none, one is read, and shifted away: no
    // branch, so that the reads of several words are under way at once.
    const int next = min(i + own, bytes - 1);
    const std::uint64_t others = bytes_at(source_of(next), max(4 - own, 1));
    const std::uint64_t all = (std::uint64_t{1} << (8 * own)) - 1;
    const auto word =
        static_cast<unsigned>((bytes_at(source_of(i), own) & all) | others << (8 * own));
    reinterpret_cast<unsigned*>(target + head)[w] = word;
  }
}

/// Copies a warp's listed elements of a column, `count` of them, to `to`. One full warp.
template <class T>
__device__ __forceinline__ void warp_copy_listed_out(T* to, const unsigned char* lines, int place,
                                                     const std::uint16_t* list, int count) {
  if constexpr (alignof(T) >= 4 || sizeof(T) <= 2) {
    using Unit = Access<alignof(T)>;
    auto* const target = reinterpret_cast<Unit*>(to);
    warp_copy_listed<Unit>(reinterpret_cast<const T*>(lines + place), list, count,
                           [&](int u) -> Unit& { return target[u]; });
  } else {
    warp_copy_listed_by_words(to, lines, place, list, count);
  }
}

/// Launched like single_pass_kernel, with sizeof(StagedStorage<Rule, Shape>) bytes of shared
/// memory.
template <class Rule, class Shape>
__global__ void __launch_bounds__(Shape::threads)
    staged_kernel(Rule rule, InputOf<Rule> in, OutputOf<Rule> out, LookBack look_back,
                  std::int64_t* kept) {
  using Item = typename Rule::Item;
  using Companion = typename Rule::Companion;
  auto& shared = dynamic_shared<StagedStorage<Rule, Shape>>();
  const int segment = warp_index() * Shape::segment_items;
  std::uint16_t* const list = shared.kept + segment;

  do {
    const TileTicket ticket = block_draw(look_back, shared.tile);
    if (ticket.tile < 0) break;

    const std::int64_t index = ticket.tile * Shape::tile_items;
    const int count =
        static_cast<int>(min(static_cast<std::int64_t>(Shape::tile_items), in.count - index));
    const bool with_previous = Rule::reads_previous && index > 0;
    const int items = shared.items.start_load(in.items + index, count, with_previous);
    const int companions =
        shared.companions.start_load(column_at(in.companions, index), count, with_previous);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the tile is there

    const TilePointers<const Item, const Companion> tile{
        reinterpret_cast<const Item*>(shared.items.bytes + items),
        reinterpret_cast<const Companion*>(shared.companions.bytes + companions)};
    const int warp_kept =
        warp_list_kept<false>(rule, tile, segment, Shape::segment_items, index, count, list);
    if (lane_index() == 0) shared.warp_kept[warp_index()] = warp_kept;
    __syncthreads();  // the lists and their lengths are there

    const auto tile_kept = [&] {
      return warp_sum(lane_index() < Shape::warps ? shared.warp_kept[lane_index()] : 0);
    };
    std::int64_t place = block_place(look_back, ticket, tile_kept, shared.tile, kept);
    for (int warp = 0; warp < warp_index(); ++warp) place += shared.warp_kept[warp];
    warp_copy_listed_out(out.items + place, shared.items.bytes, items, list, warp_kept);
    if constexpr (Rule::writes_companion) {
      warp_copy_listed_out(out.companions + place, shared.companions.bytes, companions, list,
                           warp_kept);
    }
    __syncthreads();  // the ticket, the lists and the tile are read
  } while (!look_back.draws_once());
}

}  // namespace warpath::warp_compaction::detail
