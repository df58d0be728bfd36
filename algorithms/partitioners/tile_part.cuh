// What a warp does with its part of a tile of a partition: take it into registers, ask for the
// class of each element, rank all of them by counts, and write them to shared memory, class after
// class; and copies from there to the outputs.
//
//   tile    | part of warp 0 | part of warp 1 | ...           warps x warp_items
//   part    row 0  | lane 0 | lane 1 | ... | lane 31 |        rows x 32 lanes x width
//            ...
//   lane    `width` consecutive elements of a row: one access of 16 bytes
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/vector.cuh"
#include "core/warp.cuh"

namespace warpath::partitioners::detail {

/// Where a tile's classes begin, and how many of each class but the last it has before a warp.
template <int LastClass>
struct TileRanks {
  int class_begins[LastClass + 1];
  int before[LastClass];

  [[nodiscard]] __device__ __forceinline__ int class_count(int c) const {
    return class_begins[c + 1] - class_begins[c];
  }
  /// From the counts of each class and warp.
  template <int Warps>
  __device__ __forceinline__ TileRanks(const int (&warp_counts)[LastClass][Warps], int warp) {
    class_begins[0] = 0;
#pragma unroll
    for (int c = 0; c < LastClass; ++c) {
      before[c] = 0;
      class_begins[c + 1] = class_begins[c];
#pragma unroll
      for (int w = 0; w < Warps; ++w) {
        if (w < warp) before[c] += warp_counts[c][w];
        class_begins[c + 1] += warp_counts[c][w];
      }
    }
  }
};

/// The widest access that an alignment allows.
template <std::size_t Alignment>
struct AccessOf {
  using Type = unsigned;
};
template <>
struct AccessOf<1> {
  using Type = unsigned char;
};
template <>
struct AccessOf<2> {
  using Type = unsigned short;
};
template <>
struct AccessOf<8> {
  using Type = uint2;
};
template <>
struct AccessOf<16> {
  using Type = uint4;
};

// Accesses to the words of registers.
__device__ __forceinline__ void hold(unsigned access, unsigned* words) {
  words[0] = access;
}
__device__ __forceinline__ void hold(uint2 access, unsigned* words) {
  words[0] = access.x;
  words[1] = access.y;
}
__device__ __forceinline__ void hold(uint4 access, unsigned* words) {
  words[0] = access.x;
  words[1] = access.y;
  words[2] = access.z;
  words[3] = access.w;
}
__device__ __forceinline__ void store_held(unsigned* to, const unsigned* words) {
  *to = words[0];
}
__device__ __forceinline__ void store_held(uint2* to, const unsigned* words) {
  *to = {words[0], words[1]};
}
__device__ __forceinline__ void store_held(uint4* to, const unsigned* words) {
  *to = {words[0], words[1], words[2], words[3]};
}

/// `Width` consecutive elements in registers, as words: the compiler might hold the members of an
/// element, or its halves, in a register each.
template <class T, int Width>
class HeldElements {
 public:
  /// From memory that is aligned to all of them.
  __device__ __forceinline__ void load_vector(const T* from) {
    hold(*aligned(reinterpret_cast<const uint4*>(from)), words_);
  }
  /// The first `count` of them, from memory that is aligned to each.
  __device__ __forceinline__ void load(const T* from, int count) {
    const auto* accesses = reinterpret_cast<const Access*>(from);
#pragma unroll
    for (int a = 0; a < Width * accesses_each; ++a) {
      const Access access = a / accesses_each < count ? accesses[a] : Access{};
      const int byte = a * access_bytes;
      if constexpr (access_bytes >= 4) {
        hold(access, words_ + byte / 4);
      } else {
        const unsigned in_place = static_cast<unsigned>(access) << byte % 4 * 8;
        words_[byte / 4] = byte % 4 == 0 ? in_place : words_[byte / 4] | in_place;
      }
    }
  }
  /// Element k, for the predicates.
  [[nodiscard]] __device__ __forceinline__ T element(int k) const {
    T element;
    if constexpr (element_bytes < 4) {
      const unsigned word = words_[k * element_bytes / 4] >> k * element_bytes % 4 * 8;
      memcpy(&element, &word, sizeof element);
    } else {
      unsigned words[words_each];
#pragma unroll
      for (int i = 0; i < words_each; ++i) words[i] = words_[k * element_bytes / 4 + i];
      memcpy(&element, words, sizeof element);
    }
    return element;
  }
  __device__ __forceinline__ void store(T* to, int k) const {
    auto* accesses = reinterpret_cast<Access*>(to);
#pragma unroll
    for (int a = 0; a < accesses_each; ++a) {
      const int byte = k * element_bytes + a * access_bytes;
      if constexpr (access_bytes >= 4) {
        store_held(accesses + a, words_ + byte / 4);
      } else {
        // A permutation and not a shift, so that the compiler does not keep what element() has
        // shifted, a register for each element.
        accesses[a] = static_cast<Access>(__byte_perm(words_[byte / 4], 0, 0x3210 >> byte % 4 * 4));
      }
    }
  }

 private:
  using Access = typename AccessOf<alignof(T)>::Type;
  static constexpr int element_bytes = sizeof(T);
  static constexpr int access_bytes = sizeof(Access);
  static constexpr int accesses_each = element_bytes / access_bytes;
  static constexpr int words_each = (element_bytes + 3) / 4;
  // An element smaller than a word never lies in two of them.
  static_assert(Width == 1 || element_bytes % 4 == 0 || 4 % element_bytes == 0);

  unsigned words_[(Width * element_bytes + 3) / 4];
};

/// A warp's part of a tile, in registers: `rows` rows, and in a row a vector of `width` consecutive
/// elements for each lane. One full warp; first load, then classify, then the rest. `count`: how
/// many elements the part has, all of them if `IsFull`.
template <class T, class Classes, class Shape>
class TilePart {
 public:
  static constexpr int last_class = Classes::count - 1;

  /// Loads the elements: a vector in one access, where all of them are aligned to it.
  template <bool IsFull>
  __device__ __forceinline__ void load(const T* part, int count) {
    if constexpr (IsFull && Shape::width > 1) {
      static_assert(Shape::width * sizeof(T) == sizeof(uint4));
      if (reinterpret_cast<std::uintptr_t>(part) % sizeof(uint4) == 0) {
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) rows_[row].load_vector(part + own(row, 0));
        return;
      }
    }
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      rows_[row].load(part + own(row, 0), IsFull ? Shape::width : count - own(row, 0));
    }
  }

  /// Asks for the class of each element, and ranks all of them.
  template <bool IsFull>
  __device__ __forceinline__ void classify(const Classes& classes, int count) {
    unsigned counts[last_class][count_words] = {};
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
      for (int k = 0; k < Shape::width; ++k) {
        const bool exists = IsFull || own(row, k) < count;
        const int its_class = exists ? classes(rows_[row].element(k)) : last_class;
#pragma unroll
        for (int c = 0; c < last_class; ++c) {
          if (its_class == c) {
            members_[c][item(row, k) / 32] |= 1u << item(row, k) % 32;
            if (!counts_bits) counts[c][row / rows_a_word] += one_of(row);
          }
        }
      }
      if constexpr (counts_bits) {
#pragma unroll
        for (int c = 0; c < last_class; ++c) {
          // Those of later rows are not there yet.
          const unsigned of_row = members_[c][item(row, 0) / 32] >> item(row, 0) % 32;
          counts[c][row / rows_a_word] += static_cast<unsigned>(__popc(of_row)) * one_of(row);
        }
      }
    }
#pragma unroll
    for (int c = 0; c < last_class; ++c) {
#pragma unroll
      for (int word = 0; word < count_words; ++word) {
        const unsigned through = warp_inclusive_sum(counts[c][word]);
        before_[c][word] = through - counts[c][word];
        totals_[c][word] = __shfl_sync(full_warp, through, warp_threads - 1);
      }
    }
  }

  /// How many elements of the part are of a class, in every lane.
  [[nodiscard]] __device__ __forceinline__ int members(int c) const {
    int sum = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) sum += row_count(totals_[c], row);
    return sum;
  }

  /// Writes the part's elements to their places in a tile, class after class. `ranks`: of the
  /// part's warp; `begin`: where the part begins.
  template <bool IsFull>
  __device__ __forceinline__ void store(T* tile, TileRanks<last_class> ranks, int begin,
                                        int count) const {
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
      int before[last_class];
#pragma unroll
      for (int c = 0; c < last_class; ++c) {
        before[c] = ranks.before[c] + row_count(before_[c], row);
        ranks.before[c] += row_count(totals_[c], row);
      }
#pragma unroll
      for (int k = 0; k < Shape::width; ++k) {
        int place = ranks.class_begins[last_class] + begin + own(row, k);
#pragma unroll
        for (int c = 0; c < last_class; ++c) place -= before[c];
#pragma unroll
        for (int c = 0; c < last_class; ++c) {
          if (is_member(c, row, k)) place = ranks.class_begins[c] + before[c]++;
        }
        if (IsFull || own(row, k) < count) rows_[row].store(tile + place, k);
      }
    }
  }

 private:
  // How many of a row the lanes below have, or the warp: at most 32 * width, some rows in a word.
  static constexpr int count_bits = Shape::width <= 4 ? 8 : 16;
  static constexpr int rows_a_word = 32 / count_bits;
  static constexpr int count_words = (Shape::rows + rows_a_word - 1) / rows_a_word;

  // Where a row has many elements in a lane, their bits are counted at once.
  static constexpr bool counts_bits = Shape::width > 4;

  __device__ __forceinline__ static constexpr unsigned one_of(int row) {
    return 1u << row % rows_a_word * count_bits;
  }
  __device__ __forceinline__ static int own(int row, int k) {
    return (row * warp_threads + lane_index()) * Shape::width + k;
  }
  __device__ __forceinline__ static constexpr int item(int row, int k) {
    return row * Shape::width + k;
  }
  [[nodiscard]] __device__ __forceinline__ bool is_member(int c, int row, int k) const {
    return (members_[c][item(row, k) / 32] >> item(row, k) % 32 & 1) != 0;
  }
  __device__ __forceinline__ static int row_count(const unsigned (&words)[count_words], int row) {
    return static_cast<int>(words[row / rows_a_word] >> row % rows_a_word * count_bits &
                            ((1u << count_bits) - 1));
  }

  HeldElements<T, Shape::width> rows_[Shape::rows];
  unsigned members_[last_class][(Shape::rows * Shape::width + 31) / 32] = {};
  unsigned before_[last_class][count_words];
  unsigned totals_[last_class][count_words];
};

/// A copier's share of `bytes` from shared to global memory: every `Copiers`-th run of 32 units,
/// aligned in global memory.
template <int Copiers, class Unit>
__device__ __forceinline__ void copy_units(Unit* to, const Unit* from, int count, int copier) {
  const int phase =
      static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(Unit) % warp_threads);
#pragma unroll 4
  for (int i = copier * warp_threads + lane_index() - phase; i < count;
       i += Copiers * warp_threads) {
    if (i >= 0) to[i] = from[i];
  }
}
/// The same for any alignment: 4-byte words, aligned in global memory, each put together from two
/// in shared memory; bytes at both ends.
template <int Copiers>
__device__ __forceinline__ void copy_bytes(unsigned char* to, const unsigned char* from, int bytes,
                                           int copier) {
  const int head = min(static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) % 4), bytes);
  const int words = (bytes - head) / 4;
  const int tail = head + words * 4;
  const int lane = lane_index();
  if (copier == 0) {
    if (lane < head) to[lane] = from[lane];
    if (tail + lane < bytes) to[tail + lane] = from[tail + lane];
  }
  auto* target = reinterpret_cast<unsigned*>(to + head);
  const std::uintptr_t source = reinterpret_cast<std::uintptr_t>(from + head);
  const auto* aligned = reinterpret_cast<const unsigned*>(source - source % 4);
  const unsigned shift = static_cast<unsigned>(source % 4) * 8;
  const int phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(target) / 4 % warp_threads);
#pragma unroll 4
  for (int i = copier * warp_threads + lane - phase; i < words; i += Copiers * warp_threads) {
    if (i >= 0) target[i] = __funnelshift_r(aligned[i], aligned[i + 1], shift);
  }
}
/// The same for elements of any type.
template <int Copiers, class T>
__device__ __forceinline__ void copy_elements(T* to, const T* from, int count, int copier) {
  constexpr int bytes = sizeof(T);
  if constexpr (alignof(T) < sizeof(unsigned)) {
    copy_bytes<Copiers>(reinterpret_cast<unsigned char*>(to),
                        reinterpret_cast<const unsigned char*>(from), count * bytes, copier);
  } else {
    using Unit = typename AccessOf<alignof(T)>::Type;
    copy_units<Copiers>(reinterpret_cast<Unit*>(to), reinterpret_cast<const Unit*>(from),
                        count * (bytes / static_cast<int>(sizeof(Unit))), copier);
  }
}

}  // namespace warpath::partitioners::detail
