// Signals: the first one asks the run to end in good order, a second one ends it at once.
#pragma once

#include <filesystem>

namespace warpath::harness {

/// From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE (the reader of the output has closed it) set
/// interrupted(), and the first says so on stderr. A second SIGINT or SIGTERM ends the process at
/// once, after it has removed every FileOfThisProcess. What the parent told this process to ignore
/// stays ignored, but for SIGPIPE.
void catch_interrupts();
bool interrupted();
/// What a shell is told of the signal: 128 and its number. 0 if there was none.
int interrupt_exit_code();

/// Blocks SIGINT, SIGTERM and SIGHUP while the object lives. The mask survives exec(); the new
/// program's catch_interrupts() unblocks them.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;
};

/// A file that must not outlive the process, while the object lives.
class FileOfThisProcess {
 public:
  explicit FileOfThisProcess(std::filesystem::path file);
  ~FileOfThisProcess();
  FileOfThisProcess(const FileOfThisProcess&) = delete;
  FileOfThisProcess& operator=(const FileOfThisProcess&) = delete;

 private:
  std::filesystem::path file_;  ///< its text stays where it is: the signal handler reads it
};

}  // namespace warpath::harness
