// What the executor costs: nanoseconds a collective, milliseconds a workload at n = 2^20, one
// worker against two, memory. Not run by ctest. The figures in algorithms/simt/README.md come from
// here: warpath_simt_benchmark [REPETITIONS].
#include <cuda_runtime.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace {

int repetitions = 7;

// ---------------------------------------------------------------- building blocks

constexpr unsigned threads = 256;

// Inclusive sum over the lanes of a warp.
__device__ unsigned warp_inclusive(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned below = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value += below;
  }
  return value;
}

// Exclusive sum over the warps of a block, of one value a warp.
__device__ unsigned block_exclusive_of_warps(unsigned value, unsigned& total) {
  __shared__ unsigned sums[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  __syncthreads();  // the last call's sums have been read
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  if (warp == 0) sums[lane] = warp_inclusive(lane < count ? sums[lane] : 0);
  __syncthreads();
  total = sums[count - 1];
  return warp ? sums[warp - 1] : 0;
}

// ---------------------------------------------------------------- compaction

constexpr unsigned items = 16, tile = threads * items;

struct Selected {
  unsigned value[items], ballot[items], count;
};

// A warp's rows of a tile: what each lane holds, who keeps it, how many the warp keeps.
__device__ Selected select(const unsigned* in, unsigned n, unsigned bound, unsigned tile_index) {
  Selected s;
  s.count = 0;
  const unsigned first = tile_index * tile + threadIdx.x / 32 * 32 * items + threadIdx.x % 32;
  for (unsigned k = 0; k < items; ++k) {
    const unsigned i = first + k * 32;
    s.value[k] = i < n ? in[i] : ~0u;
    s.ballot[k] = __ballot_sync(~0u, i < n && s.value[k] < bound);
    s.count += unsigned(__popc(s.ballot[k]));
  }
  return s;
}

__device__ void scatter(const Selected& s, unsigned* out, unsigned at) {
  const unsigned me = 1u << threadIdx.x % 32;
  for (unsigned k = 0; k < items; ++k) {
    if (s.ballot[k] & me) out[at + unsigned(__popc(s.ballot[k] & (me - 1)))] = s.value[k];
    at += unsigned(__popc(s.ballot[k]));
  }
}

__global__ void count_kernel(const unsigned* in, unsigned n, unsigned bound, unsigned* counts) {
  unsigned total;
  block_exclusive_of_warps(select(in, n, bound, blockIdx.x).count, total);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// One block scans any number of counts in place, exclusively; the total follows them.
__global__ void scan_counts_kernel(unsigned* counts, unsigned n) {
  unsigned carry = 0;
  for (unsigned first = 0; first < n; first += blockDim.x) {
    const unsigned i = first + threadIdx.x, own = i < n ? counts[i] : 0,
                   inclusive = warp_inclusive(own);
    const unsigned warp_total = __shfl_sync(~0u, inclusive, 31);
    unsigned total;
    const unsigned before = block_exclusive_of_warps(warp_total, total);
    if (i < n) counts[i] = carry + before + inclusive - own;
    carry += total;
  }
  if (threadIdx.x == 0) counts[n] = carry;
}

__global__ void scatter_kernel(const unsigned* in, unsigned n, unsigned bound,
                               const unsigned* offsets, unsigned* out) {
  const Selected s = select(in, n, bound, blockIdx.x);
  unsigned total;
  const unsigned before = block_exclusive_of_warps(s.count, total);
  scatter(s, out, offsets[blockIdx.x] + before);
}

// Decoupled look-back: a status word is a flag (1: the tile's own count, 2: all up to it) above 62
// bits of value.
constexpr std::uint64_t own_flag = 1ull << 62, prefix_flag = 2ull << 62, value_mask = own_flag - 1;
using Status = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;

__device__ unsigned look_back(std::uint64_t* status, unsigned ticket) {
  const int lane = int(threadIdx.x);
  unsigned sum = 0;
  for (std::int64_t at = std::int64_t(ticket) - 1 - lane;; at -= 32) {
    std::uint64_t word = prefix_flag;
    if (at >= 0)
      while (!((word = Status(status[at]).load(cuda::std::memory_order_acquire)) >> 62))
        simt::yield();
    const unsigned complete = __ballot_sync(~0u, word >> 62 == 2);
    const unsigned nearest = complete ? unsigned(__ffs(int(complete))) - 1 : 31;
    sum += __reduce_add_sync(~0u, unsigned(lane) <= nearest ? unsigned(word & value_mask) : 0u);
    if (complete) return sum;
  }
}

__global__ void single_pass_kernel(const unsigned* in, unsigned n, unsigned bound,
                                   std::uint64_t* status, unsigned* ticket_and_total,
                                   unsigned* out) {
  __shared__ unsigned shared_ticket, shared_prefix;
  if (threadIdx.x == 0) shared_ticket = atomicAdd(&ticket_and_total[0], 1u);
  __syncthreads();
  const unsigned ticket = shared_ticket;
  const Selected s = select(in, n, bound, ticket);
  unsigned total;
  const unsigned before = block_exclusive_of_warps(s.count, total);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0 && ticket)
      Status(status[ticket]).store(own_flag | total, cuda::std::memory_order_release);
    const unsigned prefix = ticket ? look_back(status, ticket) : 0;
    if (threadIdx.x == 0) {
      Status(status[ticket]).store(prefix_flag | (prefix + total), cuda::std::memory_order_release);
      shared_prefix = prefix;
      if (ticket == gridDim.x - 1) ticket_and_total[1] = prefix + total;
    }
  }
  __syncthreads();
  scatter(s, out, shared_prefix + before);
}

// ---------------------------------------------------------------- scan by shuffles

constexpr unsigned scan_items = 8, scan_tile = threads * scan_items;

__global__ void tile_sums_kernel(const unsigned* in, unsigned n, unsigned* sums) {
  unsigned sum = 0, total;
  for (unsigned k = 0; k < scan_items; ++k) {
    const unsigned i = blockIdx.x * scan_tile + threadIdx.x * scan_items + k;
    sum += i < n ? in[i] : 0;
  }
  block_exclusive_of_warps(__shfl_sync(~0u, warp_inclusive(sum), 31), total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void scan_tiles_kernel(const unsigned* in, unsigned n, const unsigned* sums,
                                  unsigned* out) {
  unsigned value[scan_items], sum = 0, total;
  const unsigned first = blockIdx.x * scan_tile + threadIdx.x * scan_items;
  for (unsigned k = 0; k < scan_items; ++k) {
    value[k] = first + k < n ? in[first + k] : 0;
    sum += value[k];
  }
  const unsigned inclusive = warp_inclusive(sum);
  const unsigned before = block_exclusive_of_warps(__shfl_sync(~0u, inclusive, 31), total);
  unsigned running = sums[blockIdx.x] + before + inclusive - sum;
  for (unsigned k = 0; k < scan_items; ++k) {
    running += value[k];
    if (first + k < n) out[first + k] = running;
  }
}

// ---------------------------------------------------------------- single operations

constexpr int operations = 64;

__global__ void thread_kernel(unsigned* out) {
  if (out[0] == 12345) out[1] = threadIdx.x;
}
__global__ void ballot_kernel(unsigned* out) {
  unsigned sum = 0;
  for (int i = 0; i < operations; ++i) sum += __ballot_sync(~0u, threadIdx.x & 1);
  if (sum == 1) out[0] = sum;
}
__global__ void shuffle_kernel(unsigned* out) {
  unsigned sum = threadIdx.x;
  for (int i = 0; i < operations; ++i) sum += __shfl_xor_sync(~0u, sum, 1);
  if (sum == 1) out[0] = sum;
}
__global__ void barrier_kernel(unsigned*) {
  for (int i = 0; i < operations; ++i) __syncthreads();
}
__global__ void yield_kernel(unsigned*) {
  for (int i = 0; i < operations; ++i) simt::yield();
}
__global__ void atomic_kernel(unsigned* out) {
  for (int i = 0; i < operations; ++i) atomicAdd(out, 1u);
}

// ---------------------------------------------------------------- measuring

void check(cudaError_t e) {
  if (!e) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  std::exit(1);
}

template <class... P, class... A>
void launch(unsigned blocks, unsigned block_threads, void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = block_threads;
  check(cudaLaunchKernelEx(&config, kernel, arguments...));
}

double best_ms(const std::function<void()>& work) {
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    check(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    best = std::min(best, ms.count());
  }
  return best;
}

template <class T>
T* device_array(std::size_t n) {
  T* p = nullptr;
  check(cudaMalloc(&p, n * sizeof(T)));
  check(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}

double resident_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

void measure_operations() {
  struct Operation {
    const char* name;
    void (*kernel)(unsigned*);
    int count;
  };
  unsigned* out = device_array<unsigned>(64);
  simt::options().workers = 1;
  std::printf("nanoseconds per thread and operation, 1 worker, blocks of 256\n");
  for (const Operation& o : {Operation{"a thread that does nothing", thread_kernel, 1},
                             Operation{"ballot", ballot_kernel, operations},
                             Operation{"shuffle", shuffle_kernel, operations},
                             Operation{"block barrier", barrier_kernel, operations},
                             Operation{"yield", yield_kernel, operations},
                             Operation{"atomicAdd", atomic_kernel, operations}}) {
    const unsigned blocks = 256;
    const double ms = best_ms([&] { launch(blocks, threads, o.kernel, out); });
    std::printf("  %-28s %7.1f\n", o.name, ms * 1e6 / (double(blocks) * threads * o.count));
  }
  const double ms = best_ms([&] {
    for (int i = 0; i < 1000; ++i) launch(1, 32, thread_kernel, out);
  });
  std::printf("  %-28s %7.1f us\n\n", "a launch", ms);
  check(cudaFree(out));
}

int measure_workloads() {
  constexpr unsigned n = 1 << 20, bound = 1u << 31, tiles = n / tile, scan_tiles = n / scan_tile;
  std::vector<unsigned> host(n), kept, sums(n), result(n);
  std::mt19937 random(1);
  for (unsigned& x : host) x = random();
  std::copy_if(host.begin(), host.end(), std::back_inserter(kept),
               [](unsigned x) { return x < bound; });
  std::partial_sum(host.begin(), host.end(), sums.begin());

  auto* in = device_array<unsigned>(n);
  auto* out = device_array<unsigned>(n);
  auto* counts = device_array<unsigned>(scan_tiles + 1);
  auto* status = device_array<std::uint64_t>(tiles + 1);
  check(cudaMemcpy(in, host.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  auto* ticket = reinterpret_cast<unsigned*>(status + tiles);

  struct Workload {
    const char* name;
    std::function<void()> run;
    const std::vector<unsigned>* expected;
    double target_ms;
  };
  const Workload workloads[] = {
      {"two-pass compaction",
       [=] {
         launch(tiles, threads, count_kernel, in, n, bound, counts);
         launch(1, 1024, scan_counts_kernel, counts, tiles);
         launch(tiles, threads, scatter_kernel, in, n, bound, counts, out);
       },
       &kept, 60},
      {"single-pass compaction",
       [=] {
         check(cudaMemsetAsync(status, 0, (tiles + 1) * sizeof(std::uint64_t)));
         launch(tiles, threads, single_pass_kernel, in, n, bound, status, ticket, out);
       },
       &kept, 40},
      {"block scan by shuffles",
       [=] {
         launch(scan_tiles, threads, tile_sums_kernel, in, n, counts);
         launch(1, 1024, scan_counts_kernel, counts, scan_tiles);
         launch(scan_tiles, threads, scan_tiles_kernel, in, n, counts, out);
       },
       &sums, 50}};

  int failures = 0;
  std::printf("milliseconds at n = 2^20, best of %d\n  %-28s %9s %9s %8s %9s\n", repetitions, "",
              "1 worker", "2 workers", "speedup", "target");
  for (const Workload& w : workloads) {
    double ms[2];
    for (unsigned workers : {1u, 2u}) {
      simt::options().workers = workers;
      ms[workers - 1] = best_ms(w.run);
    }
    check(cudaMemcpy(result.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    const bool right = std::equal(w.expected->begin(), w.expected->end(), result.begin());
    failures += !right;
    std::printf("  %-28s %9.1f %9.1f %7.2fx %9.0f%s\n", w.name, ms[0], ms[1], ms[0] / ms[1],
                w.target_ms, right ? "" : "  WRONG RESULT");
  }
  for (void* p : {static_cast<void*>(in), static_cast<void*>(out), static_cast<void*>(counts),
                  static_cast<void*>(status)})
    check(cudaFree(p));
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) repetitions = std::max(1, std::atoi(argv[1]));
  measure_operations();
  const double before = resident_mb();
  const int failures = measure_workloads();
  const double data = double(simt::peak_device_bytes()) / (1 << 20);
  std::printf(
      "\npeak resident memory %.1f MB (%.1f MB before the workloads), of which device memory %.1f "
      "MB\n",
      resident_mb(), before, data);
  return failures != 0;
}
