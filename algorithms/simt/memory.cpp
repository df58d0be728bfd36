#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "diagnostics.hpp"
#include "exit_report.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

#ifdef SIMT_TSAN
// The handler of faults allocates; it only ever runs in place of the code that has failed.
extern "C" const char* __tsan_default_options() {
  return "report_signal_unsafe=0";
}
#endif

namespace simt {
namespace {

constexpr unsigned char uninitialised = 0xCB;
constexpr unsigned char zone_fill = 0xFD;
constexpr std::size_t alignment = 256;  // what cudaMalloc promises
constexpr std::size_t zone_bytes = 256;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t remembered = 64;  // freed allocations
constexpr int fault_exit_code = 24;

// Where bytes beside an allocation are watched: AddressSanitizer does it itself, guard mode by
// pages.
bool has_zones() {
  return !under_asan && !options().guard;
}

class Heap {
 public:
  std::recursive_mutex mutex;
  std::map<std::uintptr_t, Allocation> live;
  std::deque<Allocation> freed;  // the newest, to explain accesses to them
  bool peers[max_devices][max_devices]{};
  bool pool_peers[max_devices][max_devices]{};  ///< by cudaMemPoolSetAccess
  std::size_t bytes[max_devices]{};
  std::size_t peak = 0;
  std::size_t peaks[max_devices]{};  ///< of each device

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (std::size_t b : bytes) sum += b;
    return sum;
  }
  [[nodiscard]] const Allocation* find(std::uintptr_t address) const {
    auto after = live.upper_bound(address);
    if (after == live.begin()) return nullptr;
    const Allocation& a = std::prev(after)->second;
    return address < a.begin + a.bytes ? &a : nullptr;
  }
};

void explain_faults();

Heap& heap() {
  static Heap& instance = *[] {
    explain_faults();
    report_at_exit();
    return new Heap;  // used until the very end of the process
  }();
  return instance;
}

// ---------------------------------------------------------------- faults

// What an address is, in words, for the message of a fault.
std::string describe(std::uintptr_t address) {
  const Heap& h = heap();
  if (const Allocation* a = h.find(address))
    return text("byte %zu of the %zu bytes of device %d allocated at %s:%d",
                std::size_t(address - a->begin), a->bytes, a->device, a->site.file, a->site.line);
  const Allocation* nearest = nullptr;
  std::size_t distance = page_bytes + zone_bytes;
  for (const auto& [begin, a] : h.live) {
    const std::size_t d = address < begin ? begin - address : address - (begin + a.bytes) + 1;
    if (d < distance) {
      distance = d;
      nearest = &a;
    }
  }
  if (nearest)
    return text("out of bounds: %zu bytes %s the %zu bytes of device %d allocated at %s:%d",
                distance, address < nearest->begin ? "before" : "beyond the end of", nearest->bytes,
                nearest->device, nearest->site.file, nearest->site.line);
  for (const Allocation& a : h.freed)
    if (address >= a.begin && address < a.begin + a.bytes)
      return text("use after free: byte %zu of %zu bytes of device %d, allocated at %s:%d",
                  std::size_t(address - a.begin), a.bytes, a.device, a.site.file, a.site.line);
  if (address < page_bytes) return "a null pointer";
  return "no device memory is near it: a pointer that was never set, memory that was freed long "
         "ago, or the overflow of a "
         "fiber's stack (SIMT_STACK sets its bytes)";
}

// In a kernel a fault is that launch's failure. On the host it ends the process, as on a machine
// with a GPU.
void on_fault(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (self) {
    {
      const Allocation* a = heap().find(address);
      const char* reason = "";
      if (a && a->kind == MemoryKind::device) {
        reason = a->of_a_pool ? " of a device without access to its memory pool"
                              : " of a device without peer access";
      }
      report_failure("illegal access to %#zx%s: %s", std::size_t(address), reason,
                     describe(address).c_str());
    }
    worker->abandon();
  }
  const std::string message =
      text("simt: the host accesses %p, which only a device may: %s [%s]\n", info->si_addr,
           describe(address).c_str(), reproduction().c_str());
  const bool ours = heap().find(address) != nullptr;
  if (!ours) {  // an ordinary crash of the host
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  if (write(2, message.data(), message.size()) < 0) _exit(fault_exit_code);
  _exit(fault_exit_code);
}

void explain_faults() {
  if (under_asan) return;  // it explains them better
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  // NODEFER: in a kernel the handler never returns. ONSTACK: the fault may be the stack's end.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
}

// ---------------------------------------------------------------- allocations

void* map_with_guards(Allocation& a) {
  const std::size_t inside = (a.bytes + page_bytes - 1) / page_bytes * page_bytes;
  a.mapping_bytes = inside + 2 * page_bytes;
  void* mapping =
      mmap(nullptr, a.mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  a.mapping = mapping;
  auto* first = static_cast<unsigned char*>(mapping) + page_bytes;
  mprotect(first, inside, PROT_READ | PROT_WRITE);
  // The end meets the closed page, except for what 16-byte alignment costs.
  unsigned char* begin = first + inside - (a.bytes + 15) / 16 * 16;
  std::memset(begin, uninitialised, a.bytes);
  if (a.kind == MemoryKind::device) mprotect(first, inside, PROT_NONE);
  return begin;
}

void* allocate_with_zones(Allocation& a) {
  const std::size_t zone = has_zones() ? zone_bytes : 0;
  void* storage = nullptr;
  if (posix_memalign(&storage, alignment, a.bytes + 2 * zone)) return nullptr;
  a.mapping = storage;
  auto* begin = static_cast<unsigned char*>(storage) + zone;
  a.zones = has_zones();
  std::memset(storage, zone_fill, zone);
  std::memset(begin, uninitialised, a.bytes);
  std::memset(begin + a.bytes, zone_fill, zone);
  SIMT_IF_ASAN(if (options().guard && a.kind == MemoryKind::device)
                   __asan_poison_memory_region(begin, a.bytes);)
  return begin;
}

// The first changed byte of a zone, or zone_bytes.
std::size_t first_change(const unsigned char* zone) {
  std::size_t i = 0;
  while (i < zone_bytes && zone[i] == zone_fill) ++i;
  return i;
}

bool is_mapped(const Allocation& a) {
  return a.mapping_bytes != 0;
}

void set_access(const Allocation& a, bool open) {
#ifdef SIMT_ASAN
  auto* begin = reinterpret_cast<void*>(a.begin);
  if (open) {
    __asan_unpoison_memory_region(begin, a.bytes);
  } else {
    __asan_poison_memory_region(begin, a.bytes);
  }
#else
  mprotect(static_cast<unsigned char*>(a.mapping) + page_bytes, a.mapping_bytes - 2 * page_bytes,
           open ? PROT_READ | PROT_WRITE : PROT_NONE);
#endif
}

void set_access(int device, bool open) {
  if (!options().guard) return;
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  for (const auto& [begin, a] : h.live) {
    if (a.kind != MemoryKind::device || (!under_asan && !is_mapped(a))) continue;
    const auto& may = a.of_a_pool ? h.pool_peers : h.peers;
    if (device < 0 || a.device == device || may[device][a.device]) set_access(a, open);
  }
}

std::string why_not_freed(const Heap& h, const void* pointer) {
  for (const Allocation& a : h.freed)
    if (a.begin == reinterpret_cast<std::uintptr_t>(pointer))
      return text("%p (allocated at %s:%d) has been freed already", pointer, a.site.file,
                  a.site.line);
  return text("%p is not the begin of an allocation of this kind", pointer);
}

}  // namespace

void* allocate(MemoryKind kind, int device, std::size_t bytes, Site site, bool of_a_pool) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  Allocation a;
  a.bytes = bytes;
  a.device = device;
  a.kind = kind;
  a.site = site;
  a.of_a_pool = of_a_pool;
  const bool counts = kind == MemoryKind::device;
  if (counts &&
      bytes > options().device_memory - std::min(options().device_memory, h.bytes[device]))
    return nullptr;
  void* begin = options().guard && !under_asan ? map_with_guards(a) : allocate_with_zones(a);
  if (!begin) return nullptr;
  a.begin = reinterpret_cast<std::uintptr_t>(begin);
  h.live[a.begin] = a;
  if (counts) h.bytes[device] += bytes;
  h.peak = std::max(h.peak, h.total());
  h.peaks[device] = std::max(h.peaks[device], h.bytes[device]);
  return begin;
}

std::string announce_release(void* pointer) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto found = h.live.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == h.live.end() || found->second.kind != MemoryKind::device)
    return why_not_freed(h, pointer);
  if (found->second.release_announced)
    return text("%p (allocated at %s:%d) has been freed already", pointer, found->second.site.file,
                found->second.site.line);
  found->second.release_announced = true;
  return {};
}

std::string release(void* pointer, MemoryKind kind) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto found = h.live.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == h.live.end() || found->second.kind != kind) return why_not_freed(h, pointer);
  std::string overrun = find_overrun();
  const Allocation a = found->second;
  if (is_mapped(a)) {
    // Its addresses stay closed for a while, or something else could be found there.
    madvise(a.mapping, a.mapping_bytes, MADV_DONTNEED);
    mprotect(a.mapping, a.mapping_bytes, PROT_NONE);
  } else {
    SIMT_IF_ASAN(__asan_unpoison_memory_region(pointer, a.bytes);)
    std::free(a.mapping);
  }
  if (kind == MemoryKind::device) h.bytes[a.device] -= a.bytes;
  h.live.erase(found);
  h.freed.push_front(a);
  if (h.freed.size() > remembered) {
    const Allocation& oldest = h.freed.back();
    if (is_mapped(oldest)) munmap(oldest.mapping, oldest.mapping_bytes);
    h.freed.pop_back();
  }
  return overrun;
}

const Allocation* find_allocation(const void* pointer) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  return h.find(reinterpret_cast<std::uintptr_t>(pointer));
}

bool within_one_allocation(const void* pointer, std::size_t bytes) {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const Allocation* a = h.find(address);
  return !a || address + bytes <= a->begin + a->bytes;
}

std::string find_overrun() {
  Heap& h = heap();
  const std::lock_guard lock(h.mutex);
  for (const auto& [begin, a] : h.live) {
    if (!a.zones) continue;
    auto* memory = reinterpret_cast<unsigned char*>(begin);
    const std::size_t before = first_change(memory - zone_bytes),
                      after = first_change(memory + a.bytes);
    if (before == zone_bytes && after == zone_bytes) continue;
    // Said once: the next look must not find it again.
    std::memset(memory - zone_bytes, zone_fill, zone_bytes);
    std::memset(memory + a.bytes, zone_fill, zone_bytes);
    return after < zone_bytes
               ? text(
                     "out of bounds: byte %zu beyond the end of the %zu bytes of device %d "
                     "allocated at %s:%d was written",
                     after, a.bytes, a.device, a.site.file, a.site.line)
               : text(
                     "out of bounds: byte %zu before the %zu bytes of device %d allocated at %s:%d "
                     "was written",
                     zone_bytes - before, a.bytes, a.device, a.site.file, a.site.line);
  }
  return {};
}

std::string leak_report() {
  constexpr std::size_t shown = 8;
  std::string lines;
  std::size_t count = 0, bytes = 0;
  for (const auto& [begin, a] : heap().live) {
    if (a.kind != MemoryKind::device || a.release_announced) continue;
    if (++count <= shown)
      lines += text("simt: leak: %zu bytes of device %d, allocated at %s:%d\n", a.bytes, a.device,
                    a.site.file, a.site.line);
    bytes += a.bytes;
  }
  if (!count) return {};
  return lines +
         text("simt: %zu device allocations, %zu bytes in all, were never freed\n", count, bytes);
}

OpenMemory::OpenMemory(int device) : device_(device) {
  set_access(device_, true);
}
OpenMemory::~OpenMemory() {
  set_access(device_, false);
}

void set_peer_access(int from, int to, bool allowed) {
  const std::lock_guard lock(heap().mutex);
  heap().peers[from][to] = allowed;
}

bool peer_access(int from, int to) {
  return heap().peers[from][to];
}

void set_pool_access(int from, int to, bool allowed) {
  const std::lock_guard lock(heap().mutex);
  heap().pool_peers[from][to] = allowed;
}

std::size_t device_bytes() {
  return heap().total();
}
std::size_t device_bytes(int device) {
  return heap().bytes[device];
}
std::size_t peak_device_bytes() {
  return heap().peak;
}
std::size_t peak_device_bytes(int device) {
  return heap().peaks[device];
}
void forget_peak(int device) {
  const std::lock_guard lock(heap().mutex);
  heap().peaks[device] = heap().bytes[device];
}

}  // namespace simt
