#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <type_traits>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/device.cuh"
#include "core/launch.cuh"
#include "multi_gpu_sort/ranks/rank_sort.cuh"
#include "multi_gpu_sort/ranks/sorts.hpp"

namespace warpath::experiments {

namespace {

using multi_gpu_sort::Step;
using multi_gpu_sort::Transport;

/// The finalizer of SplitMix64: bits that look like chance, a bijection.
__host__ __device__ std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9E3779B97F4A7C15U;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
  return bits ^ (bits >> 31);
}

/// What makes key i of n.
struct KeyMaker {
  Arrangement arrangement;
  std::uint64_t seed;
  std::int64_t n;

  template <class K>
  [[nodiscard]] __device__ K make(std::int64_t i) const {
    std::uint64_t number = 5;
    if (arrangement == Arrangement::sorted) number = static_cast<std::uint64_t>(i);
    if (arrangement == Arrangement::reversed) number = static_cast<std::uint64_t>(n - 1 - i);
    if (arrangement == Arrangement::uniform) {
      number = mixed(seed + mixed(static_cast<std::uint64_t>(i)));
      if constexpr (std::is_floating_point_v<K>) number >>= 40;  // exact in a float
    }
    return static_cast<K>(number);
  }
};

template <class K>
__global__ void make_keys_kernel(K* keys, std::uint32_t* values, std::int64_t begin,
                                 std::int64_t count, KeyMaker maker) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    keys[i] = maker.make<K>(begin + i);
    if (values != nullptr) values[i] = static_cast<std::uint32_t>(begin + i);
  }
}

/// What a rank knows of its part.
struct Findings {
  unsigned long long sum;    ///< of the mixed keys, and values: as before the sort if none was lost
  unsigned long long wrong;  ///< neighbours out of order, and keys that are not their value's
};

/// Adds to the findings. Equal keys must be in the order of their values.
template <class K>
__global__ void find_kernel(const K* keys, const std::uint32_t* values, std::int64_t count,
                            KeyMaker maker, Findings* findings) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long sum = 0;
  unsigned long long wrong = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const K key = keys[i];
    sum += mixed(static_cast<std::uint64_t>(key));
    if (values != nullptr) {
      sum += mixed(~std::uint64_t{values[i]});
      wrong += key != maker.make<K>(values[i]) ? 1 : 0;
    }
    if (i + 1 == count) continue;
    const bool is_ordered = key < keys[i + 1] || (key == keys[i + 1] &&
                                                  (values == nullptr || values[i] < values[i + 1]));
    wrong += is_ordered ? 0 : 1;
  }
  atomicAdd(&findings->sum, sum);
  atomicAdd(&findings->wrong, wrong);
}

template <class T>
__global__ void count_differences_kernel(const T* a, const T* b, std::int64_t count,
                                         unsigned long long* different) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    if (a[i] != b[i]) atomicAdd(different, 1ULL);
  }
}

constexpr unsigned threads = 256;
unsigned blocks_of(std::int64_t count) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((count + threads - 1) / threads, 1, 4096));
}

/// A stream of the current device.
class OwnStream {
 public:
  OwnStream() { WARPATH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

template <class K>
class Sorts {
 public:
  Sorts(Transport& transport, const SortsOfRanks& sorts)
      : transport_(transport),
        sorts_(sorts),
        begin_(sorts.n * transport.rank() / transport.ranks()),
        count_(sorts.n * (transport.rank() + 1) / transport.ranks() - begin_),
        maker_{sorts.arrangement, sorts.seed, sorts.n},
        keys_(count_, stream_.get()),
        unsorted_keys_(count_, stream_.get()),
        values_(sorts.has_values ? count_ : 0, stream_.get()),
        unsorted_values_(sorts.has_values ? count_ : 0, stream_.get()) {
    std::uint32_t* const values = sorts_.has_values ? unsorted_values_.data() : nullptr;
    launch({blocks_of(count_), threads, 0, stream_.get()}, make_keys_kernel<K>,
           unsorted_keys_.data(), values, begin_, count_, maker_);
    before_ = find(unsorted_keys_.data(), values);
  }

  TimesOfRanks run() {
    TimesOfRanks all;
    for (int repeat = -1; repeat < sorts_.repeats; ++repeat) {  // the first one allocates
      restore();
      Steps steps = sort();
      verify();
      // What takes longest on some rank is what all wait for.
      for (const Steps& of_rank : multi_gpu_sort::all_gather(transport_, steps)) {
        for (std::size_t i = 0; i < steps.ms.size(); ++i) {
          steps.ms[i] = std::max(steps.ms[i], of_rank.ms[i]);
        }
        if (repeat == 0) all.moved_share += static_cast<double>(of_rank.moved) / total();
        all.memory = std::max(all.memory, of_rank.memory);
      }
      if (repeat < 0) continue;
      for (std::size_t i = 0; i < steps.ms.size(); ++i) {
        all.milliseconds[names[i]].push_back(steps.ms[i]);
      }
    }
    return all;
  }

 private:
  static constexpr std::array<const char*, 6> names = {"sort",  "split", "exchange",
                                                       "merge", "write", "total"};
  struct Steps {
    std::array<double, 6> ms;
    std::int64_t moved;
    std::int64_t memory;
  };
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  [[nodiscard]] double total() const {
    return static_cast<double>(std::max<std::int64_t>(sorts_.n, 1));
  }

  /// Once as a whole, and once step by step, with the device awaited after each. The second result
  /// is still to be verified.
  Steps sort() {
    Steps steps{};
    multi_gpu_sort::meet(transport_);
    call({}, &steps.ms[5]);
    verify();
    restore();
    multi_gpu_sort::meet(transport_);
    Clock::time_point last = Clock::now();
    const multi_gpu_sort::StepObserver observer = [&](Step step, std::int64_t moved) {
      WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
      steps.ms[static_cast<std::size_t>(step)] = since(last);
      steps.moved += moved;
      if (sorts_.after_step) sorts_.after_step(step);
      last = Clock::now();
    };
    double whole = 0;
    call(observer, &whole);
    steps.ms[4] = since(last);
    steps.memory = memory_.bytes();
    return steps;
  }
  void call(const multi_gpu_sort::StepObserver& observer, double* milliseconds) {
    multi_gpu_sort::RankOptions options;
    options.total = sorts_.n;
    options.after_step = observer;
    const DeviceSpan<K> keys{keys_.data(), count_};
    const Clock::time_point begin = Clock::now();
    try {
      if (sorts_.has_values) {
        multi_gpu_sort::sort_pairs(transport_, keys,
                                   DeviceSpan<std::uint32_t>{values_.data(), count_}, memory_,
                                   stream_.get(), std::less<>{}, options);
      } else {
        multi_gpu_sort::sort_keys(transport_, keys, memory_, stream_.get(), std::less<>{}, options);
      }
    } catch (const std::exception& error) {
      const std::string message = error.what();
      if (differences() == 0) throw std::runtime_error(message + "; its part is as it was");
      throw std::logic_error(message + "; and ITS PART HAS CHANGED");
    }
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    *milliseconds = since(begin);
  }

  void restore() {
    copy(keys_, unsorted_keys_);
    copy(values_, unsorted_values_);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
  }
  template <class T>
  void copy(DeviceBuffer<T>& target, const DeviceBuffer<T>& source) {
    if (source.count() == 0) return;
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(target.data(), source.data(),
                                       static_cast<std::size_t>(source.count()) * sizeof(T),
                                       cudaMemcpyDeviceToDevice, stream_.get()));
  }

  /// Throws on all ranks if the parts are not sorted, or are not what they were.
  void verify() {
    struct Part {
      Findings before;
      Findings after;
      std::int64_t count;
      K first;
      K last;
      std::uint32_t first_value;
      std::uint32_t last_value;
    };
    Part own{before_, find(keys_.data(), sorts_.has_values ? values_.data() : nullptr),
             count_,  {},
             {},      0,
             0};
    if (count_ > 0) {
      own.first = element(keys_, 0);
      own.last = element(keys_, count_ - 1);
      if (sorts_.has_values) {
        own.first_value = element(values_, 0);
        own.last_value = element(values_, count_ - 1);
      }
    }
    unsigned long long before = 0;
    unsigned long long after = 0;
    const Part* last = nullptr;
    const std::vector<Part> all = multi_gpu_sort::all_gather(transport_, own);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string rank = "rank " + std::to_string(i);
      const Part& part = all[i];
      before += part.before.sum;
      after += part.after.sum;
      if (part.after.wrong > 0) {
        throw std::runtime_error("WRONG RESULT: " + std::to_string(part.after.wrong) +
                                 " elements of " + rank +
                                 " are out of order, or not their values'");
      }
      if (part.count == 0) continue;
      if (last != nullptr && !(last->last < part.first ||
                               (last->last == part.first &&
                                (!sorts_.has_values || last->last_value < part.first_value)))) {
        throw std::runtime_error("WRONG RESULT: " + rank +
                                 " begins before the ranks before it end");
      }
      last = &part;
    }
    if (before != after) {
      throw std::runtime_error("WRONG RESULT: the elements are not those from before the sort");
    }
  }
  template <class T>
  T element(const DeviceBuffer<T>& buffer, std::int64_t i) const {
    T value{};
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(&value, buffer.data() + i, sizeof value,
                                       cudaMemcpyDeviceToHost, stream_.get()));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    return value;
  }
  Findings find(const K* keys, const std::uint32_t* values) {
    DeviceBuffer<Findings> findings(1, stream_.get());
    WARPATH_CUDA_CHECK(cudaMemsetAsync(findings.data(), 0, sizeof(Findings), stream_.get()));
    launch({blocks_of(count_), threads, 0, stream_.get()}, find_kernel<K>, keys, values, count_,
           maker_, findings.data());
    return element(findings, 0);
  }
  std::int64_t differences() {
    DeviceCount different(stream_.get());
    different.set_zero(stream_.get());
    auto* const count = reinterpret_cast<unsigned long long*>(different.data());
    launch({blocks_of(count_), threads, 0, stream_.get()}, count_differences_kernel<K>,
           keys_.data(), unsorted_keys_.data(), count_, count);
    launch({blocks_of(count_), threads, 0, stream_.get()}, count_differences_kernel<std::uint32_t>,
           values_.data(), unsorted_values_.data(), values_.count(), count);
    return different.get(stream_.get());
  }

  Transport& transport_;
  const SortsOfRanks& sorts_;
  std::int64_t begin_;  ///< of all elements, this rank's first
  std::int64_t count_;
  KeyMaker maker_;
  OwnStream stream_;
  multi_gpu_sort::RankMemory memory_;
  DeviceBuffer<K> keys_;
  DeviceBuffer<K> unsorted_keys_;
  DeviceBuffer<std::uint32_t> values_;
  DeviceBuffer<std::uint32_t> unsorted_values_;
  Findings before_{};
};

}  // namespace

TimesOfRanks sort_and_verify(Transport& transport, const SortsOfRanks& sorts) {
  TimesOfRanks times;
  multi_gpu_sort::detail::tell_failure(transport, [&] {
    if (sorts.type == KeyType::u64) {
      times = Sorts<std::uint64_t>(transport, sorts).run();
    } else if (sorts.type == KeyType::f32) {
      times = Sorts<float>(transport, sorts).run();
    } else {
      times = Sorts<std::uint32_t>(transport, sorts).run();
    }
  });
  return times;
}

std::string device_name() {
  cudaDeviceProp properties{};
  WARPATH_CUDA_CHECK(cudaGetDeviceProperties(&properties, current_device()));
  return properties.name;
}

}  // namespace warpath::experiments
