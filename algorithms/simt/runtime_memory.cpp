// Runtime API: allocations and copies.
#include <cstring>
#include <mutex>

#include "cuda/runtime_api.hpp"
#include "diagnostics.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "runtime.hpp"
#include "streams.hpp"

namespace simt {
namespace {

cudaError_t allocate_on_device(void** pointer, std::size_t bytes, Site site, bool of_a_pool) {
  const std::lock_guard lock(runtime_mutex());
  if (const cudaError_t e = outcome()) return e;
  *pointer = nullptr;
  if (!bytes) return cudaSuccess;
  const int device = current_device();
  *pointer = allocate(MemoryKind::device, device, bytes, site, of_a_pool);
  if (!*pointer && options().lazy) {  // what was freed in a queue may make room
    run_everything();
    *pointer = allocate(MemoryKind::device, device, bytes, site, of_a_pool);
  }
  if (*pointer) return cudaSuccess;
  return unavailable(
      cudaErrorMemoryAllocation,
      text("%zu bytes wanted at %s:%d, %zu of %zu free on device %d (SIMT_DEVICE_MEMORY "
           "sets its size)",
           bytes, site.file, site.line, options().device_memory - device_bytes(device),
           options().device_memory, device));
}

cudaError_t allocate_pinned(void** pointer, std::size_t bytes, Site site) {
  const std::lock_guard lock(runtime_mutex());
  *pointer = allocate(MemoryKind::pinned_host, current_device(), bytes ? bytes : 1, site);
  return *pointer
             ? cudaSuccess
             : unavailable(cudaErrorMemoryAllocation, text("%zu bytes of pinned memory", bytes));
}

cudaError_t free_now(void* pointer, MemoryKind kind, const char* call) {
  const std::string trouble = release(pointer, kind);
  if (trouble.empty()) return outcome();
  return error(cudaErrorInvalidValue, text("%s: %s", call, trouble.c_str()));
}

bool is_device_memory(const void* pointer) {
  const Allocation* a = find_allocation(pointer);
  return a && a->kind == MemoryKind::device;
}

cudaError_t check_range(const char* call, const void* pointer, std::size_t bytes) {
  if (within_one_allocation(pointer, bytes)) return cudaSuccess;
  const Allocation& a = *find_allocation(pointer);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - a.begin;
  return error(cudaErrorInvalidValue,
               text("%s: %zu bytes from byte %zu exceed the %zu bytes allocated at %s:%d", call,
                    bytes, offset, a.bytes, a.site.file, a.site.line));
}

cudaError_t check_kind(const char* call, const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (is_device_memory(to) == to_device && is_device_memory(from) == from_device)
    return cudaSuccess;
  return error(
      cudaErrorInvalidValue,
      text("%s: the kind says %s to %s, the pointers say %s to %s", call,
           from_device ? "device" : "host", to_device ? "device" : "host",
           is_device_memory(from) ? "device" : "host", is_device_memory(to) ? "device" : "host"));
}

CUstream_st* usable_stream(const char* call, cudaStream_t handle) {
  CUstream_st* s = find_stream(handle);
  if (!s)
    error(cudaErrorInvalidResourceHandle, text("%s: the stream does not exist (any more)", call));
  return s;
}

cudaError_t copy(const char* call, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t handle) {
  const std::lock_guard lock(runtime_mutex());
  if (const cudaError_t e = outcome()) return e;
  CUstream_st* s = usable_stream(call, handle);
  if (!s) return cudaErrorInvalidResourceHandle;
  if (!bytes) return cudaSuccess;
  if (!to || !from) return error(cudaErrorInvalidValue, text("%s: null pointer", call));
  if (const cudaError_t e = check_range(call, to, bytes)) return e;
  if (const cudaError_t e = check_range(call, from, bytes)) return e;
  if (const cudaError_t e = check_kind(call, to, from, kind)) return e;
  enqueue(*s, [=] {
    const OpenMemory open(-1);
    std::memmove(to, from, bytes);
  });
  return cudaSuccess;
}

cudaError_t set(const char* call, void* pointer, int value, std::size_t bytes,
                cudaStream_t handle) {
  const std::lock_guard lock(runtime_mutex());
  if (const cudaError_t e = outcome()) return e;
  CUstream_st* s = usable_stream(call, handle);
  if (!s) return cudaErrorInvalidResourceHandle;
  if (!bytes) return cudaSuccess;
  if (!find_allocation(pointer))
    return error(cudaErrorInvalidValue, text("%s: %p is not device memory", call, pointer));
  if (const cudaError_t e = check_range(call, pointer, bytes)) return e;
  enqueue(*s, [=] {
    const OpenMemory open(-1);
    std::memset(pointer, value, bytes);
  });
  return cudaSuccess;
}

cudaError_t check_owner(const char* call, const void* pointer, int device) {
  const Allocation* a = find_allocation(pointer);
  if (a && a->kind == MemoryKind::device && a->device == device) return cudaSuccess;
  return error(cudaErrorInvalidValue,
               text("%s: %p is not memory of device %d", call, pointer, device));
}

cudaError_t check_symbol(const char* call, std::size_t symbol_bytes, std::size_t bytes,
                         std::size_t offset) {
  if (offset <= symbol_bytes && bytes <= symbol_bytes - offset) return cudaSuccess;
  return error(cudaErrorInvalidValue,
               text("%s: %zu bytes from byte %zu exceed the symbol's %zu bytes", call, bytes,
                    offset, symbol_bytes));
}

}  // namespace

cudaError_t copy_to_symbol(void* symbol, std::size_t symbol_bytes, const void* from,
                           std::size_t bytes, std::size_t offset) {
  if (const cudaError_t e = check_symbol("cudaMemcpyToSymbol", symbol_bytes, bytes, offset))
    return e;
  return cudaMemcpy(static_cast<unsigned char*>(symbol) + offset, from, bytes, cudaMemcpyDefault);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes,
                             std::size_t bytes, std::size_t offset) {
  if (const cudaError_t e = check_symbol("cudaMemcpyFromSymbol", symbol_bytes, bytes, offset))
    return e;
  return cudaMemcpy(to, static_cast<const unsigned char*>(symbol) + offset, bytes,
                    cudaMemcpyDefault);
}

}  // namespace simt

using namespace simt;

// The pool of a device exists in name only: what is freed is free at once.
struct CUmemPool_st {
  std::uint64_t release_threshold;
  int device;
};

cudaError_t cudaMalloc(void** pointer, std::size_t bytes, const char* simt_file, int simt_line) {
  return allocate_on_device(pointer, bytes, SIMT_HERE, /*of_a_pool=*/false);
}

cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  const std::lock_guard lock(runtime_mutex());
  const Allocation* a = find_allocation(pointer);
  if (a) run_device(a->device);
  return free_now(pointer, MemoryKind::device, "cudaFree");
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream,
                            const char* simt_file, int simt_line) {
  const std::lock_guard lock(runtime_mutex());
  if (!usable_stream("cudaMallocAsync", stream)) return cudaErrorInvalidResourceHandle;
  return allocate_on_device(pointer, bytes, SIMT_HERE, /*of_a_pool=*/true);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (!pointer) return cudaSuccess;
  const std::lock_guard lock(runtime_mutex());
  CUstream_st* s = usable_stream("cudaFreeAsync", stream);
  if (!s) return cudaErrorInvalidResourceHandle;
  const std::string trouble = announce_release(pointer);
  if (!trouble.empty()) return error(cudaErrorInvalidValue, "cudaFreeAsync: " + trouble);
  enqueue(*s, [pointer] {
    const std::string found = release(pointer, MemoryKind::device);
    if (!found.empty()) error(cudaErrorInvalidValue, "cudaFreeAsync: " + found);
  });
  return outcome();
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned, const char* simt_file,
                           int simt_line) {
  return allocate_pinned(pointer, bytes, SIMT_HERE);
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned, const char* simt_file,
                          int simt_line) {
  return allocate_pinned(pointer, bytes, SIMT_HERE);
}

cudaError_t cudaFreeHost(void* pointer) {
  if (!pointer) return cudaSuccess;
  const std::lock_guard lock(runtime_mutex());
  run_everything();
  return free_now(pointer, MemoryKind::pinned_host, "cudaFreeHost");
}

cudaError_t cudaHostRegister(void* pointer, std::size_t, unsigned) {
  return pointer ? cudaSuccess : error(cudaErrorInvalidValue, "cudaHostRegister: null pointer");
}
cudaError_t cudaHostUnregister(void* pointer) {
  return pointer ? cudaSuccess : error(cudaErrorInvalidValue, "cudaHostUnregister: null pointer");
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t e = copy("cudaMemcpy", to, from, bytes, kind, nullptr);
  return e ? e : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy("cudaMemcpyAsync", to, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  constexpr const char* call = "cudaMemcpyPeerAsync";
  const std::lock_guard lock(runtime_mutex());
  if (!bytes) return cudaSuccess;
  if (const cudaError_t e = check_owner(call, to, to_device)) return e;
  if (const cudaError_t e = check_owner(call, from, from_device)) return e;
  return copy(call, to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
  const cudaError_t e = cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
  return e ? e : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  return set("cudaMemset", pointer, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return set("cudaMemsetAsync", pointer, value, bytes, stream);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  auto* address = const_cast<void*>(pointer);
  const Allocation* a = find_allocation(pointer);
  if (!a) {
    *out = {cudaMemoryTypeUnregistered, -2, nullptr, address};
  } else if (a->kind == MemoryKind::device) {
    *out = {cudaMemoryTypeDevice, a->device, address, nullptr};
  } else {
    *out = {cudaMemoryTypeHost, a->device, address, address};
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  static CUmemPool_st pools[max_devices]{};
  if (device < 0 || device >= int(options().devices))
    return unavailable(cudaErrorInvalidDevice, text("there is no device %d", device));
  pools[device].device = device;
  *pool = &pools[device];
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (attribute == cudaMemPoolAttrReleaseThreshold)
    std::memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
  if (attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, value, sizeof bytes);
    if (bytes != 0)
      return unavailable(cudaErrorInvalidValue, "the most that a pool has held can only become 0");
    forget_peak(pool->device);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  std::uint64_t result = 0;
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      result = pool->release_threshold;
      break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      result = device_bytes(pool->device);
      break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      result = peak_device_bytes(pool->device);
      break;
    default:
      break;
  }
  std::memcpy(value, &result, sizeof result);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [location, flags] = accesses[i];
    if (location.type != cudaMemLocationTypeDevice || location.id < 0 ||
        location.id >= int(options().devices))
      return unavailable(cudaErrorInvalidDevice,
                         text("cudaMemPoolSetAccess: entry %zu is of no device", i));
    if (location.id == pool->device) {
      if (flags == cudaMemAccessFlagsProtReadWrite) continue;
      return unavailable(cudaErrorInvalidValue,
                         "cudaMemPoolSetAccess: a device cannot lose its own pool");
    }
    if (flags == cudaMemAccessFlagsProtRead)
      return unavailable(cudaErrorInvalidValue,
                         "cudaMemPoolSetAccess: access is to read and write, or none");
    set_pool_access(location.id, pool->device, flags == cudaMemAccessFlagsProtReadWrite);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  return cudaSuccess;
}
