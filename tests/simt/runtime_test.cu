// The runtime API: devices, memory, streams, events, errors.
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <math_constants.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>

#include "launch.hpp"

namespace {

using simt_test::Array;
using simt_test::run;
using simt_test::shape;
using testing::HasSubstr;

__global__ void set_kernel(int* out, int value) {
  out[threadIdx.x] = value;
}
__global__ void add_kernel(int* out, int value) {
  out[threadIdx.x] += value;
}
__global__ void nothing_kernel() {}
__global__ void failing_kernel() {
  if (threadIdx.x == 3) __trap();
}

// ---------------------------------------------------------------- devices

TEST(Devices, DescribeThemselves) {
  int count = 0;
  EXPECT_CUDA(cudaGetDeviceCount(&count));
  ASSERT_GE(count, 1);
  cudaDeviceProp p;
  EXPECT_CUDA(cudaGetDeviceProperties(&p, 0));
  EXPECT_STREQ(p.name, "Warpath SIMT emulator");
  EXPECT_EQ(p.multiProcessorCount, 4);
  EXPECT_EQ(p.major, 9);
  EXPECT_EQ(p.minor, 0);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_GT(p.l2CacheSize, 0);
  EXPECT_EQ(p.totalGlobalMem, simt::options().device_memory);
  EXPECT_EQ(cudaGetDeviceProperties(&p, count), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Devices, HaveUuidsOfTheirOwn) {
  int count = 0;
  EXPECT_CUDA(cudaGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "SIMT_DEVICES=1";
  cudaDeviceProp a, b;
  EXPECT_CUDA(cudaGetDeviceProperties(&a, 0));
  EXPECT_CUDA(cudaGetDeviceProperties(&b, 1));
  EXPECT_NE(std::memcmp(&a.uuid, &b.uuid, sizeof a.uuid), 0);
}

TEST(Devices, AnswerForAttributes) {
  int value = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(value, 4);
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  EXPECT_EQ(value, 227 << 10);
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(value, 9);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDriverGetVersion(&value));
  EXPECT_GE(value, 12040);
  EXPECT_CUDA(cudaRuntimeGetVersion(&value));
  EXPECT_GE(value, 12040);
}

TEST(Occupancy, RespectsThreadsAndSharedMemory) {
  const auto blocks = [](int threads, std::size_t bytes) {
    int n = -1;
    EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, set_kernel, threads, bytes));
    return n;
  };
  EXPECT_EQ(blocks(128, 0), 2);
  EXPECT_EQ(blocks(1024, 0), 2);
  EXPECT_EQ(blocks(128, 100 << 10), 2);
  EXPECT_EQ(blocks(128, 120 << 10), 1);
  EXPECT_EQ(blocks(128, 228 << 10), 0);
}

TEST(Occupancy, ProposesAGridThatFillsTheDevice) {
  int blocks = 0, threads = 0;
  EXPECT_CUDA(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, set_kernel));
  EXPECT_EQ(threads, 1024);
  EXPECT_EQ(blocks, 8);
  EXPECT_CUDA(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      &blocks, &threads, set_kernel, [](int n) { return n * 600; }, 200));
  EXPECT_EQ(threads, 200);
  EXPECT_EQ(blocks, 4) << "two blocks of 120000 bytes do not fit a multiprocessor";
}

TEST(Settings, AreAcceptedAndAnswered) {
  EXPECT_CUDA(cudaFuncSetCacheConfig(set_kernel, cudaFuncCachePreferShared));
  EXPECT_CUDA(cudaFuncSetSharedMemConfig(set_kernel, cudaSharedMemBankSizeEightByte));
  EXPECT_CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  EXPECT_CUDA(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
  EXPECT_CUDA(cudaProfilerStart());
  EXPECT_CUDA(cudaProfilerStop());
  EXPECT_CUDA(cudaThreadSynchronize());
  int least = -1, greatest = -1, mode = -1;
  EXPECT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, greatest);
  EXPECT_CUDA(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0));
  EXPECT_EQ(mode, cudaComputeModeDefault);
  EXPECT_EQ(CUDA_VERSION, CUDART_VERSION);
  int version = 0;
  EXPECT_CUDA(cudaRuntimeGetVersion(&version));
  EXPECT_EQ(version, CUDART_VERSION);
  EXPECT_EQ(CUDART_INF_F, INFINITY);
  EXPECT_TRUE(std::isnan(CUDART_NAN));
}

TEST(Launch, TakesAnArrayOfPointersToArguments) {
  Array<int> out(32);
  int* data = out.data();
  int value = 9;
  void* arguments[] = {&data, &value};
  EXPECT_CUDA(cudaLaunchKernel(set_kernel, 1, 32, arguments));
  EXPECT_THAT(out.host(), testing::Each(9));
}

#if __CUDA_ARCH__ >= 900
constexpr bool kernels_know_their_device = true;
#else
constexpr bool kernels_know_their_device = false;
#endif

TEST(Launch, CompilesWhatIsOnlyForADevice) {
  EXPECT_TRUE(kernels_know_their_device) << "a kernel within #if __CUDA_ARCH__ would be empty";
  cudaDeviceProp p;
  EXPECT_CUDA(cudaGetDeviceProperties(&p, 0));
  EXPECT_EQ(p.major * 100 + p.minor * 10, __CUDA_ARCH__);
}

TEST(FunctionAttributes, RaiseTheLimitOfSharedMemory) {
  Array<int> out(32);
  const auto config = shape(1, 32, 100 << 10);
  EXPECT_EQ(cudaLaunchKernelEx(&config, set_kernel, out.data(), 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_CUDA(
      cudaFuncSetAttribute(set_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, out.data(), 1));
  cudaFuncAttributes attributes;
  EXPECT_CUDA(cudaFuncGetAttributes(&attributes, set_kernel));
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 100 << 10);
  EXPECT_EQ(
      cudaFuncSetAttribute(set_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_CUDA(
      cudaFuncSetAttribute(set_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
}

TEST(FunctionAttributes, AreOfOneDevice) {
  if (simt::options().devices < 2) GTEST_SKIP() << "SIMT_DEVICES=1";
  const auto limit = [](int device) {
    EXPECT_CUDA(cudaSetDevice(device));
    cudaFuncAttributes attributes;
    EXPECT_CUDA(cudaFuncGetAttributes(&attributes, add_kernel));
    EXPECT_CUDA(cudaSetDevice(0));
    return attributes.maxDynamicSharedSizeBytes;
  };
  EXPECT_CUDA(
      cudaFuncSetAttribute(add_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  EXPECT_EQ(limit(0), 100 << 10);
  EXPECT_EQ(limit(1), 48 << 10);
  EXPECT_CUDA(cudaSetDevice(1));
  Array<int> out(32);
  const auto config = shape(1, 32, 100 << 10);
  EXPECT_EQ(cudaLaunchKernelEx(&config, add_kernel, out.data(), 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_CUDA(
      cudaFuncSetAttribute(add_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_EQ(limit(0), 100 << 10);
  EXPECT_EQ(limit(1), 64 << 10);
  EXPECT_CUDA(
      cudaFuncSetAttribute(add_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
}

TEST(Peers, NeedAccess) {
  if (simt::options().devices < 2) GTEST_SKIP() << "SIMT_DEVICES=1";
  int can = 0;
  EXPECT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_CUDA(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  // With access a kernel of device 0 may write to device 1, under SIMT_GUARD=1 too.
  EXPECT_CUDA(cudaSetDevice(1));
  Array<int> there(32);
  EXPECT_CUDA(cudaSetDevice(0));
  run(1, 32, set_kernel, there.data(), 5);
  EXPECT_THAT(there.host(), testing::Each(5));
  EXPECT_CUDA(cudaDeviceDisablePeerAccess(1));
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaGetLastError(), cudaErrorPeerAccessNotEnabled);
}

TEST(Peers, NeedAccessToPools) {
  if (simt::options().devices < 2) GTEST_SKIP() << "SIMT_DEVICES=1";
  cudaMemPool_t pool{};
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 1));
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = 0;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  EXPECT_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
  EXPECT_CUDA(cudaSetDevice(1));
  int* there = nullptr;
  EXPECT_CUDA(cudaMallocAsync(&there, 32 * sizeof(int), nullptr));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSetDevice(0));
  run(1, 32, set_kernel, there, 5);
  std::vector<int> found(32);
  EXPECT_CUDA(cudaMemcpy(found.data(), there, 32 * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_THAT(found, testing::Each(5));
  access.flags = cudaMemAccessFlagsProtNone;
  EXPECT_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
  access.flags = cudaMemAccessFlagsProtRead;
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  access = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtNone};
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  access.location.id = 99;
  EXPECT_EQ(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaFree(there));
}

TEST(Peers, CopyBetweenDevices) {
  if (simt::options().devices < 2) GTEST_SKIP() << "SIMT_DEVICES=1";
  Array<int> here(32, 7);
  EXPECT_CUDA(cudaSetDevice(1));
  Array<int> there(32);
  EXPECT_CUDA(cudaMemcpyPeer(there.data(), 1, here.data(), 0, 128));
  EXPECT_THAT(there.host(), testing::Each(7));
  EXPECT_EQ(cudaMemcpyPeer(there.data(), 0, here.data(), 0, 128), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaSetDevice(0));
}

// ---------------------------------------------------------------- memory

TEST(Memory, IsCountedAndLimited) {
  std::size_t before = 0, total = 0, after = 0;
  EXPECT_CUDA(cudaMemGetInfo(&before, &total));
  EXPECT_EQ(total, simt::options().device_memory);
  const std::size_t bytes = simt::device_bytes();
  void* p = nullptr;
  EXPECT_CUDA(cudaMalloc(&p, 1000));
  EXPECT_EQ(simt::device_bytes(), bytes + 1000);
  EXPECT_CUDA(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before - after, 1000u);
  EXPECT_CUDA(cudaFree(p));
  EXPECT_CUDA(cudaFree(nullptr));

  const std::size_t limit = std::exchange(simt::options().device_memory, bytes + 4096);
  EXPECT_EQ(cudaMalloc(&p, 4097), cudaErrorMemoryAllocation);
  EXPECT_THAT(cudaGetErrorString(cudaErrorMemoryAllocation), HasSubstr("4097 bytes wanted"));
  EXPECT_THAT(cudaGetErrorString(cudaErrorMemoryAllocation), HasSubstr("runtime_test.cu"));
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation) << "not sticky";
  EXPECT_CUDA(cudaMalloc(&p, 4096));
  EXPECT_CUDA(cudaFree(p));
  simt::options().device_memory = limit;
}

TEST(Memory, OfNoBytesIsNull) {
  void* p = &p;
  EXPECT_CUDA(cudaMalloc(&p, 0));
  EXPECT_EQ(p, nullptr);
}

TEST(Memory, IsOrderedByStreams) {
  cudaStream_t stream;
  EXPECT_CUDA(cudaStreamCreate(&stream));
  int* p = nullptr;
  EXPECT_CUDA(cudaMallocAsync(&p, 128, stream));
  const auto config = shape(1, 32, 0, stream);
  EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, p, 3));
  int value = 0;
  EXPECT_CUDA(cudaMemcpyAsync(&value, p + 31, 4, cudaMemcpyDeviceToHost, stream));
  EXPECT_CUDA(cudaFreeAsync(p, stream));
  EXPECT_EQ(cudaFreeAsync(p, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(value, 3);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(Memory, KnowsItsPointers) {
  Array<int> device(8);
  int* pinned = nullptr;
  int local = 0;
  EXPECT_CUDA(cudaMallocHost(&pinned, 32));
  cudaPointerAttributes a;
  EXPECT_CUDA(cudaPointerGetAttributes(&a, device.data() + 3));
  EXPECT_EQ(a.type, cudaMemoryTypeDevice);
  EXPECT_EQ(a.device, 0);
  EXPECT_CUDA(cudaPointerGetAttributes(&a, pinned));
  EXPECT_EQ(a.type, cudaMemoryTypeHost);
  EXPECT_CUDA(cudaPointerGetAttributes(&a, &local));
  EXPECT_EQ(a.type, cudaMemoryTypeUnregistered);
  EXPECT_CUDA(cudaFreeHost(pinned));
  EXPECT_CUDA(cudaHostAlloc(&pinned, 32, cudaHostAllocDefault));
  pinned[7] = 1;
  EXPECT_CUDA(cudaFreeHost(pinned));
}

TEST(Memory, IsSetAndCopied) {
  Array<unsigned char> a(100, 1), b(100, 2);
  EXPECT_CUDA(cudaMemset(a.data() + 10, 5, 20));
  EXPECT_CUDA(cudaMemcpy(b.data(), a.data() + 5, 10, cudaMemcpyDeviceToDevice));
  EXPECT_CUDA(cudaMemsetAsync(a.data(), 9, 1));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(a.host()[0], 9);
  EXPECT_EQ(a.host()[29], 5);
  EXPECT_EQ(a.host()[30], 1);
  EXPECT_EQ(b.host()[4], 1);
  EXPECT_EQ(b.host()[5], 5);
  EXPECT_EQ(b.host()[10], 2);
  EXPECT_EQ(cudaMemset(a.data(), 0, 101), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

__constant__ int constants[4];
__global__ void constants_kernel(int* out) {
  out[threadIdx.x] = constants[threadIdx.x % 4];
}

TEST(Memory, HasSymbols) {
  const int values[4] = {1, 2, 3, 4};
  EXPECT_CUDA(cudaMemcpyToSymbol(constants, values, sizeof values));
  Array<int> out(4);
  run(1, 4, constants_kernel, out.data());
  EXPECT_THAT(out.host(), testing::ElementsAre(1, 2, 3, 4));
  int back[2];
  EXPECT_CUDA(cudaMemcpyFromSymbol(back, constants, sizeof back, 2 * sizeof(int)));
  EXPECT_EQ(back[1], 4);
  EXPECT_EQ(cudaMemcpyToSymbol(constants, values, sizeof values, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(Memory, HasPools) {
  cudaMemPool_t pool = nullptr;
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = ~0ull, read = 0;
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  EXPECT_EQ(read, threshold);
  EXPECT_CUDA(cudaMemPoolTrimTo(pool, 0));

  const auto used = [&](cudaMemPoolAttr attribute) {
    std::uint64_t bytes = 0;
    EXPECT_CUDA(cudaMemPoolGetAttribute(pool, attribute, &bytes));
    return bytes;
  };
  const std::uint64_t before = used(cudaMemPoolAttrUsedMemCurrent);
  void* memory = nullptr;
  EXPECT_CUDA(cudaMallocAsync(&memory, 1 << 22, nullptr));
  EXPECT_EQ(used(cudaMemPoolAttrUsedMemCurrent), before + (1 << 22));
  EXPECT_CUDA(cudaFreeAsync(memory, nullptr));
  EXPECT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_GE(used(cudaMemPoolAttrUsedMemHigh), before + (1 << 22));
  std::uint64_t bytes = 0;
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes));
  EXPECT_EQ(used(cudaMemPoolAttrUsedMemHigh), before);
  bytes = 1;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &bytes),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

// ---------------------------------------------------------------- streams and events

TEST(Streams, KeepTheirOrder) {
  cudaStream_t stream;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Array<int> out(32);
  const auto config = shape(1, 32, 0, stream);
  EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, out.data(), 3));
  for (int i = 0; i < 10; ++i) EXPECT_CUDA(cudaLaunchKernelEx(&config, add_kernel, out.data(), i));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaStreamQuery(stream));
  EXPECT_THAT(out.host(), testing::Each(48));
  EXPECT_CUDA(cudaStreamDestroy(stream));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

// The legacy default stream waits for blocking streams, and they for it.
TEST(Streams, AreOrderedWithTheDefaultStream) {
  cudaStream_t stream;
  EXPECT_CUDA(cudaStreamCreate(&stream));
  Array<int> out(32);
  auto config = shape(1, 32, 0, stream);
  EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, out.data(), 1));
  config.stream = nullptr;
  EXPECT_CUDA(cudaLaunchKernelEx(&config, add_kernel, out.data(), 10));
  config.stream = stream;
  EXPECT_CUDA(cudaLaunchKernelEx(&config, add_kernel, out.data(), 100));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_THAT(out.host(), testing::Each(111));
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(Events, OrderStreams) {
  cudaStream_t first, second;
  cudaEvent_t event;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  EXPECT_CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_CUDA(cudaEventQuery(event)) << "an event that was never recorded is complete";
  Array<int> out(32);
  for (int round = 0; round < 20; ++round) {
    auto config = shape(1, 32, 0, first);
    EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, out.data(), round));
    EXPECT_CUDA(cudaEventRecord(event, first));
    EXPECT_CUDA(cudaStreamWaitEvent(second, event, 0));
    config.stream = second;
    EXPECT_CUDA(cudaLaunchKernelEx(&config, add_kernel, out.data(), 1000));
    EXPECT_CUDA(cudaStreamSynchronize(second));
    EXPECT_THAT(out.host(), testing::Each(round + 1000));
  }
  EXPECT_CUDA(cudaEventDestroy(event));
  EXPECT_EQ(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamDestroy(first));
  EXPECT_CUDA(cudaStreamDestroy(second));
}

TEST(Events, PollingMakesProgress) {
  cudaEvent_t event;
  EXPECT_CUDA(cudaEventCreate(&event));
  Array<int> out(32);
  const auto config = shape(1, 32);
  for (int i = 0; i < 5; ++i) EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, out.data(), i));
  EXPECT_CUDA(cudaEventRecord(event));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "not ready is no error";
  EXPECT_CUDA(cudaEventDestroy(event));
}

TEST(Events, KeepTheHostsTime) {
  cudaEvent_t from, to, untimed;
  EXPECT_CUDA(cudaEventCreate(&from));
  EXPECT_CUDA(cudaEventCreate(&to));
  EXPECT_CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, from, to), cudaErrorInvalidResourceHandle) << "not recorded";
  EXPECT_CUDA(cudaEventRecord(from));
  EXPECT_CUDA(cudaEventRecord(to));
  EXPECT_CUDA(cudaEventRecord(untimed));
  EXPECT_CUDA(cudaEventSynchronize(to));
  EXPECT_CUDA(cudaEventSynchronize(untimed));
  EXPECT_CUDA(cudaEventElapsedTime(&ms, from, to));
  EXPECT_GE(ms, 0.0f);
  EXPECT_EQ(cudaEventElapsedTime(&ms, from, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t e : {from, to, untimed}) EXPECT_CUDA(cudaEventDestroy(e));
}

TEST(Streams, CallTheHost) {
  cudaStream_t stream;
  EXPECT_CUDA(cudaStreamCreate(&stream));
  int calls = 0;
  EXPECT_CUDA(cudaLaunchHostFunc(
      stream, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(calls, 1);
  EXPECT_CUDA(cudaStreamDestroy(stream));
}

/// One of its threads waits, and the others for that one.
__global__ void waiting_kernel(int* out, int value) {
  if (threadIdx.x == 3) simt::wait_for_kernel_before();
  __syncthreads();
  out[threadIdx.x] = value;
}

TEST(Streams, DependentLaunchesAreAccepted) {
  Array<int> out(32);
  auto config = shape(1, 32);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_CUDA(cudaLaunchKernelEx(&config, waiting_kernel, out.data(), 1));
  EXPECT_THAT(out.host(), testing::Each(1));
}

// ---------------------------------------------------------------- failures

TEST(Failures, AreStickyUntilReset) {
  Array<int> out(32);
  const auto config = shape(1, 32);
  cudaLaunchKernelEx(&config, failing_kernel);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaLaunchKernelEx(&config, set_kernel, out.data(), 1), cudaErrorLaunchFailure);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorLaunchFailure) << "reading it does not clear it";
  EXPECT_CUDA(cudaDeviceReset());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  run(1, 32, set_kernel, out.data(), 4);
  EXPECT_THAT(out.host(), testing::Each(4));
}

TEST(Failures, SayWhereAndHowToRepeat) {
  const std::string said = simt_test::failure(shape(2, 32), failing_kernel);
  EXPECT_THAT(said, testing::StartsWith("unspecified launch failure: __trap() at "));
  EXPECT_THAT(said, HasSubstr("thread (3,0,0)"));
  EXPECT_THAT(said, HasSubstr("runtime_test.cu"));
  EXPECT_THAT(said, HasSubstr("SIMT_SEED=" + std::to_string(simt::options().seed)));
  EXPECT_THAT(simt::last_diagnostic(), HasSubstr("__trap()"));
}

TEST(Failures, AreOfOneDevice) {
  if (simt::options().devices < 2) GTEST_SKIP() << "SIMT_DEVICES=1";
  const auto config = shape(1, 32);
  cudaLaunchKernelEx(&config, failing_kernel);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_CUDA(cudaSetDevice(1));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_CUDA(cudaDeviceReset());
}

TEST(Failures, ManyInOneProcess) {
  const std::size_t before = simt::device_bytes();
  for (int i = 0; i < 50; ++i) simt_test::failure(shape(4, 256), failing_kernel);
  EXPECT_EQ(simt::device_bytes(), before);
  Array<int> out(32);
  run(1, 32, set_kernel, out.data(), 4);
  EXPECT_THAT(out.host(), testing::Each(4));
}

// Launches of several host threads take turns.
TEST(HostThreads, MayLaunchAtTheSameTime) {
  std::vector<std::thread> hosts;
  hosts.reserve(4);
  std::atomic<int> right{0};
  for (int h = 0; h < 4; ++h)
    hosts.emplace_back([&, h] {
      cudaStream_t stream;
      EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      int *out = nullptr, last = 0;
      EXPECT_CUDA(cudaMalloc(&out, 128));
      const auto config = shape(1, 32, 0, stream);
      for (int i = 0; i < 20; ++i) {
        EXPECT_CUDA(cudaLaunchKernelEx(&config, set_kernel, out, h * 100 + i));
        EXPECT_CUDA(cudaMemcpyAsync(&last, out + 31, 4, cudaMemcpyDeviceToHost, stream));
        EXPECT_CUDA(cudaStreamSynchronize(stream));
        right += last == h * 100 + i;
      }
      EXPECT_CUDA(cudaFree(out));
      EXPECT_CUDA(cudaStreamDestroy(stream));
    });
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(right, 80);
}

#ifndef SIMT_TSAN  // which refuses threads after a fork
TEST(HostProcesses, HaveWorkersAfterAFork) {
  run(4, 32, nothing_kernel);
  const auto in_child = [] {
    Array<int> out(32);
    run(4, 32, nothing_kernel);
    run(1, 32, set_kernel, out.data(), 7);
    _exit(out.host()[31]);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(7), "");
}
#endif

TEST(Errors, HaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(Stats, Count) {
  const simt::Stats before = simt::stats();
  run(3, 32, nothing_kernel);
  const simt::Stats after = simt::stats();
  EXPECT_EQ(after.grids - before.grids, 1u);
  EXPECT_EQ(after.blocks - before.blocks, 3u);
}

}  // namespace
