// Sorts keys, or keys with their values, that lie on the devices of several processes, on one
// machine or on many: the public host functions. What splitter_merge does, with messages between
// ranks in place of devices that one host drives.
//
// All ranks make the same call, each with its part, on its current device. After it the parts, in
// the order of the ranks, are sorted, and of the sizes that they had.
//
//   Stability       equal keys stay in the order of the ranks, and of the places in a part
//   Order           the part is complete in `stream` before. The host is blocked until all ranks
//                   have merged their slices; the copy to the part is in the stream after that
//   Extra memory    two copies of the part on its device, and less than 1 % for positions in runs
//   Errors          RankError, on all ranks, if one fails or does not come; it names the rank.
//                   std::invalid_argument, on all ranks, if they disagree. All of them leave the
//                   parts as they were: each rank works in scratch memory, and writes its part only
//                   once all ranks have said that their slices are merged. Only if that last
//                   message gets lost, because a rank or a link dies at this moment, some ranks may
//                   have been told, and have their slice, while the others throw.
#pragma once

#include <cuda_runtime.h>
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "merge_sort/merge.cuh"
#include "merge_sort/merge_sort.cuh"
#include "merge_sort/variant.hpp"
#include "multi_gpu_sort/ranks/cuts.cuh"
#include "multi_gpu_sort/ranks/transport.hpp"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort {

/// The scratch memory of a rank's sorts, kept for the next one: see Workspace.
class RankMemory {
 public:
  [[nodiscard]] std::int64_t bytes() const {
    return sorted.bytes() + elements.bytes() + positions.bytes();
  }

  Workspace sorted;     ///< the rank's part in order, then its slice
  Workspace elements;   ///< what the part's sort needs, then what comes from the others
  Workspace positions;  ///< of the search for cuts, and of merges
};

struct RankOptions {
  std::int64_t total = -1;        ///< elements of all parts together, checked; -1: any number
  merge_sort::Options sort = {};  ///< of each rank's part
  StepObserver after_step = {};   ///< none if empty; `moved`: what this rank sends to others
};

namespace detail {

/// What a rank says of its part, before anything is done.
struct Description {
  std::int64_t count;
  std::int64_t total;
  std::array<char, 240> types;  ///< the begin and the end of long ones
  std::uint64_t types_hash;     ///< of all they are
};

/// A text that fits, with its middle left out if it is long.
inline std::array<char, 240> abridged(const std::string& text) {
  std::array<char, 240> fitting{};
  constexpr std::string_view gap = " ... ";
  constexpr std::size_t half = (fitting.size() - 1 - gap.size()) / 2;
  std::string shown = text;
  if (text.size() >= fitting.size()) {
    shown = text.substr(0, half) + std::string(gap) + text.substr(text.size() - half);
  }
  std::copy(shown.begin(), shown.end(), fitting.begin());
  return fitting;
}

/// FNV-1a: the same in all processes, however they were built.
inline std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  return hash;
}

template <class T>
std::string type_name() {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : typeid(T).name();
}

template <class K, class V, class Less>
Description describe(std::int64_t count, std::int64_t total) {
  std::string types = "keys of " + type_name<K>() + " (" + std::to_string(sizeof(K)) + " bytes)";
  if constexpr (!std::is_same_v<V, NoValues>) {
    types += ", values of " + type_name<V>() + " (" + std::to_string(sizeof(V)) + " bytes)";
  }
  types += ", by " + type_name<Less>();
  return {count, total, abridged(types), hash_of(types)};
}

/// What all ranks find at once, so that none has to tell the others.
class Disagreement : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws a Disagreement, the same on all ranks, if there is one.
inline void require_agreement(const std::vector<Description>& all) {
  const Description& first = all.front();
  std::int64_t sum = 0;
  std::string counts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string rank = "rank " + std::to_string(i);
    if (all[i].types != first.types || all[i].types_hash != first.types_hash) {
      throw Disagreement(rank + " sorts " + all[i].types.data() + ": expected " +
                         first.types.data() + ", as rank 0 does");
    }
    if (all[i].total != first.total) {
      throw Disagreement("options.total of " + rank + " is " + std::to_string(all[i].total) +
                         ": expected " + std::to_string(first.total) + ", as rank 0 has it");
    }
    sum += all[i].count;
    if (i < 16) counts += (i == 0 ? "" : ", ") + std::to_string(all[i].count);
    if (i == 16) counts += ", ...";
  }
  if (first.total == -1 || first.total == sum) return;
  throw Disagreement("options.total is " + std::to_string(first.total) + ": expected " +
                     std::to_string(sum) + ", which the parts have together (by rank: " + counts +
                     ")");
}

template <class K, class V, class Less>
class RankSort {
 public:
  static constexpr bool has_values = !std::is_same_v<V, NoValues>;

  RankSort(Transport& transport, const Part<K, V>& part, RankMemory& memory, Less less,
           const RankOptions& options, cudaStream_t stream)
      : transport_(transport),
        part_(part),
        memory_(memory),
        less_(less),
        options_(options),
        stream_(stream) {}

  void run() {
    const std::vector<std::int64_t> counts = agree();
    const Part<K, V> sorted = sort_copy();
    tell(options_.after_step, Step::sort);
    const Slices slices = find_slices(sorted, counts);
    tell(options_.after_step, Step::split);
    const Part<K, V> received = take(memory_.elements);
    std::vector<Part<K, V>> runs = exchange(sorted, received, slices);
    tell(options_.after_step, Step::exchange, part_.count - slices.sent[own()]);
    const Part<K, V> merged = merge(std::move(runs), received, sorted);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
    tell(options_.after_step, Step::merge);
    meet(transport_);  // no rank can fail any more: the parts may be written
    copy(part_, merged);
  }

 private:
  /// How many elements this rank sends to each, and gets from each.
  struct Slices {
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> received;
  };

  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(transport_.rank()); }

  /// The number of elements of each rank's part.
  std::vector<std::int64_t> agree() {
    const auto all = all_gather(transport_, describe<K, V, Less>(part_.count, options_.total));
    require_agreement(all);
    std::vector<std::int64_t> counts;
    for (const Description& description : all) counts.push_back(description.count);
    return counts;
  }

  Part<K, V> sort_copy() {
    const Part<K, V> sorted = take(memory_.sorted);
    copy(sorted, part_);
    const DeviceSpan<K> keys{sorted.keys, sorted.count};
    if constexpr (has_values) {
      merge_sort::sort_pairs(keys, DeviceSpan<V>{sorted.values, sorted.count}, memory_.elements,
                             stream_, less_, options_.sort);
    } else {
      merge_sort::sort_keys(keys, memory_.elements, stream_, less_, options_.sort);
    }
    return sorted;
  }

  Slices find_slices(const Part<K, V>& sorted, const std::vector<std::int64_t>& counts) {
    Cuts<K, Less> cuts(transport_, {sorted.keys, sorted.count}, counts, less_, memory_.positions,
                       stream_);
    std::vector<std::int64_t> begins = cuts.find();
    begins.push_back(sorted.count);
    Slices slices;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      slices.sent.push_back(begins[i + 1] - begins[i]);
    }
    slices.received = all_to_all(transport_, slices.sent);
    std::int64_t all = 0;
    for (const std::int64_t count : slices.received) all += count;
    const auto is_negative = [](std::int64_t count) { return count < 0; };
    if (all != part_.count || std::any_of(slices.sent.begin(), slices.sent.end(), is_negative) ||
        std::any_of(slices.received.begin(), slices.received.end(), is_negative)) {
      throw std::invalid_argument(
          "less orders the keys in no way that all ranks agree on: expected a strict weak order "
          "(of floating-point numbers, no NaN)");
    }
    return slices;
  }

  /// What has come, run by run: of the ranks in their order.
  std::vector<Part<K, V>> exchange(const Part<K, V>& sorted, const Part<K, V>& received,
                                   const Slices& slices) {
    std::vector<Part<K, V>> sources;
    std::vector<Part<K, V>> targets;
    std::int64_t source = 0;
    std::int64_t target = 0;
    for (std::size_t i = 0; i < slices.sent.size(); ++i) {
      sources.push_back(sorted.slice(source, slices.sent[i]));
      targets.push_back(received.slice(target, slices.received[i]));
      source += slices.sent[i];
      target += slices.received[i];
    }
    copy(targets[own()], sources[own()]);
    exchange_column(sources, targets, &Part<K, V>::keys);
    if constexpr (has_values) exchange_column(sources, targets, &Part<K, V>::values);
    return targets;
  }
  template <class T>
  void exchange_column(const std::vector<Part<K, V>>& sources,
                       const std::vector<Part<K, V>>& targets, T* Part<K, V>::*column) {
    std::vector<SentSlice> sent;
    std::vector<ReceivedSlice> received;
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    for (const Part<K, V>& slice : sources) sent.push_back({slice.*column, slice.count * size});
    for (const Part<K, V>& slice : targets) received.push_back({slice.*column, slice.count * size});
    transport_.exchange(sent, received, stream_);
  }

  /// Merges runs, which lie in `from`, to `to`; of more than can be merged at once, neighbouring
  /// ones, again and again. Returns which of both they are in then.
  Part<K, V> merge(std::vector<Part<K, V>> runs, Part<K, V> from, Part<K, V> to) {
    do {
      std::vector<Part<K, V>> merged;
      std::int64_t next = 0;
      for (std::size_t first = 0; first < runs.size(); first += merge_sort::most_runs) {
        const std::size_t last =
            std::min(runs.size(), first + static_cast<std::size_t>(merge_sort::most_runs));
        std::int64_t count = 0;
        for (std::size_t i = first; i < last; ++i) count += runs[i].count;
        merged.push_back(to.slice(next, count));
        merge_group({runs.begin() + static_cast<std::ptrdiff_t>(first),
                     runs.begin() + static_cast<std::ptrdiff_t>(last)},
                    merged.back());
        next += count;
      }
      runs = std::move(merged);
      std::swap(from, to);
    } while (runs.size() > 1);
    return from;
  }
  void merge_group(const std::vector<Part<K, V>>& runs, const Part<K, V>& to) {
    const DeviceSpan<K> keys{to.keys, to.count};
    if constexpr (has_values) {
      std::vector<merge_sort::PairRun<K, V>> spans;
      for (const Part<K, V>& run : runs) {
        spans.push_back({{run.keys, run.count}, {run.values, run.count}});
      }
      merge_sort::merge_pairs<K, V>(spans, 0, keys, DeviceSpan<V>{to.values, to.count},
                                    memory_.positions, stream_, less_);
    } else {
      std::vector<DeviceSpan<const K>> spans;
      for (const Part<K, V>& run : runs) spans.push_back({run.keys, run.count});
      merge_sort::merge_keys(spans, 0, keys, memory_.positions, stream_, less_);
    }
  }

  /// Memory for as many elements as the part has.
  Part<K, V> take(Workspace& workspace) {
    if constexpr (has_values) {
      const auto [keys, values] = workspace.template take<K, V>(stream_, part_.count, part_.count);
      return {keys, values, part_.count};
    } else {
      return {std::get<0>(workspace.template take<K>(stream_, part_.count)), nullptr, part_.count};
    }
  }
  void copy(const Part<K, V>& target, const Part<K, V>& source) const {
    copy_column(target.keys, source.keys, source.count);
    if constexpr (has_values) copy_column(target.values, source.values, source.count);
  }
  template <class T>
  void copy_column(T* target, const T* source, std::int64_t count) const {
    if (count == 0) return;
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(static_cast<void*>(target), source,
                                       static_cast<std::size_t>(count) * sizeof(T),
                                       cudaMemcpyDeviceToDevice, stream_));
  }

  Transport& transport_;
  Part<K, V> part_;
  RankMemory& memory_;
  Less less_;
  const RankOptions& options_;
  cudaStream_t stream_;
};

/// Calls act(); what it throws is told to the other ranks, unless they know, or throw it as well.
template <class Act>
void tell_failure(Transport& transport, const Act& act) {
  try {
    act();
  } catch (const RankError&) {
    throw;
  } catch (const Disagreement&) {
    throw;
  } catch (const std::exception& error) {
    transport.fail("rank " + std::to_string(transport.rank()) + " failed: " + error.what());
    throw;
  } catch (...) {
    transport.fail("rank " + std::to_string(transport.rank()) + " failed");
    throw;
  }
}

}  // namespace detail

/// Sorts the keys of all ranks' parts by `less`, a device functor: a strict weak order. keys: this
/// rank's, of at most 16 bytes each.
template <class K, class Less = std::less<>>
void sort_keys(Transport& transport, DeviceSpan<K> keys, RankMemory& memory, cudaStream_t stream,
               Less less = {}, const RankOptions& options = {}) {
  detail::tell_failure(transport, [&] {
    require_span("keys", keys);
    detail::RankSort<K, detail::NoValues, Less>(transport, {keys.data, nullptr, keys.count}, memory,
                                                less, options, stream)
        .run();
  });
}

/// Sorts the keys of all ranks' parts, and each one's value with it. keys, values: this rank's, as
/// many, of at most 16 bytes each.
template <class K, class V, class Less = std::less<>>
void sort_pairs(Transport& transport, DeviceSpan<K> keys, DeviceSpan<V> values, RankMemory& memory,
                cudaStream_t stream, Less less = {}, const RankOptions& options = {}) {
  detail::tell_failure(transport, [&] {
    require_span("keys", keys);
    require_span("values", values);
    require_count("values", values.count, "keys", keys.count);
    require_apart("keys", keys, "values", values);
    detail::RankSort<K, V, Less>(transport, {keys.data, values.data, keys.count}, memory, less,
                                 options, stream)
        .run();
  });
}

}  // namespace warpath::multi_gpu_sort
