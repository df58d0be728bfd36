// A process that has lost its device cannot get it back: CUDA promises nothing after an error like
// an illegal access, cudaDeviceReset() included. A new process can.
#pragma once

#include <string>
#include <vector>

namespace warpath::harness {

/// The command by which a process asks another one whether the device works there.
inline constexpr const char* probe_command = "probe";

/// Whether the device works in a new process.
bool works_in_a_new_process();

/// Names this run in its records; the same in all of its processes.
const std::string& run_id();

/// Whether another process of this run came before this one.
bool is_continued();

/// Becomes a new process of the same run. Returns only if the system refuses, or interrupted().
void continue_in_a_new_process(const std::vector<std::string>& arguments);

}  // namespace warpath::harness
