// The links' rates, by the plainest copies that reach them. What is to be busy at once begins
// together, behind copies of the same kind that do not count.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/buffer.cuh"
#include "core/cuda_check.cuh"
#include "core/device.cuh"
#include "core/devices.cuh"
#include "core/launch.cuh"
#include "harness/link_kernel.cuh"
#include "harness/links.hpp"
#include "harness/statistics.hpp"

namespace warpath::harness {
namespace {

constexpr std::int64_t bytes = std::int64_t{256} << 20;
constexpr std::int64_t vectors = bytes / std::int64_t{sizeof(uint4)};
constexpr std::int64_t host_bytes = bytes / 4;  // pinning takes longer than copying
constexpr int samples = 5;
constexpr unsigned threads = 256;
constexpr unsigned blocks_of_an_sm = 8;
constexpr int in_flight = 4;

/// What one device's stream does; enqueued while that device is current.
struct Move {
  int device;
  std::function<void()> enqueue;
};

/// Events of the current device before and after what is timed.
class Interval {
 public:
  Interval() {
    WARPATH_CUDA_CHECK(cudaEventCreate(&begin_));
    const cudaError_t result = cudaEventCreate(&end_);
    if (result != cudaSuccess) cudaEventDestroy(begin_);
    WARPATH_CUDA_CHECK(result);
  }
  ~Interval() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Interval(const Interval&) = delete;
  Interval& operator=(const Interval&) = delete;

  void begin(cudaStream_t stream) { WARPATH_CUDA_CHECK(cudaEventRecord(begin_, stream)); }
  void end(cudaStream_t stream) { WARPATH_CUDA_CHECK(cudaEventRecord(end_, stream)); }
  /// Once the stream is done.
  [[nodiscard]] double milliseconds() const {
    float elapsed = 0;
    WARPATH_CUDA_CHECK(cudaEventElapsedTime(&elapsed, begin_, end_));
    return elapsed;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// The median time of the slowest of the moves, which begin together.
double seconds(const Devices& devices, const std::vector<Move>& moves) {
  std::vector<std::unique_ptr<Interval>> intervals;
  for (const Move& move : moves) {
    const CurrentDevice current(devices.ordinal(move.device));
    intervals.push_back(std::make_unique<Interval>());
  }
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) {
    // Untimed: while the GPUs do it, the host enqueues what is timed.
    for (const Move& move : moves) {
      const CurrentDevice current(devices.ordinal(move.device));
      move.enqueue();
    }
    devices.meet();
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const CurrentDevice current(devices.ordinal(moves[i].device));
      const cudaStream_t stream = devices.stream(moves[i].device);
      intervals[i]->begin(stream);
      moves[i].enqueue();
      intervals[i]->end(stream);
    }
    devices.synchronize();
    double slowest = 0;
    for (const auto& interval : intervals) {
      slowest = std::max(slowest, interval->milliseconds());
    }
    times.push_back(slowest);
  }
  return summarize(times).median / 1000;
}

double gb_per_s(std::int64_t moved, double seconds) {
  return 1e-9 * static_cast<double>(moved) / seconds;
}

enum class Mover { copy_engine, target, source };

/// Slice `slice` of one GPU's source array goes to the same one of another's target array.
struct Transfer {
  int from;
  int to;
  int slice;
};

/// Between GPUs.
class PairMeasurement {
 public:
  explicit PairMeasurement(const Devices& devices) : devices_(devices) {
    devices.for_each([&](int, cudaStream_t) {
      sources_.emplace_back(vectors);
      targets_.emplace_back(vectors);
      // Not zeros: a GPU may move those faster.
      WARPATH_CUDA_CHECK(cudaMemset(sources_.back().data(), 0xA7, static_cast<std::size_t>(bytes)));
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
      blocks_.push_back(static_cast<unsigned>(device_processors()) * blocks_of_an_sm);
    });
  }

  /// All transfers at once, of arrays cut into so many slices.
  [[nodiscard]] LinkRates rates(const std::vector<Transfer>& transfers, int slices) {
    LinkRates rates;
    rates.copy = rate(Mover::copy_engine, transfers, slices);
    const bool have_access = std::ranges::all_of(transfers, [&](const Transfer& transfer) {
      return devices_.has_access(transfer.from, transfer.to) &&
             devices_.has_access(transfer.to, transfer.from);
    });
    if (!have_access) return rates;
    rates.pull = rate(Mover::target, transfers, slices);
    rates.push = rate(Mover::source, transfers, slices);
    return rates;
  }

 private:
  double rate(Mover mover, const std::vector<Transfer>& transfers, int slices) {
    const std::int64_t length = vectors / slices;
    std::size_t most = 0;  // that one device moves
    std::vector<Move> moves;
    for (int i = 0; i < devices_.count(); ++i) {
      std::vector<Transfer> own;
      for (const Transfer& transfer : transfers) {
        if ((mover == Mover::source ? transfer.from : transfer.to) == i) own.push_back(transfer);
      }
      if (own.empty()) continue;
      most = std::max(most, own.size());
      if (mover == Mover::copy_engine) {
        moves.push_back({i, [this, own, length] { copy(own, length); }});
      } else {
        moves.push_back({i, [this, i, own, length] { launch_copy(i, own, length); }});
      }
    }
    const std::int64_t moved =
        static_cast<std::int64_t>(most) * length * std::int64_t{sizeof(uint4)};
    return gb_per_s(moved, seconds(devices_, moves));
  }
  void copy(const std::vector<Transfer>& transfers, std::int64_t length) {
    for (const Transfer& each : transfers) {
      devices_.copy(target(each, length), each.to, source(each, length), each.from, length);
    }
  }
  void launch_copy(int device, const std::vector<Transfer>& transfers, std::int64_t length) {
    Slices slices{};
    for (const Transfer& each : transfers) {
      slices.from[slices.count] = source(each, length);
      slices.to[slices.count] = target(each, length);
      ++slices.count;
    }
    const auto count = static_cast<unsigned>(std::max(slices.count, 1));
    const unsigned of_a_slice = std::max(blocks_[static_cast<std::size_t>(device)] / count, 1U);
    launch({.blocks = of_a_slice * count, .threads = threads, .stream = devices_.stream(device)},
           copy_slices_kernel<in_flight>, slices, length);
  }
  const uint4* source(const Transfer& transfer, std::int64_t length) {
    return sources_[static_cast<std::size_t>(transfer.from)].data() + transfer.slice * length;
  }
  uint4* target(const Transfer& transfer, std::int64_t length) {
    return targets_[static_cast<std::size_t>(transfer.to)].data() + transfer.slice * length;
  }

  const Devices& devices_;
  std::vector<DeviceBuffer<uint4>> sources_;
  std::vector<DeviceBuffer<uint4>> targets_;
  std::vector<unsigned> blocks_;  ///< that fill each GPU
};

std::vector<PairLink> measure_pairs(PairMeasurement& measurement, int gpus) {
  std::vector<PairLink> pairs;
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      PairLink link{from, to, measurement.rates({{from, to, 0}}, 1), {}};
      if (from < to) {
        link.both_ways = measurement.rates({{from, to, 0}, {to, from, 0}}, 1);
      } else {
        link.both_ways = std::ranges::find_if(pairs, [&](const PairLink& other) {
                           return other.from == to && other.to == from;
                         })->both_ways;
      }
      pairs.push_back(link);
    }
  }
  return pairs;
}

/// In rounds in which each GPU sends to one, and gets from one: so the copy engine takes them.
std::vector<AllToAll> measure_all_to_all(PairMeasurement& measurement, int gpus) {
  std::vector<AllToAll> all;
  for (int count = 2; count <= gpus; ++count) {
    std::vector<Transfer> transfers;
    for (int round = 1; round < count; ++round) {
      for (int from = 0; from < count; ++from) {
        transfers.push_back({from, (from + round) % count, round - 1});
      }
    }
    all.push_back({count, measurement.rates(transfers, count - 1)});
  }
  return all;
}

/// Memory of the host that does not move.
class Pinned {
 public:
  explicit Pinned(std::int64_t count) {
    WARPATH_CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&data_),
                                     static_cast<std::size_t>(count), cudaHostAllocPortable));
    std::fill_n(data_, count, char{0x5A});
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  [[nodiscard]] char* data() const { return data_; }

 private:
  char* data_ = nullptr;
};

HostLink measure_host_link(int gpu, const Pinned& pinned) {
  // Two streams of one GPU.
  const Devices streams({gpu, gpu}, PeerAccess::never);
  const CurrentDevice current(gpu);
  DeviceBuffer<char> buffer(2 * host_bytes);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const auto copied = [&](int stream, void* to, const void* from, cudaMemcpyKind kind) {
    return Move{stream, [&streams, stream, to, from, kind] {
                  WARPATH_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(host_bytes),
                                                     kind, streams.stream(stream)));
                }};
  };
  const Move to_gpu = copied(0, buffer.data(), pinned.data(), cudaMemcpyHostToDevice);
  const Move from_gpu =
      copied(1, pinned.data() + host_bytes, buffer.data() + host_bytes, cudaMemcpyDeviceToHost);
  return {gpu, gb_per_s(host_bytes, seconds(streams, {to_gpu})),
          gb_per_s(host_bytes, seconds(streams, {from_gpu})),
          gb_per_s(host_bytes, seconds(streams, {to_gpu, from_gpu}))};
}

Links measure_all() {
  int there = 0;
  WARPATH_CUDA_CHECK(cudaGetDeviceCount(&there));
  const int gpus = std::min(there, most_gpus);
  Links links;
  links.bytes = bytes;
  {
    const Pinned pinned(2 * host_bytes);
    for (int gpu = 0; gpu < gpus; ++gpu) links.host.push_back(measure_host_link(gpu, pinned));
  }
  if (gpus == 1) return links;
  std::vector<int> ordinals(static_cast<std::size_t>(gpus));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  const Devices devices(std::move(ordinals));
  PairMeasurement measurement(devices);
  links.pairs = measure_pairs(measurement, gpus);
  links.all_to_all = measure_all_to_all(measurement, gpus);
  return links;
}

}  // namespace

Links measure_links() {
  try {
    return measure_all();
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorMemoryAllocation) throw;
    Links links;
    links.not_measured = error.what();
    return links;
  }
}

}  // namespace warpath::harness
