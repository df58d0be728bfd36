#include "techniques.hpp"

namespace warpath {

std::vector<harness::Technique> techniques() {
  return {warp_compaction_technique()};
}

}  // namespace warpath
