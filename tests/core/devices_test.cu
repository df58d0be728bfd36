#include <algorithm>
#include <numeric>

#include "../ordinals.cuh"
#include "core/devices.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

using testing::Each;
using testing::HasSubstr;

__global__ void slowly_set_kernel(int* out, int value) {
  for (int i = 0; i < 50; ++i) __nanosleep(1000);
  out[threadIdx.x] = value;
}
/// out[i] becomes the sum of in[i] and `more`.
__global__ void add_kernel(const int* in, int more, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + more;
}

TEST(Devices, AreRealOrVirtual) {
  const Devices devices({0, 0, 0});
  EXPECT_EQ(devices.count(), 3);
  EXPECT_TRUE(devices.all_have_access());
  EXPECT_NE(devices.stream(0), devices.stream(1));
  EXPECT_EQ(devices.ordinal(2), 0);
  EXPECT_EQ(current_device(), 0);
}

TEST(Devices, AreThereAndSeveral) {
  const auto message = [](std::vector<int> ordinals) {
    return message_of<std::invalid_argument>([&] { const Devices devices(ordinals); });
  };
  EXPECT_THAT(message({}), HasSubstr("ordinals is empty"));
  EXPECT_THAT(message({0, -1}), HasSubstr("ordinals[1] is -1: expected 0 to "));
  EXPECT_THAT(message({99}), HasSubstr("ordinals[0] is 99"));
}

TEST(Devices, OfWhichEachIsCurrentInTurn) {
  const Devices devices(ordinals(3));
  std::vector<int> seen;
  devices.for_each([&](int i, cudaStream_t stream) {
    EXPECT_EQ(stream, devices.stream(i));
    seen.push_back(current_device());
  });
  EXPECT_EQ(seen, ordinals(3));
  EXPECT_EQ(current_device(), 0);
}

TEST(Devices, WaitForEachOther) {
  const Devices devices(ordinals(4));
  std::vector<DeviceBuffer<int>> values;
  devices.for_each([&](int, cudaStream_t stream) { values.emplace_back(32, stream); });
  devices.meet();
  // Each adds to what the one before has made, however slow that one is.
  devices.for_each([&](int i, cudaStream_t stream) {
    if (i == 0) {
      launch({1, 32, 0, stream}, slowly_set_kernel, values[0].data(), 5);
      return;
    }
    const auto before = static_cast<std::size_t>(i - 1);
    const auto own = static_cast<std::size_t>(i);
    devices.wait(i, i - 1);
    devices.copy(values[own].data(), i, values[before].data(), i - 1, 32);
    launch({1, 32, 0, stream}, add_kernel, values[own].data(), 1, values[own].data());
  });
  devices.synchronize();
  EXPECT_THAT(on_host(values[3]), Each(8));
}

TEST(Devices, MeetBeforeTheyReadFromEachOther) {
  const Devices devices(ordinals(3));
  if (!devices.all_have_access()) GTEST_SKIP() << "needs access between the devices";
  std::vector<DeviceBuffer<int>> values;
  std::vector<DeviceBuffer<int>> sums;
  devices.for_each([&](int i, cudaStream_t stream) {
    values.emplace_back(32, stream);
    sums.emplace_back(32, stream);
    launch({1, 32, 0, stream}, slowly_set_kernel, values.back().data(), 10 * i);
  });
  devices.meet();
  devices.for_each([&](int i, cudaStream_t stream) {
    const auto next = static_cast<std::size_t>((i + 1) % 3);
    launch({1, 32, 0, stream}, add_kernel, values[next].data(), 1,
           sums[static_cast<std::size_t>(i)].data());
  });
  devices.meet();  // before memory goes that others read
  devices.synchronize();
  EXPECT_THAT(on_host(sums[0]), Each(11));
  EXPECT_THAT(on_host(sums[1]), Each(21));
  EXPECT_THAT(on_host(sums[2]), Each(1));
}

TEST(Devices, FollowAStreamAndLeadIt) {
  const Devices devices(ordinals(3));
  const Stream stream;
  DeviceBuffer<int> first(32, stream);
  launch({1, 32, 0, stream}, slowly_set_kernel, first.data(), 7);
  devices.follow(stream);
  std::vector<DeviceBuffer<int>> values;
  devices.for_each([&](int i, cudaStream_t own) {
    values.emplace_back(32, own);
    devices.copy(values.back().data(), i, first.data(), 0, 32);
    for (int k = 0; k < 20; ++k) {
      launch({1, 32, 0, own}, add_kernel, values.back().data(), 1, values.back().data());
    }
  });
  devices.lead(stream);
  std::vector<int> found(32);
  WARPATH_CUDA_CHECK(
      cudaMemcpyAsync(found.data(), values[2].data(), 32 * sizeof(int), cudaMemcpyDefault, stream));
  WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  EXPECT_THAT(found, Each(27));
}

TEST(Devices, CopyByWayOfTheHostWhereTheyHaveNoAccess) {
  const Devices devices(ordinals(2), PeerAccess::never);
  EXPECT_EQ(devices.all_have_access(), devices.ordinal(0) == devices.ordinal(1));
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 3);
  const DeviceBuffer<int> from = on_device(numbers);
  DeviceBuffer<int> to;
  {
    const CurrentDevice current(devices.ordinal(1));
    to = DeviceBuffer<int>(1000, devices.stream(1));
  }
  devices.copy(to.data(), 1, from.data(), 0, 1000);
  devices.copy(to.data(), 1, from.data(), 0, 0);
  devices.synchronize();
  EXPECT_EQ(on_host(to), numbers);
}

}  // namespace
}  // namespace warpath::core_test
