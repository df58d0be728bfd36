#include "techniques.hpp"

namespace warpath {

std::vector<harness::Technique> techniques() {
  return {warp_compaction_technique(),       merge_sort_technique(),
          partitioners_technique(),          kd_tree_technique(),
          load_balancing_search_technique(), biased_binary_search_technique(),
          balanced_path_sets_technique(),    map_reduce_technique()};
}

}  // namespace warpath
