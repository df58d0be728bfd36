#include "grid.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>

#include "gang.hpp"
#include "options.hpp"
#include "pool.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

namespace simt {
namespace {

std::atomic<std::uint64_t> total_switches, total_blocks, total_grids;

// The order in which blocks (or gangs) start: ascending, or under a seed a permutation, because
// CUDA promises none.
class Order {
 public:
  Order(std::uint64_t count, std::uint64_t seed) : count_(count) {
    if (!seed || count < 2) return;
    const std::uint64_t random = seed * 0x9E3779B97F4A7C15ull ^ seed >> 7;
    offset_ = random % count;
    factor_ = (random >> 20) % count | 1;
    while (std::gcd(factor_, count) != 1) ++factor_;
  }
  std::uint64_t operator()(std::uint64_t i) const {
    return std::uint64_t((static_cast<unsigned __int128>(i) * factor_ + offset_) % count_);
  }

 private:
  std::uint64_t count_, offset_ = 0, factor_ = 1;
};

// ThreadSanitizer sees a race between blocks only if two OS threads ran them. So there blocks are
// dealt out in turn, while otherwise a worker takes the next block when it is free.
void run_blocks(Grid& grid, const Order& order, unsigned rank, unsigned workers, Worker& w) {
  std::uint64_t blocks = 0;
  for (std::uint64_t i = under_tsan ? rank : grid.next++; i < grid.blocks && !grid.failed;
       i = under_tsan ? i + workers : grid.next++) {
    w.run_block(grid, order(i), nullptr, 0);
    ++blocks;
  }
  total_blocks += blocks;
}

void run_ordinary(Grid& grid) {
  const unsigned workers = unsigned(std::min<std::uint64_t>(grid.blocks, options().workers));
  const Order order(grid.blocks, options().seed);
  for (unsigned i = 0; i < workers; ++i) grid.workers.push_back(&worker_of_rank(i));
  run_on_workers(workers,
                 [&](unsigned rank, Worker& w) { run_blocks(grid, order, rank, workers, w); });
}

// The block with this rank in this cluster; clusters are boxes of the grid.
std::uint64_t block_of(const dim3& grid, const dim3& cluster, std::uint64_t index, unsigned rank) {
  const std::uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
  const std::uint64_t x = index % across * cluster.x + rank % cluster.x;
  const std::uint64_t y = index / across % down * cluster.y + rank / cluster.x % cluster.y;
  const std::uint64_t z = index / across / down * cluster.z + rank / cluster.x / cluster.y;
  return (z * grid.y + y) * grid.x + x;
}

// Clusters and cooperative grids (which are one large cluster here): an OS thread for each block
// that must be resident.
void run_gangs(Grid& grid, const dim3& cluster) {
  const unsigned size = cluster.x * cluster.y * cluster.z;
  const std::uint64_t count = grid.blocks / size;
  const unsigned resident =
      unsigned(std::min<std::uint64_t>(count, std::max(1u, options().workers / size)));
  const Order order(count, options().seed);
  std::deque<Gang> gangs;
  for (unsigned i = 0; i < resident; ++i) gangs.emplace_back(size);
  for (unsigned i = 0; i < resident * size; ++i) grid.workers.push_back(&worker_of_rank(i));
  run_on_workers(resident * size, [&](unsigned i, Worker& w) {
    Gang& gang = gangs[i / size];
    const unsigned member = i % size;
    for (std::uint64_t g = i / size; g < count && gang.goes_on(); g += resident)
      w.run_block(grid, block_of(grid.launch->grid, cluster, order(g), member), &gang, member);
    if (i >= options().workers) w.stacks.trim();
  });
  total_blocks += grid.blocks;
}

}  // namespace

GridResult run_grid(const Launch& launch) {
  Grid grid;
  grid.launch = &launch;
  grid.blocks = std::uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  if (launch.cooperative) {
    run_gangs(grid, launch.grid);
  } else if (launch.cluster.x * launch.cluster.y * launch.cluster.z > 1) {
    run_gangs(grid, launch.cluster);
  } else {
    run_ordinary(grid);
  }
  ++total_grids;
  for (Worker* w : grid.workers) total_switches += w->switches.exchange(0);
  return grid.result;
}

Stats stats() {
  return {total_switches, total_blocks, total_grids};
}

}  // namespace simt
