// Running a program and reading what it says.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace simt_test {

struct Finished {
  int status = 0;      // exit code; -1: ended by a signal
  std::string output;  // standard output and error
};

/// Runs a command under the given environment ("A=1 B=2"), at most for a minute (status 124).
inline Finished run_process(const std::string& command, const std::string& environment = "") {
  const std::string line = "exec 2>&1; env SIMT_WORKERS=2 ASAN_OPTIONS=detect_leaks=0 " +
                           environment + " timeout 60 " + command;
  Finished result;
  std::FILE* pipe = popen(line.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + line);
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace simt_test
