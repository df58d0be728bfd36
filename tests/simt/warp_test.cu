// Warp functions, against what CUDA's programming guide says of each lane.
#include <cstdint>
#include <string>
#include <vector>

#include "launch.hpp"

namespace {

using simt_test::Array;
using simt_test::run;

// ---------------------------------------------------------------- votes

__global__ void votes_kernel(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned* mine = out + threadIdx.x * 6;
  mine[0] = __ballot_sync(~0u, lane % 3 == 0);
  mine[1] = unsigned(__any_sync(~0u, lane == 31));
  mine[2] = unsigned(__any_sync(~0u, 0));
  mine[3] = unsigned(__all_sync(~0u, 1));
  mine[4] = unsigned(__all_sync(~0u, lane != 7));
  mine[5] = __activemask() >> lane & 1;  // others may have ended
}

TEST(Votes, OfWholeWarps) {
  Array<unsigned> out(64 * 6);
  run(1, 64, votes_kernel, out.data());
  const auto host = out.host();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(host[i * 6], 0x49249249u);
    EXPECT_EQ(host[i * 6 + 1], 1u);
    EXPECT_EQ(host[i * 6 + 2], 0u);
    EXPECT_EQ(host[i * 6 + 3], 1u);
    EXPECT_EQ(host[i * 6 + 4], 0u);
    EXPECT_EQ(host[i * 6 + 5], 1u);
  }
}

// A block of 40 threads has 8 lanes in its second warp: a full mask means those that exist.
__global__ void partial_warp_kernel(unsigned* out) {
  out[threadIdx.x] = __ballot_sync(~0u, 1);
}

TEST(Votes, OfAPartialWarp) {
  Array<unsigned> out(40);
  run(1, 40, partial_warp_kernel, out.data());
  EXPECT_EQ(out.host()[0], ~0u);
  EXPECT_EQ(out.host()[39], 0xFFu);
}

// Branches with masks of their own are legal, in any order.
__global__ void divergent_kernel(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  if (lane < 8)
    out[threadIdx.x] = __ballot_sync(0x000000FFu, lane % 2);
  else if (lane < 16)
    out[threadIdx.x] = __reduce_add_sync(0x0000FF00u, lane);
  else
    out[threadIdx.x] = __shfl_sync(0xFFFF0000u, lane, 20);
  __syncwarp();
}

TEST(Votes, OfBranches) {
  Array<unsigned> out(64);
  run(1, 64, divergent_kernel, out.data());
  const auto host = out.host();
  for (int i = 0; i < 64; ++i) {
    const int lane = i % 32;
    EXPECT_EQ(host[i], lane < 8 ? 0xAAu : lane < 16 ? 92u : 20u) << i;
  }
}

// ---------------------------------------------------------------- matches and reductions

__global__ void match_kernel(unsigned* out) {
  const unsigned lane = threadIdx.x;
  int predicate = -1;
  out[lane * 5] = __match_any_sync(~0u, lane % 4);
  out[lane * 5 + 1] = __match_any_sync(~0u, (1ull << 40) * (lane / 16));
  out[lane * 5 + 2] = __match_all_sync(~0u, 7, &predicate);
  out[lane * 5 + 3] = unsigned(predicate);
  out[lane * 5 + 4] = __match_all_sync(~0u, lane, &predicate) + unsigned(predicate);
}

TEST(Match, GroupsEqualValues) {
  Array<unsigned> out(32 * 5);
  run(1, 32, match_kernel, out.data());
  const auto host = out.host();
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(host[lane * 5], 0x11111111u << lane % 4);
    EXPECT_EQ(host[lane * 5 + 1], lane < 16 ? 0x0000FFFFu : 0xFFFF0000u);
    EXPECT_EQ(host[lane * 5 + 2], ~0u);
    EXPECT_EQ(host[lane * 5 + 3], 1u);
    EXPECT_EQ(host[lane * 5 + 4], 0u);
  }
}

__global__ void reduce_kernel(int* out) {
  const int lane = int(threadIdx.x);
  out[lane * 9] = int(__reduce_add_sync(~0u, unsigned(lane)));
  out[lane * 9 + 1] = __reduce_add_sync(~0u, -lane);
  out[lane * 9 + 2] = __reduce_min_sync(~0u, -lane);
  out[lane * 9 + 3] = int(__reduce_min_sync(~0u, unsigned(-lane)));
  out[lane * 9 + 4] = __reduce_max_sync(~0u, -lane);
  out[lane * 9 + 5] = int(__reduce_max_sync(~0u, unsigned(lane)));
  out[lane * 9 + 6] = int(__reduce_and_sync(~0u, ~0u - (1u << lane % 4)));
  out[lane * 9 + 7] = int(__reduce_or_sync(~0u, 1u << lane % 5));
  out[lane * 9 + 8] = int(__reduce_xor_sync(~0u, 1u << lane));
}

TEST(Reduce, OverAWarp) {
  Array<int> out(32 * 9);
  run(1, 32, reduce_kernel, out.data());
  const auto host = out.host();
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_THAT(std::vector<int>(host.begin() + lane * 9, host.begin() + lane * 9 + 9),
                testing::ElementsAre(496, -496, -31, 0, 0, 31, -16, 31, -1));
}

// ---------------------------------------------------------------- shuffles

// Where a lane's value comes from. CUDA, "Warp Shuffle Functions": segments of `width` lanes; what
// lies outside of the own segment (exclusive or: beyond it) leaves the value as it is.
int source_of(int kind, int lane, int argument, int width) {
  const int first = lane / width * width, last = first + width - 1;
  int source = lane;
  if (kind == 0) return first + argument % width;
  if (kind == 1) source = lane - argument < first ? lane : lane - argument;
  if (kind == 2) source = lane + argument > last ? lane : lane + argument;
  if (kind == 3) source = (lane ^ argument) > last ? lane : lane ^ argument;
  return source;
}

template <class T>
__global__ void shuffle_kernel(T* out, const T* in, int kind, int argument, int width) {
  const T value = in[threadIdx.x];
  T& result = out[threadIdx.x];
  if (kind == 0) result = __shfl_sync(~0u, value, argument, width);
  if (kind == 1) result = __shfl_up_sync(~0u, value, unsigned(argument), width);
  if (kind == 2) result = __shfl_down_sync(~0u, value, unsigned(argument), width);
  if (kind == 3) result = __shfl_xor_sync(~0u, value, argument, width);
}

template <class T>
class Shuffles : public testing::Test {};
using ShuffledTypes = testing::Types<signed char, unsigned char, short, unsigned short, int,
                                     unsigned, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(Shuffles, ShuffledTypes);

TYPED_TEST(Shuffles, OfAllKindsAndWidths) {
  std::vector<TypeParam> values(32);
  for (int i = 0; i < 32; ++i) values[i] = TypeParam(TypeParam(i) * 3 + 1);
  if (sizeof(TypeParam) == 8)
    for (int i = 0; i < 32; ++i) values[i] *= TypeParam(1ll << 40);
  Array<TypeParam> in(values), out(32);
  for (int kind = 0; kind < 4; ++kind)
    for (int width = 1; width <= 32; width *= 2)
      for (int argument : {0, 1, 2, 3, 5, 8, 15, 16, 31}) {
        run(1, 32, shuffle_kernel<TypeParam>, out.data(), in.data(), kind, argument, width);
        const auto host = out.host();
        for (int lane = 0; lane < 32; ++lane)
          ASSERT_EQ(host[lane], values[source_of(kind, lane, argument, width)])
              << "kind " << kind << " width " << width << " argument " << argument << " lane "
              << lane;
      }
}

// ---------------------------------------------------------------- lanes that end early

__global__ void early_exit_kernel(unsigned* runs, unsigned* ballots) {
  atomicAdd(&runs[blockIdx.x * blockDim.x + threadIdx.x], 1u);
  const unsigned lane = threadIdx.x % 32;
  if (lane % 3 == 1) return;
  ballots[blockIdx.x * blockDim.x + threadIdx.x] = __ballot_sync(~0u, 1);
  atomicAdd(&runs[blockIdx.x * blockDim.x + threadIdx.x], 100u);
}

TEST(EarlyExit, EveryThreadRunsExactlyOnce) {
  constexpr unsigned blocks = 7, threads = 96;
  Array<unsigned> runs(blocks * threads), ballots(blocks * threads);
  run(blocks, threads, early_exit_kernel, runs.data(), ballots.data());
  const auto counted = runs.host(), seen = ballots.host();
  for (unsigned i = 0; i < blocks * threads; ++i) {
    const bool stays = i % 32 % 3 != 1;
    EXPECT_EQ(counted[i], stays ? 101u : 1u);
    EXPECT_EQ(seen[i], stays ? ~0x92492492u : 0u) << "lanes that have ended do not vote";
  }
}

// ---------------------------------------------------------------- polling

// A warp that polls must not keep the warp that it waits for from running.
__global__ void polling_kernel(int* cell) {
  if (threadIdx.x / 32 == 0) {
    while (atomicAdd(cell, 0) < 32) simt::yield();
  } else {
    atomicAdd(cell, 1);
  }
}

TEST(Polling, IsFair) {
  Array<int> cell(1);
  run(1, 64, polling_kernel, cell.data());
  EXPECT_EQ(cell.host()[0], 32);
}

}  // namespace
