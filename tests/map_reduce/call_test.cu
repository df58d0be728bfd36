// The call itself: what it refuses and how, empty inputs, the same bits in every run, and how much
// memory it takes.
#include <limits>

#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using Gaussian3 = Gaussian<float, 3>;

struct Memory {
  DeviceBuffer<float> x = on_device(uniform<float>(3 * 50, 1));
  DeviceBuffer<float> y = on_device(uniform<float>(3 * 80, 2));
  DeviceBuffer<float> b = on_device(uniform<float>(80, 3));
  DeviceBuffer<float> out{50};
  Workspace workspace;

  [[nodiscard]] auto rows() const { return over_i(vectors<3>(x.span())); }
  [[nodiscard]] auto columns() const { return over_j(vectors<3>(y.span()), vectors<1>(b.span())); }
  std::string message(const Options& options) {
    return message_of<std::invalid_argument>([&] {
      reduce(Gaussian3(), Sum<float>(), rows(), columns(), out.span(), workspace, nullptr, options);
    });
  }
};

TEST(BadInput, LengthsAndDimensions) {
  Memory memory;
  const auto message = [](const auto& act) { return message_of<std::invalid_argument>(act); };
  EXPECT_EQ(message([&] {
              vectors<3>(DeviceSpan<float>{memory.x.data(), 10}, "x");
            }),
            "x has 10 numbers: expected a multiple of its dimension, 3");
  EXPECT_EQ(
      message([&] {
        over_j(vectors<3>(memory.y.span()), vectors<1>(DeviceSpan<float>{memory.b.data(), 79}));
      }),
      "y array 2 has 79 elements: expected 80, as many as y array 1");
  const auto call = [&](DeviceSpan<float> out) {
    return message([&] {
      reduce(Gaussian3(), Sum<float>(), memory.rows(), memory.columns(), out, memory.workspace,
             nullptr);
    });
  };
  EXPECT_EQ(call({memory.out.data(), 49}), "out has 49 elements: expected 50, as many as x");
  EXPECT_THAT(call({memory.out.data(), -50}), StartsWith("out has -50 elements"));
  EXPECT_THAT(call({nullptr, 50}), StartsWith("out is null"));
  EXPECT_THAT(call({memory.x.data(), 50}), HasSubstr("out overlaps x array 1"));
  EXPECT_THAT(call({memory.b.data(), 50}), HasSubstr("out overlaps y array 2"));
}

TEST(BadInput, LengthsThatNoArrayHas) {
  Memory memory;
  const std::string expected = "the number of elements of y array 1 is -7: expected 0 to";
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                over_j(Array<float, 3>{memory.y.data(), -7}, Array<float, 1>{memory.b.data(), -7});
              }),
              StartsWith(expected));
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                over_j(vectors<3>(DeviceSpan<float>{memory.y.data(), -21}));
              }),
              StartsWith(expected));
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                over_i(Array<float, 3>{memory.x.data(), std::numeric_limits<std::int64_t>::max()});
              }),
              StartsWith("the number of elements of x array 1 is"));
}

// More bytes than can be counted: as many as can be.
TEST(BadInput, ExtraBytesDoNotOverflow) {
  const auto extra_bytes = [](std::int64_t M, std::int64_t N, Variant variant) {
    return plan(SquaredDistance<float, 3>(), Sum<float>(), over_i(Array<float, 3>{nullptr, M}),
                over_j(Array<float, 3>{nullptr, N}), {.variant = variant})
        .extra_bytes;
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t large = std::int64_t{1} << 31;
  EXPECT_EQ(extra_bytes(large, large, Variant::naive), most);
  EXPECT_EQ(extra_bytes(3'000'000'000, 3'000'000'000, Variant::naive), most);
  EXPECT_EQ(extra_bytes(large << 9, large << 9, Variant::gpu_2d), most);
  EXPECT_EQ(extra_bytes(large, large / 4, Variant::naive), large * (large / 4) * 4);
}

// Arrays that over_j() did not join.
TEST(BadInput, ArraysOfOtherLengthsThanTheirIndex) {
  Memory memory;
  using Columns = Indexed<Array<float, 3>, Array<float, 1>>;
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                reduce(Gaussian3(), Sum<float>(), memory.rows(),
                       Columns{pack_of(Array<float, 3>{memory.y.data(), 79},
                                       Array<float, 1>{memory.b.data(), 10}),
                               79},
                       memory.out.span(), memory.workspace, nullptr);
              }),
              HasSubstr("y array 2"));
}

TEST(BadInput, MemoryThatIsNotAligned) {
  Memory memory;
  auto* const off = reinterpret_cast<float*>(reinterpret_cast<char*>(memory.y.data()) + 2);
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                reduce(Gaussian3(), Sum<float>(), memory.rows(),
                       over_j(Array<float, 3>{off, 79}, Array<float, 1>{memory.b.data(), 79}),
                       memory.out.span(), memory.workspace, nullptr);
              }),
              StartsWith("y array 1 begins at an address that is no multiple of 4"));
}

TEST(BadInput, ThreadsOfABlock) {
  Memory memory;
  for (const Variant variant :
       {Variant::gpu_1d, Variant::gpu_2d, Variant::tuned_1d, Variant::automatic}) {
    for (const int K : {0, -32, 16, 100, 193, 1056, 100'000}) {
      EXPECT_THAT(memory.message({variant, K}),
                  AllOf(StartsWith("block_threads is " + std::to_string(K)),
                        HasSubstr("expected a multiple of 32")));
    }
    EXPECT_EQ(memory.message({variant, 32}), "nothing");
  }
}

// (Copies of such columns take nvcc minutes where it compiles without optimisation, and nothing
// runs them.)
#if defined(SIMT_EMULATION) || !defined(WARPATH_TEST_FEW_TYPES)
/// Of eight arrays of 128 doubles: columns of 8 KB.
struct EndsOfEight {
  template <class... Y>
  __device__ double operator()(const Vector<double, 1>& x, const Y&... y) const {
    return x[0] + ((y[0] + y[127]) + ...);
  }
};

// 32 columns take more shared memory than any block has.
TEST(LongColumns, TakeSmallerTiles) {
  constexpr int N = 37;
  const DeviceBuffer<double> x = on_device(std::vector<double>{1, 2, 3});
  std::vector<double> numbers(std::size_t{128} * N);
  double ends = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    numbers[k] = static_cast<double>(k % 7);
    if (k % 128 == 0 || k % 128 == 127) ends += 8 * numbers[k];
  }
  const DeviceBuffer<double> y = on_device(numbers);
  const auto a = vectors<128>(y.span());
  const auto sums = [&](const Options& options) {
    return reduced(EndsOfEight(), Sum<double>(), over_i(vectors<1>(x.span())),
                   over_j(a, a, a, a, a, a, a, a), options);
  };
  for (const Variant variant : {Variant::automatic, Variant::tuned_1d, Variant::tuned_2d}) {
    SCOPED_TRACE(name_of({variant}));
    EXPECT_EQ(sums({variant}), (std::vector<double>{ends + N, ends + 2 * N, ends + 3 * N}));
  }
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                sums({Variant::gpu_1d, 32});
              }),
              HasSubstr("columns of 8192 bytes are too long"));
}
#endif

TEST(BadInput, VariantsAndShapesThatAreNotToBeHad) {
  Memory memory;
  EXPECT_THAT(memory.message({Variant::tuned_1d, 192, 3}), HasSubstr("rows_per_thread is 3"));
  EXPECT_THAT(memory.message({Variant::automatic, 192, -1}),
              HasSubstr("rows_per_thread is -1: expected 1, 4 or 8"));
  EXPECT_THAT(memory.message({Variant::automatic, 192, 9}), HasSubstr("rows_per_thread is 9"));
  EXPECT_THAT(memory.message({Variant::tuned_2d, 192, 0, -1}),
              HasSubstr("splits is -1: expected 0 to 65535"));
  EXPECT_THAT(message_of<std::invalid_argument>([&] {
                reduce(Laplacian<float, 3>(), Sum<float>(), memory.rows(), memory.columns(),
                       memory.out.span(), memory.workspace, nullptr, {Variant::tensor});
              }),
              HasSubstr("variant tensor has no such formula and reduction"));
}

// A million squared is more than any device has. Nothing is read before that is known.
TEST(BadInput, IsFoundWithoutRowsAndColumns) {
  Memory memory;
  const auto message = [&](std::int64_t M, std::int64_t N, const Options& options) {
    return message_of<std::invalid_argument>([&] {
      reduce(SquaredDistance<float, 3>(), Sum<float>(), over_i(Array<float, 3>{memory.x.data(), M}),
             over_j(Array<float, 3>{memory.y.data(), N}), DeviceSpan<float>{memory.out.data(), M},
             memory.workspace, nullptr, options);
    });
  };
  for (const auto& [M, N] : std::vector<std::pair<int, int>>{{0, 5}, {5, 0}, {0, 0}, {5, 5}}) {
    EXPECT_THAT(message(M, N, {Variant::gpu_1d, 33}), HasSubstr("is 33"));
    EXPECT_THAT(message(M, N, {Variant::gpu_2d, 0}), HasSubstr("is 0"));
    EXPECT_THAT(message(M, N, {Variant::tensor}), HasSubstr("variant tensor"));
    EXPECT_THAT(message(M, N, {Variant::tuned_2d, 192, 0, -1}), HasSubstr("splits is -1"));
    EXPECT_THAT(message(M, N, {static_cast<Variant>(77)}), HasSubstr("variant is 77"));
  }
}

TEST(BadInput, ValuesThatDoNotFit) {
  Workspace workspace;
  constexpr std::int64_t n = 4'000'000;
  auto* const nowhere = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  const auto call = [&](Variant variant) {
    return message_of<DoesNotFit>([&] {
      reduce(SquaredDistance<float, 3>(), Sum<float>(), over_i(Array<float, 3>{nowhere, n}),
             over_j(Array<float, 3>{nowhere, n}),
             DeviceSpan<float>{nowhere + (std::int64_t{1} << 30), n}, workspace, nullptr,
             {variant});
    });
  };
  EXPECT_THAT(
      call(Variant::naive),
      AllOf(StartsWith("naive needs 64000000000000 bytes of device memory"),
            HasSubstr("4000000 x 4000000 elements of 4 bytes, and "), HasSubstr(" are free")));
  EXPECT_THAT(call(Variant::gpu_2d), StartsWith("gpu_2d needs 666688000000 bytes"));
}

TEST(Empty, NoColumnsGiveTheNeutralElement) {
  Memory memory;
  const auto none = over_j(Array<float, 3>{memory.y.data(), 0});
  const auto rows = memory.rows();
  for (const Options& options : all_options(false)) {
    SCOPED_TRACE(name_of(options));
    const auto of = [&](const auto& reduction) {
      return reduced(SquaredDistance<float, 3>(), reduction, rows, none, options);
    };
    EXPECT_THAT(of(Sum<float>()), testing::Each(0.0f));
    EXPECT_THAT(of(ArgMin<float>()), testing::Each(-1));
  }
  // The others by the kernel that all of those calls launch.
  const auto of = [&](const auto& reduction) {
    Guarded<typename std::remove_cvref_t<decltype(reduction)>::Result> out(50);
    const auto problem =
        detail::problem_of(SquaredDistance<float, 3>(), reduction, rows, none, out.span());
    launch({1, 128}, detail::fill_neutral_kernel<std::remove_const_t<decltype(problem)>>, problem);
    return out.get();
  };
  EXPECT_THAT(of(LogSumExp<float>()), testing::Each(-infinity));
  EXPECT_THAT(of(Min<float>()), testing::Each(infinity));
  EXPECT_THAT(of(Max<float>()), testing::Each(-infinity));
  for (const auto& columns : of(ArgKMin<float, 3>())) EXPECT_EQ(columns[2], -1);
}

TEST(Empty, NoRowsGiveNothing) {
  Memory memory;
  const auto none = over_i(Array<float, 3>{memory.x.data(), 0});
  for (const Options& options : all_options(true)) {
    EXPECT_TRUE(reduced(Gaussian3(), Sum<float>(), none, memory.columns(), options).empty());
  }
}

// Blocks end in any order; with random schedules this is seen on the emulated backend, too.
TEST(Determinism, TheSameBitsInEveryRun) {
  const int M = is_small() ? 40 : 200;
  const int N = is_small() ? 1500 : 3000;
  const DeviceBuffer<float> x = on_device(uniform<float>(3 * M, 1));
  const DeviceBuffer<float> y = on_device(uniform<float>(3 * N, 2));
  const DeviceBuffer<float> b = on_device(uniform<float>(N, 3, -0.5));
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    const auto run = [&] {
      return numbers_of<std::uint32_t>(
          reduced(Gaussian3(), Sum<float>(), over_i(vectors<3>(x.span())),
                  over_j(vectors<3>(y.span()), vectors<1>(b.span())), options));
    };
    const auto first = run();
    for (int again = 0; again < (is_small() ? 1 : 3); ++again) EXPECT_EQ(run(), first);
  }
}

// A workspace is used again by calls of other shapes; the tickets must be as the last one left
// them.
TEST(TheWorkspace, IsUsedAgain) {
  const DeviceBuffer<float> x = on_device(uniform<float>(3 * 300, 1));
  const DeviceBuffer<float> y = on_device(uniform<float>(3 * (is_small() ? 400 : 900), 2));
  Workspace workspace;
  const auto run = [&](std::int64_t M, const Options& options, Workspace& with) {
    Guarded<std::int64_t> out(M);
    reduce(SquaredDistance<float, 3>(), ArgMin<float>(), over_i(Array<float, 3>{x.data(), M}),
           over_j(vectors<3>(y.span())), out.span(), with, nullptr, options);
    return out.get();
  };
  const int many = is_small() ? 150 : 300;
  for (const std::int64_t M : {many, 7, many}) {
    for (const Options& options : all_options(true)) {
      SCOPED_TRACE(name_of(options));
      Workspace fresh;
      EXPECT_EQ(run(M, options, workspace), run(M, options, fresh));
    }
  }
}

TEST(TheWorkspace, HoldsAStateForEachRowAndPart) {
  const std::int64_t M = 256;
  const std::int64_t N = 3000;
  const DeviceBuffer<float> x = on_device(uniform<float>(3 * M, 1));
  const DeviceBuffer<float> y = on_device(uniform<float>(3 * N, 2));
  const auto bytes = [&](const Options& options) {
    Workspace workspace;
    Guarded<float> out(M);
    reduce(SquaredDistance<float, 3>(), Sum<float>(), over_i(vectors<3>(x.span())),
           over_j(vectors<3>(y.span())), out.span(), workspace, nullptr, options);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    return workspace.bytes();
  };
  EXPECT_EQ(bytes({Variant::gpu_1d}), 0);
  EXPECT_EQ(bytes({Variant::tuned_1d}), 0);
  EXPECT_EQ(bytes({Variant::naive}), M * N * 4);
  EXPECT_EQ(bytes({Variant::gpu_2d, 192}), M * 16 * 8);
  const std::int64_t parts = 4;  // of 768 columns, since tiles have 256
  const std::int64_t tickets = M / 128 * 2 * 4;
  EXPECT_EQ(bytes({Variant::tuned_2d, 192, 1, parts}), M * parts * 8 + tickets);
}

}  // namespace
}  // namespace warpath::map_reduce::test
