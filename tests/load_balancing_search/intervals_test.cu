// What is built on the search: every work item visited once, expanded, moved; and the worked
// example, whose rows are very uneven.
#include <algorithm>
#include <cstring>

#include "load_balancing_search/intervals.cuh"
#include "load_balancing_search/row_products.cuh"
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

class Intervals : public testing::Test {
 protected:
  template <class Offset>
  static DeviceBuffer<Offset> scan_of(const std::vector<Offset>& counts) {
    return on_device(oracle::exclusive_scan(counts));
  }
  [[nodiscard]] static std::int64_t steps() { return is_small() ? 3000 : 20'000; }

  std::mt19937_64 random_{1};
  Workspace workspace_;
};

struct CountVisits {
  int* visits;
  std::int64_t* objects;
  std::int64_t* ranks;
  __device__ void operator()(std::int64_t item, std::int64_t object, std::int64_t rank) const {
    atomicAdd(visits + item, 1);
    objects[item] = object;
    ranks[item] = rank;
  }
};

TEST_F(Intervals, EveryWorkItemIsVisitedOnce) {
  for (const Counts kind : all_counts) {
    SCOPED_TRACE(name_of(kind));
    const auto counts = make_counts<std::int32_t>(kind, steps(), random_);
    const std::int64_t items = total(counts);
    DeviceBuffer<int> visits(items);
    Guarded<std::int64_t> objects(items);
    Guarded<std::int64_t> ranks(items);
    WARPATH_CUDA_CHECK(cudaMemset(visits.data(), 0, static_cast<std::size_t>(items) * sizeof(int)));
    const auto scan = scan_of(counts);
    for_each_work_item(items, scan.span(),
                       CountVisits{visits.data(), objects.span().data, ranks.span().data},
                       workspace_, nullptr);
    std::vector<int> found(static_cast<std::size_t>(items));
    WARPATH_CUDA_CHECK(cudaMemcpy(found.data(), visits.data(), found.size() * sizeof(int),
                                  cudaMemcpyDeviceToHost));
    EXPECT_EQ(found, std::vector<int>(found.size(), 1));
    EXPECT_EQ(objects.get(), oracle::objects<std::int64_t>(counts));
    const auto expected = oracle::ranks(counts);
    EXPECT_EQ(ranks.get(), (std::vector<std::int64_t>{expected.begin(), expected.end()}));
  }
}

/// A record of `Bytes` bytes.
template <int Bytes>
struct Record {
  unsigned char bytes[Bytes];
  bool operator==(const Record& other) const {
    return std::equal(bytes, bytes + Bytes, other.bytes);
  }
};

template <class T>
std::vector<T> random_elements(std::size_t count, std::mt19937_64& random) {
  std::vector<T> elements(count);
  std::vector<unsigned char> bytes(count * sizeof(T));
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random()); });
  if (count > 0) std::memcpy(static_cast<void*>(elements.data()), bytes.data(), bytes.size());
  return elements;
}

/// The values after `offset` others, so that they begin anywhere.
template <class T>
DeviceBuffer<T> shifted(const std::vector<T>& values, std::size_t offset) {
  std::vector<T> all(offset);
  all.insert(all.end(), values.begin(), values.end());
  return on_device(all);
}

TEST_F(Intervals, Expand) {
  const auto expand = [&]<class T>(Counts kind, int offset) {
    SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(sizeof(T)) + " bytes");
    const auto counts = make_counts<std::int64_t>(kind, steps(), random_);
    const auto values = random_elements<T>(counts.size(), random_);
    const auto scan = scan_of(counts);
    const auto device_values = shifted(values, static_cast<std::size_t>(offset));
    Guarded<T> out(total(counts), offset);
    interval_expand(total(counts), scan.span(),
                    {device_values.data() + offset, device_values.count() - offset}, out.span(),
                    workspace_, nullptr);
    EXPECT_TRUE(out.get() == oracle::interval_expand(counts, values));
  };
  int offset = 0;
  for (const Counts kind : all_counts) {
    expand.operator()<std::uint64_t>(kind, offset++ % 4);
    expand.operator()<std::uint8_t>(kind, offset++ % 4);
  }
  expand.operator()<Record<3>>(Counts::random, 1);
  expand.operator()<Record<256>>(Counts::power_law, 1);
}

TEST_F(Intervals, Move) {
  const auto move = [&]<class T>(Counts kind, int offset) {
    SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(sizeof(T)) + " bytes");
    const auto counts = make_counts<std::int32_t>(kind, steps(), random_);
    const auto items = static_cast<std::size_t>(total(counts));
    // Intervals are gathered from anywhere, and scattered in another order, without overlap.
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::int32_t> gather(counts.size());
    std::vector<std::int32_t> scatter(counts.size());
    std::int32_t place = 0;
    for (const std::size_t i : order) {
      scatter[i] = place;
      place += counts[i];
      gather[i] =
          static_cast<std::int32_t>(random_() % (items - static_cast<std::size_t>(counts[i]) + 1));
    }
    const auto in = random_elements<T>(items, random_);
    std::vector<T> expected(items);
    oracle::interval_move(counts, gather, scatter, in, expected);
    const auto scan = scan_of(counts);
    const auto device_gather = on_device(gather);
    const auto device_scatter = on_device(scatter);
    const auto device_in = shifted(in, static_cast<std::size_t>(offset));
    Guarded<T> out(total(counts), offset);
    interval_move(total(counts), scan.span(), device_gather.span(), device_scatter.span(),
                  {device_in.data() + offset, device_in.count() - offset}, out.span(), workspace_,
                  nullptr);
    EXPECT_TRUE(out.get() == expected);
  };
  int offset = 0;
  for (const Counts kind : all_counts) {
    move.operator()<unsigned>(kind, offset++ % 4);
    move.operator()<std::uint16_t>(kind, offset++ % 4);
  }
  move.operator()<Record<3>>(Counts::random, 1);
  move.operator()<Record<256>>(Counts::power_law, 1);
}

// Around a warp and a tile of 1408 steps, and nothing at all.
TEST_F(Intervals, Sizes) {
  for (const std::int64_t size : {0, 1, 2, 31, 32, 33, 1407, 1408, 1409, 2817}) {
    for (const Counts kind : {Counts::random, Counts::empty_ends}) {
      const auto counts = make_counts<std::int32_t>(kind, size, random_);
      const auto values = random_elements<std::uint64_t>(counts.size(), random_);
      const auto scan = scan_of(counts);
      const auto device_values = on_device(values);
      Guarded<std::uint64_t> out(total(counts), 1);
      interval_expand(total(counts), scan.span(), device_values.span(), out.span(), workspace_,
                      nullptr);
      EXPECT_EQ(out.get(), oracle::interval_expand(counts, values)) << size;
    }
  }
}

// Whole numbers, so that the order of the sums does not matter.
TEST_F(Intervals, RowProductsOfVeryUnevenRows) {
  for (const Counts kind : all_counts) {
    SCOPED_TRACE(name_of(kind));
    const auto counts = make_counts<std::int32_t>(kind, steps(), random_);
    const std::int64_t nonzeros = total(counts);
    constexpr int columns = 100;
    std::vector<std::int32_t> column(static_cast<std::size_t>(nonzeros));
    std::vector<double> value(column.size());
    std::vector<double> x(columns);
    for (auto& c : column) c = static_cast<std::int32_t>(random_() % columns);
    for (auto& v : value) v = static_cast<double>(random_() % 100);
    for (auto& v : x) v = static_cast<double>(random_() % 100);
    std::vector<double> expected;
    std::size_t next = 0;
    for (const std::int32_t count : counts) {
      double sum = 0;
      for (std::int32_t k = 0; k < count; ++k, ++next) {
        sum += value[next] * x[static_cast<std::size_t>(column[next])];
      }
      expected.push_back(sum);
    }
    const auto begins = scan_of(counts);
    const auto device_column = on_device(column);
    const auto device_value = on_device(value);
    const auto device_x = on_device(x);
    Guarded<double> y(begins.count());
    row_products({begins.span(), device_column.span(), device_value.span()}, device_x.span(),
                 y.span(), workspace_, nullptr);
    EXPECT_EQ(y.get(), expected);
  }
}

}  // namespace
}  // namespace warpath::load_balancing_search::test
