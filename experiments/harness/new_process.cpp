#include "harness/new_process.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "harness/interrupt.hpp"
#include "harness/provenance.hpp"

namespace warpath::harness {
namespace {

constexpr const char* this_program = "/proc/self/exe";
constexpr const char* id_variable = "WARPATH_CONTINUED_RUN";

}  // namespace

bool works_in_a_new_process() {
  std::string name = "warpath";
  std::string command = probe_command;
  char* const arguments[] = {name.data(), command.data(), nullptr};
  pid_t child = 0;
  int status = 0;
  return posix_spawn(&child, this_program, nullptr, nullptr, arguments, environ) == 0 &&
         waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_continued() {
  return std::getenv(id_variable) != nullptr;
}

const std::string& run_id() {
  static const std::string id =
      is_continued() ? std::getenv(id_variable) : utc_now() + "-" + std::to_string(getpid());
  return id;
}

void continue_in_a_new_process(const std::vector<std::string>& arguments) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers;
  for (std::string& copy : copies) pointers.push_back(copy.data());
  pointers.push_back(nullptr);
  setenv(id_variable, run_id().c_str(), 1);
  std::fflush(nullptr);
  const HoldSignals until_the_new_process_catches_them;
  if (!interrupted()) execv(this_program, pointers.data());
  unsetenv(id_variable);
}

}  // namespace warpath::harness
