// What is built on the search: every work item visited once, expanded, moved; and the worked
// example, whose rows are very uneven.
#include <algorithm>
#include <cstring>
#include <limits>

#include "../number_types.hpp"
#include "../test_size.hpp"
#include "load_balancing_search/intervals.cuh"
#include "load_balancing_search/row_products.cuh"
#include "support.cuh"

namespace warpath::load_balancing_search::test {
namespace {

/// A record of `Bytes` bytes, aligned to `Align`.
template <int Bytes, int Align = 1>
struct alignas(Align) Record {
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

class Intervals : public testing::Test {
 protected:
  template <class Offset>
  static DeviceBuffer<Offset> scan_of(const std::vector<Offset>& counts) {
    return on_device(oracle::exclusive_scan(counts));
  }
  [[nodiscard]] static std::int64_t steps() { return is_small() ? 3000 : 20'000; }

  template <class T, class Offset>
  void expand(Counts kind, std::int64_t steps, int offset) {
    SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(steps) + " steps");
    expand<T>(make_counts<Offset>(kind, steps, random_), offset);
  }

  /// Expands values, and compares all of the output with the oracle's.
  template <class T, class Offset>
  void expand(const std::vector<Offset>& counts, int offset) {
    SCOPED_TRACE(std::to_string(sizeof(T)) + " bytes, offset " + std::to_string(offset));
    const auto values = random_elements<T>(counts.size(), random_);
    const auto scan = scan_of(counts);
    const auto device_values = shifted(values, static_cast<std::size_t>(offset));
    Guarded<T> out(total(counts), offset);
    interval_expand(total(counts), scan.span(),
                    {device_values.data() + offset, device_values.count() - offset}, out.span(),
                    workspace_, nullptr);
    EXPECT_TRUE(out.get() == oracle::interval_expand(counts, values));
  }

  template <class T, class Offset>
  void move(Counts kind, std::int64_t steps, int offset) {
    SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(steps) + " steps");
    move<T>(make_counts<Offset>(kind, steps, random_), offset);
  }

  /// Moves intervals, which are gathered from anywhere, and scattered in another order without
  /// overlap; an empty one begins outside all arrays.
  template <class T, class Offset>
  void move(const std::vector<Offset>& counts, int offset) {
    SCOPED_TRACE(std::to_string(sizeof(T)) + " bytes, offset " + std::to_string(offset));
    const auto items = static_cast<std::size_t>(total(counts));
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<Offset> gather(counts.size(), std::numeric_limits<Offset>::max());
    std::vector<Offset> scatter(counts.size(), std::numeric_limits<Offset>::min());
    Offset place = 0;
    for (const std::size_t i : order) {
      if (counts[i] == 0) continue;
      scatter[i] = place;
      place += counts[i];
      gather[i] =
          static_cast<Offset>(random_() % (items - static_cast<std::size_t>(counts[i]) + 1));
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
  }

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

TEST_F(Intervals, Expand) {
  int offset = 0;
  for (const Counts kind : all_counts) {
    expand<std::uint64_t, std::int64_t>(kind, steps(), offset++ % 4);
    expand<std::uint8_t, std::int32_t>(kind, steps(), offset++ % 4);
    expand<Record<12, 4>, std::int32_t>(kind, steps(), offset++ % 4);
  }
}

// In each of these sizes; elements whose type does not say how they are aligned are tried where
// they are, and where they are not.
TEST_F(Intervals, ExpandOfElementsOfAnySize) {
  expand<unsigned, std::int64_t>(Counts::mostly_empty, steps(), 2);
  if constexpr (!has_few_types) {
    expand<std::uint16_t, std::int32_t>(Counts::random, steps(), 3);
    expand<unsigned, std::int32_t>(Counts::random, steps(), 1);
    expand<Record<16, 16>, std::int64_t>(Counts::random, steps(), 1);
  }
  for (const Counts kind : {Counts::power_law, Counts::one_big, Counts::empty_but_last}) {
    expand<Record<20, 4>, std::int32_t>(kind, steps(), 1);
    expand<Record<24, 8>, std::int64_t>(kind, steps(), 1);
  }
  expand<Record<12, 4>, std::int32_t>(std::vector<std::int32_t>(1 + steps() / 20, 20), 1);
  for (const int offset : {0, 1}) {
    expand<Record<4>, std::int32_t>(Counts::random, steps(), offset);
    expand<Record<16, 4>, std::int32_t>(Counts::random, steps(), offset);
    expand<Record<256>, std::int32_t>(Counts::power_law, steps() / 4, offset);
    if constexpr (!has_few_types) {
      expand<Record<3>, std::int32_t>(Counts::random, steps(), offset);
      expand<Record<8, 4>, std::int32_t>(Counts::random, steps(), offset);
      expand<Record<24, 8>, std::int32_t>(Counts::random, steps() / 2, offset);
    }
  }
}

// So many that no share is guessed.
template <class T>
void expect_values_of_shares(const std::vector<std::int32_t>& counts, std::mt19937_64& random) {
  SCOPED_TRACE(std::to_string(sizeof(T)) + " bytes");
  const auto values = random_elements<T>(counts.size(), random);
  const auto scan = on_device(oracle::exclusive_scan(counts));
  const auto device_values = on_device(values);
  Guarded<T> out(total(counts), 3);
  detail::run_output_aligned<detail::ExpandTuning<static_cast<int>(sizeof(T))>>(
      Work<std::int32_t>{total(counts), scan.data(), scan.count()},
      detail::ObjectValues<T>{device_values.data()}, out.span().data, nullptr);
  EXPECT_TRUE(out.get() == oracle::interval_expand(counts, values));
}

TEST_F(Intervals, ExpandByShares) {
  for (const Counts kind : all_counts) {
    SCOPED_TRACE(name_of(kind));
    const auto counts = make_counts<std::int32_t>(kind, 3 * steps(), random_);
    if (total(counts) == 0) continue;
    expect_values_of_shares<std::uint8_t>(counts, random_);
    expect_values_of_shares<std::uint16_t>(counts, random_);
    expect_values_of_shares<std::uint32_t>(counts, random_);
    expect_values_of_shares<std::uint64_t>(counts, random_);
  }
}

TEST_F(Intervals, Move) {
  int offset = 0;
  for (const Counts kind : all_counts) {
    move<unsigned, std::int32_t>(kind, steps(), offset++ % 4);
    move<std::uint16_t, std::int64_t>(kind, steps(), offset++ % 4);
    move<Record<12, 4>, std::int32_t>(kind, steps(), offset++ % 4);
  }
}

TEST_F(Intervals, MoveOfElementsOfAnySize) {
  if constexpr (!has_few_types) {
    move<std::uint8_t, std::int32_t>(Counts::random, steps(), 3);
    move<std::uint64_t, std::int64_t>(Counts::random, steps(), 1);
    move<Record<16, 16>, std::int32_t>(Counts::random, steps(), 1);
  }
  for (const int offset : {0, 1}) {
    move<Record<16, 4>, std::int32_t>(Counts::random, steps(), offset);
    move<Record<256>, std::int32_t>(Counts::power_law, steps() / 4, offset);
    if constexpr (!has_few_types) {
      move<Record<3>, std::int32_t>(Counts::random, steps(), offset);
      move<Record<4>, std::int32_t>(Counts::random, steps(), offset);
      move<Record<24, 8>, std::int32_t>(Counts::random, steps() / 2, offset);
    }
  }
}

// Long intervals begin in one tile, end in another, and have shares of their own.
TEST_F(Intervals, MoveOfIntervalsOfManyTiles) {
  move<unsigned, std::int32_t>(std::vector<std::int32_t>{1, 5000, 0, 0, 3, 9000, 1023, 0, 1}, 1);
  move<std::uint8_t, std::int64_t>(std::vector<std::int64_t>{0, 20'000, 0}, 1);
}

// Shares of several tiles and batches, also of the fewest and the most steps: intervals reversed.
TEST_F(Intervals, SharesOfEverySize) {
  using Shape = detail::CopyTuning<4>;
  for (const Counts kind : all_counts) {
    const auto counts = make_counts<std::int32_t>(kind, is_small() ? 20'000 : 140'000, random_);
    const auto items = static_cast<std::size_t>(total(counts));
    const auto scan = oracle::exclusive_scan(counts);
    std::vector<std::int32_t> scatter(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      scatter[i] = static_cast<std::int32_t>(items) - scan[i] - counts[i];
    }
    const auto in = random_elements<unsigned>(items, random_);
    std::vector<unsigned> expected(items);
    oracle::interval_move(counts, scan, scatter, in, expected);
    const auto device_scan = on_device(scan);
    const auto device_scatter = on_device(scatter);
    const auto device_in = on_device(in);
    for (const int share_steps :
         {333, Shape::batch_objects, Shape::tile_items + 1, Shape::max_share_steps}) {
      SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(share_steps) + " steps");
      Guarded<unsigned> out(static_cast<std::int64_t>(items));
      detail::run_copy_items<Shape, 1>(
          Work<std::int32_t>{static_cast<std::int64_t>(items), device_scan.data(),
                             device_scan.count()},
          share_steps,
          detail::IntervalMoves<std::int32_t>{device_scan.data(), device_scatter.data()},
          static_cast<const unsigned*>(device_in.data()), out.span().data, nullptr);
      EXPECT_TRUE(out.get() == expected);
    }
  }
}

// Around a warp, the least share, the tiles of all kernels, and nothing at all.
TEST_F(Intervals, Sizes) {
  for (const std::int64_t size :
       {0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073}) {
    for (const Counts kind : {Counts::random, Counts::ones, Counts::empty_ends}) {
      expand<std::uint64_t, std::int32_t>(kind, size, 1);
      expand<Record<12, 4>, std::int32_t>(kind, size, 1);
      move<unsigned, std::int32_t>(kind, size, 1);
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
