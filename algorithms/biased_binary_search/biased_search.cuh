// The search itself, for kernels of your own. It lies in core, since balanced path needs it, too:
// this header gives it the names of the technique.
#pragma once

#include "core/biased_search.cuh"

namespace warpath::biased_binary_search {

using warpath::biased_search;
using warpath::binary_search_step;
using warpath::Bound;
using warpath::max_bias_levels;

}  // namespace warpath::biased_binary_search
