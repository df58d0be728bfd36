// Set operations by Thrust, as a peer of balanced_path_sets: the cuda backend only.
#pragma once

#include <cstdint>
#include <memory>

#include "balanced_path_sets/variant.hpp"
#include "harness/technique.hpp"
#include "scratch.cuh"

namespace warpath::experiments::thrust_sets {

/// Inputs, which are sorted, and the output; all device memory. Values may be null: then of all
/// three.
template <class Key>
struct Arrays {
  const Key* a;
  const Key* a_values;
  std::int64_t a_count;
  const Key* b;
  const Key* b_values;
  std::int64_t b_count;
  Key* out;
  Key* out_values;
};

/// Makes the execution: thrust::set_intersection, set_union, set_difference or
/// set_symmetric_difference, or its by_key form if there are values. Each waits for the GPU: it
/// returns the number of outputs to the host, in *count, and there is no form that does not.
/// Temporary storage is kept from call to call. Key: std::int32_t or std::int64_t.
template <class Key>
harness::Execution set_operation(balanced_path_sets::SetOperation operation,
                                 const Arrays<Key>& arrays, std::int64_t* count,
                                 const std::shared_ptr<KeptStorage>& storage);

}  // namespace warpath::experiments::thrust_sets
