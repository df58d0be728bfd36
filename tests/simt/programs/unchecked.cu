// A program that checks nothing, with a kernel that writes beyond the end of its array: on a GPU it
// may well print PASSED. Here it ends with exit code 26 and names the kernel, the line of its
// launch and the line of the cudaMalloc.
#include <cstdio>

__global__ void fill(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 100 * sizeof(int));
  fill<<<1, 128>>>(out);
  cudaDeviceReset();
  std::printf("PASSED\n");
}
