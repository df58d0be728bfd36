// One launch: its shape, and running it over the pool of workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/errors.hpp"
#include "cuda/vector_types.hpp"
#include "site.hpp"

namespace simt {

struct Launch {
  dim3 grid, block, cluster;
  std::size_t shared_bytes = 0;  // dynamic shared memory
  bool cooperative = false;
  bool starts_early = false;  // by its attribute: blocks have to wait for the kernel before
  void (*invoke)(void* arguments) = nullptr;  // calls the kernel once
  void* arguments = nullptr;
  const void* kernel = nullptr;  // its address; null if only its name is known
  const char* name = nullptr;    // null: the name that the linker knows
  Site site{};                   // of the launch
};

/// How a grid ended: cudaSuccess, or the error of its first failure and the diagnostic.
struct GridResult {
  cudaError_t error = cudaSuccess;
  std::string diagnostic;
};

/// Runs the grid to its end.
GridResult run_grid(const Launch&);

struct Stats {
  std::uint64_t switches, blocks, grids;
};
/// Counters since the process began.
Stats stats();

}  // namespace simt
