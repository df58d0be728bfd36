// Asynchronous copies: cp.async, bulk copies on transaction barriers, bulk stores.
#include <cuda_pipeline.h>

#include "launch.hpp"

namespace {

using simt_test::Array;
using simt_test::shape;

constexpr int chunk = 64;

__global__ void pipeline_kernel(int* out, const int* in, int chunks) {
  __shared__ int stage[2][chunk];
  const auto fetch = [&](int k) {
    if (k < chunks)
      __pipeline_memcpy_async(&stage[k % 2][threadIdx.x], in + k * chunk + threadIdx.x,
                              sizeof(int));
    __pipeline_commit();
  };
  fetch(0);
  for (int k = 0; k < chunks; ++k) {
    fetch(k + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    out[k * chunk + threadIdx.x] = stage[k % 2][chunk - 1 - threadIdx.x];
    __syncthreads();
  }
}

std::vector<int> numbers(int n) {
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i * 7;
  return values;
}

void expect_reversed_chunks(const std::vector<int>& host) {
  for (int i = 0; i < int(host.size()); ++i)
    EXPECT_EQ(host[i], (i / chunk * chunk + chunk - 1 - i % chunk) * 7) << i;
}

TEST(Pipeline, TwoStages) {
  Array<int> in(numbers(chunk * 9)), out(chunk * 9);
  simt_test::run(1, chunk, pipeline_kernel, out.data(), in.data(), 9);
  expect_reversed_chunks(out.host());
}

__global__ void zero_fill_kernel(int* out, const int* in) {
  alignas(16) __shared__ int stage[4];
  if (threadIdx.x == 0) {
    __pipeline_memcpy_async(stage, in, 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
  }
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = stage[threadIdx.x];
}

TEST(Pipeline, FillsWithZeros) {
  Array<int> in(std::vector<int>{1, 2, 3, 4}), out(4);
  simt_test::run(1, 32, zero_fill_kernel, out.data(), in.data());
  EXPECT_THAT(out.host(), testing::ElementsAre(1, 2, 0, 0));
}

// ---------------------------------------------------------------- bulk copies

struct Stages {
  static constexpr int count = 3;
  alignas(128) int data[count][chunk];
  simt::TxBarrier full[count];
};

// in -> shared by bulk copies with `count` in flight; shared -> out by bulk stores.
__global__ void bulk_kernel(int* out, const int* in, int chunks) {
  auto& s = *reinterpret_cast<Stages*>(simt::dynamic_smem);
  alignas(128) __shared__ int result[2][chunk];
  const int t = int(threadIdx.x);
  if (t == 0)
    for (auto& barrier : s.full) simt::tx_init(&barrier, 1);
  __syncthreads();
  const auto fetch = [&](int k) {
    if (t || k >= chunks) return;
    simt::TxBarrier* barrier = &s.full[k % Stages::count];
    simt::tx_arrive(barrier, sizeof s.data[0]);
    simt::tx_copy(barrier, s.data[k % Stages::count], in + k * chunk, sizeof s.data[0]);
  };
  for (int k = 0; k < Stages::count - 1; ++k) fetch(k);
  for (int k = 0; k < chunks; ++k) {
    fetch(k + Stages::count - 1);
    simt::tx_wait(&s.full[k % Stages::count], unsigned(k / Stages::count & 1));
    if (t == 0) simt::bulk_store_wait_read(1);  // the store before the last has read its buffer
    __syncthreads();
    result[k % 2][t] = s.data[k % Stages::count][chunk - 1 - t];
    __syncthreads();
    if (t == 0) {
      simt::bulk_store(out + k * chunk, result[k % 2], sizeof result[0]);
      simt::bulk_store_commit();
    }
  }
  if (t == 0) simt::bulk_store_wait_read(0);
}

TEST(BulkCopy, PipelineOfThreeStages) {
  for (int chunks : {1, 2, 3, 10}) {
    Array<int> in(numbers(chunk * chunks)), out(chunk * chunks);
    const auto config = shape(1, chunk, sizeof(Stages));
    EXPECT_CUDA(cudaLaunchKernelEx(&config, bulk_kernel, out.data(), in.data(), chunks));
    EXPECT_CUDA(cudaDeviceSynchronize());
    expect_reversed_chunks(out.host());
  }
}

// A producer may be one phase ahead of those who wait, and several threads may arrive in a phase.
__global__ void phases_kernel(int* out) {
  auto* barrier = reinterpret_cast<simt::TxBarrier*>(simt::dynamic_smem);
  const int t = int(threadIdx.x);
  if (t == 0) simt::tx_init(barrier, 32);
  __syncthreads();
  simt::tx_wait(barrier, 1);  // the phase before the first counts as complete
  __syncthreads();            // no thread may still ask for it when phase 1 has begun
  int sum = 0;
  for (unsigned phase = 0; phase < 6; ++phase) {
    if (t < 32) {
      atomicAdd(&out[phase], 1);
      simt::tx_arrive(barrier, 0);
    }
    simt::tx_wait(barrier, phase & 1);
    sum += atomicAdd(&out[phase], 0);
    __syncthreads();
  }
  out[8 + t] = sum;
}

TEST(TransactionBarrier, AlternatesPhases) {
  Array<int> out(8 + 64);
  const auto config = shape(1, 64, sizeof(simt::TxBarrier));
  EXPECT_CUDA(cudaLaunchKernelEx(&config, phases_kernel, out.data()));
  EXPECT_CUDA(cudaDeviceSynchronize());
  const auto host = out.host();
  for (int t = 0; t < 64; ++t) EXPECT_EQ(host[8 + t], 6 * 32);
}

TEST(TransactionBarrier, HasTheHardwaresSize) {
  EXPECT_EQ(sizeof(simt::TxBarrier), 8u);
  EXPECT_EQ(alignof(simt::TxBarrier), 8u);
}

}  // namespace
