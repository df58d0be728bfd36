// Times executions on the GPU by CUDA events, with the second-level cache in a known state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/config.hpp"
#include "harness/nvml.hpp"

namespace warpath::harness {

class GpuClock {
 public:
  /// Allocates the flush buffer of twice `l2_bytes` with the first cold sample. Throws CudaError.
  GpuClock(std::int64_t l2_bytes, const std::string& pci_bus);
  ~GpuClock();
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] std::int64_t flush_bytes() const { return 2 * l2_bytes_; }

  /// Executes without timing, and waits for the end.
  void run(const Execution& execution);

  /// Milliseconds of one execution. Cold: the cache was overwritten just before. Warm: the same
  /// execution ran just before. Either way the GPU is kept busy while the host enqueues the work,
  /// so that the time is the GPU's alone. With several `launches`, that many executions are
  /// enqueued back to back, and the time is theirs divided by their number. Throws CudaError.
  double sample_ms(const Execution& execution, Cache cache, std::int64_t launches = 1);

  /// The SM clock now, and the highest; empty where it cannot be read.
  [[nodiscard]] std::optional<unsigned> sm_clock_mhz() const { return nvml_.sm_clock_mhz(); }
  [[nodiscard]] std::optional<unsigned> max_sm_clock_mhz() const { return max_clock_mhz_; }

 private:
  void calibrate();
  void occupy(double microseconds);

  std::int64_t l2_bytes_;
  Nvml nvml_;
  std::optional<unsigned> max_clock_mhz_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  void* flush_buffer_ = nullptr;
  unsigned* spin_result_ = nullptr;
  double spins_per_microsecond_ = 0;
};

}  // namespace warpath::harness
