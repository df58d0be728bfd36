// Map-reduce: for every row i, the reduction over all columns j of a formula F(p, x_i, y_j),
// without ever storing the M x N values. The public host functions.
//
// Source: B. Charlier, J. Feydy, J. A. Glaunès, F.-D. Collin, G. Durif, "Kernel Operations on the
// GPU, with Autodiff, without Memory Overflows", JMLR 22(74), 2021,
// https://jmlr.org/papers/v22/20-275.html; documentation of KeOps, "Map-Reduce schemes".
// Formulas: formulas.cuh; reductions: reductions.cuh; both are structs, and callers may write their
// own (README.md has an example).
//   Extra memory    naive: M x N values. gpu_2d: ceil(N / K) x M states. tuned_2d and tensor: parts
//                   x M states, if the columns are in several parts; tensor, of sums that no
//                   warpgroups multiply, in one part, too, and for each part and block of 128 to
//                   512 rows 100 to 150 bytes and 4 for each dimension. gpu_1d and tuned_1d: none.
//                   A state is what the reduction carries along: one to three numbers, 16 bytes
//                   for ArgMin, some 12 K for KMin and ArgKMin (README.md). tensor, with signals
//                   of E >= 4 numbers in up to 16 dimensions: 32 ceil(E / 8) N bytes more, rounded
//                   up to whole tiles; where warpgroups multiply, that of the columns' coordinates
//                   and signals (README.md, "Variants").
//   Determinism     the same inputs, options and device give the same bits (equal rows of one call
//                   may differ in the last, by their places in their blocks).
//   Empty inputs    N = 0 gives the reduction's neutral element in every row, M = 0 nothing.
// Nothing is allocated outside the workspace; nothing synchronises. Counts may pass 2^31.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "map_reduce/dispatch.cuh"
#include "map_reduce/plan.cuh"

namespace warpath::map_reduce {

namespace detail {

template <class Formula, class Reduction, class X, class Y>
struct ProblemOfCall;
template <class Formula, class Reduction, class... X, class... Y>
struct ProblemOfCall<Formula, Reduction, Indexed<X...>, Indexed<Y...>> {
  using Type = Problem<Formula, Reduction, Pack<X...>, Pack<Y...>>;
};
template <class Formula, class Reduction, class X, class Y>
using CallOf = typename ProblemOfCall<Formula, Reduction, X, Y>::Type;

/// Throws std::invalid_argument for arrays that are no memory, and for those that overlap out.
template <class... Arrays, class Result>
void require_arrays(const std::string& name, const Indexed<Arrays...>& indexed,
                    DeviceSpan<Result> out) {
  const auto require_one = [&](int place, const auto& array) {
    const std::string name_of_array = name + " array " + std::to_string(place);
    using Number = std::remove_pointer_t<decltype(array.data)>;
    const DeviceSpan<Number> numbers{array.data, array.count * array.dimension};
    require_span(name_of_array, numbers);
    require_count(name_of_array, array.count, name, indexed.count);
    require_apart(name_of_array, numbers, "out", out);
  };
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (require_one(I + 1, get<I>(indexed.arrays)), ...);
  }
  (std::make_integer_sequence<int, sizeof...(Arrays)>());
}

/// The call as a problem for kernels. Throws std::invalid_argument for an out of another length
/// than x, null or negative arrays, and overlaps.
template <class Formula, class Reduction, class... X, class... Y>
auto problem_of(const Formula& formula, const Reduction& reduction, const Indexed<X...>& x,
                const Indexed<Y...>& y, DeviceSpan<typename Reduction::Result> out) {
  require_span("out", out);
  require_count("out", out.count, "x", x.count);
  require_arrays("x", x, out);
  require_arrays("y", y, out);
  return CallOf<Formula, Reduction, Indexed<X...>, Indexed<Y...>>{
      formula, reduction, x.arrays, y.arrays, x.count, y.count, out.data};
}

}  // namespace detail

/// Chooses the kernel for reduce(): variant, rows of a block, parts of the columns, extra memory.
/// Looks at the types, M, N, the options and the current device, and at no data. It takes the host
/// up to 2 microseconds; a program that repeats a call can plan once.
///
/// Throws std::invalid_argument for options that are out of range, and for a variant that the
/// formula, the reduction or the device does not have.
template <class Formula, class Reduction, class... X, class... Y>
Plan plan(const Formula&, const Reduction&, const Indexed<X...>& x, const Indexed<Y...>& y,
          const Options& options = {}) {
  using Call = detail::CallOf<Formula, Reduction, Indexed<X...>, Indexed<Y...>>;
  return detail::plan_of<Call>(x.count, y.count, options);
}

/// out[i] becomes the reduction over j of formula(x_i..., y_j...). x: over_i(arrays...), y:
/// over_j(arrays...). out: as many elements as x has, apart from all inputs. As planned by plan()
/// for this call.
///
/// Throws std::invalid_argument for an out of another length, arrays that are null, an out that
/// overlaps an input, and a plan that was made for another M, N, device, formula, reduction, or
/// types of arrays; DoesNotFit if naive or gpu_2d need more memory than is free, CudaError if the
/// workspace cannot be allocated. All before anything is launched.
template <class Formula, class Reduction, class... X, class... Y>
void reduce(const Formula& formula, const Reduction& reduction, const Indexed<X...>& x,
            const Indexed<Y...>& y, DeviceSpan<typename Reduction::Result> out,
            Workspace& workspace, cudaStream_t stream, const Plan& plan) {
  using Call = detail::CallOf<Formula, Reduction, Indexed<X...>, Indexed<Y...>>;
  const Call problem = detail::problem_of(formula, reduction, x, y, out);
  detail::require_plan<Call>(plan, x.count, y.count);
  detail::run(problem, plan, workspace, stream);
}

/// The same, planned here. Throws in addition as plan() does.
template <class Formula, class Reduction, class... X, class... Y>
void reduce(const Formula& formula, const Reduction& reduction, const Indexed<X...>& x,
            const Indexed<Y...>& y, DeviceSpan<typename Reduction::Result> out,
            Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  const auto problem = detail::problem_of(formula, reduction, x, y, out);
  detail::run(problem, plan(formula, reduction, x, y, options), workspace, stream);
}

}  // namespace warpath::map_reduce
