// Planted bugs: each is a small kernel, or host code, with one deliberate mistake. The wrong line
// carries the comment `planted: <name>`; where memory is at fault, its allocation carries
// `allocated: <name>`. ../bugs_test.cpp runs each one in a process of its own and demands that the
// detector it names reports it, with that line.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bugs {

/// How a run of a bug ends. Sanitizers, guards and leaks end the process with codes of their own.
enum Outcome { undetected = 0, error_reported = 10, wrong_result = 11, unknown_bug = 99 };

constexpr int count = 64;  // ints in each array, and threads in most launches

/// What a bug's host code works with: two arrays of `count` ints on device 0, filled with zeros,
/// and two streams.
class Trial {
 public:
  Trial();
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  int* out = nullptr;
  int* in = nullptr;
  cudaStream_t stream = nullptr, other_stream = nullptr;

  /// Notes the first error.
  void check(cudaError_t e);

  template <class... P, class... A>
  void launch(unsigned blocks, unsigned threads, void (*kernel)(P...), A&&... arguments) {
    cudaLaunchConfig_t config = shape(blocks, threads);
    check(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...));
  }
  [[nodiscard]] cudaLaunchConfig_t shape(unsigned blocks, unsigned threads) const;

  /// What `out` must hold at the end.
  void expect(std::function<int(int)> value) { expected_ = std::move(value); }
  /// Something else came out wrong.
  void complain(const std::string& what);

  /// Waits for the device and judges.
  Outcome finish();

 private:
  cudaError_t error_ = cudaSuccess;
  bool wrong_ = false;
  std::function<int(int)> expected_;
};

using Bug = void (*)(Trial&);
std::map<std::string, Bug>& all();

struct Registration {
  Registration(const char* name, Bug bug) { all()[name] = bug; }
};

}  // namespace bugs

/// Defines and registers a bug: PLANT(name) { ... trial ... }
#define PLANT(name)                                                         \
  static void plant_##name(bugs::Trial& trial);                             \
  static const bugs::Registration registration_##name(#name, plant_##name); \
  static void plant_##name([[maybe_unused]] bugs::Trial& trial)
