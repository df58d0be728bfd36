// Devices on which the pipeline does not run: each call takes another kernel there, with the same
// result.
#include <gtest/gtest.h>

#include "../device_vectors.cuh"
#include "../emulated_device.cuh"
#include "elements.cuh"
#include "warp_compaction/warp_compaction.cuh"

#ifdef SIMT_EMULATION

namespace warpath::warp_compaction::test {
namespace {

TEST(Devices, WithoutThePipelineGiveTheSame) {
  std::vector<int> values(100'000);
  std::vector<int> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(i / 3);
    if (values[i] % 2 != 0) expected.push_back(values[i]);
  }
  for (const DeviceKind& kind : other_devices) {
    const EmulatedDevice device(kind);
    for (const Path path :
         {Path::automatic, Path::small, Path::medium, Path::plain, Path::pipeline}) {
      SCOPED_TRACE(std::string(kind.name) + ", path " + std::to_string(static_cast<int>(path)));
      DeviceBuffer<int> in = on_device(values);
      DeviceBuffer<int> out(in.count());
      DeviceCount kept;
      Workspace workspace;
      compact_if(in.span(), out.span(), IsOdd{}, kept, workspace, nullptr,
                 {.variant = Variant::single_pass, .path = path});
      ASSERT_EQ(kept.get(nullptr), static_cast<std::int64_t>(expected.size()));
      EXPECT_EQ(on_host(out.data(), kept.get(nullptr)), expected);
    }
  }
}

}  // namespace
}  // namespace warpath::warp_compaction::test

#endif
