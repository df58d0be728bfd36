// Times executions on the GPU by CUDA events, with the second-level cache in a known state, and
// says at which clock the multiprocessors ran meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/config.hpp"
#include "harness/nvml.hpp"

namespace warpath::harness {

/// How one sample is taken.
struct SampleShape {
  Cache cache = Cache::cold;
  std::int64_t launches = 1;  ///< executions back to back; the time is that of one
  /// The execution waits for the GPU before it returns. Nothing holds the GPU back then, and the
  /// time is what a caller waits: the host's part is in it.
  bool waits_for_gpu = false;
  /// Before each execution, outside of the time, and before the cache is overwritten; may be empty.
  Execution restore = {};
};

struct Sample {
  double milliseconds = 0;             ///< of one execution
  std::optional<double> sm_clock_mhz;  ///< the mean while it was taken; empty without a GPU
};

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

  /// Cold: the cache was overwritten just before. Warm: the same execution ran just before. Unless
  /// it waits_for_gpu, the GPU is held back until the host has enqueued the work (250 executions of
  /// it), so that the time is the GPU's alone. The execution must have been run() before: the first
  /// launch of a kernel loads its code, which waits for the GPU. Throws CudaError;
  /// std::invalid_argument if several launches are to find what is restored once; std::logic_error
  /// if the execution waits for the GPU that is held back.
  Sample sample(const Execution& execution, const SampleShape& shape);

  /// The highest SM clock; empty where it cannot be read.
  [[nodiscard]] std::optional<unsigned> max_sm_clock_mhz() const { return max_clock_mhz_; }

 private:
  /// Flags and clock stamps in host memory, shared by kernels and host.
  struct Shared;

  void stamp(int which);
  void hold_back();
  void release();

  std::int64_t l2_bytes_;
  std::optional<unsigned> max_clock_mhz_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  void* flush_buffer_ = nullptr;
  Shared* shared_ = nullptr;
  unsigned* stamp_taken_ = nullptr;  ///< on the device: 1 when a block has written the stamp
  unsigned held_back_ = 0;           ///< how many samples were
};

}  // namespace warpath::harness
