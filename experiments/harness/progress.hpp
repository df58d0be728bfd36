// One line on stderr that says what runs, how far it is, and how long it will take.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace warpath::harness {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begins(const std::string& what);  ///< names what runs from now on
  void ended();                          ///< one more of `total` is done
  /// A line that stays, above the progress line.
  void message(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  void show(bool now);
  void clear();
  [[nodiscard]] std::string time_left() const;

  std::size_t total_;
  std::size_t done_ = 0;
  std::string what_;
  bool terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
};

/// "3 s", "2 min 5 s", "1 h 20 min".
std::string duration_text(double seconds);

}  // namespace warpath::harness
