// Map-reduce: for every row i, the reduction over all columns j of a formula F(p, x_i, y_j),
// without ever storing the M x N values. The public host functions.
//
// Source: seed 001 (KeOps, "Map-Reduce schemes"). Formulas: formulas.cuh; reductions:
// reductions.cuh; both are structs, and yours is as good as ours (README.md has an example).
//   Extra memory    naive: M x N values. gpu_2d: ceil(N / K) x M states. tuned_2d and tensor: parts
//                   x M states (rows rounded up to a block's), where the columns are in several
//                   parts. gpu_1d and tuned_1d: none. A state is what the reduction carries along:
//                   one or two numbers, 16 bytes for ArgMin, 12 K for ArgKMin.
//   Determinism     the same inputs, options and device give the same bits.
//   Empty inputs    N = 0 gives the reduction's neutral element in every row, M = 0 nothing.
// Nothing is allocated outside the workspace; nothing synchronises. Counts may pass 2^31.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/preconditions.cuh"
#include "core/span.hpp"
#include "map_reduce/dispatch.cuh"

namespace warpath::map_reduce {

/// out[i] becomes the reduction over j of formula(x_i..., y_j...). x: over_i(arrays...), y:
/// over_j(arrays...). out: as many elements as x has, apart from all inputs.
///
/// Throws std::invalid_argument for an out of another length or that overlaps an input, a K that is
/// no multiple of a warp or that the device has no room for, a variant that the formula or device
/// has not; DoesNotFit where a variant needs more memory than is free. All before anything is
/// launched.
template <class Formula, class Reduction, class... X, class... Y>
void reduce(const Formula& formula, const Reduction& reduction, const Indexed<X...>& x,
            const Indexed<Y...>& y, DeviceSpan<typename Reduction::Result> out,
            Workspace& workspace, cudaStream_t stream, const Options& options = {}) {
  require_count("out", out.count, "x", x.count);
  const auto require_all_apart = [&]<int... I>(const std::string& name, const auto& arrays,
                                               std::integer_sequence<int, I...>) {
    const auto require_one = [&](int place, const auto& array) {
      require_apart(name + " array " + std::to_string(place),
                    DeviceSpan<const unsigned char>{
                        reinterpret_cast<const unsigned char*>(array.data),
                        array.count * static_cast<std::int64_t>(sizeof(array[0]))},
                    "out", out);
    };
    (require_one(I + 1, get<I>(arrays)), ...);
  };
  require_all_apart("x", x.arrays, std::make_integer_sequence<int, sizeof...(X)>());
  require_all_apart("y", y.arrays, std::make_integer_sequence<int, sizeof...(Y)>());
  run(Problem<Formula, Reduction, Pack<X...>, Pack<Y...>>{formula, reduction, x.arrays, y.arrays,
                                                          x.count, y.count, out.data},
      options, workspace, stream);
}

/// What reduce() would do: variant, rows a thread, parts of the columns, and the time that the
/// cost model expects. Throws as reduce() does for variants that are not to be had.
template <class Formula, class Reduction, class... X, class... Y>
Plan plan(const Formula&, const Reduction&, const Indexed<X...>& x, const Indexed<Y...>& y,
          const Options& options = {}) {
  return plan_for<Problem<Formula, Reduction, Pack<X...>, Pack<Y...>>>(x.count, y.count, options);
}

/// Bytes of device memory that reduce() takes from its workspace with these options.
template <class Formula, class Reduction, class... X, class... Y>
std::int64_t extra_bytes(const Formula& formula, const Reduction& reduction, const Indexed<X...>& x,
                         const Indexed<Y...>& y, const Options& options = {}) {
  using Pairs = Problem<Formula, Reduction, Pack<X...>, Pack<Y...>>;
  if (x.count == 0 || y.count == 0) return 0;
  const Plan chosen = plan(formula, reduction, x, y, options);
  if (chosen.variant == Variant::naive) {
    return x.count * y.count * static_cast<std::int64_t>(sizeof(ValueOfPair<Pairs>));
  }
  if (chosen.parts == 1 && chosen.variant != Variant::gpu_2d) return 0;
  const std::size_t partial =
      chosen.is_over_columns ? sizeof(ShareOf<Pairs>) : sizeof(typename Reduction::State);
  return x.count * chosen.parts * static_cast<std::int64_t>(partial);
}

}  // namespace warpath::map_reduce
