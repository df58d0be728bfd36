#include <thrust/execution_policy.h>
#include <thrust/set_operations.h>

#include "peers/thrust_sets.hpp"

namespace warpath::experiments::thrust_sets {
namespace {

using balanced_path_sets::SetOperation;

template <class Policy, class Key>
Key* keys_alone(const Policy& policy, SetOperation operation, const Arrays<Key>& of) {
  const Key* a_end = of.a + of.a_count;
  const Key* b_end = of.b + of.b_count;
  switch (operation) {
    case SetOperation::intersection:
      return thrust::set_intersection(policy, of.a, a_end, of.b, b_end, of.out);
    case SetOperation::set_union:
      return thrust::set_union(policy, of.a, a_end, of.b, b_end, of.out);
    case SetOperation::difference:
      return thrust::set_difference(policy, of.a, a_end, of.b, b_end, of.out);
    case SetOperation::symmetric_difference:
      return thrust::set_symmetric_difference(policy, of.a, a_end, of.b, b_end, of.out);
  }
  return of.out;
}

template <class Policy, class Key>
Key* by_key(const Policy& policy, SetOperation operation, const Arrays<Key>& of) {
  const Key* a_end = of.a + of.a_count;
  const Key* b_end = of.b + of.b_count;
  switch (operation) {
    case SetOperation::intersection:  // which takes no values of B
      return thrust::set_intersection_by_key(policy, of.a, a_end, of.b, b_end, of.a_values, of.out,
                                             of.out_values)
          .first;
    case SetOperation::set_union:
      return thrust::set_union_by_key(policy, of.a, a_end, of.b, b_end, of.a_values, of.b_values,
                                      of.out, of.out_values)
          .first;
    case SetOperation::difference:
      return thrust::set_difference_by_key(policy, of.a, a_end, of.b, b_end, of.a_values,
                                           of.b_values, of.out, of.out_values)
          .first;
    case SetOperation::symmetric_difference:
      return thrust::set_symmetric_difference_by_key(policy, of.a, a_end, of.b, b_end, of.a_values,
                                                     of.b_values, of.out, of.out_values)
          .first;
  }
  return of.out;
}

}  // namespace

template <class Key>
harness::Execution set_operation(SetOperation operation, const Arrays<Key>& arrays,
                                 std::int64_t* count, const std::shared_ptr<KeptStorage>& storage) {
  return [=](cudaStream_t stream) {
    const auto policy = thrust::cuda::par_nosync(*storage).on(stream);
    Key* end = arrays.a_values == nullptr ? keys_alone(policy, operation, arrays)
                                          : by_key(policy, operation, arrays);
    *count = end - arrays.out;
  };
}

template harness::Execution set_operation(SetOperation, const Arrays<std::int32_t>&, std::int64_t*,
                                          const std::shared_ptr<KeptStorage>&);
template harness::Execution set_operation(SetOperation, const Arrays<std::int64_t>&, std::int64_t*,
                                          const std::shared_ptr<KeptStorage>&);

}  // namespace warpath::experiments::thrust_sets
