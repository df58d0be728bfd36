// Runs one planted bug: warpath_test_simt_bugs NAME.
#include <cstdlib>

#include "bug.hpp"

namespace bugs {

std::map<std::string, Bug>& all() {
  static std::map<std::string, Bug> instance;
  return instance;
}

Trial::Trial() {
  for (int** array : {&out, &in}) {
    check(cudaMalloc(array, count * sizeof(int)));
    check(cudaMemset(*array, 0, count * sizeof(int)));
  }
  for (cudaStream_t* s : {&stream, &other_stream})
    check(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
  check(cudaDeviceSynchronize());
}

Trial::~Trial() {
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other_stream);
  cudaFree(out);
  cudaFree(in);
}

void Trial::check(cudaError_t e) {
  if (!e || error_) return;
  error_ = e;
  std::printf("%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
}

cudaLaunchConfig_t Trial::shape(unsigned blocks, unsigned threads) const {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  return config;
}

void Trial::complain(const std::string& what) {
  std::printf("wrong result: %s [%s]\n", what.c_str(), simt::reproduction().c_str());
  wrong_ = true;
}

Outcome Trial::finish() {
  check(cudaDeviceSynchronize());
  if (error_) return error_reported;
  if (expected_) {
    std::vector<int> host(count);
    check(cudaMemcpy(host.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count && !wrong_; ++i) {
      if (host[i] == expected_(i)) continue;
      complain("element " + std::to_string(i) + " is " + std::to_string(host[i]) + ", not " +
               std::to_string(expected_(i)));
    }
  }
  return wrong_ ? wrong_result : undetected;
}

}  // namespace bugs

int main(int argc, char** argv) {
  const auto found = bugs::all().find(argc == 2 ? argv[1] : "");
  if (found == bugs::all().end()) {
    for (const auto& [name, bug] : bugs::all()) std::printf("%s\n", name.c_str());
    return bugs::unknown_bug;
  }
  bugs::Trial trial;
  found->second(trial);
  const bugs::Outcome outcome = trial.finish();
  std::fflush(stdout);
  return outcome;
}
