// The Hopper pipeline with small tiles in few blocks, where stages are soon used again; and which
// kernel a partition takes.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "../device_vectors.cuh"
#include "../emulated_device.cuh"
#include "../guarded.cuh"
#include "core/buffer.cuh"
#include "core/divide_up.hpp"
#include "core/launch.cuh"
#include "partitioners/partitioners.cuh"

namespace warpath::partitioners::test {
namespace {

/// Tiles of 512 words, in two stages.
struct SmallShape {
  static constexpr int warps = 2;
  static constexpr int width = 4;
  static constexpr int rows = 2;
  static constexpr int warp_items = rows * 32 * width;
  static constexpr int tile_items = warps * warp_items;
  static constexpr int copiers = 2;
  static constexpr int stages = 2;
  static constexpr int threads = (warps + copiers + 4) * 32;
};

/// A word is of the class that its lowest bits say.
template <int Count>
struct LowBits {
  static constexpr int count = Count;
  __device__ int operator()(unsigned word) const { return static_cast<int>(word % 4) % Count; }
};

template <int Count>
void expect_partitioned(std::int64_t n, int offset, unsigned blocks, std::uint64_t seed) {
  using Classes = LowBits<Count>;
  using Storage = detail::PipelineStorage<unsigned, Count, SmallShape>;
  const auto kernel = detail::pipeline_kernel<unsigned, Classes, SmallShape>;
  if (!can_run(kernel, {.hopper = true, .shared_bytes = sizeof(Storage)})) {
    GTEST_SKIP() << "the pipeline needs compute capability 9.0";
  }
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<unsigned> words(static_cast<std::size_t>(n + offset));
  for (unsigned& word : words) word = static_cast<unsigned>(random());
  std::vector<unsigned> expected[Count];
  for (std::int64_t i = offset; i < n + offset; ++i) {
    const unsigned word = words[static_cast<std::size_t>(i)];
    expected[word % 4 % Count].push_back(word);
  }
  const DeviceBuffer<unsigned> in = on_device(words);
  std::vector<Guarded<unsigned>> outs;
  std::vector<DeviceCount> counts(Count - 1);
  detail::ClassOutputs<unsigned, Count> out{};
  for (int c = 0; c < Count; ++c) {
    outs.emplace_back(n, (offset + c) % 4);
    out.of_class[c] = outs.back().span().data;
    if (c < Count - 1) out.counts[c] = counts[static_cast<std::size_t>(c)].data();
  }
  Workspace workspace;
  for (int call = 0; call < 2; ++call) {  // the second one in the other half of the look-back
    launch({blocks, SmallShape::threads, sizeof(Storage), nullptr}, kernel, Classes{},
           in.data() + offset, n, out,
           workspace.look_back(nullptr, divide_up(n, SmallShape::tile_items), Count - 1));
    for (std::size_t c = 0; c < Count; ++c) {
      if (c < Count - 1) {
        ASSERT_EQ(counts[c].get(nullptr), static_cast<std::int64_t>(expected[c].size()));
      }
      EXPECT_TRUE(outs[c].get(static_cast<std::int64_t>(expected[c].size())) == expected[c])
          << "class " << c << " of " << Count << ", n = " << n << ", offset " << offset;
    }
  }
}

TEST(PartitionPipeline, UsesStagesAgain) {
  std::uint64_t seed = 1;
  for (const unsigned blocks : {1u, 3u}) {
    for (int offset = 0; offset < 4; ++offset) {
      for (const std::int64_t n : {30 * 512, 30 * 512 + 1, 31 * 512 - 3, 41 * 512 + 100}) {
        expect_partitioned<2>(n, offset, blocks, seed++);
        expect_partitioned<3>(n, offset, blocks, seed++);
      }
    }
  }
}

TEST(PartitionPipeline, TakesTilesShorterThanALine) {
  for (int offset = 0; offset < 4; ++offset) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 513, 514, 515, 516, 1025}) {
      expect_partitioned<2>(n, offset, 1, static_cast<std::uint64_t>(n));
      expect_partitioned<3>(n, offset, 2, static_cast<std::uint64_t>(n));
    }
  }
}

#ifdef SIMT_EMULATION
TEST(PartitionPath, IsOneThatTheDeviceCanRun) {
  using detail::PartitionPath;
  using Classes = LowBits<2>;
  constexpr std::int64_t large = detail::pipeline_least_bytes / sizeof(unsigned);
  const auto path = [](PartitionPath asked, std::int64_t n) {
    return detail::possible_path<unsigned, Classes>(asked, n);
  };
  // The tests themselves may run on an emulated device that is older.
  const bool can_pipeline = can_run(
      detail::pipeline_kernel<unsigned, Classes, detail::PipelineShape<sizeof(unsigned)>>,
      {.hopper = true, .shared_bytes = sizeof(detail::PipelineStorageOf<unsigned, Classes>)});
  const PartitionPath fastest = can_pipeline ? PartitionPath::pipeline : PartitionPath::plain;
  EXPECT_EQ(path(PartitionPath::automatic, large), fastest);
  EXPECT_EQ(path(PartitionPath::automatic, large - 1), PartitionPath::plain);
  EXPECT_EQ(path(PartitionPath::plain, large), PartitionPath::plain);
  EXPECT_EQ(path(PartitionPath::pipeline, 1), fastest);
  for (const DeviceKind& kind : other_devices) {
    const EmulatedDevice device(kind);
    EXPECT_EQ(path(PartitionPath::automatic, large), PartitionPath::plain) << kind.name;
    EXPECT_EQ(path(PartitionPath::pipeline, large), PartitionPath::plain) << kind.name;
  }
}
#endif

}  // namespace
}  // namespace warpath::partitioners::test
