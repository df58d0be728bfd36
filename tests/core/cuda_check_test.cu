// A failed call: what the exception says, and that nothing is left for the next call.
#include "core/cuda_check.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int no_such_device = -1;

TEST(CudaCheck, LetsSuccessPass) {
  int count = 0;
  EXPECT_NO_THROW(WARPATH_CUDA_CHECK(cudaGetDeviceCount(&count)));
  EXPECT_GE(count, 1);
}

TEST(CudaCheck, NamesCallPlaceAndError) {
  const int line = __LINE__ + 1;
  const auto fail = [] { WARPATH_CUDA_CHECK(cudaSetDevice(no_such_device)); };
  const std::string place = std::string(__FILE__) + ":" + std::to_string(line);
  EXPECT_THAT(
      message_of<CudaError>(fail),
      AllOf(StartsWith("invalid device ordinal"),
            EndsWith("(cudaErrorInvalidDevice); cudaSetDevice(no_such_device) at " + place)));
}

TEST(CudaCheck, KeepsTheCode) {
  try {
    WARPATH_CUDA_CHECK(cudaSetDevice(no_such_device));
    ADD_FAILURE() << "no exception";
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), cudaErrorInvalidDevice);
  }
}

TEST(CudaCheck, LeavesNoErrorPending) {
  ASSERT_NE(cudaSetDevice(no_such_device), cudaSuccess);
  ASSERT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice) << "else this test shows nothing";
  EXPECT_THROW(WARPATH_CUDA_CHECK(cudaSetDevice(no_such_device)), CudaError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(CudaCheck, EvaluatesTheCallOnce) {
  int calls = 0;
  const auto call = [&] {
    ++calls;
    return cudaSuccess;
  };
  WARPATH_CUDA_CHECK(call());
  EXPECT_EQ(calls, 1);
}

TEST(CudaCheck, IsARuntimeError) {
  EXPECT_THROW(cuda_check(cudaErrorMemoryAllocation, "some_call()", "some_file.cu", 12),
               std::runtime_error);
  EXPECT_THAT(message_of<std::runtime_error>(
                  [] { cuda_check(cudaErrorMemoryAllocation, "some_call()", "some_file.cu", 12); }),
              EndsWith("(cudaErrorMemoryAllocation); some_call() at some_file.cu:12"));
}

}  // namespace
}  // namespace warpath::core_test
