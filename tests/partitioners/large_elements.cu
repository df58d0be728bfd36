#include "elements.cuh"

namespace warpath::partitioners::test {

std::span<const ElementKind> large_elements() {
#ifdef WARPATH_TEST_FEW_TYPES
  static constexpr std::array kinds = {kind_of<12, 4>(), kind_of<30, 2>(), kind_of<256, 16>()};
#else
  static constexpr std::array kinds = {kind_of<8, 8>(),   kind_of<12, 4>(), kind_of<16, 16>(),
                                       kind_of<24, 8>(),  kind_of<30, 2>(), kind_of<100, 4>(),
                                       kind_of<256, 16>()};
#endif
  return kinds;
}

}  // namespace warpath::partitioners::test
