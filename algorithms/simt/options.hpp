// The executor's options, read once from the environment (README.md has the table).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt {

constexpr unsigned max_devices = 16;

struct Options {
  unsigned workers;    ///< SIMT_WORKERS: OS threads that run blocks; 0 or unset: one per core
  std::uint64_t seed;  ///< SIMT_SEED: 0: warp by warp in order; else a random schedule
  bool strict;         ///< SIMT_STRICT: an exited thread makes a barrier an error (default 1)
  bool guard;          ///< SIMT_GUARD: device memory is closed while the host runs
  bool lazy;           ///< SIMT_LAZY: streams run only when a call waits for them
  bool capturing;      ///< only for tests: streams say that they are being captured
  bool verbose;        ///< SIMT_VERBOSE: each diagnostic is also printed to stderr
  unsigned devices;    ///< SIMT_DEVICES: how many devices there are (default 2)
  /// SIMT_ARCH: the devices' compute capability, times ten (default 90). Below 90 there are no bulk
  /// copies, transaction barriers or early starts.
  unsigned arch;
  /// SIMT_PTX: what the kernels were compiled for, in the same unit (default: SIMT_ARCH). Less than
  /// SIMT_ARCH plays a build for older devices, whose PTX the driver compiles for this one.
  unsigned ptx;
  std::size_t shared_bytes;   ///< SIMT_SHARED_BYTES: a block's most shared memory (227 KiB)
  std::size_t device_memory;  ///< SIMT_DEVICE_MEMORY: bytes of each device
  std::size_t stack_bytes;    ///< SIMT_STACK: bytes of stack of one CUDA thread
  unsigned watchdog_ms;  ///< SIMT_WATCHDOG_MS: polling without progress for so long is a livelock
};

/// The options of this process. Tests may change them between launches.
Options& options();

/// The environment that repeats the schedule of this process, such as "SIMT_SEED=3 SIMT_LAZY=1".
std::string reproduction();

}  // namespace simt
