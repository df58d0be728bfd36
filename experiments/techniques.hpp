// All techniques of the laboratory. The program and the harness know them from here only.
#pragma once

#include <vector>

#include "harness/technique.hpp"

namespace warpath {

harness::Technique warp_compaction_technique();
harness::Technique merge_sort_technique();
harness::Technique partitioners_technique();
harness::Technique kd_tree_technique();
harness::Technique multi_gpu_sort_technique();
harness::Technique load_balancing_search_technique();
harness::Technique biased_binary_search_technique();
harness::Technique balanced_path_sets_technique();
harness::Technique map_reduce_technique();

std::vector<harness::Technique> techniques();

}  // namespace warpath
