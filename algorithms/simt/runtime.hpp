// What the files of the runtime API share: turning trouble into CUDA's error codes.
#pragma once

#include <string>

#include "cuda/runtime_types.hpp"

namespace simt {

/// Makes `error` the calling thread's last error, with an explanation for cudaGetErrorString, and
/// returns it. Work that the program asked for was not done, so the program has to read the error
/// (exit_report.hpp).
cudaError_t error(cudaError_t error, std::string explanation);

/// The same for a call that asks what there is: devices, attributes, memory. A program may find out
/// by the returned code, and then no error is left to be read.
cudaError_t unavailable(cudaError_t error, std::string explanation);

/// "cudaErrorAssert" and the like.
const char* error_name(cudaError_t error);

/// The last error of the calling thread, cleared only by cudaGetLastError.
cudaError_t& last_error();

/// After work has run: the sticky error of the current device, if it has one.
cudaError_t outcome();

}  // namespace simt
