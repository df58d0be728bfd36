#include "techniques.hpp"

#include "technique_list.hpp"  // made by CMake: WARPATH_FOR_EACH_TECHNIQUE

namespace warpath {

std::vector<harness::Technique> techniques() {
#define WARPATH_CALL(slug) slug##_technique(),
  return {WARPATH_FOR_EACH_TECHNIQUE(WARPATH_CALL)};
#undef WARPATH_CALL
}

}  // namespace warpath
