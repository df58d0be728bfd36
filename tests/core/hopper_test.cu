// Bulk copies and transaction barriers: every size class, several loads on a barrier, many phases,
// many arrivals, and stores whose source is written again; and the arithmetic behind them: powers
// of two, halves and the tensor cores. The same tests judge the instructions and their emulated
// twins.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
  DeviceBuffer<int> out(in.count());
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

// ---------------------------------------------------------------- powers of two

constexpr float infinity = std::numeric_limits<float>::infinity();

__global__ void exp2_kernel(const float* x, float* powers, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) powers[i] = hopper::exp2_approx(x[i]);
}
std::vector<float> powers_of(const std::vector<float>& x) {
  const DeviceBuffer<float> in = on_device(x);
  DeviceBuffer<float> out(in.count());
  const int count = static_cast<int>(in.count());
  launch({static_cast<unsigned>(count + 127) / 128, 128}, exp2_kernel, in.data(), out.data(),
         count);
  return on_host(out);
}

TEST(Exp2Approx, IsAccurateFromTheLeastExponentToTheGreatest) {
  std::vector<float> x = {0.0f, -0.0f, 1e-30f, -1e-30f, 0x1p-24f, -0x1p-25f};
  for (int i = -126; i <= 127; ++i) {
    const auto whole = static_cast<float>(i);
    x.push_back(whole);
    if (i > -126) x.push_back(std::nextafter(whole, -infinity));
    if (i < 127) x.push_back(std::nextafter(whole, infinity));
  }
  std::mt19937 random(1);
  std::uniform_real_distribution<float> anywhere(-126, 127);
  for (int i = 0; i < (is_small() ? 2000 : 100'000); ++i) x.push_back(anywhere(random));
  const std::vector<float> powers = powers_of(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp2(static_cast<double>(x[i]));
    ASSERT_NEAR(powers[i], expected, 0x1p-21 * expected) << "2^" << x[i];
  }
}

TEST(Exp2Approx, EndsInZeroAndInfinity) {
  const std::vector<float> none =
      powers_of({std::nextafter(-126.0f, -infinity), -126.5f, -127, -149, -150, -1000,
                 std::numeric_limits<float>::lowest(), -infinity});
  EXPECT_THAT(none, testing::Each(0.0f));
  EXPECT_THAT(powers_of({128, 1000, std::numeric_limits<float>::max(), infinity}),
              testing::Each(infinity));
}

// ---------------------------------------------------------------- square roots

__global__ void root_kernel(const float* x, float* roots, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) roots[i] = hopper::root_approx(x[i]);
}
std::vector<float> roots_of(const std::vector<float>& x) {
  const DeviceBuffer<float> in = on_device(x);
  DeviceBuffer<float> out(in.count());
  const int count = static_cast<int>(in.count());
  launch({static_cast<unsigned>(count + 127) / 128, 128}, root_kernel, in.data(), out.data(),
         count);
  return on_host(out);
}

TEST(RootApprox, IsAccurateFromTheLeastNumberToTheGreatest) {
  std::vector<float> x = {0x1p-126f, 1, 2, 3, std::numeric_limits<float>::max()};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponents(-126, 127);
  for (int i = 0; i < (is_small() ? 2000 : 100'000); ++i) x.push_back(std::exp2(exponents(random)));
  const std::vector<float> roots = roots_of(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::sqrt(static_cast<double>(x[i]));
    ASSERT_NEAR(roots[i], expected, 0x1p-22 * expected) << "of " << x[i];
  }
}

TEST(RootApprox, OfNothingOfInfinityAndOfLessThanNothing) {
  EXPECT_THAT(roots_of({0, 0x1p-149f, std::nextafter(0x1p-126f, 0.0f)}), testing::Each(0.0f));
  EXPECT_THAT(roots_of({infinity}), testing::Each(infinity));
  EXPECT_THAT(roots_of({-1, -infinity}), testing::Each(testing::IsNan()));
}

// ---------------------------------------------------------------- halves

class TensorCores : public testing::Test {
 protected:
  void SetUp() override {
    int device = 0;
    int major = 0;
    WARPATH_CUDA_CHECK(cudaGetDevice(&device));
    WARPATH_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major < 8) GTEST_SKIP() << "needs tensor cores: compute capability 8.0 or more";
  }
};

/// What a finite half stands for: IEEE 754, binary16.
double value_of_half(std::uint32_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits / 1024 % 32);
  const double fraction = (bits % 1024) / 1024.0;
  return exponent == 0 ? sign * fraction * std::exp2(-14)
                       : sign * (1 + fraction) * std::exp2(exponent - 15);
}
constexpr std::uint32_t half_infinity = 0x7C00;

/// The half that is nearest to x, of two the even one: found among all of them.
std::uint32_t nearest_half(float x) {
  static const std::vector<double> halves = [] {
    std::vector<double> values;
    for (std::uint32_t bits = 0; bits < half_infinity; ++bits) {
      values.push_back(value_of_half(bits));
    }
    return values;
  }();
  const double size = std::abs(static_cast<double>(x));
  auto bits = static_cast<std::uint32_t>(std::lower_bound(halves.begin(), halves.end(), size) -
                                         halves.begin());  // the least one that is not below x
  if (bits > 0) {
    const double above = halves.at(bits) - size;
    const double below = size - halves[bits - 1];
    if (below < above || (below == above && bits % 2 != 0)) --bits;
  }
  return bits | (std::signbit(x) ? 0x8000u : 0u);
}

__global__ void split_kernel(const float* x, std::uint32_t* both, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) both[i] = hopper::split_halves(x[i]);
}

TEST_F(TensorCores, AFloatIsTheSumOfTwoHalves) {
  std::vector<float> x = {0, 65000, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1p-26f, 1e-30f, 1e-45f};
  for (int exponent = -30; exponent <= 15; ++exponent) {
    const float power = std::ldexp(1.0f, exponent);
    x.insert(x.end(), {power, std::nextafter(power, 0.0f), std::nextafter(power, infinity)});
    // Halfway between two halves and beside it; and as much as two halves can lose.
    for (const float factor : {1 + 0x1p-11f, 1 + 0x3p-11f, 1 - 0x1p-12f, 1 + 0x801p-23f}) {
      const float middle = power * factor;
      x.insert(x.end(), {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, infinity)});
    }
  }
  for (std::uint32_t bits = 1; bits < half_infinity; bits += is_small() ? 97 : 7) {
    x.push_back(static_cast<float>(value_of_half(bits)));
  }
  std::mt19937 random(2);
  std::uniform_real_distribution<float> anywhere(-65000, 65000);
  std::uniform_real_distribution<float> exponents(-30, 15.9f);
  for (int i = 0; i < (is_small() ? 1000 : 50'000); ++i) {
    x.push_back(anywhere(random));
    x.push_back(std::exp2(exponents(random)));
  }
  for (std::size_t i = 0, positive = x.size(); i < positive; ++i) x.push_back(-x[i]);

  const DeviceBuffer<float> in = on_device(x);
  DeviceBuffer<std::uint32_t> out(in.count());
  const int count = static_cast<int>(in.count());
  launch({static_cast<unsigned>(count + 127) / 128, 128}, split_kernel, in.data(), out.data(),
         count);
  const std::vector<std::uint32_t> both = on_host(out);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t high = both[i] & 0xFFFF;
    const std::uint32_t low = both[i] >> 16;
    ASSERT_EQ(high, nearest_half(x[i])) << testing::PrintToString(x[i]);
    ASSERT_LT(low & 0x7FFF, half_infinity) << testing::PrintToString(x[i]);
    const double most = std::max(0x1p-23 * std::abs(static_cast<double>(x[i])), 0x1p-25);
    ASSERT_NEAR(value_of_half(high) + value_of_half(low), x[i], most)
        << testing::PrintToString(x[i]);
  }
}

// ---------------------------------------------------------------- products of matrices

constexpr int product_rows = 16;
constexpr int product_columns = 8;
constexpr int depth = 16;

/// A product and what goes into it, as a person would write it.
struct Product {
  std::uint32_t a[product_rows][depth];  ///< halves
  std::uint32_t b[depth][product_columns];
  float sum[product_rows][product_columns];
};
/// The registers of a lane.
struct Lane {
  std::uint32_t a[4];
  std::uint32_t b[2];
  float sum[4];
};

Lane lane_of(const Product& product, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
  const auto pair = [](std::uint32_t first, std::uint32_t second) { return first | second << 16; };
  const auto a = [&](int row, int k) { return pair(product.a[row][k], product.a[row][k + 1]); };
  const auto b = [&](int k) { return pair(product.b[k][g], product.b[k + 1][g]); };
  return {{a(g, 2 * t), a(g + 8, 2 * t), a(g, 2 * t + 8), a(g + 8, 2 * t + 8)},
          {b(2 * t), b(2 * t + 8)},
          {product.sum[g][2 * t], product.sum[g][2 * t + 1], product.sum[g + 8][2 * t],
           product.sum[g + 8][2 * t + 1]}};
}

/// A warp a product.
__global__ void multiply_kernel(const Lane* lanes, float* products) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const Lane own = lanes[thread];
  float product[4];
  hopper::multiply_16x16x8(own.a, own.b, own.sum, product);
  for (int i = 0; i < 4; ++i) products[4 * thread + i] = product[i];
}

/// Runs them, three warps a block, and compares every number with the sum of its 16 products. The
/// error is relative to the sum of their sizes.
void expect_products(const std::vector<Product>& products, double most_error) {
  constexpr unsigned warps = 3;
  ASSERT_EQ(products.size() % warps, 0);
  std::vector<Lane> lanes;
  for (const Product& product : products) {
    for (int lane = 0; lane < 32; ++lane) lanes.push_back(lane_of(product, lane));
  }
  const DeviceBuffer<Lane> in = on_device(lanes);
  DeviceBuffer<float> out(4 * in.count());
  launch({static_cast<unsigned>(products.size()) / warps, 32 * warps}, multiply_kernel, in.data(),
         out.data());
  const std::vector<float> found = on_host(out);
  for (std::size_t p = 0; p < products.size(); ++p) {
    for (int row = 0; row < product_rows; ++row) {
      for (int column = 0; column < product_columns; ++column) {
        double expected = products[p].sum[row][column];
        double size = std::abs(expected);
        for (int k = 0; k < depth; ++k) {
          const double one =
              value_of_half(products[p].a[row][k]) * value_of_half(products[p].b[k][column]);
          expected += one;
          size += std::abs(one);
        }
        const int lane = row % 8 * 4 + column / 2;
        const int place = row / 8 * 2 + column % 2;
        ASSERT_NEAR(found[(p * 32 + lane) * 4 + place], expected, most_error * size)
            << "product " << p << ", row " << row << ", column " << column;
      }
    }
  }
}

template <class Half, class Sum>
Product product_of(Half half, Sum sum) {
  Product product;
  for (auto& row : product.a) std::generate(std::begin(row), std::end(row), half);
  for (auto& row : product.b) std::generate(std::begin(row), std::end(row), half);
  for (auto& row : product.sum) std::generate(std::begin(row), std::end(row), sum);
  return product;
}

TEST_F(TensorCores, MultiplyIntegersExactly) {
  std::mt19937 random(3);
  const auto half = [&] { return nearest_half(static_cast<float>(random() % 31) - 15); };
  const auto sum = [&] { return static_cast<float>(random() % 2001) - 1000; };
  std::vector<Product> products;
  for (int i = 0; i < (is_small() ? 3 : 30); ++i) products.push_back(product_of(half, sum));
  expect_products(products, 0);
}

// Subnormal halves and large ones, of both signs.
TEST_F(TensorCores, MultiplyAnyHalves) {
  std::mt19937 random(4);
  const auto half = [&] {
    std::uint32_t bits = 0;
    do {
      bits = random() % 0x10000;
    } while ((bits & 0x7FFF) >= half_infinity);
    return bits;
  };
  std::uniform_real_distribution<float> sum(-1e6f, 1e6f);
  std::vector<Product> products;
  for (int i = 0; i < (is_small() ? 3 : 300); ++i) {
    products.push_back(product_of(half, [&] { return sum(random); }));
  }
  // Halves below 2^-14 alone, whose products are small, but not lost.
  const auto subnormal = [&] { return random() % 1024 | (random() % 2 << 15); };
  for (int i = 0; i < 3; ++i) products.push_back(product_of(subnormal, [] { return 0x1p-30f; }));
  expect_products(products, 0x1p-20);
}

}  // namespace
}  // namespace warpath::core_test
