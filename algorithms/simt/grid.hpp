// One launch: its shape, and running it over the pool of workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/vector_types.hpp"
#include "site.hpp"

namespace simt {

struct Launch {
  dim3 grid, block, cluster;
  std::size_t shared_bytes = 0;  // dynamic shared memory
  bool cooperative = false;
  void (*invoke)(void* arguments) = nullptr;  // calls the kernel once
  void* arguments = nullptr;
  const void* kernel = nullptr;
  Site site{};  // of the launch
};

/// Runs the grid to its end. Empty: it ended well; else the diagnostic.
std::string run_grid(const Launch&);

struct Stats {
  std::uint64_t switches, blocks, grids;
};
/// Counters since the process began.
Stats stats();

}  // namespace simt
