// Sorts keys, or keys with their values, that lie in host memory, by one or several devices.
//
// The array is cut into chunks, in turn one for each device: while one is sorted, the next is on
// its way to the device, and the one before on its way back.
//
//   resident   what all devices together have room for stays there: once all chunks are sorted,
//              slices of what they are merged to are made, each straight from all chunks, and
//              copied to the host while the next one is made
//   staged     else sorted chunks go back to the host, as runs in a second array. Slices are cut
//              exactly there (host_splits.hpp); their pieces of all runs come to a device, are
//              merged, and go to their place in the first array. More than 32 runs take several
//              such passes
//
// So each element crosses the host's link once in each direction if it is resident, else twice: but
// then both directions are busy at once, of all devices.
//
// References on sorts of host memory: E. Stehle, H.-A. Jacobsen, "A Memory Bandwidth-Efficient
// Hybrid Radix Sort on GPUs", SIGMOD 2017, https://doi.org/10.1145/3035918.3064043 (chunks in a
// pipeline, merged by the CPU).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/arguments.hpp"
#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/divide_up.hpp"
#include "core/span.hpp"
#include "merge_sort/merge.cuh"
#include "multi_gpu_sort/host_memory.cuh"
#include "multi_gpu_sort/host_splits.hpp"
#include "multi_gpu_sort/team.cuh"
#include "multi_gpu_sort/variant.hpp"

namespace warpath::multi_gpu_sort {

struct HostOptions {
  std::int64_t bytes_per_device = 0;  ///< of device memory at most; 0: most of what is free
  std::int64_t chunk_elements = 0;    ///< at most; 0: as many as make up to 32 chunks, or as fit
  /// Told once the chunks are sorted (Step::sort), and after each pass that merges (Step::merge).
  StepObserver after_step = {};
};

namespace detail {

/// How a sort of host memory goes about it.
struct HostPlan {
  std::int64_t chunk;  ///< elements; the last one may have less
  std::int64_t slice;  ///< of what is merged at once
  bool is_resident;
  int slots;                    ///< for chunks on each device
  std::int64_t arena;           ///< elements on each device
  std::int64_t bytes;           ///< of each device
  std::vector<int> merge_ways;  ///< staged: how many runs become one, in each pass
};

/// In three slots, one chunk arrives, one is sorted, and one leaves.
inline constexpr int staging_slots = 3;
/// Places for the pieces of a slice, and for slices: one in use, one on its way.
inline constexpr int merge_slots = 2;
/// Fewer elements than these are no chunk of their own, unless a device had none else or the
/// options say so.
inline constexpr std::int64_t least_chunk = std::int64_t{1} << 20;
/// Smaller chunks do not make up for what each costs.
inline constexpr std::int64_t least_staged_chunk = 256;
/// Chunks begin at multiples of it, so that none begins inside a memory transaction.
inline constexpr std::int64_t chunk_multiple = 32;
/// Cuts of slices are looked for by as many threads: one cut takes about as long as a slice's
/// copies.
inline constexpr std::size_t splits_ahead = 6;
/// What little memory a sort of any size takes.
inline constexpr std::int64_t fixed_bytes = 1 << 16;

/// Bytes of a device with an arena of so many elements, and a sort's memory for a chunk: a copy,
/// and at most an eighth more for positions.
inline std::int64_t bytes_needed(std::int64_t arena, std::int64_t chunk, std::int64_t element) {
  return (arena + chunk + divide_up(chunk, std::int64_t{8})) * element + fixed_bytes;
}

inline HostPlan plan_resident(std::int64_t n, int devices, std::int64_t chunk,
                              std::int64_t element) {
  const std::int64_t slice = divide_up(chunk, std::int64_t{merge_slots});
  const auto slots = static_cast<int>(divide_up(divide_up(n, chunk), std::int64_t{devices}));
  const std::int64_t arena = slots * chunk + merge_slots * slice;
  return {chunk, slice, true, slots, arena, bytes_needed(arena, chunk, element), {}};
}

inline HostPlan plan_staged(std::int64_t n, std::int64_t chunk, std::int64_t element) {
  const std::int64_t arena = staging_slots * chunk;
  HostPlan plan{chunk, arena / (2 * merge_slots),           false, staging_slots,
                arena, bytes_needed(arena, chunk, element), {}};
  for (std::int64_t runs = divide_up(n, chunk); runs > 1;) {
    const auto ways = static_cast<int>(std::min<std::int64_t>(runs, merge_sort::most_runs));
    plan.merge_ways.push_back(ways);
    runs = divide_up(runs, std::int64_t{ways});
  }
  return plan;
}

template <class K, class V, class Less>
class HostSort {
 public:
  using Elements = Part<K, V>;
  static constexpr bool has_values = !std::is_same_v<V, NoValues>;
  static constexpr auto element_bytes =
      static_cast<std::int64_t>(sizeof(K) + (has_values ? sizeof(V) : 0));

  HostSort(HostMemory& memory, const Elements& elements, Less less, const HostOptions& options)
      : memory_(memory), elements_(elements), less_(less), options_(options), plan_(choose()) {}

  void run() {
    take_memory();
    try {
      if (plan_.is_resident) {
        sort_chunks(nullptr);
        merge_resident();
      } else {
        sort_and_merge_staged();
      }
    } catch (...) {
      stop();
      restore();
      throw;
    }
  }

 private:
  // What is where.

  [[nodiscard]] int devices() const { return memory_.devices().count(); }
  [[nodiscard]] std::int64_t chunks() const { return divide_up(elements_.count, plan_.chunk); }
  [[nodiscard]] Lane& lane_of(std::int64_t turn) {
    return memory_.lane(static_cast<int>(turn % devices()));
  }
  /// Elements of `whole` from a multiple of `length` on.
  [[nodiscard]] static Elements cut(const Elements& whole, std::int64_t length, std::int64_t i) {
    return whole.slice(i * length, std::min(length, whole.count - i * length));
  }
  /// The memory of a lane, from element `first` on.
  [[nodiscard]] Elements place(const Lane& lane, std::int64_t first, std::int64_t count) const {
    return arenas_[static_cast<std::size_t>(lane.number)].slice(first, count);
  }
  [[nodiscard]] Elements chunk_on_device(std::int64_t c) {
    return place(lane_of(c), slot_of(c) * plan_.chunk, cut(elements_, plan_.chunk, c).count);
  }
  [[nodiscard]] std::int64_t slot_of(std::int64_t c) const { return c / devices() % plan_.slots; }

  // How it is done: see HostPlan.

  [[nodiscard]] HostPlan choose() {
    const std::int64_t n = elements_.count;
    const bool has_access = memory_.devices().all_have_access();
    std::int64_t chunk = std::min(options_.chunk_elements, n);
    if (chunk == 0) {
      const std::int64_t share = divide_up(n, std::int64_t{devices()});
      chunk =
          std::max(divide_up(n, std::int64_t{merge_sort::most_runs}), std::min(share, least_chunk));
    }
    chunk = divide_up(chunk, chunk_multiple) * chunk_multiple;
    const std::int64_t available = available_ = bytes_available();
    const bool is_one_pass = divide_up(n, chunk) <= merge_sort::most_runs;
    if (is_one_pass && has_access) {
      const HostPlan resident = plan_resident(n, devices(), chunk, element_bytes);
      if (resident.bytes <= available) return resident;
    }
    const HostPlan least = plan_staged(n, std::min(chunk, least_staged_chunk), element_bytes);
    if (least.bytes > available) refuse(least.bytes, available);
    while (plan_staged(n, chunk, element_bytes).bytes > available) {
      // The bytes are those of a fixed number of chunks, and fixed_bytes.
      const std::int64_t fitting =
          (available - fixed_bytes) * 8 / (element_bytes * (8 * staging_slots + 9));
      chunk = std::max(std::min(fitting, chunk - 1) / chunk_multiple * chunk_multiple,
                       std::min(chunk - 1, least_staged_chunk));
    }
    return plan_staged(n, chunk, element_bytes);
  }
  /// Of each device.
  [[nodiscard]] std::int64_t bytes_available() {
    if (options_.bytes_per_device > 0) return options_.bytes_per_device;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < devices(); ++i) least = std::min(least, bytes_free(i));
    return least;
  }
  /// Most of what is free on device i, or what the last sort has left; virtual devices share it.
  [[nodiscard]] std::int64_t bytes_free(int i) {
    const int ordinal = memory_.lane(i).ordinal();
    const CurrentDevice current(ordinal);
    std::size_t free = 0;
    std::size_t all = 0;
    WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &all));
    auto bytes = static_cast<std::int64_t>(free / 16 * 15);
    std::int64_t sharing = 0;
    for (int j = 0; j < devices(); ++j) {
      if (memory_.lane(j).ordinal() != ordinal) continue;
      bytes += memory_.bytes(j);
      ++sharing;
    }
    return bytes / sharing;
  }
  /// Throws: no chunk fits.
  [[noreturn]] void refuse(std::int64_t needed, std::int64_t available) {
    std::string free;
    for (int i = 0; i < devices(); ++i) {
      free += (i > 0 ? ", device " : "; free for it: device ") +
              std::to_string(memory_.lane(i).ordinal()) + " " + std::to_string(bytes_free(i));
    }
    const std::string text = " bytes of each device: expected at least " + std::to_string(needed) +
                             " for sorting " + std::to_string(elements_.count) + " elements of " +
                             std::to_string(element_bytes) + " bytes in chunks" + free;
    if (options_.bytes_per_device > 0) {
      throw std::invalid_argument("options.bytes_per_device allows " + std::to_string(available) +
                                  text);
    }
    throw CudaError(cudaErrorMemoryAllocation, "There are " + std::to_string(available) + text);
  }

  void take_memory() {
    for (int i = 0; i < devices(); ++i) {
      Lane& lane = memory_.lane(i);
      const CurrentDevice current(lane.ordinal());
      // What earlier sorts have left counts, and goes where there is no room for it.
      constexpr std::int64_t padding = 512;  // of a workspace's arrays
      const std::int64_t elements = plan_.arena * element_bytes + padding;
      const std::int64_t others = plan_.bytes - plan_.arena * element_bytes;
      if (std::max(lane.elements.bytes(), elements) + std::max(lane.memory.bytes(0), others) >
          available_ + padding) {
        lane.elements = {};
        lane.memory = {};
      }
      arenas_.push_back(take(lane.elements, lane.work(), plan_.arena));
      // The allocation is in the order of the stream of work; copies to it are not.
      WARPATH_CUDA_CHECK(cudaStreamSynchronize(lane.work()));
    }
    if (plan_.is_resident) return;
    const std::int64_t n = elements_.count;
    // Values begin where they are aligned.
    const std::int64_t keys_bytes = divide_up(n * std::int64_t{sizeof(K)}, std::int64_t{256}) * 256;
    std::byte* const bytes =
        memory_.pinned().take(keys_bytes + n * (element_bytes - std::int64_t{sizeof(K)}));
    second_ = {reinterpret_cast<K*>(bytes),
               has_values ? reinterpret_cast<V*>(bytes + keys_bytes) : nullptr, n};
  }
  static Elements take(Workspace& workspace, cudaStream_t stream, std::int64_t count) {
    if constexpr (has_values) {
      const auto [keys, values] = workspace.template take<K, V>(stream, count, count);
      return {keys, values, count};
    } else {
      const auto [keys] = workspace.template take<K>(stream, count);
      return {keys, nullptr, count};
    }
  }

  static void copy(const Elements& to, const Elements& from, cudaMemcpyKind kind,
                   cudaStream_t stream) {
    if (from.count == 0) return;
    const auto count = static_cast<std::size_t>(from.count);
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(to.keys, from.keys, count * sizeof(K), kind, stream));
    if constexpr (has_values) {
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(to.values, from.values, count * sizeof(V), kind, stream));
    }
  }

  // The chunks.

  /// Sorts all chunks; they go to `runs`, an array on the host, or stay if that is null.
  void sort_chunks(const Elements* runs) {
    // Copies of memory that is not page-locked block the host: what comes next is on its way first.
    const std::int64_t ahead = std::int64_t{plan_.slots - 1} * devices();
    for (std::int64_t c = -ahead; c < chunks(); ++c) {
      if (c + ahead < chunks()) bring(c + ahead);
      if (c < 0) continue;
      sort(c);
      if (runs != nullptr) send(c, cut(*runs, plan_.chunk, c));
    }
    wait();
    detail::tell(options_.after_step, Step::sort);
  }
  void bring(std::int64_t c) {
    Lane& lane = lane_of(c);
    const CurrentDevice current(lane.ordinal());
    const Slot& slot = lane.slots[static_cast<std::size_t>(slot_of(c))];
    slot.left.hold(lane.in);  // of the chunk that was there before
    copy(chunk_on_device(c), cut(elements_, plan_.chunk, c), cudaMemcpyHostToDevice, lane.in);
    slot.arrived.record(lane.in);
  }
  void sort(std::int64_t c) {
    Lane& lane = lane_of(c);
    const CurrentDevice current(lane.ordinal());
    const Slot& slot = lane.slots[static_cast<std::size_t>(slot_of(c))];
    slot.arrived.hold(lane.work());
    const Options options;
    Team<K, V, Less>(lane.device, {chunk_on_device(c)}, lane.memory, less_, options).sort_parts();
    slot.used.record(lane.work());
  }
  void send(std::int64_t c, const Elements& to) {
    Lane& lane = lane_of(c);
    const CurrentDevice current(lane.ordinal());
    const Slot& slot = lane.slots[static_cast<std::size_t>(slot_of(c))];
    slot.used.hold(lane.out);
    copy(to, chunk_on_device(c), cudaMemcpyDeviceToHost, lane.out);
    slot.left.record(lane.out);
  }

  // Merges.

  void merge_resident() {
    source_ = Source::devices;
    std::vector<Elements> runs;
    for (std::int64_t c = 0; c < chunks(); ++c) runs.push_back(chunk_on_device(c));
    const std::int64_t first_of_slices = plan_.slots * plan_.chunk;
    for (std::int64_t s = 0; s * plan_.slice < elements_.count; ++s) {
      merge_slice(s, runs, s * plan_.slice, first_of_slices, cut(elements_, plan_.slice, s));
    }
    wait();
    detail::tell(options_.after_step, Step::merge);
  }

  void sort_and_merge_staged() {
    // Each pass writes the other array, and the last one the caller's.
    bool is_in_second = plan_.merge_ways.size() % 2 == 1;
    sort_chunks(is_in_second ? &second_ : &elements_);
    std::int64_t length = plan_.chunk;
    for (const int ways : plan_.merge_ways) {
      source_ = is_in_second ? Source::second : Source::caller;
      const Elements& from = is_in_second ? second_ : elements_;
      const Elements& to = is_in_second ? elements_ : second_;
      std::int64_t turn = 0;
      for (std::int64_t g = 0; g * ways * length < elements_.count; ++g) {
        merge_group(cut(from, ways * length, g), length, cut(to, ways * length, g), &turn);
      }
      wait();
      detail::tell(options_.after_step, Step::merge);
      length *= ways;
      is_in_second = !is_in_second;
    }
  }
  /// Merges runs of this length to one.
  void merge_group(const Elements& from, std::int64_t length, const Elements& to,
                   std::int64_t* turn) {
    std::vector<Elements> runs;
    std::vector<std::span<const K>> keys;
    for (std::int64_t r = 0; r * length < from.count; ++r) {
      runs.push_back(cut(from, length, r));
      keys.emplace_back(runs.back().keys, static_cast<std::size_t>(runs.back().count));
    }
    const HostSplits<K, Less> splits(keys, less_);
    const std::int64_t slices = divide_up(from.count, plan_.slice);
    std::vector<std::int64_t> begins(runs.size(), 0);
    std::deque<std::future<std::vector<std::int64_t>>> ends;
    for (std::int64_t s = 0, asked = 0; s < slices; ++s) {
      for (; asked < slices && ends.size() < splits_ahead; ++asked) {
        const std::int64_t rank = std::min((asked + 1) * plan_.slice, from.count);
        ends.push_back(std::async(std::launch::async, [&splits, rank, known = begins] {
          return splits.before(rank, known);
        }));
      }
      const std::vector<std::int64_t> own_ends = ends.front().get();
      ends.pop_front();
      std::vector<Elements> pieces;
      for (std::size_t r = 0; r < runs.size(); ++r) {
        // Without an order, cuts that were found side by side need not come one after the other.
        if (own_ends[r] < begins[r]) throw_of_no_cut(std::min((s + 1) * plan_.slice, from.count));
        pieces.push_back(runs[r].slice(begins[r], own_ends[r] - begins[r]));
      }
      merge_pieces((*turn)++, pieces, cut(to, plan_.slice, s));
      begins = own_ends;
    }
  }
  /// Pieces of runs on the host come to a device, and go back merged.
  void merge_pieces(std::int64_t turn, const std::vector<Elements>& pieces,
                    const Elements& target) {
    Lane& lane = lane_of(turn);
    const CurrentDevice current(lane.ordinal());
    const std::int64_t slot_number = turn / devices() % merge_slots;
    const Slot& slot = lane.slots[static_cast<std::size_t>(slot_number)];
    slot.used.hold(lane.in);  // the pieces that were there before are merged
    std::int64_t next = slot_number * plan_.slice;
    std::vector<Elements> arrived;
    for (const Elements& piece : pieces) {
      arrived.push_back(place(lane, next, piece.count));
      copy(arrived.back(), piece, cudaMemcpyHostToDevice, lane.in);
      next += piece.count;
    }
    slot.arrived.record(lane.in);
    slot.arrived.hold(lane.work());
    merge_slice(turn, arrived, 0, merge_slots * plan_.slice, target);
    slot.used.record(lane.work());
  }
  /// Merges elements `first` and so on of runs that a device can read, and sends them to `target`,
  /// on the host. The places of slices begin at element `places` of the lane's memory.
  void merge_slice(std::int64_t turn, const std::vector<Elements>& runs, std::int64_t first,
                   std::int64_t places, const Elements& target) {
    Lane& lane = lane_of(turn);
    const CurrentDevice current(lane.ordinal());
    const std::int64_t slot_number = turn / devices() % merge_slots;
    const Slot& slot = lane.slices[static_cast<std::size_t>(slot_number)];
    const Elements merged = place(lane, places + slot_number * plan_.slice, target.count);
    slot.left.hold(lane.work());
    const Options options;
    Team<K, V, Less>(lane.device, {merged}, lane.memory, less_, options)
        .merge(0, runs, first, merged);
    slot.used.record(lane.work());
    slot.used.hold(lane.out);
    copy(target, merged, cudaMemcpyDeviceToHost, lane.out);
    slot.left.record(lane.out);
  }

  // The end.

  void wait() {
    for (int i = 0; i < devices(); ++i) {
      Lane& lane = memory_.lane(i);
      const CurrentDevice current(lane.ordinal());
      for (const cudaStream_t stream : {cudaStream_t{lane.in}, lane.work(), cudaStream_t{lane.out}})
        WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    }
  }
  /// After an error: nothing reads or writes host memory any more.
  void stop() noexcept {
    for (int i = 0; i < devices(); ++i) {
      Lane& lane = memory_.lane(i);
      for (const cudaStream_t stream : {cudaStream_t{lane.in}, lane.work(), cudaStream_t{lane.out}})
        cudaStreamSynchronize(stream);
    }
  }
  /// After an error while the caller's array is being written: it gets back what is merged there.
  void restore() noexcept {
    if (source_ == Source::second) copy_on_host(elements_, second_);
    if (source_ != Source::devices) return;
    for (std::int64_t c = 0; c < chunks(); ++c) {
      const Elements to = cut(elements_, plan_.chunk, c);
      const Elements from = chunk_on_device(c);
      const auto count = static_cast<std::size_t>(to.count);
      cudaMemcpy(to.keys, from.keys, count * sizeof(K), cudaMemcpyDeviceToHost);
      if constexpr (has_values) {
        cudaMemcpy(to.values, from.values, count * sizeof(V), cudaMemcpyDeviceToHost);
      }
    }
  }
  static void copy_on_host(const Elements& to, const Elements& from) {
    std::copy_n(from.keys, from.count, to.keys);
    if constexpr (has_values) std::copy_n(from.values, from.count, to.values);
  }

  /// What has all elements while a pass writes the other array.
  enum class Source { caller, second, devices };

  HostMemory& memory_;
  Elements elements_;
  Less less_;
  const HostOptions& options_;
  std::int64_t available_ = 0;  ///< bytes of each device
  HostPlan plan_;
  std::vector<Elements> arenas_;  ///< of each device
  Elements second_{};             ///< page-locked host memory
  Source source_ = Source::caller;
};

/// Throws unless the span is host memory.
template <class T>
void require_host(const std::string& name, DeviceSpan<T> span) {
  if (span.count == 0) return;
  if (span.data == nullptr) {
    throw std::invalid_argument(name + " is null: expected host memory of " +
                                std::to_string(span.count) + " elements");
  }
  if (reinterpret_cast<std::uintptr_t>(span.data) % alignof(T) != 0) {
    throw std::invalid_argument(name + " is not aligned: expected an address that " +
                                std::to_string(alignof(T)) + " divides");
  }
  cudaPointerAttributes attributes{};
  WARPATH_CUDA_CHECK(cudaPointerGetAttributes(&attributes, span.data));
  if (attributes.type != cudaMemoryTypeDevice) return;
  throw std::invalid_argument(name + " is memory of device " + std::to_string(attributes.device) +
                              ": expected host memory");
}

template <class K, class V, class Less>
void run_host_sort(const Part<K, V>& elements, HostMemory& memory, Less less,
                   const HostOptions& options) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 64;
  require_in_range("options.bytes_per_device", options.bytes_per_device, 0, most);
  require_in_range("options.chunk_elements", options.chunk_elements, 0, most);
  if (elements.count == 0) return;
  HostSort<K, V, Less>(memory, elements, less, options).run();
}

}  // namespace detail

/// Sorts keys in host memory by `less`, a strict weak order that both kernels and threads of the
/// host call (`__host__ __device__`), by all devices of `memory`. Stable. Blocks the host; on
/// return the keys are in order. Work that writes or reads them must be done before.
///
/// keys: any number of at most 16 bytes each. Page-locked memory (cudaHostAlloc, cudaHostRegister)
/// is copied at the links' speed; copies of other memory are right, but slow, and block the host,
/// so that little overlaps.
///
/// Extra memory: of each device, at most options.bytes_per_device, or 15/16 of what is free; kept.
/// If the keys do not fit on the devices together, or these have no access to each other's memory:
/// page-locked host memory as large as the keys, kept in `memory`; getting it takes much longer
/// than the sort, so the first one is slow.
///
/// Errors: std::invalid_argument, which names the argument, also if options.bytes_per_device are
/// less than a chunk of 256 keys needs; CudaError, which says how many bytes are needed and how
/// many are free. After an error the keys are a permutation of what they were (what `less`, or
/// the observer, throws included), unless a device has failed for good while keys that fitted on
/// the devices were copied back: then nothing can read them any more.
template <class K, class Less = std::less<>>
void sort_host_keys(std::span<K> keys, HostMemory& memory, Less less = {},
                    const HostOptions& options = {}) {
  const auto count = static_cast<std::int64_t>(keys.size());
  detail::require_host("keys", DeviceSpan<K>{keys.data(), count});
  detail::run_host_sort(detail::Part<K, detail::NoValues>{keys.data(), nullptr, count}, memory,
                        less, options);
}

/// Sorts keys in host memory, and each one's value with it. keys, values: as many elements, of at
/// most 16 bytes each. All else as sort_host_keys().
template <class K, class V, class Less = std::less<>>
void sort_host_pairs(std::span<K> keys, std::span<V> values, HostMemory& memory, Less less = {},
                     const HostOptions& options = {}) {
  const auto count = static_cast<std::int64_t>(keys.size());
  const DeviceSpan<K> all_keys{keys.data(), count};
  const DeviceSpan<V> all_values{values.data(), static_cast<std::int64_t>(values.size())};
  detail::require_host("keys", all_keys);
  detail::require_host("values", all_values);
  require_count("values", all_values.count, "keys", count);
  require_apart("keys", all_keys, "values", all_values);
  detail::run_host_sort(detail::Part<K, V>{keys.data(), values.data(), count}, memory, less,
                        options);
}

}  // namespace warpath::multi_gpu_sort
