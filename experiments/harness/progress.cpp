#include "harness/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace warpath::harness {
namespace {

/// How often a line is written where the output is no terminal.
constexpr std::chrono::seconds interval{10};

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  clear();
}

void Progress::begins(const std::string& what) {
  what_ = what;
  show(false);
}

void Progress::ended() {
  ++done_;
  show(done_ == total_);
}

void Progress::message(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
  show(false);
}

void Progress::clear() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

std::string Progress::time_left() const {
  if (done_ == 0) return "";
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  const double left =
      elapsed.count() / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  return ", " + duration_text(left) + " left";
}

void Progress::show(bool now) {
  if (!terminal_ && !now && Clock::now() - shown_ < interval) return;
  shown_ = Clock::now();
  std::string line = "[";
  line += std::to_string(done_) + "/" + std::to_string(total_) + time_left() + "] " + what_;
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  line.resize(std::min(line.size(), terminal_width() - 1));
  clear();
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

std::string duration_text(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace warpath::harness
