#include "warp_compaction/records.cuh"
#include "warp_compaction/records.hpp"

namespace warpath::experiments {

std::unique_ptr<harness::Problem> make_records_of_words(const harness::Parameters& problem) {
  return make_records_of<Record<std::uint32_t, 3>, Record<std::uint32_t, 5>,
                         Record<std::uint32_t, 16>, Record<std::uint64_t, 3>,
                         Record<std::uint64_t, 4>>(problem);
}

}  // namespace warpath::experiments
