// The medians of the first levels of a tree whose tuples lie on several devices, exactly: digit by
// digit of the superkeys.
//
// Each device counts the next digit of those of its tuples that agree with what is known of a
// median, in all segments of a level at once; the host adds the counts up, and knows a digit more.
// When few tuples are left, they come to the host as they are. Of wholly equal tuples the numbers
// are the last digits: so few are left in the end, whatever ties.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/divide_up.hpp"
#include "core/key_order.cuh"
#include "core/launch.cuh"
#include "kd_tree/columns.cuh"
#include "kd_tree/median_selection.cuh"
#include "kd_tree/parts.cuh"
#include "kd_tree/shares.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::kd_tree::detail {

inline constexpr int digit_bits = 11;
inline constexpr int digit_bins = 1 << digit_bits;
/// The most segments of a level that are searched in: those above most_parts parts.
inline constexpr int most_searches = most_parts / 2;

/// What is known of a median: words 0 to word - 1 of its superkey, and the high bits of the next,
/// all but `bits_left`.
template <class C>
struct KnownDigits {
  using Bits = OrderedBits<C>;
  static constexpr int word_bits = 8 * static_cast<int>(sizeof(Bits));

  Bits words[most_dimensions + 1];
  int word = 0;
  int bits_left = word_bits;
  bool is_enough = false;  ///< no more digits are asked for

  [[nodiscard]] __host__ __device__ int shift() const {
    return bits_left > digit_bits ? bits_left - digit_bits : 0;
  }
  /// The next digit of the tuple at a place, if it agrees with what is known; else -1.
  [[nodiscard]] __device__ __forceinline__ int digit(const TupleColumns<C>& tuples,
                                                     std::uint32_t place, int primary) const {
    for (int k = 0; k < word; ++k) {
      if (tuples.key(place, primary, k) != words[k]) return -1;
    }
    const Bits key = tuples.key(place, primary, word);
    if (bits_left < word_bits && (key ^ words[word]) >> bits_left != 0) return -1;
    const Bits above = bits_left < word_bits ? key >> bits_left << bits_left : Bits{0};
    return static_cast<int>((key - above) >> shift());
  }
  /// One more digit is known.
  void append(int digit) {
    words[word] |= static_cast<Bits>(digit) << shift();
    bits_left = shift();
    if (bits_left > 0) return;
    ++word;
    bits_left = word_bits;
  }
};
template <class C>
struct KnownDigitsOfLevel {
  KnownDigits<C> segments[most_searches];
};

template <class C>
struct DigitStorage {
  UnitSplits<C> splits;
  std::uint32_t bins[most_searches * digit_bins];
};

/// counts[segment * digit_bins + d] becomes how many of a device's tuples in the segments of a
/// depth have d as the next digit. A block a tile, again and again.
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    count_digits_kernel(LevelGroup<C> group, int depth, KnownDigitsOfLevel<C> known,
                        std::uint32_t* counts) {
  auto& shared = dynamic_shared<DigitStorage<C>>();
  shared.splits.load(group, depth, 0);
  const unsigned all_bins = digit_bins << depth;
  for (unsigned i = threadIdx.x; i < all_bins; i += Tile::threads) shared.bins[i] = 0;
  __syncthreads();  // the splits are there, and all counts are 0
  const auto tiles = static_cast<std::uint32_t>(divide_up(group.base.n, Tile::capacity));
  for (std::uint32_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const TilePlaces<Tile> tile(number, group.unit(0));
    int segments[Tile::items];
    const unsigned exist = find_segments(group, depth, 0, shared.splits, tile, segments,
                                         [](int, std::uint32_t, std::uint32_t) {});
#pragma unroll
    for (int t = 0; t < Tile::items; ++t) {
      if ((exist >> t & 1) == 0) continue;
      const KnownDigits<C>& of_segment = known.segments[segments[t]];
      if (of_segment.is_enough) continue;
      const int digit = of_segment.digit(group.tuples, tile.place(t), group.primary(depth));
      if (digit >= 0) atomicAdd(&shared.bins[segments[t] * digit_bins + digit], 1u);
    }
  }
  __syncthreads();  // all tuples are counted
  for (unsigned i = threadIdx.x; i < all_bins; i += Tile::threads) {
    if (shared.bins[i] != 0) atomicAdd(&counts[i], shared.bins[i]);
  }
}

/// Lists the tuples that agree with what is known, as rows: at most `room` a segment. counts[s]
/// becomes how many segment s has.
template <class Tile, class C>
__global__ void __launch_bounds__(Tile::threads)
    list_candidates_kernel(LevelGroup<C> group, int depth, KnownDigitsOfLevel<C> known,
                           std::uint32_t room, SuperkeyRows<C> rows, std::uint32_t* counts) {
  auto& splits = dynamic_shared<UnitSplits<C>>();
  splits.load(group, depth, 0);
  __syncthreads();  // the splits are there
  const auto tiles = static_cast<std::uint32_t>(divide_up(group.base.n, Tile::capacity));
  for (std::uint32_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const TilePlaces<Tile> tile(number, group.unit(0));
    int segments[Tile::items];
    const unsigned exist = find_segments(group, depth, 0, splits, tile, segments,
                                         [](int, std::uint32_t, std::uint32_t) {});
    for (int t = 0; t < Tile::items; ++t) {
      if ((exist >> t & 1) == 0) continue;
      const std::uint32_t place = tile.place(t);
      const int primary = group.primary(depth);
      if (known.segments[segments[t]].digit(group.tuples, place, primary) < 0) continue;
      const std::uint32_t i = atomicAdd(&counts[segments[t]], 1u);
      if (i >= room) continue;
      OrderedBits<C>* const row = rows.row(std::int64_t{room} * segments[t] + i);
      for (int k = 0; k <= group.tuples.dimensions; ++k) {
        row[k] = group.tuples.key(place, 0, k);
      }
    }
  }
}

/// Finds the medians of levels 0, 1, ..., one after the other. MostListed: the most tuples of a
/// segment that come to the host.
template <class C, std::int64_t MostListed = 4096>
class TopSelection {
 public:
  using Bits = OrderedBits<C>;

  /// What a device has: its tuples, and memory for the rest.
  struct OfDevice {
    TupleColumns<C> tuples;
    std::int64_t count = 0;
    SuperkeyRows<C> medians;     ///< most_parts: of all segments of level 0, then of level 1, ...
    SuperkeyRows<C> candidates;  ///< most_searches * most_listed
    std::uint32_t* counts = nullptr;  ///< most_searches * digit_bins
  };
  static constexpr std::int64_t most_listed = MostListed;

  /// tuples: of n > 0 on all devices together.
  TopSelection(const Devices& devices, std::int64_t n, std::vector<OfDevice> tuples)
      : devices_(devices),
        n_(n),
        tuples_(std::move(tuples)),
        dimensions_(tuples_.front().tuples.dimensions),
        medians_(static_cast<std::size_t>(most_parts * row_words())) {}

  /// Finds the medians of level `depth`, once those above are found; they are in the devices'
  /// memory in the order of the streams. Blocks the host.
  void find(int depth) {
    std::vector<Search> searches;
    for (std::uint32_t s = 0; s < 1u << depth; ++s) {
      const std::int64_t count = subtree_count(n_, depth, s);
      searches.push_back({(count - 1) / 2, count});
    }
    KnownDigitsOfLevel<C> known{};
    while (narrow(depth, searches, known)) {
    }
    take_candidates(depth, searches, known);
    const std::size_t bytes = medians_.size() * sizeof(Bits);
    devices_.for_each([&](int i, cudaStream_t stream) {
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(of(i).medians.words, medians_.data(), bytes,
                                         cudaMemcpyHostToDevice, stream));
    });
    devices_.synchronize();  // what is copied may change
  }
  /// The number of the tuple that is the median of a segment; no_node of one without tuples.
  [[nodiscard]] std::uint32_t median(int depth, std::uint32_t segment) const {
    if (subtree_count(n_, depth, segment) == 0) return no_node;
    return static_cast<std::uint32_t>(
        medians_[row_of(depth, segment) + static_cast<std::size_t>(dimensions_)]);
  }
  /// The tuples of device i as one segment, and the medians.
  [[nodiscard]] LevelGroup<C> group(int i) {
    return {of(i).tuples, {static_cast<std::uint32_t>(of(i).count), 0}, nullptr, 0, of(i).medians};
  }

 private:
  using Tile = BlockShape<256, 8>;

  /// The tuple of a rank, among some.
  struct Search {
    std::int64_t rank;
    std::int64_t count;
  };

  [[nodiscard]] OfDevice& of(int i) { return tuples_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t row_words() const { return dimensions_ + 1; }
  [[nodiscard]] std::size_t row_of(int depth, std::uint32_t segment) const {
    return static_cast<std::size_t>(((std::int64_t{1} << depth) - 1 + segment) * row_words());
  }
  [[nodiscard]] unsigned blocks(int i) {
    return static_cast<unsigned>(
        std::min<std::int64_t>(divide_up(of(i).count, std::int64_t{Tile::capacity}), 1024));
  }

  /// One digit more of all segments that have more tuples than the host takes. False if there is
  /// none.
  bool narrow(int depth, std::vector<Search>& searches, KnownDigitsOfLevel<C>& known) {
    bool is_any = false;
    for (std::size_t s = 0; s < searches.size(); ++s) {
      known.segments[s].is_enough = searches[s].count <= most_listed;
      is_any = is_any || !known.segments[s].is_enough;
    }
    if (!is_any) return false;
    const std::size_t bins = searches.size() * digit_bins;
    const std::vector<std::uint32_t> counts = on_all(bins, [&](int i, cudaStream_t stream) {
      launch({blocks(i), Tile::threads, sizeof(DigitStorage<C>), stream},
             count_digits_kernel<Tile, C>, group(i), depth, known, of(i).counts);
    });
    for (std::size_t s = 0; s < searches.size(); ++s) {
      if (known.segments[s].is_enough) continue;
      std::int64_t& rank = searches[s].rank;
      int digit = 0;
      const auto in_bin = [&] {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < tuples_.size(); ++i) {
          sum += counts[i * bins + s * digit_bins + static_cast<std::size_t>(digit)];
        }
        return sum;
      };
      while (rank >= in_bin()) {
        rank -= in_bin();
        ++digit;
      }
      searches[s].count = in_bin();
      known.segments[s].append(digit);
    }
    return true;
  }
  /// What is left of all segments comes to the host: one of them is the median.
  void take_candidates(int depth, const std::vector<Search>& searches,
                       const KnownDigitsOfLevel<C>& known) {
    const std::size_t segments = searches.size();
    const std::vector<std::uint32_t> counts = on_all(segments, [&](int i, cudaStream_t stream) {
      launch({blocks(i), Tile::threads, sizeof(UnitSplits<C>), stream},
             list_candidates_kernel<Tile, C>, group(i), depth, known,
             static_cast<std::uint32_t>(most_listed), of(i).candidates, of(i).counts);
    });
    const auto words = static_cast<std::size_t>(row_words());
    for (std::size_t s = 0; s < segments; ++s) {
      if (searches[s].count == 0) continue;
      std::vector<Bits> rows(static_cast<std::size_t>(searches[s].count) * words);
      std::size_t next = 0;
      devices_.for_each([&](int i, cudaStream_t stream) {
        const std::size_t own = counts[static_cast<std::size_t>(i) * segments + s] * words;
        if (own == 0) return;
        WARPATH_CUDA_CHECK(cudaMemcpyAsync(
            &rows[next], of(i).candidates.row(static_cast<std::int64_t>(s) * most_listed),
            own * sizeof(Bits), cudaMemcpyDeviceToHost, stream));
        next += own;
      });
      devices_.synchronize();
      const std::size_t found = place_of_rank(rows, searches[s].rank, depth % dimensions_);
      std::copy_n(&rows[found * words], words,
                  &medians_[row_of(depth, static_cast<std::uint32_t>(s))]);
    }
  }
  /// Which of the rows has a rank, by the superkey that begins with coordinate `primary`.
  [[nodiscard]] std::size_t place_of_rank(const std::vector<Bits>& rows, std::int64_t rank,
                                          int primary) const {
    const auto words = static_cast<std::size_t>(row_words());
    std::vector<std::size_t> places(rows.size() / words);
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto is_before = [&](std::size_t a, std::size_t b) {
      for (int k = 0; k <= dimensions_; ++k) {
        const auto word =
            static_cast<std::size_t>(k == dimensions_ ? k : (primary + k) % dimensions_);
        const Bits x = rows[a * words + word];
        const Bits y = rows[b * words + word];
        if (x != y) return x < y;
      }
      return false;
    };
    const auto middle = places.begin() + rank;
    std::nth_element(places.begin(), middle, places.end(), is_before);
    return *middle;
  }

  /// Calls act(i, stream) for all devices that have tuples, once their first `count` counts are 0;
  /// returns the counts that it leaves, device after device. Blocks the host.
  template <class Act>
  std::vector<std::uint32_t> on_all(std::size_t count, const Act& act) {
    const std::size_t bytes = count * sizeof(std::uint32_t);
    std::vector<std::uint32_t> counts(tuples_.size() * count);
    devices_.for_each([&](int i, cudaStream_t stream) {
      WARPATH_CUDA_CHECK(cudaMemsetAsync(of(i).counts, 0, bytes, stream));
      if (of(i).count > 0) act(i, stream);
    });
    devices_.for_each([&](int i, cudaStream_t stream) {
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(&counts[static_cast<std::size_t>(i) * count], of(i).counts,
                                         bytes, cudaMemcpyDeviceToHost, stream));
    });
    devices_.synchronize();
    return counts;
  }

  const Devices& devices_;
  std::int64_t n_;
  std::vector<OfDevice> tuples_;
  int dimensions_;
  std::vector<Bits> medians_;  ///< as the devices have them
};

}  // namespace warpath::kd_tree::detail
