// Device memory: who owns which bytes, whether they may be touched now, and whether anybody has
// written beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "site.hpp"

namespace simt {

enum class MemoryKind { device, pinned_host };

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int device = 0;
  MemoryKind kind = MemoryKind::device;
  Site site{};              // of the cudaMalloc
  void* mapping = nullptr;  // what to give back to the system, and its size
  std::size_t mapping_bytes = 0;
  bool release_announced = false;
  bool zones = false;      // watched bytes before and after it
  bool of_a_pool = false;  // other devices have the access that the pool gives them
};

/// Memory full of poison, or null if the device has no room for it. of_a_pool: of the device's
/// memory pool, by cudaMallocAsync.
void* allocate(MemoryKind kind, int device, std::size_t bytes, Site site, bool of_a_pool = false);

/// Empty: freed; else why not.
std::string release(void* pointer, MemoryKind kind);

/// It will be freed when its stream gets there: no leak if the process ends before. Empty, or why
/// it cannot be freed.
std::string announce_release(void* pointer);

/// The allocation that holds this address, or null.
const Allocation* find_allocation(const void* pointer);

/// Is [pointer, pointer + bytes) within one allocation, or outside all of them (pageable host
/// memory)?
bool within_one_allocation(const void* pointer, std::size_t bytes);

/// What is wrong around the allocations: the first whose neighbouring bytes have been overwritten,
/// or "".
std::string find_overrun();

/// The device memory that was never freed, a line for each of the first few, or "".
std::string leak_report();

/// Guard mode: device memory can be touched only while an operation of a device runs. device: -1: a
/// copy, which may touch all.
class OpenMemory {
 public:
  explicit OpenMemory(int device);
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;

 private:
  int device_;
};

void set_peer_access(int from, int to, bool allowed);
bool peer_access(int from, int to);
/// Whether device `from` may use what cudaMallocAsync gives on device `to`: that needs an access of
/// its own.
void set_pool_access(int from, int to, bool allowed);

/// Bytes allocated now on all devices; on one; the most that all have had at once.
std::size_t device_bytes();
std::size_t device_bytes(int device);
std::size_t peak_device_bytes();
/// The most that one device has had since the start, or since its peak was forgotten.
std::size_t peak_device_bytes(int device);
void forget_peak(int device);

}  // namespace simt
