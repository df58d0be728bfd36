// Warp collectives whose lanes do not agree.
#include "bug.hpp"
#include "simt/matrix.hpp"

namespace {

__global__ void different_collectives_kernel(int* out) {
  if (threadIdx.x % 32 < 16)
    out[0] = int(__ballot_sync(~0u, 1));
  else
    out[1] = __shfl_sync(~0u, 1, 0);  // planted: different_collectives
}

__global__ void mask_without_caller_kernel(int* out) {
  if (threadIdx.x % 32 < 16)
    out[0] = int(__ballot_sync(0xffff0000u, 1));  // planted: mask_without_caller
}

__global__ void missing_lanes_kernel(int* out) {
  if (threadIdx.x % 32 < 16) out[0] = int(__ballot_sync(~0u, 1));  // planted: missing_lanes
  __syncthreads();
}

__global__ void masks_differ_kernel(int* out) {
  const unsigned mask = threadIdx.x % 32 < 16 ? ~0u : 0xffff00ffu;
  out[threadIdx.x] = int(__ballot_sync(mask, 1));  // planted: masks_differ
}

__global__ void shuffle_width_kernel(int* out) {
  out[threadIdx.x] = __shfl_up_sync(~0u, 1, 1, 12);  // planted: shuffle_width
}

__global__ void shuffle_from_absent_lane_kernel(int* out) {
  out[threadIdx.x] = 7;
  if (threadIdx.x % 32 < 16)
    out[threadIdx.x] = __shfl_down_sync(0xffffu, 7, 1);  // planted: shuffle_from_absent_lane
}

__global__ void sync_of_gone_branch_kernel(int* out) {
  if (threadIdx.x % 2) {
    __syncwarp();  // planted: warp_barrier_in_branch
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
  }
}

__global__ void matrix_product_of_few_kernel(int* out) {
  if (threadIdx.x % 32 >= 24) return;
  const std::uint32_t a[4] = {}, b[2] = {};
  const float sum[4] = {1, 2, 3, 4};
  float product[4];
  simt::multiply_add_16x8x16(a, b, sum, product);  // planted: matrix_product_of_few
  out[threadIdx.x] = int(product[0]);
}

}  // namespace

PLANT(different_collectives) {
  trial.launch(1, 64, different_collectives_kernel, trial.out);
}
PLANT(mask_without_caller) {
  trial.launch(1, 64, mask_without_caller_kernel, trial.out);
}
PLANT(missing_lanes) {
  trial.launch(1, 64, missing_lanes_kernel, trial.out);
}
PLANT(masks_differ) {
  trial.launch(1, 64, masks_differ_kernel, trial.out);
}
PLANT(shuffle_width) {
  trial.launch(1, 64, shuffle_width_kernel, trial.out);
}
PLANT(shuffle_from_absent_lane) {
  trial.launch(1, 64, shuffle_from_absent_lane_kernel, trial.out);
  trial.expect([](int) { return 7; });
}
PLANT(warp_barrier_in_branch) {
  trial.launch(1, 64, sync_of_gone_branch_kernel, trial.out);
}
PLANT(matrix_product_of_few) {
  trial.launch(1, 64, matrix_product_of_few_kernel, trial.out);
}
