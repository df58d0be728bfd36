// The experiments' count of the work of tiles and threads.
#include "../../experiments/load_balancing_search/balance.cuh"
#include "load_balancing_search/demonstration.cuh"
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

experiments::Balance balance_of(const std::vector<int>& scan, const std::vector<int>& objects,
                                int part_steps) {
  const DeviceBuffer<int> device_scan = on_device(scan);
  const DeviceBuffer<int> device_objects = on_device(objects);
  return experiments::balance_of(
      DeviceSpan<const int>{device_scan.data(), device_scan.count()},
      DeviceSpan<const int>{device_objects.data(), device_objects.count()}, part_steps, nullptr);
}

// "Divide into 4 equal partitions": 119 steps.
TEST(Balance, FourTilesOfTheSource) {
  const std::vector<int> counts = worked_example_counts();
  const auto balance =
      balance_of(oracle::exclusive_scan(counts), oracle::objects<int>(counts), (79 + 40 + 3) / 4);
  EXPECT_EQ(balance.parts, 4);
  EXPECT_EQ(balance.uneven, 0);
  EXPECT_EQ(balance.last_steps, 29);
}

TEST(Balance, PartsOfAnyCounts) {
  std::mt19937_64 random(3);
  for (const Counts kind : all_counts) {
    const std::vector<int> counts = make_counts<int>(kind, 5'000, random);
    const std::vector<int> objects = oracle::objects<int>(counts);
    const auto steps = static_cast<std::int64_t>(counts.size() + objects.size());
    for (const int part_steps : {3, 11, 1408}) {
      SCOPED_TRACE(std::string(name_of(kind)) + ", parts of " + std::to_string(part_steps));
      const auto balance = balance_of(oracle::exclusive_scan(counts), objects, part_steps);
      EXPECT_EQ(balance.parts, divide_up(steps, part_steps));
      EXPECT_EQ(balance.uneven, 0);
      EXPECT_EQ(balance.last_steps, steps - (balance.parts - 1) * part_steps);
    }
  }
}

// Work items 4 and 5 pass for those of object 3, not 2: the last part gets a step of the second.
TEST(Balance, SeesUnevenParts) {
  const auto balance = balance_of({0, 2, 4, 6}, {0, 0, 1, 1, 3, 3, 3, 3}, 4);
  EXPECT_EQ(balance.parts, 3);
  EXPECT_EQ(balance.uneven, 1);
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
