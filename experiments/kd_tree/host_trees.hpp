// The build and the verification on the host, compiled as C++ with OpenMP, whatever compiles
// kernels.
#pragma once

#include <cstdint>
#include <span>

#include "kd_tree/finding.hpp"
#include "kd_tree/host_build.hpp"
#include "kd_tree/tree.cuh"

namespace warpath::experiments::trees {

/// C: float, double, std::int32_t or std::int64_t.
template <class C>
kd_tree::HostTree build_on_host(std::span<const C> coordinates, int dimensions,
                                const kd_tree::HostOptions& options);
template <class C>
kd_tree::Finding verify_on_host(std::span<const C> coordinates, int dimensions,
                                std::span<const kd_tree::Node> nodes, std::uint32_t root,
                                std::int64_t expected, int threads);

}  // namespace warpath::experiments::trees
