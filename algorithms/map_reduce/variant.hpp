// How a map-reduce is computed: what configurations, tests and callers name.
#pragma once

#include <array>

#include "core/enum_names.hpp"

namespace warpath::map_reduce {

enum class Variant {
  naive,     ///< tensorized: all M x N values in memory, then a reduction of each row
  gpu_1d,    ///< the source: a thread a row, tiles of K columns in shared memory
  gpu_2d,    ///< the source: the K x K tiles one by one to the blocks, partial results, a final
             ///< reduction
  tuned_1d,  ///< several rows a thread, in registers
  tuned_2d,  ///< the same with the columns split over blocks; for few rows, threads over the
             ///< columns
  tensor,    ///< Gram form on the tensor cores, in float: Gaussian sums, LogSumExp and least
             ///< distances
  automatic  ///< the kernel that the cost model expects to be fastest
};

constexpr auto enum_table(Variant) {
  return std::to_array<EnumName<Variant>>({{Variant::naive, "naive"},
                                           {Variant::gpu_1d, "gpu_1d"},
                                           {Variant::gpu_2d, "gpu_2d"},
                                           {Variant::tuned_1d, "tuned_1d"},
                                           {Variant::tuned_2d, "tuned_2d"},
                                           {Variant::tensor, "tensor"},
                                           {Variant::automatic, "automatic"}});
}

/// How a Sum adds; see reductions.cuh.
enum class Accuracy { plain, block, kahan };

constexpr auto enum_table(Accuracy) {
  return std::to_array<EnumName<Accuracy>>(
      {{Accuracy::plain, "plain"}, {Accuracy::block, "block"}, {Accuracy::kahan, "kahan"}});
}

/// What a call may choose. plan() and reduce() throw std::invalid_argument for values out of range,
/// and for variants that the formula, the reduction or the device does not have.
struct Options {
  Variant variant = Variant::automatic;
  int block_threads = 192;  ///< K of gpu_1d and gpu_2d: a multiple of 32, at most what fits a block
  int rows_per_thread = 0;  ///< of tuned_1d and tuned_2d, threads over the rows: 1, 4 or 8 (fewer
                            ///< where rows and states are long); 0: the cost model's choice. Any
                            ///< but 0 leaves out the kernels of few rows, whose threads are over
                            ///< the columns; automatic may still take tensor
  int splits = 0;           ///< of tuned_2d and tensor: parts of the columns, at most 65535; fewer
                            ///< are made where whole tiles need no more; 0: the cost model's choice

  friend bool operator==(const Options&, const Options&) = default;
};

}  // namespace warpath::map_reduce
