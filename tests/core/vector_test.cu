// Loads and stores of neighbouring elements.
#include "core/launch.cuh"
#include "core/vector.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

/// Each thread copies its `Count` elements.
template <int Count, class T>
__global__ void copy_vectors_kernel(const T* from, T* to) {
  T elements[Count];
  load_vector(from + threadIdx.x * Count, elements);
  store_vector(to + threadIdx.x * Count, elements);
}

template <int Count, class T>
void expect_copied(int offset) {
  constexpr int threads = 5;
  std::vector<T> values;
  for (int i = 0; i < threads * Count + offset; ++i) values.push_back(static_cast<T>(3 * i + 1));
  const DeviceBuffer<T> from = on_device(values);
  DeviceBuffer<T> to = on_device(std::vector<T>(values.size()));
  launch({1, threads}, copy_vectors_kernel<Count, T>, from.data() + offset, to.data() + offset);
  const std::vector<T> copied = on_host(to);
  EXPECT_EQ(std::vector<T>(copied.begin() + offset, copied.end()),
            std::vector<T>(values.begin() + offset, values.end()));
}

TEST(Vectors, AreCopied) {
  expect_copied<1, std::uint32_t>(0);
  expect_copied<1, std::uint32_t>(3);
  expect_copied<2, std::uint32_t>(2);
  expect_copied<3, std::uint32_t>(1);
  expect_copied<4, std::uint32_t>(4);
  expect_copied<8, unsigned char>(8);
  expect_copied<2, double>(2);
  expect_copied<3, double>(1);
}

// Where a GPU would fault, the emulated backend does, too.
TEST(Vectors, CouldNotBeReadUnaligned) {
#ifdef SIMT_EMULATION
  {
    const DeviceBuffer<std::uint32_t> words = on_device(std::vector<std::uint32_t>(16));
    DeviceBuffer<std::uint32_t> to(16);
    EXPECT_THAT(
        message_of<CudaError>([&] {
          launch({1, 1}, copy_vectors_kernel<4, std::uint32_t>, words.data() + 2, to.data());
          WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
        }),
        testing::HasSubstr("core/vector.cuh"));
  }
  cudaGetLastError();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
#else
  GTEST_SKIP() << "would leave the device unusable";
#endif
}

}  // namespace
}  // namespace warpath::core_test
