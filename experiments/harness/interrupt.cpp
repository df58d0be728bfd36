#include "harness/interrupt.hpp"

#include <csignal>

namespace warpath::harness {
namespace {

volatile std::sig_atomic_t signalled = 0;

void remember(int) {
  signalled = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return signalled != 0;
}

}  // namespace warpath::harness
