// Runtime API: devices, errors, peers, function attributes.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "cuda/runtime_api.hpp"
#include "diagnostics.hpp"
#include "exit_report.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "runtime.hpp"
#include "streams.hpp"

namespace simt {
namespace {

// An H200's limits where kernels depend on them; few multiprocessors, because persistent grids are
// as large as they say.
constexpr int multiprocessors = 4;
constexpr int blocks_per_multiprocessor = 2;
constexpr int threads_per_multiprocessor = 2048;
constexpr int shared_per_block = 48 << 10, shared_reserved = 1 << 10;
constexpr int l2_bytes = 4 << 20;
constexpr int cuda_version = 13000;

// What was set for a kernel on a device.
std::map<std::pair<const void*, int>, int>& shared_limits() {
  static std::map<std::pair<const void*, int>, int> limits;
  return limits;
}

int shared_per_block_optin() {
  return int(options().shared_bytes);
}
int shared_per_multiprocessor() {
  return shared_per_block_optin() + shared_reserved;
}

bool is_device(int device) {
  return device >= 0 && device < int(options().devices);
}

bool is_failure(cudaError_t e) {
  return e != cudaSuccess && e != cudaErrorNotReady;
}

cudaError_t no_such_device(int device) {
  return unavailable(cudaErrorInvalidDevice,
                     text("there is no device %d; SIMT_DEVICES=%u", device, options().devices));
}

}  // namespace

cudaError_t& last_error() {
  static thread_local cudaError_t last = cudaSuccess;
  return last;
}

cudaError_t unavailable(cudaError_t e, std::string explanation) {
  last_error() = e;
  set_diagnostic(std::move(explanation));
  return e;
}

cudaError_t error(cudaError_t e, std::string explanation) {
  note_unread(e, explanation);
  return unavailable(e, std::move(explanation));
}

const char* error_name(cudaError_t e) {
  switch (e) {
#define SIMT_NAME(name, number, text) \
  case name:                          \
    return #name;
    SIMT_CUDA_ERRORS(SIMT_NAME)
#undef SIMT_NAME
  }
  return "unrecognized error code";
}

cudaError_t outcome() {
  const cudaError_t e = sticky_error(current_device());
  if (e) last_error() = e;
  return e;
}

int shared_limit(const void* kernel) {
  if (!kernel) return shared_per_block_optin();  // what was set for it is not known
  const std::lock_guard lock(runtime_mutex());
  const auto found = shared_limits().find({kernel, current_device()});
  return found == shared_limits().end() ? shared_per_block : found->second;
}

std::uint64_t most_resident_blocks(int threads, std::size_t shared_bytes) {
  int blocks = 0;
  if (occupancy(&blocks, threads, shared_bytes)) return 0;
  return std::uint64_t(blocks) * multiprocessors;
}

cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const std::lock_guard lock(runtime_mutex());
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > shared_per_block_optin())
    return unavailable(cudaErrorInvalidValue,
                       text("cudaFuncSetAttribute: %d bytes of dynamic shared memory; at most %d",
                            value, shared_per_block_optin()));
  shared_limits()[{kernel, current_device()}] = value;
  return cudaSuccess;
}

cudaError_t get_function_attributes(cudaFuncAttributes* attributes, const void* kernel) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = int(options().ptx);
  attributes->binaryVersion = int(options().arch);
  attributes->maxDynamicSharedSizeBytes = shared_limit(kernel);
  return cudaSuccess;
}

cudaError_t occupancy(int* blocks, int threads, std::size_t shared_bytes) {
  *blocks = 0;
  if (threads < 1 || threads > 1024)
    return unavailable(cudaErrorInvalidValue,
                       text("occupancy of a block of %d threads; expected 1 to 1024", threads));
  if (shared_bytes > std::size_t(shared_per_block_optin())) return cudaSuccess;
  const int by_threads = threads_per_multiprocessor / ((threads + 31) / 32 * 32);
  const int by_shared = int(shared_per_multiprocessor() / (shared_bytes + shared_reserved));
  *blocks = std::min({blocks_per_multiprocessor, by_threads, by_shared});
  return cudaSuccess;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = int(options().devices);
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return no_such_device(device);
  current_device() = device;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (!is_device(device)) return no_such_device(device);
  *p = {};
  std::strcpy(p->name, "Warpath SIMT emulator");
  std::memcpy(p->uuid.bytes, "warpath-simt-gpu", sizeof p->uuid.bytes);
  p->uuid.bytes[15] = char(device);
  p->totalGlobalMem = options().device_memory;
  p->sharedMemPerBlock = shared_per_block;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = 32;
  p->memPitch = 0x7fffffff;
  p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 64 << 10;
  p->major = int(options().arch / 10);
  p->minor = int(options().arch % 10);
  p->multiProcessorCount = multiprocessors;
  p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
  p->pciBusID = device + 1;
  p->asyncEngineCount = 3;
  p->memoryBusWidth = 64;
  p->l2CacheSize = l2_bytes;
  p->maxThreadsPerMultiProcessor = threads_per_multiprocessor;
  p->sharedMemPerMultiprocessor = shared_per_multiprocessor();
  p->cooperativeLaunch = p->memoryPoolsSupported = 1;
  p->clusterLaunch = p->major >= 9;
  p->sharedMemPerBlockOptin = shared_per_block_optin();
  p->maxBlocksPerMultiProcessor = blocks_per_multiprocessor;
  p->reservedSharedMemPerBlock = shared_reserved;
  p->deviceOverlap = p->pageableMemoryAccess = p->hostRegisterSupported = 1;
  p->canUseHostPointerForRegisteredMem = 1;
  p->computeMode = cudaComputeModeDefault;
  p->textureAlignment = 512;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const cudaError_t e = cudaGetDeviceProperties(&p, device)) return e;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
      *value = p.maxThreadsDim[0];
      break;
    case cudaDevAttrMaxBlockDimY:
      *value = p.maxThreadsDim[1];
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[2];
      break;
    case cudaDevAttrMaxGridDimX:
      *value = p.maxGridSize[0];
      break;
    case cudaDevAttrMaxGridDimY:
      *value = p.maxGridSize[1];
      break;
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[2];
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = int(p.sharedMemPerBlock);
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = int(p.totalConstMem);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrIntegrated:
      *value = p.integrated;
      break;
    case cudaDevAttrConcurrentKernels:
      *value = p.concurrentKernels;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = p.memoryBusWidth;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrAsyncEngineCount:
      *value = p.asyncEngineCount;
      break;
    case cudaDevAttrUnifiedAddressing:
      *value = p.unifiedAddressing;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = int(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerMultiprocessor;
      break;
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
      *value = 0;
      break;
    case cudaDevAttrCooperativeLaunch:
      *value = p.cooperativeLaunch;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = int(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrMaxPersistingL2CacheSize:
      *value = p.persistingL2CacheMaxSize;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = int(p.reservedSharedMemPerBlock);
      break;
    case cudaDevAttrMemoryPoolsSupported:
      *value = p.memoryPoolsSupported;
      break;
    case cudaDevAttrClusterLaunch:
      *value = p.clusterLaunch;
      break;
    case cudaDevAttrMaxPitch:
      *value = int(p.memPitch);
      break;
    case cudaDevAttrGpuOverlap:
      *value = p.deviceOverlap;
      break;
    case cudaDevAttrCanMapHostMemory:
      *value = p.canMapHostMemory;
      break;
    case cudaDevAttrComputeMode:
      *value = p.computeMode;
      break;
    case cudaDevAttrPciBusId:
      *value = p.pciBusID;
      break;
    case cudaDevAttrPageableMemoryAccess:
      *value = p.pageableMemoryAccess;
      break;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      *value = p.canUseHostPointerForRegisteredMem;
      break;
    case cudaDevAttrHostRegisterSupported:
      *value = p.hostRegisterSupported;
      break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:  // there is no clock: it times nothing
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrComputePreemptionSupported:
      *value = 0;
      break;
    default:
      return unavailable(cudaErrorInvalidValue,
                         text("cudaDeviceGetAttribute: attribute %d is not emulated", attribute));
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* out, int bytes, int device) {
  if (!is_device(device)) return no_such_device(device);
  if (bytes < 13)
    return unavailable(cudaErrorInvalidValue, "cudaDeviceGetPCIBusId needs room for 13 characters");
  std::snprintf(out, std::size_t(bytes), "0000:%02x:00.0", unsigned(device + 1) & 0xFF);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  run_device(current_device());
  return outcome();
}

cudaError_t cudaDeviceReset() {
  run_device(current_device());
  set_sticky_error(current_device(), cudaSuccess);
  last_error() = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) {
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(runtime_mutex());
  const std::size_t used = device_bytes(current_device());
  *total = options().device_memory;
  *free = *total - std::min(*total, used);
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = cuda_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = cuda_version;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device)) return no_such_device(device);
  if (!is_device(peer)) return no_such_device(peer);
  *can = device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (!is_device(peer) || peer == current_device()) return no_such_device(peer);
  if (flags)
    return unavailable(cudaErrorInvalidValue, "cudaDeviceEnablePeerAccess: flags must be 0");
  if (peer_access(current_device(), peer))
    return unavailable(cudaErrorPeerAccessAlreadyEnabled,
                       text("device %d already has access to device %d", current_device(), peer));
  set_peer_access(current_device(), peer, true);
  return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (!is_device(peer)) return no_such_device(peer);
  if (!peer_access(current_device(), peer))
    return unavailable(cudaErrorPeerAccessNotEnabled,
                       text("device %d has no access to device %d", current_device(), peer));
  set_peer_access(current_device(), peer, false);
  return cudaSuccess;
}

// ---------------------------------------------------------------- errors

cudaError_t cudaGetLastError() {
  const cudaError_t e = cudaPeekAtLastError();
  last_error() = sticky_error(current_device());
  return e;
}

cudaError_t cudaPeekAtLastError() {
  if (last_error()) note_read();
  return last_error();
}

const char* cudaGetErrorName(cudaError_t e) {
  if (is_failure(e)) note_read();
  return error_name(e);
}

// CUDA's text, and what the executor knows beyond it.
const char* cudaGetErrorString(cudaError_t e) {
  const char* general = "unrecognized error code";
  switch (e) {
#define SIMT_TEXT(name, number, text) \
  case name:                          \
    general = text;                   \
    break;
    SIMT_CUDA_ERRORS(SIMT_TEXT)
#undef SIMT_TEXT
  }
  if (!is_failure(e)) return general;
  note_read();
  static thread_local std::string both;
  both = general;
  const std::string special = last_diagnostic();
  if (!special.empty()) both += ": " + special;
  return both.c_str();
}
