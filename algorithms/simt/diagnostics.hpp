// What the executor says when something is wrong.
#pragma once

#include <string>

namespace simt {

/// Ends the grid of the calling CUDA thread with a message that names kernel, block, thread and the
/// seed. printf's format.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The same, but returns: the caller still has to give up its stack (Worker::abandon).
void report_failure(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The newest diagnostic of this process, or "". Valid until the calling thread asks again.
const char* last_diagnostic();
void set_diagnostic(std::string text);

/// printf into a string.
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The name of the kernel at this address if the executable exports it, else "".
std::string kernel_name(const void* kernel);

}  // namespace simt
