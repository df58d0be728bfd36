#include "elements.cuh"

namespace warpath::partitioners::test {

std::span<const ElementKind> small_elements() {
#ifdef WARPATH_TEST_FEW_TYPES
  static constexpr std::array kinds = {kind_of<1>(), kind_of<3>(), kind_of<4, 4>()};
#else
  static constexpr std::array kinds = {kind_of<1>(), kind_of<2>(), kind_of<2, 2>(),
                                       kind_of<3>(), kind_of<4>(), kind_of<4, 4>()};
#endif
  return kinds;
}

}  // namespace warpath::partitioners::test
