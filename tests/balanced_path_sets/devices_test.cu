// Devices on which the single-pass kernel does not run: the call takes the source's passes there,
// with the same result.
#include <gtest/gtest.h>

#include <numeric>

#include "../device_vectors.cuh"
#include "../emulated_device.cuh"
#include "core/buffer.cuh"
#include "int_sets.hpp"

#ifdef SIMT_EMULATION

namespace warpath::balanced_path_sets::test {
namespace {

TEST(Devices, WithoutTheSinglePassGiveTheSame) {
  std::vector<int> a(30'000);
  std::iota(a.begin(), a.end(), 0);
  std::vector<int> b(20'000);
  std::iota(b.begin(), b.end(), 25'000);
  std::vector<int> expected(45'000);
  std::iota(expected.begin(), expected.end(), 0);
  for (const DeviceKind& kind : other_devices) {
    SCOPED_TRACE(kind.name);
    const EmulatedDevice device(kind);
    const DeviceBuffer<int> device_a = on_device(a);
    const DeviceBuffer<int> device_b = on_device(b);
    DeviceBuffer<int> out(static_cast<std::int64_t>(a.size() + b.size()));
    DeviceCount count;
    Workspace workspace;
    int_sets({SetOperation::set_union}, device_a.span(), device_b.span(), out.span(), count,
             workspace, nullptr);
    ASSERT_EQ(count.get(nullptr), 45'000);
    EXPECT_EQ(on_host(out.data(), 45'000), expected);
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test

#endif
