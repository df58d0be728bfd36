#include "merge_sort/superkey_problem.cuh"

namespace warpath::experiments::sorting {

template std::unique_ptr<harness::Problem> make_superkeys<float>(const harness::Parameters&);
template std::unique_ptr<harness::Problem> make_superkeys<std::int32_t>(const harness::Parameters&);

}  // namespace warpath::experiments::sorting
