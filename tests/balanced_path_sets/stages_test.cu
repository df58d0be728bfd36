// The stages of the source's kernel by themselves: the partitions, and what each thread of a block
// finds.
#include "balanced_path_sets/single_pass.cuh"
#include "balanced_path_sets/two_pass.cuh"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

using Keys = Input<int, NoValue>;
using SmallShape = SetShape<64, 5>;

std::vector<std::size_t> diagonals(std::size_t total, std::size_t step) {
  std::vector<std::size_t> all;
  for (std::size_t diagonal = 0; diagonal < total; diagonal += step) all.push_back(diagonal);
  all.push_back(total);
  return all;
}

/// By a kernel that searches so many ends with each block of 64 threads.
template <class Kernel>
DeviceBuffer<std::int64_t> find_ends(Kernel kernel, std::int64_t ends_per_block,
                                     const DeviceBuffer<int>& a, const DeviceBuffer<int>& b,
                                     std::int64_t tile_items) {
  const std::int64_t tiles = (a.count() + b.count() + tile_items - 1) / tile_items;
  DeviceBuffer<std::int64_t> ends(tiles + 1);
  launch({static_cast<unsigned>(tiles / ends_per_block + 1), 64}, kernel,
         Keys{a.data(), nullptr, a.count()}, Keys{b.data(), nullptr, b.count()}, tile_items, tiles,
         std::less<int>{}, ends.data());
  return ends;
}

constexpr auto source_kernel = find_set_partitions_kernel<true, int, NoValue, std::less<int>>;
template <int EndsPerWarp>
constexpr auto shared_kernel =
    detail::find_tile_ends_kernel<EndsPerWarp, true, int, NoValue, std::less<int>>;

TEST(SetPartitions, CutWhereTheWalkDoes) {
  std::vector<Inputs> all = multisets();
  for (Inputs& inputs : many_tiles(3'000)) all.push_back(std::move(inputs));
  for (const Inputs& inputs : all) {
    const std::vector<oracle::Cut> cuts = oracle::cuts(inputs.a, inputs.b, std::less<int>{});
    const std::size_t total = inputs.a.size() + inputs.b.size();
    if (total == 0) continue;
    for (const int step : {1, 7, 320}) {
      SCOPED_TRACE(inputs.name + ", tiles of " + std::to_string(step));
      const DeviceBuffer<int> a = on_device(inputs.a);
      const DeviceBuffer<int> b = on_device(inputs.b);
      const auto points = on_host(find_ends(source_kernel, 64, a, b, step));
      if (can_run(shared_kernel<1>, {.hopper = true})) {
        EXPECT_EQ(on_host(find_ends(shared_kernel<1>, 2, a, b, step)), points);
        EXPECT_EQ(on_host(find_ends(shared_kernel<32>, 64, a, b, step)), points);
      }
      const auto expected = diagonals(total, static_cast<std::size_t>(step));
      ASSERT_EQ(points.size(), expected.size());
      for (std::size_t tile = 0; tile < points.size(); ++tile) {
        const PathPoint<std::int64_t> point = unpacked(points[tile]);
        const auto diagonal = static_cast<std::int64_t>(expected[tile]);
        EXPECT_EQ(static_cast<std::size_t>(point.a), cuts[expected[tile]].a);
        EXPECT_EQ(static_cast<std::size_t>(point.b(diagonal)), cuts[expected[tile]].b);
      }
    }
  }
}

/// Stores what each thread emits, from out[its number * items] on, and how many.
__global__ void block_kernel(SetOperation operation, Keys a, Keys b, const std::int64_t* partitions,
                             int* out, int* counts) {
  using Shape = SmallShape;
  auto& shared = dynamic_shared<BlockSetStorage<Shape, int>>();
  const SetTile tile =
      partitioned_tile(blockIdx.x, Shape::tile_items, a.count, b.count, partitions);
  const auto run = [&]<SetOperation which>() {
    return block_set_operation<Shape, which, true>(a, b, tile, std::less<int>{}, shared);
  };
  const auto slots = operation == SetOperation::intersection
                         ? run.template operator()<SetOperation::intersection>()
                     : operation == SetOperation::set_union
                         ? run.template operator()<SetOperation::set_union>()
                     : operation == SetOperation::difference
                         ? run.template operator()<SetOperation::difference>()
                         : run.template operator()<SetOperation::symmetric_difference>();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  slots.compact(slots.results, out + thread * Shape::items);
  counts[thread] = slots.count();
}

/// Matches lie on one side of every cut: so each thread's outputs are those of its part alone.
void expect_parts(SetOperation operation, const Inputs& inputs) {
  using Shape = SmallShape;
  SCOPED_TRACE(inputs.name + ", " + name_of(operation));
  const DeviceBuffer<int> a = on_device(inputs.a);
  const DeviceBuffer<int> b = on_device(inputs.b);
  DeviceBuffer<std::int64_t> partitions = find_ends(source_kernel, 64, a, b, Shape::tile_items);
  const auto tiles = static_cast<unsigned>(partitions.count() - 1);
  DeviceBuffer<int> counts(tiles * Shape::threads);
  DeviceBuffer<int> out(counts.count() * Shape::items);
  // Not all of it is written, and all of it is copied back.
  WARPATH_CUDA_CHECK(
      cudaMemset(out.data(), 0, static_cast<std::size_t>(out.count()) * sizeof(int)));
  launch({tiles, Shape::threads, sizeof(BlockSetStorage<Shape, int>)}, block_kernel, operation,
         Keys{a.data(), nullptr, a.count()}, Keys{b.data(), nullptr, b.count()}, partitions.data(),
         out.data(), counts.data());
  const std::vector<int> found_counts = on_host(counts);
  const std::vector<int> found = on_host(out);
  const std::vector<oracle::Cut> cuts = oracle::cuts(inputs.a, inputs.b, std::less<int>{});
  const auto part = [](const std::vector<int>& keys, std::size_t begin, std::size_t end) {
    return std::vector<int>(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                            keys.begin() + static_cast<std::ptrdiff_t>(end));
  };
  for (std::size_t thread = 0; thread < found_counts.size(); ++thread) {
    const auto& from = cuts[std::min(thread * Shape::items, cuts.size() - 1)];
    const auto& to = cuts[std::min((thread + 1) * Shape::items, cuts.size() - 1)];
    const std::vector<int> a_part = part(inputs.a, from.a, to.a);
    const std::vector<int> b_part = part(inputs.b, from.b, to.b);
    const auto expected =
        oracle::set_operation(operation, a_part, a_part, b_part, b_part, std::less<int>{}).keys;
    ASSERT_EQ(static_cast<std::size_t>(found_counts[thread]), expected.size()) << thread;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                           found.begin() + static_cast<std::ptrdiff_t>(thread * Shape::items)))
        << thread;
  }
}

TEST(BlockSetOperation, EachThreadHasItsPart) {
  for (const Inputs& inputs : many_tiles(3'000)) {
    for (const SetOperation operation : all_operations) expect_parts(operation, inputs);
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
