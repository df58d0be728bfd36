// What the executor says when something is wrong.
#pragma once

#include <string>

#include "cuda/errors.hpp"

namespace simt {

struct Launch;

/// Ends the grid of the calling CUDA thread, with cudaErrorLaunchFailure and a message that says
/// first what happened, then block, thread, kernel, launch and seed. printf's format.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The same with another error code.
[[noreturn]] void fail_with(cudaError_t error, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

/// The same, but returns: the caller still has to give up its stack (Worker::abandon).
void report_failure(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The newest diagnostic of this process, or "". Valid until the calling thread asks again.
const char* last_diagnostic();
void set_diagnostic(std::string text);

/// The message of a launch that failed: what happened, in which part of the grid ("block (0,0,0)",
/// or "" for all of it), of which kernel, and how to repeat it.
std::string launch_message(const Launch& launch, const std::string& what, const std::string& part);

/// printf into a string.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The name of the kernel at this address if the executable exports it, else "kernel".
std::string kernel_name(const void* kernel);
/// The name that the launch came with, else the kernel's.
std::string name_of(const Launch& launch);

}  // namespace simt
