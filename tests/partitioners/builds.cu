#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../number_types.hpp"
#include "../stream.cuh"
#include "builds.hpp"
#include "partitioners/oracle.hpp"
#include "partitioners/partitioners.cuh"

namespace warpath::partitioners::test {

namespace {

using oracle::References;
using oracle::TupleSet;

/// What Guarded fills its memory with.
constexpr std::uint32_t untouched = 0xA5A5A5A5u;
/// What is in places that no segment has: the number of no tuple.
constexpr std::uint32_t gap = 0xEEEEEEEEu;

/// The reference arrays of a level, one for each coordinate, and the tuples.
template <class C>
struct Arrays {
  TupleSet<C> tuples;
  std::vector<References> of;

  [[nodiscard]] std::int64_t n() const { return static_cast<std::int64_t>(of[0].size()); }
};

template <class C>
C coordinate_of(Distribution distribution, std::size_t tuple, int k, std::mt19937_64& random) {
  const auto number = static_cast<std::int64_t>(tuple);
  switch (distribution) {
    case Distribution::uniform:
      return static_cast<C>(static_cast<std::int64_t>(random() % 2'000'001) - 1'000'000);
    case Distribution::few_values:
      return static_cast<C>(static_cast<std::int64_t>(random() % 3) - 1);
    case Distribution::all_equal:
      return random() % 2 == 0 ? C{0} : static_cast<C>(-C{0});
    case Distribution::sorted:
      return static_cast<C>(number);
    default:
      return static_cast<C>(k % 2 == 0 ? number : -number);
  }
}

/// Level 0: more tuples than references, which are some of their numbers.
template <class C>
Arrays<C> make_arrays(const Case& c) {
  std::mt19937_64 random(c.seed);
  const auto n = static_cast<std::size_t>(c.n);
  const std::size_t tuples = n + (n + 9) / 10;
  Arrays<C> arrays;
  arrays.tuples.dimensions = c.dimensions;
  for (std::size_t tuple = 0; tuple < tuples; ++tuple) {
    for (int k = 0; k < c.dimensions; ++k) {
      arrays.tuples.coordinates.push_back(coordinate_of<C>(c.distribution, tuple, k, random));
    }
  }
  References references(tuples);
  std::iota(references.begin(), references.end(), 0u);
  std::shuffle(references.begin(), references.end(), random);
  references.resize(n);
  for (int k = 0; k < c.dimensions; ++k) {
    arrays.of.push_back(references);
    arrays.tuples.sort(arrays.of.back().begin(), arrays.of.back().end(), k);
  }
  return arrays;
}

template <class C>
int primary_of(const Arrays<C>& arrays, int level) {
  return level % arrays.tuples.dimensions;
}

/// A level further, by the oracle.
template <class C>
void advance(Arrays<C>& arrays, int level) {
  const int primary = primary_of(arrays, level);
  const References primary_references = arrays.of[static_cast<std::size_t>(primary)];
  for (int k = 0; k < arrays.tuples.dimensions; ++k) {
    References& array = arrays.of[static_cast<std::size_t>(k)];
    array = oracle::partition_level(arrays.tuples, primary, level, primary_references, array,
                                    References(array.size(), gap));
  }
}

/// What a level leaves in memory: the other arrays' outputs, and two median stores.
struct Outputs {
  std::vector<References> arrays;
  References medians;
  References next_medians;
  bool operator==(const Outputs&) const = default;
};

bool is_leaf(const Case& c, int level) {
  if (c.options.variant != Variant::source) return false;
  if (c.options.partitioner != Partitioner::by_level) {
    return c.options.partitioner == Partitioner::leaf;
  }
  return level == leaf_level(c.n);
}

template <class C>
Outputs expected_outputs(const Case& c, const Arrays<C>& arrays, int level) {
  const int primary = primary_of(arrays, level);
  const References& primary_references = arrays.of[static_cast<std::size_t>(primary)];
  Outputs expected;
  expected.medians = oracle::medians(level, primary_references);
  for (int k = 0; k < arrays.tuples.dimensions; ++k) {
    if (k == primary) continue;
    const References before(primary_references.size(), untouched);
    expected.arrays.push_back(
        is_leaf(c, level)
            ? before
            : oracle::partition_level(arrays.tuples, primary, level, primary_references,
                                      arrays.of[static_cast<std::size_t>(k)], before));
  }
  expected.next_medians = References(std::size_t{2} << level, untouched);
  if (is_leaf(c, level) && level < last_level(c.n)) {
    expected.next_medians = oracle::medians(level + 1, primary_references);
  }
  return expected;
}

/// A level of `side_bits` with another store than it chooses.
template <class C>
void run_store(Store store, const Tuples<C>& tuples, Level level, const std::uint32_t* primary,
               const std::vector<ReferenceArray>& arrays, std::uint32_t* medians,
               Workspace& workspace, cudaStream_t stream) {
  detail::ArrayList list{};
  for (const ReferenceArray& array : arrays) {
    list.in[list.count] = array.in.data;
    list.out[list.count++] = array.out.data;
  }
  const detail::LevelArguments a{level, primary, list, medians, nullptr};
  const detail::CompareSides<C> sides{{tuples.coordinates.data, tuples.dimensions, tuples.primary}};
  using Crowded = detail::SideTableShape<64, 2, 1, 1, 4096>;
  static_assert(Crowded::tile_items == tile_of_crowded_ranges);
  switch (store) {
    case Store::large_segments:
      return detail::run_block_segments<detail::LargeSegmentShape>(a, sides, stream);
    case Store::segments:
      return detail::run_block_segments<detail::SegmentShape>(a, sides, stream);
    case Store::ranges:
      return detail::run_block_ranges<detail::RangeShape>(a, sides, stream);
    case Store::crowded_segments:
      return detail::run_block_segments<Crowded>(a, sides, stream);
    case Store::crowded_ranges:
      return detail::run_block_ranges<Crowded>(a, sides, stream);
    default:
      return detail::run_segment_tiles(a, tuples.coordinates.count / tuples.dimensions, workspace,
                                       stream);
  }
}

template <class C>
Outputs run_level(const Case& c, const Arrays<C>& arrays, int level, Workspace& workspace,
                  cudaStream_t stream) {
  const int primary = primary_of(arrays, level);
  const DeviceBuffer<C> coordinates = on_device(arrays.tuples.coordinates, stream);
  const DeviceBuffer<std::uint32_t> primary_references =
      on_device(arrays.of[static_cast<std::size_t>(primary)], stream);
  std::vector<DeviceBuffer<std::uint32_t>> ins;
  std::vector<Guarded<std::uint32_t>> outs;
  std::vector<ReferenceArray> others;
  for (int k = 0; k < arrays.tuples.dimensions; ++k) {
    if (k == primary) continue;
    ins.push_back(on_device(arrays.of[static_cast<std::size_t>(k)], stream));
    outs.emplace_back(arrays.n(), static_cast<int>((c.seed + static_cast<unsigned>(k)) % 5));
    others.push_back({std::as_const(ins.back()).span(), outs.back().span()});
  }
  Guarded<std::uint32_t> medians(std::int64_t{1} << level);
  Guarded<std::uint32_t> next_medians(std::int64_t{2} << level);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // what fills the outputs runs in another stream
  const Tuples<C> tuples{coordinates.span(), arrays.tuples.dimensions, primary};
  if (c.store == Store::by_level) {
    partition_level(tuples, level, primary_references.span(), others,
                    {medians.span(), next_medians.span()}, workspace, stream, c.options);
  } else {
    run_store(c.store, tuples, {static_cast<std::uint32_t>(arrays.n()), level},
              primary_references.data(), others, medians.span().data, workspace, stream);
  }
  Outputs result{{}, medians.get(), next_medians.get()};
  for (const auto& out : outs) result.arrays.push_back(out.get());
  return result;
}

testing::AssertionResult compare(const References& found, const References& expected,
                                 const std::string& what) {
  const auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (a == found.end() && b == expected.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << what << " differs at " << a - found.begin() << ": " << (a == found.end() ? 0 : *a)
         << " instead of " << (b == expected.end() ? 0 : *b);
}

testing::AssertionResult judge(const Outputs& found, const Outputs& expected) {
  auto verdict = compare(found.medians, expected.medians, "the median store");
  if (verdict) verdict = compare(found.next_medians, expected.next_medians, "the next level's one");
  for (std::size_t i = 0; verdict && i < expected.arrays.size(); ++i) {
    verdict = compare(found.arrays[i], expected.arrays[i], "array " + std::to_string(i));
  }
  return verdict;
}

/// One workspace and one stream for a case.
struct Laboratory {
  Stream own_stream;
  Workspace workspace;
  [[nodiscard]] cudaStream_t stream(const Case& c) const {
    return c.on_default_stream ? nullptr : static_cast<cudaStream_t>(own_stream);
  }
};

template <class C>
testing::AssertionResult check_level_of(const Case& c, const Arrays<C>& arrays, int level,
                                        Laboratory& laboratory) {
  const auto verdict =
      judge(run_level(c, arrays, level, laboratory.workspace, laboratory.stream(c)),
            expected_outputs(c, arrays, level));
  if (verdict) return verdict;
  return testing::AssertionFailure()
         << describe(c) << ", level " << level << ": " << verdict.message();
}

template <class C>
testing::AssertionResult check_levels(const Case& c, int first, int last) {
  Laboratory laboratory;
  Arrays<C> arrays = make_arrays<C>(c);
  for (int level = 0; level <= last; ++level) {
    if (level >= first) {
      const auto verdict = check_level_of(c, arrays, level, laboratory);
      if (!verdict) return verdict;
    }
    if (level < last) advance(arrays, level);
  }
  return testing::AssertionSuccess();
}

template <class C>
testing::AssertionResult check_build_of(const Case& c) {
  Laboratory laboratory;
  const cudaStream_t stream = laboratory.stream(c);
  const Arrays<C> arrays = make_arrays<C>(c);
  const DeviceBuffer<C> coordinates = on_device(arrays.tuples.coordinates, stream);
  // Of each array two copies: a level goes from one to the other, but for the primary one, which
  // stays where it is.
  std::vector<DeviceBuffer<std::uint32_t>> now;
  std::vector<DeviceBuffer<std::uint32_t>> next;
  for (const References& array : arrays.of) {
    now.push_back(on_device(array, stream));
    next.push_back(on_device(References(array.size(), gap), stream));
  }
  const int last = c.options.variant == Variant::source ? leaf_level(c.n) : last_level(c.n);
  std::vector<DeviceBuffer<std::uint32_t>> medians;
  for (int level = 0; level <= last + 1; ++level) {
    medians.push_back(on_device(References(std::size_t{1} << level, gap), stream));
  }
  for (int level = 0; level <= last; ++level) {
    const int primary = primary_of(arrays, level);
    std::vector<ReferenceArray> others;
    for (int k = 0; k < c.dimensions; ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (k != primary) others.push_back({std::as_const(now[i]).span(), next[i].span()});
    }
    const auto l = static_cast<std::size_t>(level);
    partition_level(Tuples<C>{coordinates.span(), c.dimensions, primary}, level,
                    now[static_cast<std::size_t>(primary)].span(), others,
                    {medians[l].span(), medians[l + 1].span()}, laboratory.workspace, stream,
                    c.options);
    for (int k = 0; k < c.dimensions; ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (k != primary) std::swap(now[i], next[i]);
    }
  }
  std::vector<References> expected = oracle::nodes(arrays.tuples, arrays.of[0]);
  if (c.n == 0) expected = {{oracle::none}};
  for (std::size_t level = 0; level < expected.size(); ++level) {
    const auto verdict = compare(on_host(medians[level], stream), expected[level],
                                 "median store " + std::to_string(level));
    if (!verdict) return testing::AssertionFailure() << describe(c) << ": " << verdict.message();
  }
  return testing::AssertionSuccess();
}

/// act.operator()<C>() with the coordinate type of a case, one of all_types.
template <class Act>
auto with_type(Type type, const Act& act) {
  if constexpr (!has_few_types) {
    if (type == Type::int32) return act.template operator()<std::int32_t>();
    if (type == Type::float64) return act.template operator()<double>();
  }
  if (type == Type::int64) return act.template operator()<std::int64_t>();
  return act.template operator()<float>();
}

}  // namespace

std::string describe(const Case& c) {
  static constexpr std::array types = {"int32", "int64", "float", "double"};
  static constexpr std::array distributions = {"uniform", "few_values", "all_equal", "sorted",
                                               "opposed"};
  return std::string(enum_name(c.options.variant)) + ", " +
         std::string(enum_name(c.options.partitioner)) + ", store " +
         std::to_string(static_cast<int>(c.store)) + ", " + std::to_string(c.options.warps) +
         (c.options.notes_sides ? " warps and noted sides" : " warps") +
         ", n = " + std::to_string(c.n) + ", " + std::to_string(c.dimensions) + " dimensions of " +
         types[static_cast<std::size_t>(c.type)] + ", " +
         distributions[static_cast<std::size_t>(c.distribution)] + ", seed " +
         std::to_string(c.seed);
}

testing::AssertionResult check_level(const Case& c, int level) {
  return with_type(c.type, [&]<class C>() { return check_levels<C>(c, level, level); });
}

testing::AssertionResult check_all_levels(const Case& c) {
  const int last = c.options.variant == Variant::source ? leaf_level(c.n) : last_level(c.n);
  return with_type(c.type, [&]<class C>() { return check_levels<C>(c, 0, last); });
}

testing::AssertionResult check_build(const Case& c) {
  return with_type(c.type, [&]<class C>() { return check_build_of<C>(c); });
}

bool sees_corruption(const Case& c, int level, int array, std::int64_t place) {
  return with_type(c.type, [&]<class C>() {
    Arrays<C> arrays = make_arrays<C>(c);
    for (int l = 0; l < level; ++l) advance(arrays, l);
    const Outputs expected = expected_outputs(c, arrays, level);
    Outputs found = expected;
    if (!judge(found, expected)) return false;  // it must be right before
    References& spoilt = array < 0 ? found.medians : found.arrays[static_cast<std::size_t>(array)];
    spoilt[static_cast<std::size_t>(place)] ^= 1;
    return !static_cast<bool>(judge(found, expected));
  });
}

}  // namespace warpath::partitioners::test
