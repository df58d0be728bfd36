// Copies that a CUDA thread has started and not yet waited for, in groups: cp.async and bulk
// stores.
//
// They land as late as their contract allows, when they are waited for, so that a missing wait
// shows as a wrong result.
#pragma once

#include <cstddef>
#include <vector>

#include "site.hpp"

namespace simt {

class AsyncCopies {
 public:
  void add(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site);
  void commit();
  /// Completes all groups but the `pending` newest.
  void wait(std::size_t pending);
  void clear();
  [[nodiscard]] bool empty() const { return copies_.empty(); }
  [[nodiscard]] Site oldest() const { return copies_.front().site; }

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes, zeros;  // zeros: how many bytes after them become 0
    Site site;
  };
  std::vector<Copy> copies_;
  std::vector<std::size_t> group_ends_;
};

/// What __pipeline_memcpy_async and its two companions do (cp.async).
void pipeline_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros, Site);
void pipeline_commit();
void pipeline_wait(std::size_t pending);

/// Bulk store from shared to global memory (cp.async.bulk.global.shared::cta). The source is read,
/// and the result written, when bulk_store_wait_read asks for it: overwriting the source before is
/// a bug that shows. A thread must not end with a store that it has not waited for.
void bulk_store(void* to, const void* from_shared, unsigned bytes, SIMT_SITE);
void bulk_store_commit();
void bulk_store_wait_read(unsigned pending);

}  // namespace simt
