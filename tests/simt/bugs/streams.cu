// Missing order between the host and streams, and between streams.
#include "bug.hpp"

namespace {

__global__ void set_kernel(int* out, int value) {
  out[threadIdx.x] = value;
}
__global__ void add_kernel(int* out) {
  out[threadIdx.x] += 1;
}

}  // namespace

PLANT(missing_stream_wait) {
  std::vector<int> host(bugs::count, -1);
  trial.launch(1, 64, set_kernel, trial.out, 7);
  trial.check(cudaMemcpyAsync(host.data(), trial.out, 256, cudaMemcpyDeviceToHost, trial.stream));
  if (host[0] != 7) trial.complain("the host read before the copy");
  trial.check(cudaStreamSynchronize(trial.stream));
}

PLANT(missing_event_wait) {
  trial.launch(1, 64, set_kernel, trial.out, 7);
  cudaLaunchConfig_t config = trial.shape(1, 64);
  config.stream = trial.other_stream;
  trial.check(cudaLaunchKernelEx(&config, add_kernel, trial.out));
  trial.expect([](int) { return 8; });
}

PLANT(host_buffer_reused) {
  std::vector<int> host(bugs::count, 7);
  trial.check(cudaMemcpyAsync(trial.out, host.data(), 256, cudaMemcpyHostToDevice, trial.stream));
  host.assign(bugs::count, 9);
  trial.expect([](int) { return 7; });
  trial.check(cudaStreamSynchronize(trial.stream));
}

PLANT(freed_on_other_stream) {
  int* array;
  trial.check(cudaMallocAsync(&array, 256, trial.stream));  // allocated: freed_on_other_stream
  trial.launch(1, 64, set_kernel, array, 7);
  trial.check(cudaFreeAsync(array, trial.other_stream));
}

PLANT(stream_of_other_device) {
  cudaSetDevice(1);
  trial.launch(1, 64, set_kernel, trial.out, 7);
  cudaSetDevice(0);
}

PLANT(stream_after_destroy) {
  cudaStream_t gone;
  trial.check(cudaStreamCreate(&gone));
  trial.check(cudaStreamDestroy(gone));
  cudaLaunchConfig_t config = trial.shape(1, 64);
  config.stream = gone;
  trial.check(cudaLaunchKernelEx(&config, set_kernel, trial.out, 7));
}
