#include "kd_tree/host_trees.hpp"

#include "kd_tree/host_verify.hpp"

namespace warpath::experiments::trees {

template <class C>
kd_tree::HostTree build_on_host(std::span<const C> coordinates, int dimensions,
                                const kd_tree::HostOptions& options) {
  return kd_tree::build_on_host(coordinates, dimensions, options);
}
template <class C>
kd_tree::Finding verify_on_host(std::span<const C> coordinates, int dimensions,
                                std::span<const kd_tree::Node> nodes, std::uint32_t root,
                                std::int64_t expected, int threads) {
  return kd_tree::verify_on_host(coordinates, dimensions, nodes, root, expected, threads);
}

#define WARPATH_OF(C)                                                       \
  template kd_tree::HostTree build_on_host<C>(std::span<const C>, int,      \
                                              const kd_tree::HostOptions&); \
  template kd_tree::Finding verify_on_host<C>(                              \
      std::span<const C>, int, std::span<const kd_tree::Node>, std::uint32_t, std::int64_t, int);
WARPATH_OF(float)
WARPATH_OF(double)
WARPATH_OF(std::int32_t)
WARPATH_OF(std::int64_t)
#undef WARPATH_OF

}  // namespace warpath::experiments::trees
