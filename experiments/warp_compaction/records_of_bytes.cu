#include "warp_compaction/records.cuh"
#include "warp_compaction/records.hpp"

namespace warpath::experiments {

std::unique_ptr<harness::Problem> make_records_of_bytes(const harness::Parameters& problem) {
  return make_records_of<Record<std::uint8_t, 1>, Record<std::uint8_t, 3>, Record<std::uint8_t, 5>,
                         Record<std::uint8_t, 7>, Record<std::uint8_t, 12>,
                         Record<std::uint8_t, 33>, Record<std::uint16_t, 1>,
                         Record<std::uint16_t, 5>>(problem);
}

}  // namespace warpath::experiments
