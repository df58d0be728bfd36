#include "peers/cub_select_if.cuh"

namespace warpath::experiments::cub_select {

#define WARPATH_INSTANTIATE(Unit, Count)                                                  \
  template harness::Execution select_if(const Record<Unit, Count>*, Record<Unit, Count>*, \
                                        std::int64_t*, std::int64_t,                      \
                                        KeyBelow<Record<Unit, Count>>, const Storage&)
WARPATH_INSTANTIATE(std::uint8_t, 1);
WARPATH_INSTANTIATE(std::uint8_t, 3);
WARPATH_INSTANTIATE(std::uint8_t, 5);
WARPATH_INSTANTIATE(std::uint8_t, 7);
WARPATH_INSTANTIATE(std::uint8_t, 12);
WARPATH_INSTANTIATE(std::uint8_t, 33);
WARPATH_INSTANTIATE(std::uint16_t, 1);
WARPATH_INSTANTIATE(std::uint16_t, 5);
WARPATH_INSTANTIATE(std::uint32_t, 3);
WARPATH_INSTANTIATE(std::uint32_t, 5);
WARPATH_INSTANTIATE(std::uint32_t, 16);
WARPATH_INSTANTIATE(std::uint64_t, 3);
WARPATH_INSTANTIATE(std::uint64_t, 4);
#undef WARPATH_INSTANTIATE

}  // namespace warpath::experiments::cub_select
