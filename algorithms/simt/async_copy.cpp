#include "async_copy.hpp"

#include <cstdint>
#include <cstring>

#include "diagnostics.hpp"
#include "thread.hpp"

namespace simt {
namespace {
constexpr unsigned char not_landed = 0xCE;
}

void AsyncCopies::add(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site site) {
  copies_.push_back({to, from, bytes, zeros, site});
}

void AsyncCopies::commit() {
  group_ends_.push_back(copies_.size());
}

void AsyncCopies::wait(std::size_t pending) {
  if (group_ends_.size() <= pending) return;
  const std::size_t groups = group_ends_.size() - pending;
  const std::size_t done = group_ends_[groups - 1];
  for (std::size_t i = 0; i < done; ++i) {
    const Copy& c = copies_[i];
    std::memcpy(c.to, c.from, c.bytes);
    std::memset(static_cast<unsigned char*>(c.to) + c.bytes, 0, c.zeros);
  }
  copies_.erase(copies_.begin(), copies_.begin() + std::ptrdiff_t(done));
  group_ends_.erase(group_ends_.begin(), group_ends_.begin() + std::ptrdiff_t(groups));
  for (std::size_t& end : group_ends_) end -= done;
}

void AsyncCopies::clear() {
  copies_.clear();
  group_ends_.clear();
}

void pipeline_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site site) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
    fail("__pipeline_memcpy_async at %s:%d: %zu bytes of which %zu zeros; expected 4, 8 or 16",
         site.file, site.line, bytes, zeros);
  if (addresses % bytes)
    fail("__pipeline_memcpy_async at %s:%d: %p <- %p is not aligned to its %zu bytes", site.file,
         site.line, to, from, bytes);
  std::memset(to, not_landed, bytes);
  self->pipeline.add(to, from, bytes - zeros, zeros, site);
}

void pipeline_commit() {
  self->pipeline.commit();
}
void pipeline_wait(std::size_t pending) {
  self->pipeline.wait(pending);
}

void bulk_store(void* to, const void* from_shared, unsigned bytes, const char* simt_file,
                int simt_line) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from_shared);
  if ((addresses | bytes) % 16)
    fail("bulk store at %s:%d: %p <- %p, %u bytes: addresses and size must be multiples of 16",
         simt_file, simt_line, to, from_shared, bytes);
  self->bulk_stores.add(to, from_shared, bytes, 0, SIMT_HERE);
}

void bulk_store_commit() {
  self->bulk_stores.commit();
}
void bulk_store_wait_read(unsigned pending) {
  self->bulk_stores.wait(pending);
}

}  // namespace simt
