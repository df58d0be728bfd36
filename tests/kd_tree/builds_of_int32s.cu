#include "builds.cuh"

namespace warpath::kd_tree::test {

template Built build_on_device(const PointSet<std::int32_t>&, const Options&);

}  // namespace warpath::kd_tree::test
