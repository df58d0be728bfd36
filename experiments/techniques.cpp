#include "techniques.hpp"

namespace warpath {

std::vector<harness::Technique> techniques() {
  return {};
}

}  // namespace warpath
