#include "kd_tree/builds.cuh"

namespace warpath::experiments::trees {

template std::unique_ptr<harness::Problem> make_builds<double>(const harness::Parameters&);
template std::unique_ptr<harness::Problem> make_builds<std::int64_t>(const harness::Parameters&);

}  // namespace warpath::experiments::trees
