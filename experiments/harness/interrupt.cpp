#include "harness/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace warpath::harness {
namespace {

volatile std::sig_atomic_t signalled = 0;

/// Paths of the files that a second signal removes: the lock, and what is being written.
std::array<std::atomic<const char*>, 8> own_files;
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal handler reads them");

void say(const char* text) {
  // A failed write does not matter: stderr is closed.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

/// Calls only what a signal handler may call.
void remember(int signal) {
  const int error = errno;
  const bool asks_to_end = signal == SIGINT || signal == SIGTERM;
  if (signalled == 0) {
    signalled = signal;
    if (asks_to_end) {
      say("\nwarpath: ending after this point; again to end at once\n");
    }
    errno = error;
    return;
  }
  // A closing terminal may send several SIGHUP, and each write to a closed pipe a SIGPIPE.
  if (!asks_to_end) return;
  for (const auto& file : own_files) {
    if (const char* const path = file.load()) unlink(path);
  }
  _exit(128 + signal);
}

sigset_t held_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    // nohup, and a script's background jobs.
    if (action.sa_handler == SIG_IGN && signal != SIGPIPE) continue;
    action = {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  const sigset_t set = held_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

bool interrupted() {
  return signalled != 0;
}

int interrupt_exit_code() {
  return signalled == 0 ? 0 : 128 + signalled;
}

HoldSignals::HoldSignals() {
  const sigset_t set = held_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

HoldSignals::~HoldSignals() {
  const sigset_t set = held_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

FileOfThisProcess::FileOfThisProcess(std::filesystem::path file) : file_(std::move(file)) {
  for (auto& slot : own_files) {
    const char* none = nullptr;
    if (slot.compare_exchange_strong(none, file_.c_str())) return;
  }
}

FileOfThisProcess::~FileOfThisProcess() {
  for (auto& slot : own_files) {
    const char* mine = file_.c_str();
    slot.compare_exchange_strong(mine, nullptr);
  }
}

}  // namespace warpath::harness
