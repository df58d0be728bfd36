#include "kd_tree/builds.cuh"

namespace warpath::experiments::trees {

template std::unique_ptr<harness::Problem> make_builds<float>(const harness::Parameters&);
template std::unique_ptr<harness::Problem> make_builds<std::int32_t>(const harness::Parameters&);

}  // namespace warpath::experiments::trees
