// All operations on the inputs that may break them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "../message_of.hpp"
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using SetsOfInts = Sets<std::int32_t, std::int32_t>;

TEST_F(SetsOfInts, SmallInputs) {
  for (const Inputs& inputs : multisets()) {
    SCOPED_TRACE(inputs.name);
    expect_all<true>(inputs.a, inputs.b);
  }
}

TEST_F(SetsOfInts, WithoutDuplicates) {
  for (const Inputs& inputs : sets()) {
    SCOPED_TRACE(inputs.name);
    expect_all<false>(inputs.a, inputs.b);
  }
}

TEST_F(SetsOfInts, ManyTiles) {
  for (const Inputs& inputs : many_tiles(is_small() ? 7'000 : 60'000)) {
    SCOPED_TRACE(inputs.name);
    expect_all<true>(inputs.a, inputs.b);
  }
}

TEST_F(SetsOfInts, TotalsAroundATile) {
  for (const std::size_t tile :
       {SetTuning::tile_items, SinglePassTuning<SetOperation::set_union, int, NoValue>::tile_items,
        SinglePassTuning<SetOperation::set_union, int, int>::tile_items}) {
    for (const std::size_t total : {tile - 1, tile, tile + 1, 2 * tile + 1}) {
      for (const Inputs& inputs : many_tiles(total)) {
        if (is_small() && total != tile) continue;
        SCOPED_TRACE(inputs.name + " of " + std::to_string(total));
        expect_all<true>(inputs.a, inputs.b);
      }
    }
  }
}

// A tile that begins with a star: without duplicates, too.
TEST_F(SetsOfInts, StarredTilesOfSets) {
  for (const int before : {0, 1}) {
    std::vector<int> a;
    for (int key = 0; key < 5'000; ++key) a.push_back(key);
    std::vector<int> b(a.begin() + before, a.end());
    expect_all<false>(a, b);
    expect_all<false>(b, a);
    expect_all<true>(a, b);
  }
}

struct Falling {
  __host__ __device__ bool operator()(int x, int y) const { return x > y; }
};

TEST_F(SetsOfInts, AnyOrder) {
  for (Inputs inputs : many_tiles(5'000)) {
    std::reverse(inputs.a.begin(), inputs.a.end());
    std::reverse(inputs.b.begin(), inputs.b.end());
    SCOPED_TRACE(inputs.name);
    expect_all<true>(inputs.a, inputs.b, Falling{});
  }
}

std::string message(const std::function<void()>& act) {
  return message_of<std::invalid_argument>(act);
}

TEST(SetsPreconditions, RoomAndOverlap) {
  DeviceBuffer<int> memory(100);
  const DeviceSpan<const int> a{memory.data(), 10};
  const DeviceSpan<const int> b{memory.data() + 10, 20};
  DeviceCount count;
  Workspace workspace;
  const auto unite = [&](DeviceSpan<int> out) {
    return message(
        [&] { set_operation<SetOperation::set_union>(a, b, out, count, workspace, nullptr); });
  };
  EXPECT_THAT(unite({memory.data() + 30, 29}),
              AllOf(HasSubstr("out holds 29 elements"), HasSubstr("30 are needed")));
  EXPECT_THAT(unite({memory.data() + 29, 30}), HasSubstr("out overlaps b"));
  EXPECT_THAT(unite({memory.data(), 30}), HasSubstr("out overlaps a"));
  EXPECT_THAT(message([&] {
                set_operation<SetOperation::intersection>(
                    a, b, DeviceSpan<int>{memory.data() + 30, 9}, count, workspace, nullptr);
              }),
              HasSubstr("10 are needed"));
  EXPECT_THAT(message([&] {
                set_operation_by_key<SetOperation::difference>(
                    a, DeviceSpan<const int>{memory.data() + 30, 9}, b, b,
                    DeviceSpan<int>{memory.data() + 50, 10},
                    DeviceSpan<int>{memory.data() + 60, 10}, count, workspace, nullptr);
              }),
              AllOf(HasSubstr("a_values has 9 elements"), HasSubstr("as many as a")));
}

TEST(SetsPreconditions, ACheckedBuildLooksAtTheData) {
  const Stream stream;
  Workspace workspace;
  const auto call = [&]<bool Duplicates>(const std::vector<float>& a, const std::vector<float>& b) {
    const DeviceBuffer<float> device_a = on_device(a);
    const DeviceBuffer<float> device_b = on_device(b);
    DeviceBuffer<float> out(static_cast<std::int64_t>(a.size() + b.size()));
    DeviceCount count(stream);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    const std::string said = message([&] {
      set_operation<SetOperation::set_union, Duplicates, float>(
          device_a.span(), device_b.span(), out.span(), count, workspace, stream);
    });
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    return said;
  };
  EXPECT_EQ(call.template operator()<true>({1, 2, 2}, {1}), "nothing");
  EXPECT_EQ(call.template operator()<false>({1, 2}, {1}), "nothing");
  EXPECT_THAT(call.template operator()<true>({1, 3, 2, 1}, {1}),
              HasSubstr("a[2] comes before a[1]"));
  EXPECT_THAT(call.template operator()<true>({1}, {1, 2, 0}), HasSubstr("b[2] comes before b[1]"));
  EXPECT_THAT(call.template operator()<true>({1}, {1, NAN}), HasSubstr("b[1] is NaN"));
  EXPECT_THAT(call.template operator()<false>({1, 2, 2}, {1}), HasSubstr("a[2] equals a[1]"));
}

// What the header says of each variant's memory.
TEST(SetsMemory, OfEachVariant) {
  const Stream stream;
  const std::vector<int> keys(100'000, 1);
  const DeviceBuffer<int> a = on_device(keys);
  DeviceBuffer<int> out(200'000);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const std::int64_t tiles = 200'000 / SetTuning::tile_items + 1;
  const std::int64_t single_pass_tiles =
      200'000 / SinglePassTuning<SetOperation::set_union, int, NoValue>::tile_items + 1;
  for (const auto& [variant, most] :
       {std::pair{Variant::single_pass, 32 * single_pass_tiles + 4096},
        std::pair{Variant::count_scan_stream, 32 * tiles + 4096},
        std::pair{Variant::compact, 32 * tiles + 4096 + 4 * tiles * SetTuning::tile_items}}) {
    Workspace workspace;
    DeviceCount count(stream);
    set_operation<SetOperation::set_union, true, int>(a.span(), a.span(), out.span(), count,
                                                      workspace, stream, {variant});
    EXPECT_EQ(count.get(stream), 100'000);
    EXPECT_LE(workspace.bytes(), most);
  }
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
