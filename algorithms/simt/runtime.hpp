// What the files of the runtime API share: turning trouble into CUDA's error codes.
#pragma once

#include <string>

#include "cuda/runtime_types.hpp"

namespace simt {

/// Makes `error` the calling thread's last error, with an explanation for cudaGetErrorString, and
/// returns it.
cudaError_t error(cudaError_t error, std::string explanation);

/// The last error of the calling thread, cleared only by cudaGetLastError.
cudaError_t& last_error();

/// After work has run: the sticky error of the current device, if it has one.
cudaError_t outcome();

}  // namespace simt
