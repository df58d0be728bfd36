// Tuples by superkey, as Team has keys: what all devices are given, the parts that it becomes, and
// the steps that each device does alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/buffer.cuh"
#include "core/devices.cuh"
#include "core/launch.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "core/superkey.cuh"
#include "merge_sort/merge_sort.cuh"
#include "merge_sort/merge_superkeys.cuh"
#include "multi_gpu_sort/pieces.hpp"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/tuples.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort::detail {

template <class C>
class TupleTeam {
 public:
  static constexpr bool can_swap_by_copies = false;
  using Source = SortedTuples<C>;
  using Order = ByTuple<C>;

  TupleTeam(const Devices& devices, std::span<const SourceTuples<C>> sources,
            std::span<const TuplePart<C>> parts, int dimensions, int primary, Memory& memory,
            const Options& options)
      : devices_(devices),
        sources_(sources),
        parts_(parts),
        scratch_(parts.size()),
        order_{dimensions, primary},
        memory_(memory),
        options_(options) {
    begins_.push_back(0);
    for (const TuplePart<C>& part : parts_) begins_.push_back(begins_.back() + part.count());
  }

  [[nodiscard]] int count() const { return static_cast<int>(parts_.size()); }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  [[nodiscard]] int dimensions() const { return order_.dimensions; }
  [[nodiscard]] const TuplePart<C>& part(int i) const { return parts_[at(i)]; }
  /// How many tuples the parts before part i have; of count(), all.
  [[nodiscard]] std::int64_t begin(int i) const { return begins_[at(i)]; }
  [[nodiscard]] bool is_direct() const { return true; }
  [[nodiscard]] const Order& order() const { return order_; }
  void tell(Step step, std::int64_t moved = 0) const {
    detail::tell(options_.after_step, step, moved);
  }

  /// What device i has sorted by itself: its source, or its part.
  struct Sorted {
    SourceTuples<C> tuples;
    DeviceSpan<std::uint32_t> references;
    DeviceSpan<C> values;

    [[nodiscard]] std::int64_t count() const { return references.count; }
  };
  [[nodiscard]] const Sorted& sorted(int i) const { return sorted_[at(i)]; }
  [[nodiscard]] Source source(int i) const {
    const Sorted& own = sorted(i);
    return {own.values.data, own.references.data, own.tuples.coordinates.data, dimensions()};
  }

  /// Throws if a sort has found NaN. Blocks the host until they have ended.
  void require_no_nan() const {
    for (int i = 0; i < count(); ++i) {
      const CurrentDevice current(devices_.ordinal(i));
      const std::int64_t nan = first_nan_[at(i)].get(devices_.stream(i));
      if (nan >= 0) throw_of_nan(i, nan);
    }
  }

  // For swap_merge.

  /// The sources become the parts as they are, and each of these is sorted by itself.
  void sort_parts() {
    copy_sources();
    for (int i = 0; i < count(); ++i) {
      const TuplePart<C>& own = part(i);
      start_sort(i, {{own.coordinates, own.numbers}, own.references, own.values});
      take_scratch(i);
    }
    tell(Step::sort);
    require_no_nan();
  }
  /// The tuples of two pieces, in their order, change places, in the stream of the first one's
  /// device.
  void swap(const Piece& a, const Piece& b) const {
    const CurrentDevice current(devices_.ordinal(a.device));
    launch({blocks_for(a.count), 256, 0, devices_.stream(a.device)}, swap_tuples_kernel<C>,
           swapped(a), swapped(b), a.count, dimensions());
  }
  /// Sorts part i, whose references are two sorted runs: the second one from place `begin` on.
  void merge_two_runs(int i, std::int64_t begin) const {
    const TuplePart<C>& own = part(i);
    const auto run = [&](std::int64_t first, std::int64_t length) {
      return merge_sort::SuperkeyRun<C>{{own.values.data + first, length},
                                        {own.references.data + first, length}};
    };
    const DeviceSpan<std::uint32_t> references{scratch(i).references, own.count()};
    const DeviceSpan<C> values{scratch(i).values, own.count()};
    merge(i, {run(0, begin), run(begin, own.count() - begin)}, references, values);
    devices_.copy(own.references.data, i, references.data, i, own.count());
    devices_.copy(own.values.data, i, values.data, i, own.count());
  }

  // For splitter_merge.

  /// Sorts references to each source's tuples.
  void start_sorts_of_sources() {
    for (int i = 0; i < count(); ++i) {
      const SourceTuples<C>& own = sources_[at(i)];
      const std::int64_t n = own.coordinates.count / dimensions();
      const CurrentDevice current(devices_.ordinal(i));
      const auto [references, values] =
          memory_.of(i).segments.template take<std::uint32_t, C>(devices_.stream(i), n, n);
      start_sort(i, {own, {references, n}, {values, n}});
      take_scratch(i);
    }
    tell(Step::sort);
  }
  /// The sorted tuples of a device go to the parts, piece after piece of them to part 0, 1, ...
  /// from these places on, and their values to scratch memory. ends: where each piece ends.
  void send(int from, const std::vector<std::int64_t>& places,
            const std::vector<std::int64_t>& ends) const {
    const Sorted& own = sorted(from);
    Outbox<C> outbox;
    std::int64_t first = 0;
    for (int to = 0; to < count(); ++to) {
      const std::int64_t place = places[at(to)];
      outbox.add(first, ends[at(to)] - first,
                 {part(to).coordinates.data + dimensions() * place, part(to).numbers.data + place,
                  scratch(to).values + place});
      first = ends[at(to)];
    }
    const CurrentDevice current(devices_.ordinal(from));
    pack_tuples(TuplesInOrder<C>{own.tuples.coordinates.data, own.tuples.numbers.data,
                                 own.tuples.first_number, own.references.data, own.values.data},
                dimensions(), outbox, devices_.stream(from));
  }
  /// Sorts the references of part i, whose tuples are sorted runs that begin at these places.
  void merge_received(int i, const std::vector<std::int64_t>& begins) const {
    const Scratch& own = scratch(i);
    {
      const CurrentDevice current(devices_.ordinal(i));
      merge_sort::iota_references(DeviceSpan<std::uint32_t>{own.references, part(i).count()},
                                  devices_.stream(i));
    }
    std::vector<merge_sort::SuperkeyRun<C>> runs;
    for (std::size_t k = 0; k < begins.size(); ++k) {
      const std::int64_t end = k + 1 < begins.size() ? begins[k + 1] : part(i).count();
      runs.push_back({{own.values + begins[k], end - begins[k]},
                      {own.references + begins[k], end - begins[k]}});
    }
    merge(i, runs, part(i).references, part(i).values);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// As many elements as the part, once the sort of its device is in the stream.
  struct Scratch {
    C* values;
    std::uint32_t* references;
  };
  [[nodiscard]] const Scratch& scratch(int i) const { return scratch_[at(i)]; }
  void take_scratch(int i) {
    const CurrentDevice current(devices_.ordinal(i));
    const auto [values, references] = memory_.of(i).elements.template take<C, std::uint32_t>(
        devices_.stream(i), part(i).count(), part(i).count());
    scratch_[at(i)] = {values, references};
  }

  /// Sorts references to all tuples of one device.
  void start_sort(int i, const Sorted& sorted) {
    sorted_.push_back(sorted);
    const CurrentDevice current(devices_.ordinal(i));
    const cudaStream_t stream = devices_.stream(i);
    first_nan_.emplace_back(stream);
    merge_sort::iota_references(sorted.references, stream);
    merge_sort::sort_superkeys(
        Tuples<C>{sorted.tuples.coordinates, order_.dimensions, order_.primary}, sorted.references,
        sorted.values, first_nan_.back(), memory_.of(i).elements, stream, options_.sort);
  }

  void copy_sources() const {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> shares;
    for (int i = 0; i < count(); ++i) {
      counts.push_back(sources_[at(i)].coordinates.count / dimensions());
      shares.push_back(part(i).count());
    }
    devices_.meet();  // all sources are there
    for_each_piece(
        counts, shares,
        [&](int to, std::int64_t target, int from, std::int64_t first, std::int64_t length) {
          const std::int64_t d = dimensions();
          const SourceTuples<C>& source = sources_[at(from)];
          devices_.copy(part(to).coordinates.data + d * target, to,
                        source.coordinates.data + d * first, from, d * length);
          std::uint32_t* const numbers = part(to).numbers.data + target;
          if (source.numbers.data != nullptr) {
            devices_.copy(numbers, to, source.numbers.data + first, from, length);
            return;
          }
          const CurrentDevice current(devices_.ordinal(to));
          number_tuples(numbers, length, source.first_number + static_cast<std::uint32_t>(first),
                        devices_.stream(to));
        });
  }

  [[nodiscard]] SwappedTuples<C> swapped(const Piece& piece) const {
    const TuplePart<C>& own = part(piece.device);
    return {own.coordinates.data, own.numbers.data, own.references.data + piece.first,
            own.values.data + piece.first};
  }
  void merge(int i, const std::vector<merge_sort::SuperkeyRun<C>>& runs,
             DeviceSpan<std::uint32_t> references, DeviceSpan<C> values) const {
    const CurrentDevice current(devices_.ordinal(i));
    const Tuples<C> tuples{part(i).coordinates, order_.dimensions, order_.primary};
    merge_sort::merge_superkeys<C>(tuples, runs, 0, references, values, memory_.of(i).positions,
                                   devices_.stream(i));
  }
  /// Coordinate `index` of what device i has sorted is NaN.
  [[noreturn]] void throw_of_nan(int i, std::int64_t index) const {
    const SourceTuples<C>& own = sorted(i).tuples;
    const std::int64_t place = index / dimensions();
    const std::uint32_t number = own.numbers.data == nullptr
                                     ? own.first_number + static_cast<std::uint32_t>(place)
                                     : value_at(own.numbers, place, devices_.stream(i));
    throw std::invalid_argument("sources: coordinate " + std::to_string(index % dimensions()) +
                                " of the tuple with number " + std::to_string(number) +
                                " is NaN: expected numbers");
  }

  const Devices& devices_;
  std::span<const SourceTuples<C>> sources_;
  std::span<const TuplePart<C>> parts_;
  std::vector<Sorted> sorted_;
  std::vector<Scratch> scratch_;
  std::vector<DeviceCount> first_nan_;
  std::vector<std::int64_t> begins_;
  Order order_;
  Memory& memory_;
  const Options& options_;
};

}  // namespace warpath::multi_gpu_sort::detail
