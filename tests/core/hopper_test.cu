// Bulk copies and transaction barriers: every size class, several loads on a barrier, many phases,
// many arrivals, and stores whose source is written again. The same tests judge the instructions
// and their emulated twins.
#include <numeric>

#include "../test_size.hpp"
#include "core/hopper.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

constexpr unsigned threads = 64;
constexpr int words_of(std::size_t bytes) {
  return static_cast<int>(bytes / sizeof(int));
}

std::vector<int> numbers(int count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// ---------------------------------------------------------------- loads

struct Staged {
  hopper::TransactionBarrier barrier;
  alignas(128) int words[1];  // as many as the launch asks for
};

__global__ void load_kernel(const int* in, int* out, unsigned bytes) {
  auto& staged = dynamic_shared<Staged>();
  if (threadIdx.x == 0) hopper::init(staged.barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    hopper::arrive_expect(staged.barrier, bytes);
    hopper::bulk_load(staged.words, in, bytes, staged.barrier);
  }
  hopper::wait(staged.barrier, 0);
  int* words = staged.words;
  for (unsigned i = threadIdx.x; i < bytes / sizeof(int); i += blockDim.x) out[i] = words[i];
}

class Hopper : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_run(load_kernel, {.hopper = true}))
      GTEST_SKIP() << "needs bulk copies: compute capability 9.0 or more";
  }
};

TEST_F(Hopper, LoadsAnySize) {
  for (const unsigned bytes : {16u, 32u, 48u, 112u, 128u, 1040u, 16384u, 49152u, 200u * 1024}) {
    if (!can_run(load_kernel, {.shared_bytes = sizeof(Staged) + bytes})) continue;
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    const std::vector<int> values = numbers(words_of(bytes));
    const DeviceBuffer<int> in = on_device(values);
    DeviceBuffer<int> out(in.count());
    launch({1, threads, sizeof(Staged) + bytes}, load_kernel, in.data(), out.data(), bytes);
    EXPECT_EQ(on_host(out), values);
  }
}

constexpr int pieces = 5;
struct Pieces {
  hopper::TransactionBarrier barrier;
  alignas(128) int words[pieces * (pieces + 1) / 2 * 4];
};

// Piece i has 16 (i + 1) bytes; the pieces arrive in the reverse of their order in memory.
__global__ void load_pieces_kernel(const int* in, int* out) {
  auto& shared = dynamic_shared<Pieces>();
  if (threadIdx.x == 0) hopper::init(shared.barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    hopper::arrive_expect(shared.barrier, sizeof shared.words);
    unsigned from = 0;
    unsigned to = sizeof shared.words / sizeof(int);
    for (unsigned words = 4; words <= 4 * pieces; words += 4) {
      to -= words;
      hopper::bulk_load(shared.words + to, in + from, words * sizeof(int), shared.barrier);
      from += words;
    }
  }
  hopper::wait(shared.barrier, 0);
  for (unsigned i = threadIdx.x; i < sizeof shared.words / sizeof(int); i += blockDim.x) {
    out[i] = shared.words[i];
  }
}

TEST_F(Hopper, SeveralLoadsCompleteOnOneBarrier) {
  const std::vector<int> values = numbers(words_of(sizeof Pieces::words));
  const DeviceBuffer<int> in = on_device(values);
  DeviceBuffer<int> out(in.count());
  launch({1, threads, sizeof(Pieces)}, load_pieces_kernel, in.data(), out.data());

  std::vector<int> expected(values.size());
  auto from = values.begin();
  auto to = expected.end();
  for (int words = 4; words <= 4 * pieces; words += 4) {
    to -= words;
    std::copy_n(from, words, to);
    from += words;
  }
  EXPECT_EQ(on_host(out), expected);
}

// ---------------------------------------------------------------- arrivals

struct Meeting {
  hopper::TransactionBarrier barrier;
  alignas(128) int loaded[threads * 4];
  int written[threads];
};

// Every thread arrives: with words that it has written itself and, the first few of them, with a
// load of their own. A phase for each round.
__global__ void meet_kernel(const int* in, int* out, int rounds, unsigned loaders) {
  auto& shared = dynamic_shared<Meeting>();
  const unsigned thread = threadIdx.x;
  if (thread == 0) hopper::init(shared.barrier, blockDim.x);
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    const int* from = in + (round * blockDim.x + thread) * 4;
    shared.written[thread] = from[0];
    if (thread < loaders) {
      hopper::arrive_expect(shared.barrier, 16);
      hopper::bulk_load(shared.loaded + 4 * thread, from, 16, shared.barrier);
    } else {
      hopper::arrive(shared.barrier);
    }
    hopper::wait(shared.barrier, static_cast<unsigned>(round % 2));
    const unsigned other = blockDim.x - 1 - thread;
    const int written = shared.written[other];
    out[round * blockDim.x + thread] =
        other < loaders ? written + shared.loaded[4 * other + 3] : written;
    __syncthreads();  // all have read: the next round may write
  }
}

TEST_F(Hopper, WaitsForAllArrivalsAndAllBytesOfEachPhase) {
  const int rounds = is_small() ? 3 : 7;
  const std::vector<int> values = numbers(rounds * static_cast<int>(threads) * 4);
  const DeviceBuffer<int> in = on_device(values);
  for (const unsigned loaders : {0u, 1u, 5u, threads}) {
    SCOPED_TRACE(std::to_string(loaders) + " threads load");
    DeviceBuffer<int> out(rounds * threads);
    launch({1, threads, sizeof(Meeting)}, meet_kernel, in.data(), out.data(), rounds, loaders);

    std::vector<int> expected(rounds * threads);
    for (unsigned i = 0; i < expected.size(); ++i) {
      const unsigned other = threads - 1 - i % threads;
      const int* from = &values[(i / threads * threads + other) * 4];
      expected[i] = other < loaders ? from[0] + from[3] : from[0];
    }
    EXPECT_EQ(on_host(out), expected);
  }
}

// ---------------------------------------------------------------- ring

constexpr int stages = 3;
constexpr int consumer_warps = 2;
constexpr int stage_words = consumer_warps * 32;
struct Ring {
  hopper::TransactionBarrier full[stages];
  hopper::TransactionBarrier empty[stages];
  alignas(128) int words[stages][stage_words];
};

// The last warp loads tiles into a ring; the others take them out, reversed. The barriers' parities
// turn each time that the ring has been round.
__global__ void ring_kernel(const int* in, int* out, int tiles) {
  auto& ring = dynamic_shared<Ring>();
  const bool is_producer = threadIdx.x >= stage_words;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      hopper::init(ring.full[stage], 1);
      hopper::init(ring.empty[stage], stage_words);
    }
  }
  __syncthreads();
  if (is_producer && threadIdx.x != stage_words) return;
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % stages;
    const auto parity = static_cast<unsigned>(tile / stages % 2);
    if (is_producer) {
      // The phase before the first counts as complete: the ring is empty.
      hopper::wait(ring.empty[stage], parity ^ 1);
      hopper::arrive_expect(ring.full[stage], sizeof ring.words[stage]);
      hopper::bulk_load(ring.words[stage], in + tile * stage_words, sizeof ring.words[stage],
                        ring.full[stage]);
    } else {
      hopper::wait(ring.full[stage], parity);
      out[tile * stage_words + threadIdx.x] = ring.words[stage][stage_words - 1 - threadIdx.x];
      hopper::arrive(ring.empty[stage]);
    }
  }
}

TEST_F(Hopper, RingOfStagesRunsThroughManyPhases) {
  for (const int tiles : {1, 2, 3, 4, 6, 7, 25}) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles");
    const std::vector<int> values = numbers(tiles * stage_words);
    const DeviceBuffer<int> in = on_device(values);
    DeviceBuffer<int> out(in.count());
    launch({1, stage_words + 32, sizeof(Ring)}, ring_kernel, in.data(), out.data(), tiles);

    std::vector<int> expected = values;
    for (int tile = 0; tile < tiles; ++tile) {
      std::reverse(expected.begin() + tile * stage_words,
                   expected.begin() + (tile + 1) * stage_words);
    }
    EXPECT_EQ(on_host(out), expected);
  }
}

// ---------------------------------------------------------------- stores

constexpr int store_words = static_cast<int>(threads);
template <int Buffers>
struct Outgoing {
  alignas(128) int words[Buffers][store_words];
};

// Writes rounds through `Buffers` buffers: each is written again once all stores but the newest
// Buffers - 1 have read their sources.
template <int Buffers>
__global__ void store_kernel(int* out, int rounds) {
  auto& shared = dynamic_shared<Outgoing<Buffers>>();
  for (int round = 0; round < rounds; ++round) {
    int* words = shared.words[round % Buffers];
    if (threadIdx.x == 0) hopper::bulk_store_wait_read<Buffers - 1>();
    __syncthreads();  // the buffer is free
    words[threadIdx.x] = round * store_words + static_cast<int>(threadIdx.x) + 1;
    hopper::fence_for_bulk();
    __syncthreads();  // and full
    if (threadIdx.x == 0) {
      // Two stores in one group, of different sizes.
      constexpr int first = 16;
      int* to = out + round * store_words;
      hopper::bulk_store(to, words, first * sizeof(int));
      hopper::bulk_store(to + first, words + first, (store_words - first) * sizeof(int));
      hopper::bulk_store_commit();
    }
  }
  if (threadIdx.x == 0) hopper::bulk_store_wait_read<0>();
}

template <int Buffers>
void expect_stored(int rounds) {
  SCOPED_TRACE(std::to_string(Buffers) + " buffers, " + std::to_string(rounds) + " rounds");
  DeviceBuffer<int> out = on_device(std::vector<int>(rounds * store_words, -1));
  launch({1, threads, sizeof(Outgoing<Buffers>)}, store_kernel<Buffers>, out.data(), rounds);
  EXPECT_EQ(on_host(out), numbers(rounds * store_words));
}

TEST_F(Hopper, SourceOfAStoreMayBeWrittenOnceItWasRead) {
  for (const int rounds : {1, 2, 3, 10}) {
    expect_stored<1>(rounds);
    expect_stored<2>(rounds);
    expect_stored<3>(rounds);
  }
}

// ---------------------------------------------------------------- both ways

// Several blocks at once copy through shared memory: loads, then stores of the same words.
__global__ void copy_kernel(const int* in, int* out, unsigned bytes) {
  auto& staged = dynamic_shared<Staged>();
  if (threadIdx.x == 0) hopper::init(staged.barrier, 1);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::size_t offset = blockIdx.x * (bytes / sizeof(int));
  hopper::arrive_expect(staged.barrier, bytes);
  hopper::bulk_load(staged.words, in + offset, bytes, staged.barrier);
  hopper::wait(staged.barrier, 0);
  hopper::bulk_store(out + offset, staged.words, bytes);
  hopper::bulk_store_commit();
  hopper::bulk_store_wait_read<0>();
}

TEST_F(Hopper, BlocksHaveBarriersOfTheirOwn) {
  constexpr unsigned blocks = 9;
  constexpr unsigned bytes = 2048;
  const std::vector<int> values = numbers(blocks * words_of(bytes));
  const DeviceBuffer<int> in = on_device(values);
  // (Written before, since initcheck does not see what bulk stores write.)
  DeviceBuffer<int> out = on_device(std::vector<int>(values.size(), -1));
  launch({blocks, 32, sizeof(Staged) + bytes}, copy_kernel, in.data(), out.data(), bytes);
  EXPECT_EQ(on_host(out), values);
}

// ---------------------------------------------------------------- roles

/// Each round one warp doubles what the other has written, and the other takes it.
__global__ void roles_kernel(int rounds, int* out) {
  auto& words = dynamic_shared<int[2]>();
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      if (threadIdx.x == 0) words[0] = round;
      hopper::block_barrier();  // the number is there
      hopper::block_barrier();  // and its double
      if (threadIdx.x == 0) out[round] = words[1];
    }
  } else {
    for (int round = 0; round < rounds; ++round) {
      hopper::block_barrier();
      if (threadIdx.x == 32) words[1] = 2 * words[0];
      hopper::block_barrier();
    }
  }
}

TEST_F(Hopper, WarpsInDifferentRolesMeet) {
  constexpr int rounds = 50;
  DeviceBuffer<int> out(rounds);
  launch({1, 64, 2 * sizeof(int)}, roles_kernel, rounds, out.data());
  const std::vector<int> doubles = on_host(out);
  for (int round = 0; round < rounds; ++round) EXPECT_EQ(doubles[round], 2 * round);
}

// ---------------------------------------------------------------- kernels that start early

__global__ void slow_kernel(int* out) {
  hopper::let_next_kernel_start();
  for (int i = 0; i < 100; ++i) __nanosleep(1000);
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(blockIdx.x);
}

__global__ void early_kernel(const int* in, int* out) {
  hopper::wait_for_kernel_before();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[gridDim.x * blockDim.x - 1 - i];
}

TEST_F(Hopper, AKernelThatStartsEarlySeesWhatTheOneBeforeHasWritten) {
  DeviceBuffer<int> numbers = on_device(std::vector<int>(8 * 64, -1));
  DeviceBuffer<int> out(8 * 64);
  launch({8, 64}, slow_kernel, numbers.data());
  launch({8, 64, 0, nullptr, /*starts_early=*/true}, early_kernel, numbers.data(), out.data());
  const std::vector<int> found = on_host(out);
  for (int i = 0; i < 8 * 64; ++i) EXPECT_EQ(found[i], 7 - i / 64);
}

}  // namespace
}  // namespace warpath::core_test
