// The scratch memory of builds.
#pragma once

#include <cstdint>

#include "core/buffer.cuh"

namespace warpath::kd_tree {

/// The scratch memory of builds, kept for the next one: see Workspace.
struct BuildMemory {
  Workspace arrays;    ///< what a build holds from its first step to its last
  Workspace steps;     ///< what one step needs
  Workspace distinct;  ///< of the fast build, where it removes duplicates: what is left

  [[nodiscard]] std::int64_t bytes() const {
    return arrays.bytes() + steps.bytes() + distinct.bytes();
  }
};

}  // namespace warpath::kd_tree
