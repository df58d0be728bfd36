// What the process says when it ends, and the exit code that it gets for it: errors that the
// program never read, and device memory that it never freed.
#pragma once

#include <string>

#include "cuda/errors.hpp"

namespace simt {

/// Exit codes of a process that would have ended with 0.
constexpr int leak_exit_code = 23, unread_error_exit_code = 26;

/// Arranges for the report. Called when the process first allocates or fails.
void report_at_exit();

/// An error that the program has to read, by cudaGetLastError, cudaPeekAtLastError,
/// cudaGetErrorString or cudaGetErrorName: work that it asked for was not done. The first is kept.
void note_unread(cudaError_t error, const std::string& explanation);

/// The program has read an error: nothing is unread any more.
void note_read();

}  // namespace simt
