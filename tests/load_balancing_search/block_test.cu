// The device functions by themselves: partitions, the block form's ranges, ranks, and the serial
// loop with and without range checks.
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

template <class Offset>
__global__ void objects_before_kernel(Work<Offset> work, bool guesses, std::int64_t* by_threads,
                                      std::int64_t* by_warps) {
  const std::int64_t diagonal = blockIdx.x;
  if (threadIdx.x == 0) by_threads[diagonal] = work.objects_before(diagonal);
  const std::int64_t found = work.warp_objects_before(diagonal, guesses);
  if (threadIdx.x == 0) by_warps[diagonal] = found;
}

/// What the serial walk of the source has passed of the objects at each cross-diagonal.
template <class Offset>
std::vector<std::int64_t> walk(const std::vector<Offset>& scan, std::int64_t items) {
  std::vector<std::int64_t> passed{0};
  std::int64_t a = 0;
  std::size_t b = 0;
  while (a < items || b < scan.size()) {
    const bool is_item = b == scan.size() || (a < items && a < static_cast<std::int64_t>(scan[b]));
    if (is_item) {
      ++a;
    } else {
      ++b;
    }
    passed.push_back(static_cast<std::int64_t>(b));
  }
  return passed;
}

TEST(Partitions, AreThoseOfTheSerialWalk) {
  std::mt19937_64 random(1);
  for (const Counts kind : all_counts) {
    SCOPED_TRACE(name_of(kind));
    const auto counts = make_counts<std::int64_t>(kind, 900, random);
    const auto scan = oracle::exclusive_scan(counts);
    const std::vector<std::int64_t> expected = walk(scan, total(counts));
    const auto diagonals = static_cast<std::int64_t>(expected.size());
    const auto device_scan = on_device(scan);
    Guarded<std::int64_t> by_threads(diagonals);
    Guarded<std::int64_t> by_warps(diagonals);
    const Work<std::int64_t> work{total(counts), device_scan.data(), device_scan.count()};
    for (const bool guesses : {false, true}) {
      launch({static_cast<unsigned>(diagonals), 32}, objects_before_kernel<std::int64_t>, work,
             guesses, by_threads.span().data, by_warps.span().data);
      EXPECT_EQ(by_threads.get(), expected);
      EXPECT_EQ(by_warps.get(), expected);
    }
  }
}

template <class Shape, class Offset>
__global__ void block_search_kernel(Work<Offset> work, const std::int64_t* partitions,
                                    bool load_preceding, TileRange* ranges, std::int64_t* objects,
                                    std::int64_t* ranks) {
  auto& shared = dynamic_shared<BlockSearchStorage<Offset, Shape>>();
  const TileRange range =
      block_load_balancing_search(work, blockIdx.x, partitions, load_preceding, shared);
  if (threadIdx.x == 0) ranges[blockIdx.x] = range;
  for (int item = static_cast<int>(threadIdx.x); item < range.items(); item += Shape::threads) {
    objects[range.a0 + item] = work_item_object(shared, range, item);
    if (load_preceding) ranks[range.a0 + item] = work_item_rank(shared, range, item);
  }
}

/// All tiles of `counts`, with and without the preceding object, against the oracle.
template <class Shape, class Offset>
void expect_blocks(const std::vector<Offset>& counts) {
  const auto scan = oracle::exclusive_scan(counts);
  const auto device_scan = on_device(scan);
  const std::int64_t items = total(counts);
  const Work<Offset> work{items, device_scan.data(), device_scan.count()};
  const std::vector<std::int64_t> passed = walk(scan, items);
  const auto steps = static_cast<std::int64_t>(passed.size()) - 1;
  const std::int64_t tiles = (steps + Shape::tile_steps - 1) / Shape::tile_steps;
  std::vector<std::int64_t> partitions;
  for (std::int64_t tile = 0; tile <= tiles; ++tile) {
    partitions.push_back(
        passed[static_cast<std::size_t>(std::min(tile * Shape::tile_steps, steps))]);
  }
  const auto device_partitions = on_device(partitions);
  for (const bool load_preceding : {false, true}) {
    SCOPED_TRACE(load_preceding ? "with the preceding object" : "without the preceding object");
    DeviceBuffer<TileRange> ranges(tiles);
    Guarded<std::int64_t> objects(items);
    Guarded<std::int64_t> ranks(load_preceding ? items : 0);
    launch(
        {static_cast<unsigned>(tiles), Shape::threads, sizeof(BlockSearchStorage<Offset, Shape>)},
        block_search_kernel<Shape, Offset>, work, device_partitions.data(), load_preceding,
        ranges.data(), objects.span().data, ranks.span().data);
    EXPECT_EQ(objects.get(), oracle::objects<std::int64_t>(counts));
    if (load_preceding) {
      const std::vector<Offset> expected = oracle::ranks(counts);
      EXPECT_EQ(ranks.get(), (std::vector<std::int64_t>{expected.begin(), expected.end()}));
    }
    std::vector<TileRange> found(static_cast<std::size_t>(tiles));
    WARPATH_CUDA_CHECK(cudaMemcpy(found.data(), ranges.data(), found.size() * sizeof(TileRange),
                                  cudaMemcpyDeviceToHost));
    for (std::size_t tile = 0; tile < found.size(); ++tile) {
      const std::int64_t begin = static_cast<std::int64_t>(tile) * Shape::tile_steps;
      const std::int64_t end = std::min(begin + Shape::tile_steps, steps);
      EXPECT_EQ(found[tile].a0, begin - partitions[tile]);
      EXPECT_EQ(found[tile].a1, end - partitions[tile + 1]);
      EXPECT_EQ(found[tile].b0,
                std::max<std::int64_t>(partitions[tile] - (load_preceding ? 1 : 0), 0));
      EXPECT_EQ(found[tile].b1, partitions[tile + 1]);
    }
  }
}

TEST(BlockSearch, GivesObjectsRanksAndRanges) {
  std::mt19937_64 random(1);
  using Shape = MergePathShape<64, 3>;
  for (const Counts kind : all_counts) {
    SCOPED_TRACE(name_of(kind));
    // Less than a tile, a tile, a step more, and many, with a full one last.
    for (const int steps : {1, 100, 192, 193, 1920}) {
      expect_blocks<Shape>(make_counts<std::int32_t>(kind, steps, random));
      expect_blocks<Shape>(make_counts<std::int64_t>(kind, steps, random));
    }
  }
}

TEST(BlockSearch, OtherShapes) {
  std::mt19937_64 random(1);
  expect_blocks<MergePathShape<32, 1>>(make_counts<std::int32_t>(Counts::random, 500, random));
  expect_blocks<MergePathShape<96, 7>>(make_counts<std::int32_t>(Counts::random, 3000, random));
  expect_blocks<MergePathShape<128, 11>>(
      make_counts<std::int32_t>(Counts::power_law, 3000, random));
}

using FarShape = MergePathShape<64, 3>;

/// Objects and ranks of one tile, whose two partitions stand at the front of `partitions`.
__global__ void far_tile_kernel(Work<std::int64_t> work, std::int64_t tile,
                                const std::int64_t* partitions, std::int64_t* found) {
  auto& shared = dynamic_shared<BlockSearchStorage<std::int64_t, FarShape>>();
  const TileRange range =
      block_load_balancing_search(work, tile, partitions - tile, /*load_preceding=*/true, shared);
  const int count = range.items();
  for (int item = static_cast<int>(threadIdx.x); item < count; item += FarShape::threads) {
    found[item] = work_item_object(shared, range, item);
    found[count + item] = work_item_rank(shared, range, item);
  }
}

// The tile's first work item belongs to an object that began 2^33 items ago.
TEST(BlockSearch, RanksPastTheRangeOf32Bits) {
  using Shape = FarShape;
  constexpr std::int64_t items = (std::int64_t{1} << 33) + 5;
  const std::vector<std::int64_t> scan = {0, 0, items - 3};
  const auto device_scan = on_device(scan);
  const std::int64_t steps = items + 3;
  const std::int64_t tile = (steps - 1) / Shape::tile_steps;
  std::vector<std::int64_t> partitions(1, 2);  // only the last tile is searched
  if (tile * Shape::tile_steps > items - 3 + 2) partitions[0] = 3;
  partitions.push_back(3);
  const auto device_partitions = on_device(partitions);
  const std::int64_t begin = tile * Shape::tile_steps - partitions[0];
  DeviceBuffer<std::int64_t> found(2 * (items - begin));

  launch({1, Shape::threads, sizeof(BlockSearchStorage<std::int64_t, Shape>)}, far_tile_kernel,
         Work<std::int64_t>{items, device_scan.data(), device_scan.count()}, tile,
         device_partitions.data(), found.data());
  std::vector<std::int64_t> host(static_cast<std::size_t>(found.count()));
  WARPATH_CUDA_CHECK(cudaMemcpy(host.data(), found.data(), host.size() * sizeof(std::int64_t),
                                cudaMemcpyDeviceToHost));
  const std::int64_t count = items - begin;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t item = begin + i;
    const std::int64_t object = item < items - 3 ? 1 : 2;
    EXPECT_EQ(host[static_cast<std::size_t>(i)], object) << item;
    EXPECT_EQ(host[static_cast<std::size_t>(count + i)], object == 1 ? item : item - (items - 3));
  }
}

template <int Steps, bool RangeCheck>
__global__ void serial_kernel(const int* scan, int a, int a_end, int b, int b_end, int* objects) {
  thread_load_balancing_search<Steps, RangeCheck>(scan, a, a_end, b, b_end, objects);
}

// Objects that begin at 0, 2, 2, 5 of 7 work items: the whole path in one thread.
TEST(ThreadSearch, WithRangeChecks) {
  const auto scan = on_device<int>({0, 2, 2, 5});
  Guarded<int> objects(7);
  launch({1, 1}, serial_kernel<11, true>, scan.data(), 0, 7, 0, 4, objects.span().data);
  EXPECT_EQ(objects.get(), (std::vector<int>{0, 0, 2, 2, 2, 3, 3}));
}

// A thread in the middle: from work item 1 and object 1 on, four steps. The object that begins at 5
// is the one that makes checks needless.
TEST(ThreadSearch, WithoutRangeChecks) {
  const auto scan = on_device<int>({0, 2, 2, 5});
  Guarded<int> objects(3);
  launch({1, 1}, serial_kernel<4, false>, scan.data(), 1, 3, 1, 3, objects.span().data);
  const std::vector<int> found = objects.get();
  EXPECT_EQ(found[1], 0);
  EXPECT_EQ(found[2], 2);
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
