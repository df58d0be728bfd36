#include "harness/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>

#include "core/cuda_check.cuh"
#include "harness/error.hpp"
#include "harness/nvml.hpp"

namespace warpath::harness {

bool device_is_usable() {
  cudaGetLastError();
  return cudaFree(nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

#ifdef SIMT_EMULATION

Device query_device() {
  Device device;
  device.name = "SIMT executor";
  device.slug = "emulated";
  return device;
}

std::int64_t free_device_bytes() {
  // The executor has a limit of its own, and the machine has less at times.
  std::size_t free = 0;
  std::size_t total = 0;
  WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  auto least = static_cast<std::int64_t>(free);
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    std::int64_t kibibytes = 0;
    if (word == "MemAvailable:" && meminfo >> kibibytes) least = std::min(least, kibibytes * 1024);
  }
  return least;
}

#else

namespace {

/// "NVIDIA H200" is "nvidia-h200".
std::string slug(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!plain && !text.empty() && text.back() != '-') text += '-';
  }
  while (!text.empty() && text.back() == '-') text.pop_back();
  return text;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<std::vector<bool>> query_peer_access(int count) {
  std::vector<std::vector<bool>> matrix;
  for (int from = 0; from < count; ++from) {
    matrix.emplace_back();
    for (int to = 0; to < count; ++to) {
      int access = from == to ? 1 : 0;
      if (from != to) WARPATH_CUDA_CHECK(cudaDeviceCanAccessPeer(&access, from, to));
      matrix.back().push_back(access != 0);
    }
  }
  return matrix;
}

}  // namespace

Device query_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    throw UserError(std::string("no usable GPU: ") +
                    (error == cudaSuccess ? "none is visible" : cudaGetErrorString(error)) +
                    ". Use the emulated build, or check the driver with nvidia-smi");
  }
  int current = 0;
  WARPATH_CUDA_CHECK(cudaGetDevice(&current));
  cudaDeviceProp properties{};
  WARPATH_CUDA_CHECK(cudaGetDeviceProperties(&properties, current));
  std::array<char, 32> pci{};
  WARPATH_CUDA_CHECK(cudaDeviceGetPCIBusId(pci.data(), static_cast<int>(pci.size()), current));
  int runtime = 0;
  int driver = 0;
  WARPATH_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  WARPATH_CUDA_CHECK(cudaDriverGetVersion(&driver));

  Device device;
  device.name = properties.name;
  device.slug = slug(device.name);
  device.uuid = uuid_text(properties.uuid);
  device.pci_bus = pci.data();
  device.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  device.driver = Nvml(device.pci_bus).driver().value_or("CUDA " + version_text(driver));
  device.cuda_version = version_text(runtime);
  device.sm_count = properties.multiProcessorCount;
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.l2_bytes = properties.l2CacheSize;
  device.count = count;
  if (count > 1) device.peer_access = query_peer_access(count);
  return device;
}

std::int64_t free_device_bytes() {
  // Memory that the stream-ordered pool caches is free, too, once the streams have returned it.
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  int current = 0;
  cudaMemPool_t pool{};
  WARPATH_CUDA_CHECK(cudaGetDevice(&current));
  if (cudaDeviceGetDefaultMemPool(&pool, current) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
  cudaGetLastError();
  std::size_t free = 0;
  std::size_t total = 0;
  WARPATH_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

#endif

}  // namespace warpath::harness
