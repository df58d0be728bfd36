// What launch_syntax.py makes of kernel<<<grid, block, shared_bytes, stream>>>(arguments), and of
// `extern __shared__` arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "../shared_memory.hpp"
#include "../site.hpp"
#include "runtime_api.hpp"
#include "runtime_types.hpp"

namespace simt {

/// What stands between <<< and >>>.
struct LaunchSyntax {
  cudaLaunchConfig_t config{};
  LaunchSyntax(dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
  }
};

/// Launches call(), which calls the kernel once with arguments that it has captured. name: of the
/// kernel, for diagnostics. kernel: its address, or null if the call deduces its template
/// arguments. As with <<<>>>, an error shows in cudaGetLastError.
template <class Call>
void launch_call(const char* name, const void* kernel, const LaunchSyntax& syntax, Call call,
                 SIMT_SITE) {
  const auto invoke = [](void* erased) { (*static_cast<const Call*>(erased))(); };
  launch_kernel(syntax.config, kernel, invoke, std::make_shared<Call>(std::move(call)), SIMT_HERE,
                name);
}

/// `extern __shared__ T name[]` outside of functions: the block's dynamic shared memory.
template <class T>
struct DynamicSharedArray {
  operator T*() const { return reinterpret_cast<T*>(dynamic_smem); }
};

}  // namespace simt
