// The source's sort: two halves of the devices, each sorted, swap what belongs to the other one,
// and merge; with more than two devices, recursively.
//
// Sources: J. Robinson (with R. A. Brown), "KdTreeGPU", GitHub: "Two GPU Sort"; I. Tanasic et al.,
// "Comparison Based Sorting for Systems with Multiple GPUs", GPGPU-6, 2013.
//
//   sorted halves    a a a a a a a A A A | B B b b b b b b b b     the pivot: as many A as B
//   after the swap   a a a a a a a B B | A A A b b b b b b b b     two sorted runs in each half
//   merged           each half by itself, if it is one device; else its own halves are sorted
//   first,
//                    which takes no more than a merge in the one that the runs meet in; then they
//                    swap, and so on
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/launch.cuh"
#include "multi_gpu_sort/team.cuh"

namespace warpath::multi_gpu_sort::detail {

/// Some neighbouring devices.
struct Range {
  int first;
  int last;  ///< the one after them

  [[nodiscard]] bool is_one() const { return last - first == 1; }
  [[nodiscard]] int middle() const { return first + (last - first) / 2; }
};

/// The most devices that are a half.
inline constexpr int most_in_half = 16;

/// What neighbouring parts have, one after the other. Source: what one has, by places.
template <class Source>
struct Chained {
  Source sources[most_in_half];
  std::int64_t begins[most_in_half + 1];
  int parts;

  [[nodiscard]] __device__ __forceinline__ std::int64_t count() const { return begins[parts]; }
  [[nodiscard]] __device__ __forceinline__ auto operator[](std::int64_t i) const {
    int part = 0;
    while (i >= begins[part + 1]) ++part;
    return sources[part][i - begins[part]];
  }
};

/// pivot becomes how many elements the sorted halves have to swap: the last of a, and the first of
/// b. One thread, which reads the other devices' memory.
template <class Source, class Less>
__global__ void find_pivot_kernel(Chained<Source> a, Chained<Source> b, Less less,
                                  std::int64_t* pivot) {
  std::int64_t low = 0;
  std::int64_t high = min(a.count(), b.count());
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (less(b[middle], a[a.count() - 1 - middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *pivot = low;
}

/// Team: see team.cuh and tuple_team.cuh.
template <class Team>
class SwapMerge {
 public:
  explicit SwapMerge(Team& team) : team_(team) {
    if ((team.count() & (team.count() - 1)) == 0 && team.count() <= 2 * most_in_half) {
      return;
    }
    throw std::invalid_argument("swap_merge on " + std::to_string(team.count()) +
                                " devices: expected a power of two, at most " +
                                std::to_string(2 * most_in_half));
  }

  void run() {
    team_.sort_parts();
    for (int devices = 2; devices <= team_.count(); devices *= 2) {
      for (int first = 0; first < team_.count(); first += devices) {
        merge_halves({first, first + devices});
      }
    }
    team_.devices().meet();
  }

 private:
  /// Sorts a range whose halves are sorted.
  void merge_halves(Range range) {
    const std::int64_t pivot = find_pivot(range);
    if (pivot == 0) return;
    swap(range, pivot);
    const Range left{range.first, range.middle()};
    const Range right{range.middle(), range.last};
    merge_runs(left, count(left) - pivot);
    merge_runs(right, pivot);
  }
  /// Sorts a range that consists of two sorted runs, the second of which begins at element `begin`.
  void merge_runs(Range range, std::int64_t begin) {
    if (begin == 0 || begin == count(range)) return;
    if (range.is_one()) {
      merge_on_device(range.first, begin);
      return;
    }
    const Range left{range.first, range.middle()};
    const Range right{range.middle(), range.last};
    if (begin < count(left)) {
      merge_runs(left, begin);
    } else {
      merge_runs(right, begin - count(left));
    }
    merge_halves(range);
  }
  void merge_on_device(int i, std::int64_t begin) {
    team_.merge_two_runs(i, begin);
    team_.tell(Step::merge);
  }

  /// Blocks the host.
  std::int64_t find_pivot(Range range) {
    const Devices& devices = team_.devices();
    const int here = range.first;
    for (int i = range.first + 1; i < range.last; ++i) devices.wait(here, i);
    const CurrentDevice current(devices.ordinal(here));
    DeviceCount pivot(devices.stream(here));
    launch({1, 1, 0, devices.stream(here)},
           find_pivot_kernel<typename Team::Source, typename Team::Order>,
           chained({range.first, range.middle()}), chained({range.middle(), range.last}),
           team_.order(), pivot.data());
    const std::int64_t found = pivot.get(devices.stream(here));
    team_.tell(Step::split);
    return found;
  }
  [[nodiscard]] Chained<typename Team::Source> chained(Range range) const {
    Chained<typename Team::Source> chain{};
    for (int i = range.first; i < range.last; ++i) {
      chain.sources[chain.parts++] = team_.source(i);
      chain.begins[chain.parts] = team_.begin(i + 1) - team_.begin(range.first);
    }
    return chain;
  }

  /// Swaps the last elements of the first half with the first ones of the other.
  void swap(Range range, std::int64_t pivot) {
    const std::int64_t middle = team_.begin(range.middle());
    meet(range);  // all halves are sorted
    if (team_.is_direct()) {
      for_each_piece(middle - pivot, middle, pivot, [&](Piece a, Piece b) { team_.swap(a, b); });
    } else if constexpr (Team::can_swap_by_copies) {
      for_each_piece(middle - pivot, middle, pivot, [&](Piece a, Piece b) {
        team_.copy_to_scratch(a, b);
        team_.copy_to_scratch(b, a);
      });
      meet(range);  // what is swapped has been read
      for_each_piece(middle - pivot, middle, pivot, [&](Piece a, Piece b) {
        team_.copy_from_scratch(a);
        team_.copy_from_scratch(b);
      });
    }
    meet(range);  // all have what they swapped for
    team_.tell(Step::exchange, 2 * pivot);
  }
  [[nodiscard]] Piece piece_at(std::int64_t place) const {
    int device = 0;
    while (place >= team_.begin(device + 1)) ++device;
    return {device, place - team_.begin(device), team_.begin(device + 1) - place};
  }
  /// Calls act(piece, other) for the elements from two places on, cut where devices begin.
  template <class Act>
  void for_each_piece(std::int64_t a, std::int64_t b, std::int64_t left, const Act& act) const {
    while (left > 0) {
      Piece of_a = piece_at(a);
      Piece of_b = piece_at(b);
      of_a.count = of_b.count = std::min({of_a.count, of_b.count, left});
      act(of_a, of_b);
      a += of_a.count;
      b += of_a.count;
      left -= of_a.count;
    }
  }

  [[nodiscard]] std::int64_t count(Range range) const {
    return team_.begin(range.last) - team_.begin(range.first);
  }
  /// The streams of these devices wait for each other.
  void meet(Range range) const {
    for (int i = range.first; i < range.last; ++i) {
      for (int j = range.first; j < range.last; ++j) team_.devices().wait(i, j);
    }
  }

  Team& team_;
};

}  // namespace warpath::multi_gpu_sort::detail
