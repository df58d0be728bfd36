// Plans: what they say, that a call takes no plan of another call, and which kernels they choose.
#include "../test_size.hpp"
#include "support.cuh"

namespace warpath::map_reduce::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Gaussian3 = Gaussian<float, 3>;

/// Plans for M x N pairs in three dimensions; no data is looked at.
auto rows_of(std::int64_t M) {
  return over_i(Array<float, 3>{nullptr, M});
}
auto columns_of(std::int64_t N) {
  return over_j(Array<float, 3>{nullptr, N}, Array<float, 1>{nullptr, N});
}
Plan plan_of(std::int64_t M, std::int64_t N, const Options& options = {}) {
  return plan(Gaussian3(), Sum<float>(), rows_of(M), columns_of(N), options);
}

TEST(ThePlan, SaysWhatIsDone) {
  const Plan chosen = plan_of(50, 80);
  EXPECT_NE(chosen.variant, Variant::automatic);
  EXPECT_GE(chosen.parts, 1);
  EXPECT_GT(chosen.expected_ns, 0);
  const Plan two = plan_of(50, 80, {Variant::gpu_2d, 32});
  EXPECT_EQ(two.parts, 3);
  EXPECT_EQ(two.span, 32);
  EXPECT_EQ(two.block_rows, 32);
  EXPECT_EQ(plan_of(50, 80, {Variant::naive}).extra_bytes, 50 * 80 * 4);
  EXPECT_EQ(plan_of(50, 80, {Variant::gpu_1d}).extra_bytes, 0);
}

TEST(ThePlan, FollowsTheOptions) {
  const Options one_row{Variant::tuned_2d, 192, 1, 3};
  EXPECT_EQ(plan_of(1000, 768, one_row).span, 256);
  EXPECT_EQ(plan_of(1000, 1536, one_row).span, 512);
  EXPECT_GT(plan_of(1'000'000, 1536, one_row).expected_ns,
            2 * plan_of(1000, 1536, one_row).expected_ns);
  EXPECT_EQ(plan_of(1000, 1536, {Variant::tuned_2d, 192, 1, 2}).parts, 2);
  EXPECT_EQ(plan_of(1000, 1536, {Variant::tuned_2d, 192, 4, 2}).block_rows, 4 * 128);
  EXPECT_EQ(plan_of(1000, 1536, {Variant::tuned_1d, 192, 4, 2}).parts, 1);
  EXPECT_EQ(plan_of(1000, 1536, {Variant::gpu_2d, 192}).parts, 8);
  EXPECT_EQ(plan_of(1000, 1536, {Variant::gpu_2d, 64}).parts, 24);
  EXPECT_EQ(plan_of(1000, 1536, {Variant::tensor, 192, 0, 3}).parts, 3);
}

TEST(ThePlan, OfNothingIsMadeToo) {
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    EXPECT_EQ(plan_of(0, 80, options).extra_bytes, 0);
    EXPECT_EQ(plan_of(50, 0, options).extra_bytes, 0);
  }
}

// cheapest() leaves candidates out by a bound, and best_cut() numbers of parts that it has seen:
// what is chosen must be what the plain search over all of them finds.
TEST(ThePlan, IsTheCheapestOfAllCandidates) {
  using Call = detail::CallOf<Gaussian3, Sum<float>, decltype(rows_of(1)), decltype(columns_of(1))>;
  const auto& candidates = detail::candidates_of<Call>();
  EXPECT_EQ(candidates.size(), 12);
  for (const std::int64_t M : {1, 4, 17, 128, 1000, 10'000, 100'000, 1'000'000}) {
    for (const std::int64_t N : {1, 100, 1000, 10'000, 1'000'000, 10'000'000}) {
      double least = 1e300;
      for (const detail::Candidate& candidate : candidates) {
        const bool is_whole = candidate.variant == Variant::tuned_1d;
        for (std::int64_t each = 0; each <= (is_whole ? 0 : 32); ++each) {
          const std::int64_t wanted =
              std::clamp<std::int64_t>(each * 132 / divide_up(M, candidate.cost.block_rows),
                                       divide_up(N, candidate.cost.most_span), 4096);
          const auto cut = detail::cut_of(candidate.cost, M, N, wanted, 132);
          least = std::min(least, cut.expected_ns);
        }
      }
      const auto chosen = detail::cheapest(candidates, M, N, {}, 132);
      ASSERT_TRUE(chosen.has_value());
      EXPECT_GE(chosen->expected_ns, least * (1 - 1e-12)) << M << " x " << N;
      EXPECT_LE(chosen->expected_ns, least * 1.03) << M << " x " << N;
    }
  }
}

// A sum by blocks adds up 256 columns at most before it looks at the error; each thread over the
// columns has one such share. 40,000 equal values, added one by one, are off by 4e-4.
TEST(ThePlan, GivesNoThreadMoreColumnsThanAShareHas) {
  for (const std::int64_t M : {1, 4, 16}) {
    const std::int64_t threads = M < 16 ? 256 : 64;  // for one row
    for (const std::int64_t N : {std::int64_t{1'000'000}, std::int64_t{10'000'000'000}}) {
      for (const int splits : {0, 1, 100}) {
        const Plan chosen = plan_of(M, N, {Variant::tuned_2d, 192, 0, splits});
        EXPECT_TRUE(chosen.is_over_columns || splits > 0) << M << " x " << N;
        EXPECT_TRUE(!chosen.is_over_columns || chosen.span <= threads * 256) << M << " x " << N;
        EXPECT_GE(chosen.parts * chosen.span, N);
      }
    }
  }
}

// ---------------------------------------------------------------- calls with a plan

struct PlannedMemory {
  explicit PlannedMemory(std::int64_t M = 50, std::int64_t N = 80)
      : x(on_device(uniform<float>(3 * M, 1))),
        y(on_device(uniform<float>(3 * N, 2))),
        b(on_device(uniform<float>(N, 3))),
        out(M) {}
  [[nodiscard]] auto rows() const { return over_i(vectors<3>(x.span())); }
  [[nodiscard]] auto columns() const { return over_j(vectors<3>(y.span()), vectors<1>(b.span())); }
  /// What the call says to a plan; "nothing" where it takes it.
  template <class Reduction = Sum<float>>
  std::string message(const Plan& with, const Gaussian3& formula = Gaussian3()) {
    return message_of<std::invalid_argument>([&] {
      reduce(formula, Reduction(), rows(), columns(), out.span(), workspace, nullptr, with);
    });
  }

  DeviceBuffer<float> x;
  DeviceBuffer<float> y;
  DeviceBuffer<float> b;
  DeviceBuffer<float> out;
  Workspace workspace;
};

TEST(CallsWithAPlan, DoTheSameAsCallsWithItsOptions) {
  const PlannedMemory memory(200, is_small() ? 500 : 1500);
  for (const Options& options : all_options(true)) {
    SCOPED_TRACE(name_of(options));
    Guarded<float> by_plan(200);
    Guarded<float> by_options(200);
    Workspace workspace;
    const Plan made = plan(Gaussian3(), Sum<float>(), memory.rows(), memory.columns(), options);
    reduce(Gaussian3(), Sum<float>(), memory.rows(), memory.columns(), by_plan.span(), workspace,
           nullptr, made);
    reduce(Gaussian3(), Sum<float>(), memory.rows(), memory.columns(), by_options.span(), workspace,
           nullptr, options);
    EXPECT_EQ(by_plan.get(), by_options.get());
    EXPECT_GE(workspace.bytes(), made.extra_bytes);
  }
}

TEST(CallsWithAPlan, TakeItForOtherDataAndParameters) {
  PlannedMemory memory;
  const PlannedMemory others;
  const Plan made = plan(Gaussian3(), Sum<float>(), others.rows(), others.columns());
  EXPECT_EQ(memory.message(made, Gaussian3(2.0f)), "nothing");
}

TEST(CallsWithAPlan, RefuseThatOfAnotherCall) {
  PlannedMemory memory;
  EXPECT_EQ(memory.message(plan_of(50, 80)), "nothing");
  EXPECT_EQ(memory.message(plan_of(49, 80)), "the plan was made for M = 49: this call has 50");
  EXPECT_EQ(memory.message(plan_of(50, 800)), "the plan was made for N = 800: this call has 80");
  EXPECT_EQ(memory.message(plan_of(0, 80)), "the plan was made for M = 0: this call has 50");
  const std::string of_kahan = memory.message<Sum<float, Accuracy::kahan>>(plan_of(50, 80));
  EXPECT_THAT(of_kahan, StartsWith("the plan was made for another formula, reduction, or types"));
  const Plan of_laplacian =
      plan(Laplacian<float, 3>(), Sum<float>(), memory.rows(), memory.columns());
  EXPECT_THAT(memory.message(of_laplacian), HasSubstr("another formula"));
  Plan of_other_device = plan_of(50, 80);
  ++of_other_device.made_for.device;
  EXPECT_EQ(memory.message(of_other_device), "the plan was made for device 1: this call has 0");
}

}  // namespace
}  // namespace warpath::map_reduce::test
