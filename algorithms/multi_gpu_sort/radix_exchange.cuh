// Keys that are numbers: each crosses a link once at most, in the first pass of a radix sort, and
// is sorted where it arrives. No sorted parts are merged.
//
//   split      a histogram of the leading bits of all keys says where each device's slice begins:
//              exactly, but for the keys of the bin that it begins in. Where these are many, their
//              next bits are counted, and so on
//   exchange   one pass over the parts writes each key to its device's memory, in the place of its
//              class: some neighbouring bins, or the one that a slice begins in
//   sort       each device sorts its classes (segment_sort.cuh). Bins in which a slice begins are
//              sorted by one device, and shared out then; a bin of equal keys is not moved at all:
//              each device writes as many as belong to its slice
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cuda_check.cuh"
#include "core/devices.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "multi_gpu_sort/block_scatter.cuh"
#include "multi_gpu_sort/radix_histogram.cuh"
#include "multi_gpu_sort/radix_keys.cuh"
#include "multi_gpu_sort/segment_sort.cuh"
#include "multi_gpu_sort/team.cuh"

namespace warpath::multi_gpu_sort::detail {

/// How many keys of each device.
using PerDevice = std::vector<std::int64_t>;

/// How many bits a number needs.
constexpr int width_of(std::uint64_t bits) {
  return static_cast<int>(std::bit_width(bits));
}

inline std::int64_t sum_of(const PerDevice& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}
inline PerDevice operator+(PerDevice a, const PerDevice& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
inline PerDevice operator-(PerDevice a, const PerDevice& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// Where a slice begins: before the first key of `range`; or among its keys, if it has any.
template <class Bits>
struct Border {
  KeyRange<Bits> range;
  PerDevice before;  ///< keys that are less than those of the range
  PerDevice inside;  ///< keys of the range, or 0
};

/// The histogram of a range's next digit, of each device.
struct DigitCounts {
  std::vector<std::vector<std::uint32_t>> of_device;

  [[nodiscard]] std::size_t digits() const { return of_device[0].size(); }
  void add_to(PerDevice& counts, std::size_t digit) const {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] += of_device[i][digit];
    }
  }
  [[nodiscard]] std::int64_t sum(std::size_t digit) const {
    std::int64_t all = 0;
    for (const auto& counts : of_device) all += counts[digit];
    return all;
  }
};

/// Finds borders by histograms of the parts' keys.
template <class K>
class Borders {
 public:
  using Bits = OrderedBits<K>;

  Borders(const Devices& devices, std::vector<DeviceSpan<const K>> parts, Memory& memory)
      : devices_(devices), parts_(std::move(parts)), memory_(memory) {}

  /// Of all keys. Blocks the host, as border() does.
  const DigitCounts& first_digits() { return digits_of(all); }
  static constexpr KeyRange<Bits> all{0, key_width<K>};
  /// The digit that is counted next.
  static int digit_bits(KeyRange<Bits> range) { return std::min(range.bits, histogram_digit_bits); }

  /// The border before key `rank` of all keys; among `most` keys, or any number of equal ones.
  Border<Bits> border(std::int64_t rank, std::int64_t most) {
    const PerDevice none(parts_.size(), 0);
    Border<Bits> found{all, none, none};
    for (;;) {
      const DigitCounts& digits = digits_of(found.range);
      std::size_t digit = 0;
      std::int64_t before = sum_of(found.before);
      for (std::int64_t own = 0; before + (own = digits.sum(digit)) <= rank; ++digit) {
        before += own;
        digits.add_to(found.before, digit);
      }
      const int bits = digit_bits(found.range);
      const auto prefix = static_cast<Bits>(
          (bits == key_width<K> ? Bits{0} : found.range.prefix << bits) | static_cast<Bits>(digit));
      found.range = {prefix, found.range.bits - bits};
      if (before == rank) return found;
      if (found.range.bits == 0 || digits.sum(digit) <= most) {
        digits.add_to(found.inside, digit);
        return found;
      }
    }
  }

 private:
  const DigitCounts& digits_of(KeyRange<Bits> range) {
    const auto [at, is_new] = known_.try_emplace({range.bits, range.prefix});
    if (is_new) at->second = count(range);
    return at->second;
  }
  [[nodiscard]] DigitCounts count(KeyRange<Bits> range) {
    const int bits = digit_bits(range);
    const std::size_t bins = std::size_t{1} << bits;
    DigitCounts digits;
    digits.of_device.assign(parts_.size(), std::vector<std::uint32_t>(bins));
    std::vector<std::uint32_t*> counts(parts_.size());
    devices_.for_each([&](int i, cudaStream_t stream) {
      const DeviceSpan<const K>& part = parts_[static_cast<std::size_t>(i)];
      std::tie(counts[static_cast<std::size_t>(i)]) =
          memory_.of(i).positions.template take<std::uint32_t>(stream,
                                                               static_cast<std::int64_t>(bins));
      WARPATH_CUDA_CHECK(cudaMemsetAsync(counts[static_cast<std::size_t>(i)], 0,
                                         bins * sizeof(std::uint32_t), stream));
      if (part.count == 0) return;
      count_digits(part.data, part.count, range, bits, counts[static_cast<std::size_t>(i)], stream);
    });
    // A copy to the host may block it: all devices are counting by now.
    devices_.for_each([&](int i, cudaStream_t stream) {
      const auto own = static_cast<std::size_t>(i);
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(digits.of_device[own].data(), counts[own],
                                         bins * sizeof(std::uint32_t), cudaMemcpyDeviceToHost,
                                         stream));
    });
    devices_.synchronize();
    return digits;
  }

  const Devices& devices_;
  std::vector<DeviceSpan<const K>> parts_;
  Memory& memory_;
  std::map<std::pair<int, Bits>, DigitCounts> known_;
};

/// The most borders of slices; each has two ends.
inline constexpr int most_borders = 31;
/// The most memory that the keys of a border take, twice; equal ones take none.
inline constexpr std::int64_t most_border_bytes = 1 << 24;
/// Classes of keys: unions of neighbouring bins of the histogram, of one first byte, that have
/// about as many keys; and borders.
inline constexpr int most_classes = 512;
/// What bins share a class has at most one key in so many; a bin may have more.
inline constexpr int least_share_of_class = 96;
static_assert(256 + 2 * least_share_of_class + 2 * most_borders <= most_classes);

/// Where a device's keys go.
template <class K>
struct Routes {
  std::uint16_t class_of_bin[histogram_bins];
  K* targets[most_classes];  ///< where a class begins that no keys have been written of; or null
  unsigned long long used[most_classes];
};

/// Of classes that begin inside a bin, the first keys, in order.
template <class K>
struct InnerClasses {
  OrderedBits<K> firsts[2 * most_borders];
  int count;
};

template <class K>
using ExchangeShape = ScatterShape<1024, sizeof(K) == 4 ? 16 : 10>;
/// For devices whose blocks have less shared memory: 99 KiB.
template <class K>
using SmallExchangeShape = ScatterShape<1024, sizeof(K) == 4 ? 12 : 6>;

template <class K, class Shape>
struct ExchangeStorage {
  ScatterStorage<K, Shape> scatter;
  std::uint16_t class_of_bin[histogram_bins];
};

/// Writes each key where its class goes: also to other devices' memory. Any grid.
template <class K, class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    exchange_classes_kernel(const K* keys, std::int64_t n, InnerClasses<K> inner,
                            Routes<K>* routes) {
  auto& shared = dynamic_shared<ExchangeStorage<K, Shape>>();
  for (int b = static_cast<int>(threadIdx.x); b < histogram_bins; b += Shape::threads) {
    shared.class_of_bin[b] = routes->class_of_bin[b];
  }
  __syncthreads();  // the bins' classes are there
  const auto class_of = [&](K key) {
    const OrderedBits<K> bits = radix_bits(key);
    unsigned own = shared.class_of_bin[bits >> (key_width<K> - histogram_digit_bits)];
    for (int i = 0; i < inner.count; ++i) own += bits >= inner.firsts[i] ? 1 : 0;
    return own;
  };
  for (std::int64_t begin = std::int64_t{blockIdx.x} * Shape::tile_keys; begin < n;
       begin += std::int64_t{gridDim.x} * Shape::tile_keys) {
    const int count = static_cast<int>(min(std::int64_t{Shape::tile_keys}, n - begin));
    block_scatter<Shape>(
        shared.scatter, keys + begin, count, class_of, [&](int c, std::uint32_t k) -> K* {
          K* const target = c < most_classes ? routes->targets[c] : nullptr;
          if (target == nullptr) return nullptr;
          return target + atomicAdd(&routes->used[c], static_cast<unsigned long long>(k));
        });
  }
}

template <class K>
__global__ void fill_kernel(K* to, std::int64_t n, K key) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    to[i] = key;
  }
}

template <class K, class Less>
class RadixExchange {
 public:
  using Bits = OrderedBits<K>;

  RadixExchange(Team<K, NoValues, Less>& team, Memory& memory) : team_(team), memory_(memory) {
    if (team.count() > most_borders + 1) {
      throw std::invalid_argument("radix_exchange on " + std::to_string(team.count()) +
                                  " devices: expected at most " + std::to_string(most_borders + 1));
    }
    for (int i = 0; i < team.count(); ++i) {
      if (team.part(i).count <= most_keys) continue;
      throw std::invalid_argument(
          "parts[" + std::to_string(i) + "] has " + std::to_string(team.part(i).count) +
          " keys: radix_exchange sorts at most " + std::to_string(most_keys) + " on a device");
    }
  }

  void run() {
    if (team_.begin(team_.count()) == 0) return;
    team_.take_scratch();
    find_classes();
    team_.tell(Step::split);
    plan();
    send_plan();
    exchange();
    sort();
    share_out();
  }

 private:
  static constexpr std::int64_t most_keys = 0xFFFFFFFF;
  static constexpr int bin_bits = key_width<K> - histogram_digit_bits;

  /// Keys from `at` on, up to those of the next one.
  struct Class {
    Bits at;
    PerDevice before;
    int border_bits = -1;  ///< of the keys of a border: how many bits they do not agree in
  };
  /// Keys of a border: they are in order from `rank` of all keys on.
  struct Shared {
    std::int64_t rank;
    std::int64_t count;
    int owner;
    const K* keys;  ///< of the owner, once they are sorted
  };
  struct Equal {
    std::int64_t rank;
    std::int64_t count;
    K key;
  };

  void find_classes() {
    std::vector<DeviceSpan<const K>> parts;
    for (int i = 0; i < team_.count(); ++i)
      parts.push_back({team_.part(i).keys, team_.part(i).count});
    Borders<K> borders(team_.devices(), parts, memory_);
    add_bins(borders.first_digits());
    const std::int64_t n = team_.begin(team_.count());
    const std::int64_t share = divide_up(n, std::int64_t{team_.count()});
    const std::int64_t most =
        std::clamp<std::int64_t>(share / 64, 256, most_border_bytes / sizeof(K));
    for (int i = 1; i < team_.count(); ++i) {
      const std::int64_t rank = team_.begin(i);
      if (rank == 0 || rank == n) continue;
      const Border<Bits> border = borders.border(rank, most);
      const bool has_keys = sum_of(border.inside) > 0;
      const Bits first = border.range.first();
      add({first, border.before, has_keys ? border.range.bits : -1});
      if (!has_keys) continue;
      const Bits last = first + low_bits(static_cast<Bits>(~Bits{0}), border.range.bits);
      const Bits end = last + 1;
      if (end != 0) add({end, border.before + border.inside});
    }
  }
  void add_bins(const DigitCounts& counts) {
    const std::int64_t n = team_.begin(team_.count());
    const std::size_t bins_of_byte = counts.digits() / 256;
    PerDevice before(counts.of_device.size(), 0);
    std::int64_t in_class = 0;
    for (std::size_t b = 0; b < counts.digits(); ++b) {
      const std::int64_t own = counts.sum(b);
      const bool begins =
          b % bins_of_byte == 0 || (in_class > 0 && in_class + own > n / least_share_of_class);
      if (begins) {
        classes_.push_back({static_cast<Bits>(static_cast<Bits>(b) << bin_bits), before});
        in_class = 0;
      }
      in_class += own;
      if (own > 0) counts.add_to(before, b);
    }
    all_ = before;
  }
  /// Adds a class, unless there is one that begins there.
  void add(const Class& added) {
    const auto at = std::lower_bound(classes_.begin(), classes_.end(), added.at,
                                     [](const Class& c, Bits bits) { return c.at < bits; });
    if (at == classes_.end() || at->at != added.at) {
      classes_.insert(at, added);
    } else {
      at->border_bits = std::max(at->border_bits, added.border_bits);
    }
  }

  /// Says where each device's keys of each class go, and what is to be sorted there.
  void plan() {
    const auto devices = static_cast<std::size_t>(team_.count());
    routes_.assign(devices, {});
    segments_.assign(devices, {});
    take_borders();
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const Class& own = classes_[c];
      const PerDevice counts =
          (c + 1 < classes_.size() ? classes_[c + 1].before : all_) - own.before;
      const std::int64_t count = sum_of(counts);
      if (count == 0) continue;
      const std::int64_t rank = sum_of(own.before);
      const int device = device_of(rank);
      if (own.border_bits == 0) {
        equal_.push_back({rank, count, key_of_bits<K>(own.at)});
        continue;
      }
      Segment<K> segment{};
      segment.count = static_cast<std::uint32_t>(count);
      if (own.border_bits > 0) {
        K*& free = free_[static_cast<std::size_t>(device)];
        segment.bits = own.border_bits;
        segment.from = free;
        segment.to = free + count;
        free += 2 * count;
        shared_.push_back({rank, count, device, segment.to});
      } else {
        segment.bits = width_of(own.at ^ last_of(c));
        segment.from = team_.scratch(device).keys + (rank - team_.begin(device));
        segment.to = team_.part(device).keys + (rank - team_.begin(device));
      }
      route(c, counts, segment.from, device);
      add_segment(device, segment);
    }
  }
  /// The last key that may be of a class.
  [[nodiscard]] Bits last_of(std::size_t c) const {
    return static_cast<Bits>((c + 1 < classes_.size() ? classes_[c + 1].at : Bits{0}) - 1);
  }
  void route(std::size_t c, const PerDevice& counts, K* target, int to) {
    for (std::size_t from = 0; from < counts.size(); ++from) {
      routes_[from].targets[c] = target;
      target += counts[from];
      if (static_cast<int>(from) != to) moved_ += counts[from];
    }
  }
  /// Small neighbours are one segment.
  void add_segment(int device, const Segment<K>& segment) {
    std::vector<Segment<K>>& all = segments_[static_cast<std::size_t>(device)];
    if (!all.empty() && all.back().from + all.back().count == segment.from &&
        std::uint64_t{all.back().count} + segment.count <= most_sorted<K>) {
      all.back().count += segment.count;
    } else {
      all.push_back(segment);
    }
  }
  /// Memory for the keys of borders, on the devices that sort them.
  void take_borders() {
    PerDevice keys(static_cast<std::size_t>(team_.count()), 0);
    for (std::size_t c = 0; c + 1 <= classes_.size(); ++c) {
      const PerDevice& end = c + 1 < classes_.size() ? classes_[c + 1].before : all_;
      if (classes_[c].border_bits <= 0) continue;
      const int device = device_of(sum_of(classes_[c].before));
      keys[static_cast<std::size_t>(device)] += 2 * sum_of(end - classes_[c].before);
    }
    team_.devices().for_each([&](int i, cudaStream_t stream) {
      const auto [memory] =
          memory_.of(i).borders.template take<K>(stream, keys[static_cast<std::size_t>(i)]);
      free_.push_back(memory);
    });
  }
  /// Whose slice a rank lies in.
  [[nodiscard]] int device_of(std::int64_t rank) const {
    int device = 0;
    while (team_.begin(device + 1) <= rank) ++device;
    return device;
  }

  /// Blocks the host, until all that is planned is on the devices.
  void send_plan() {
    std::vector<Bits> aligned;  // classes that begin where a bin does
    for (const Class& own : classes_) {
      if (low_bits(own.at, bin_bits) == 0) {
        aligned.push_back(own.at >> bin_bits);
      } else {
        inner_.firsts[inner_.count++] = own.at;
      }
    }
    std::vector<std::uint16_t> class_of_bin(histogram_bins);
    for (std::size_t b = 0, next = 0; b < class_of_bin.size(); ++b) {
      if (next < aligned.size() && aligned[next] == b) ++next;
      class_of_bin[b] = static_cast<std::uint16_t>(next - 1);
    }
    team_.devices().for_each([&](int i, cudaStream_t stream) {
      Routes<K>& routes = routes_[static_cast<std::size_t>(i)];
      std::copy(class_of_bin.begin(), class_of_bin.end(), routes.class_of_bin);
      const auto [sent] = memory_.of(i).positions.template take<Routes<K>>(stream, 1);
      WARPATH_CUDA_CHECK(
          cudaMemcpyAsync(sent, &routes, sizeof routes, cudaMemcpyHostToDevice, stream));
      sent_.push_back(sent);
      sorts_.emplace_back(std::move(segments_[static_cast<std::size_t>(i)]), key_width<K> - 8,
                          memory_.of(i).segments, stream);
    });
    team_.devices().synchronize();
  }

  void exchange() {
    team_.devices().meet();  // all have the memory that others write
    team_.devices().for_each([&](int i, cudaStream_t stream) {
      if (team_.part(i).count == 0) return;
      if (can_run(exchange_classes_kernel<K, ExchangeShape<K>>,
                  {.shared_bytes = sizeof(ExchangeStorage<K, ExchangeShape<K>>)})) {
        launch_exchange<ExchangeShape<K>>(i, stream);
      } else {
        launch_exchange<SmallExchangeShape<K>>(i, stream);
      }
    });
    team_.devices().meet();  // all keys are there, and parts may be written
    team_.tell(Step::exchange, moved_);
  }

  template <class Shape>
  void launch_exchange(int i, cudaStream_t stream) {
    const Part<K, NoValues>& part = team_.part(i);
    const auto kernel = exchange_classes_kernel<K, Shape>;
    constexpr std::size_t bytes = sizeof(ExchangeStorage<K, Shape>);
    const std::int64_t blocks = std::min<std::int64_t>(
        divide_up(part.count, Shape::tile_keys), resident_blocks(kernel, Shape::threads, bytes));
    launch({static_cast<unsigned>(blocks), Shape::threads, bytes, stream}, kernel, part.keys,
           part.count, inner_, sent_[static_cast<std::size_t>(i)]);
  }

  void sort() {
    team_.devices().for_each(
        [&](int i, cudaStream_t) { sorts_[static_cast<std::size_t>(i)].run(); });
    team_.tell(Step::sort);
  }

  /// The keys of borders come to the slices that they belong to.
  void share_out() {
    const Devices& devices = team_.devices();
    for (const Shared& shared : shared_) {
      for_each_slice(shared.rank, shared.count,
                     [&](int i, K* to, std::int64_t first, std::int64_t length) {
                       devices.wait(i, shared.owner);
                       devices.copy(to, i, shared.keys + first, shared.owner, length);
                     });
    }
    for (const Equal& equal : equal_) {
      for_each_slice(equal.rank, equal.count, [&](int i, K* to, std::int64_t, std::int64_t length) {
        const CurrentDevice current(devices.ordinal(i));
        const std::int64_t blocks =
            std::min<std::int64_t>(divide_up(length, std::int64_t{256}), 4096);
        launch({static_cast<unsigned>(blocks), 256, 0, devices.stream(i)}, fill_kernel<K>, to,
               length, equal.key);
      });
    }
    devices.meet();  // the owners' memory has been read
    team_.tell(Step::merge);
  }
  /// Calls act(device, target, first, length) for each slice that has any of `count` keys from
  /// `rank` on.
  template <class Act>
  void for_each_slice(std::int64_t rank, std::int64_t count, const Act& act) const {
    for (int i = 0; i < team_.count(); ++i) {
      const std::int64_t begin = std::max(rank, team_.begin(i));
      const std::int64_t end = std::min(rank + count, team_.begin(i + 1));
      if (begin >= end) continue;
      act(i, team_.part(i).keys + (begin - team_.begin(i)), begin - rank, end - begin);
    }
  }

  Team<K, NoValues, Less>& team_;
  Memory& memory_;
  std::vector<Class> classes_;  ///< in order
  PerDevice all_;
  std::vector<Routes<K>> routes_;                  ///< of each device
  std::vector<std::vector<Segment<K>>> segments_;  ///< of each device
  std::vector<K*> free_;                           ///< of each device: memory for borders' keys
  InnerClasses<K> inner_{};
  std::vector<Routes<K>*> sent_;       ///< to each device
  std::vector<SegmentSort<K>> sorts_;  ///< of each device
  std::vector<Shared> shared_;
  std::vector<Equal> equal_;
  std::int64_t moved_ = 0;
};

}  // namespace warpath::multi_gpu_sort::detail
