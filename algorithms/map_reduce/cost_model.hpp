// Predicts run times, to choose the kernel and the number of parts of the columns. Plain C++.
//
// The model. A kernel cuts the rows into blocks of block_rows, and the columns into `parts` of
// `span`. The multiprocessor that gets the most blocks decides; resident_blocks of them run on it
// at once, in rounds. A round of k blocks takes
//
//   block_ns + span (block_rows pair_ns + column_ns) max(k, busy_blocks)
//
// where busy_blocks keep its units busy, and fewer take as long. Where states change often over a
// block's first columns (the least values so far), it takes as long as settling_columns more, at
// most twice its own. Merging partial results takes merge_ns, and merge_step_ns for each batch of
// merge_batch that a thread waits for; long states, one after the other, merge_byte_ns for each
// byte of a block's rows. A launch takes launch_ns; a preceding kernel, prepared_column_ns for
// each column; and no call takes less than reading the columns once, from memory or, where they
// fit, from the second cache.
//
// costs.hpp has the figures. Where another call than the one they were fitted to is planned, a pair
// is taken to cost in proportion to the numbers of its column and the instructions of its
// reduction; special functions run beside them, and cost what is more than that.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "map_reduce/costs.hpp"
#include "map_reduce/tuning.hpp"

namespace warpath::map_reduce::detail {

/// Where a part may have any number of columns.
inline constexpr std::int64_t any_span = std::int64_t{1} << 62;

/// The kernels with lists number columns in 32 bits, of which the last stands for none.
inline constexpr std::int64_t most_listed_columns = (std::int64_t{1} << 32) - 1;

/// One kernel of one shape, for one formula and reduction, on one device.
struct KernelCost {
  std::int64_t block_rows;
  std::int64_t tile;  ///< the span is a multiple of it
  KernelFigures figures;
  std::int64_t merge_batch;  ///< partial results of a row that are merged at once
  double column_bytes;
  double settling_columns = 0;
  double long_state_bytes = 0;  ///< of a partial result, beyond those of a sum
  double merge_byte_ns = 0;
  double prepared_column_ns = 0;
  std::int64_t most_span = any_span;     ///< columns of a part at most
  std::int64_t most_columns = any_span;  ///< of a call
  double launch_ns;
  double memory_bytes_per_ns;
  double cache_bytes = 0;  ///< columns of so many bytes are taken to be in the cache,
  double cache_bytes_per_ns = 0;
  std::int64_t finish_rows = 0;  ///< of a block of a kernel that finishes rows; 0: there is none
  double finish_ns = 0;          ///< as long as all its blocks are on the device at once,
  double finish_part_ns = 0;     ///< and more for each part
};

/// How the pairs are cut, and the run time that is expected.
struct Cut {
  std::int64_t parts;
  std::int64_t span;
  double expected_ns;
};

/// The time of one column in one block, if the multiprocessor is busy.
inline double column_in_block_ns(const KernelCost& cost) {
  return static_cast<double>(cost.block_rows) * cost.figures.pair_ns + cost.figures.column_ns;
}

/// The time to read the columns once.
inline double reading_ns(const KernelCost& cost, std::int64_t columns) {
  const double bytes = static_cast<double>(columns) * cost.column_bytes;
  return bytes / (bytes <= cost.cache_bytes ? cost.cache_bytes_per_ns : cost.memory_bytes_per_ns);
}

/// No cut takes less: reading the columns, or all of the work, shared equally.
inline double least_ns(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                       int processors) {
  const auto n = static_cast<double>(columns);
  const double work = static_cast<double>(divide_up(rows, cost.block_rows)) * n *
                      column_in_block_ns(cost) / processors;
  return cost.launch_ns + n * cost.prepared_column_ns + std::max(work, reading_ns(cost, columns));
}

/// The cut into `wanted_parts` parts, or fewer, since spans are whole tiles.
inline Cut cut_of(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                  std::int64_t wanted_parts, int processors) {
  const KernelFigures& figures = cost.figures;
  const std::int64_t span = divide_up(divide_up(columns, wanted_parts), cost.tile) * cost.tile;
  const std::int64_t parts = divide_up(columns, span);
  const std::int64_t blocks = divide_up(divide_up(rows, cost.block_rows) * parts, processors);
  const auto own_columns = static_cast<double>(std::min(span, columns));
  const double work =
      (own_columns + std::min(cost.settling_columns, 2 * own_columns)) * column_in_block_ns(cost);
  const auto round = [&](std::int64_t at_once) {
    if (at_once == 0) return 0.0;
    return figures.block_ns + work * std::max(static_cast<double>(at_once), figures.busy_blocks);
  };
  const auto rounds = static_cast<double>(blocks / figures.resident_blocks);
  const double computing =
      rounds * round(figures.resident_blocks) + round(blocks % figures.resident_blocks);
  const auto merged =
      static_cast<double>(std::min(parts, cost.merge_batch) + divide_up(parts, cost.merge_batch));
  const double batches = merged / static_cast<double>(cost.merge_batch);
  const double bytes = static_cast<double>(std::min(rows, cost.block_rows)) * cost.long_state_bytes;
  const double merging = parts > 1 ? figures.merge_ns + batches * figures.merge_step_ns +
                                         merged * bytes * cost.merge_byte_ns
                                   : 0;
  const double before = cost.launch_ns + static_cast<double>(columns) * cost.prepared_column_ns;
  double finishing = 0;
  if (cost.finish_rows > 0) {
    const auto finish_blocks = static_cast<double>(divide_up(rows, cost.finish_rows));
    finishing = std::max(1.0, finish_blocks / (2 * processors)) *
                (cost.finish_ns + static_cast<double>(parts) * cost.finish_part_ns);
  }
  return {parts, span,
          before + std::max(computing, reading_ns(cost, columns)) + merging + finishing};
}

/// The cut with the least expected time, of those that give every multiprocessor 1, 2, ... blocks:
/// one block more than that takes a further round.
inline Cut best_cut(const KernelCost& cost, std::int64_t rows, std::int64_t columns,
                    int processors) {
  constexpr std::int64_t most_parts = 4096;
  constexpr std::int64_t most_blocks_each = 32;
  const std::int64_t row_blocks = divide_up(rows, cost.block_rows);
  const std::int64_t least_parts = divide_up(columns, cost.most_span);
  Cut best = cut_of(cost, rows, columns, least_parts, processors);
  std::int64_t last_parts = least_parts;
  for (std::int64_t each = 1; each <= most_blocks_each; ++each) {
    const std::int64_t parts = std::min(most_parts, each * processors / row_blocks);
    if (parts <= last_parts) {
      if (parts == most_parts) break;  // there are no more
      continue;
    }
    last_parts = parts;
    const Cut cut = cut_of(cost, rows, columns, parts, processors);
    const double allowance = each <= cost.figures.resident_blocks ? 1.02 : 1;
    if (cut.expected_ns < best.expected_ns * allowance) best = cut;
    if (cut.span == cost.tile) break;  // there are no more parts than that
  }
  return best;
}

// ---------------------------------------------------------------- the kernels of a call

/// Whether a call can be computed in Gram form.
enum class GramForm { none, sum, least };

/// What the model has to know of a formula, a reduction and their arrays.
struct CallTraits {
  int column_bytes;                ///< of what the formula gets of a column
  int state_bytes;                 ///< of the reduction's state
  int tile_columns;                ///< of a tile of rows_kernel
  bool is_double;                  ///< values in double precision
  double instructions;             ///< of the reduction, a value
  int signal = 1;                  ///< numbers of a value
  bool has_long_groups = false;    ///< of more than a number, and no shares
  int settling_columns = 0;        ///< of the reduction; 0: its states change as seldom as often
  int special_functions = 1;       ///< exponentials and roots of a value
  std::int64_t share_columns = 0;  ///< that a thread over the columns takes at most; 0: any number
  int list_length = 0;             ///< of a reduction that keeps lists: K
  GramForm gram_form = GramForm::none;
  int coordinates = 0;              ///< of the Gram form: rows of the matrices that are multiplied
  int coordinate_chunks = 0;        ///< groups of four of them
  int tensor_tile_columns = 0;      ///< of a tile of the tensor kernels
  bool multiplies_signals = false;  ///< on the tensor cores: MultipliedSignals
  bool merges_numbers = false;      ///< of long states (problem.cuh)
};

/// What a pair costs in proportion to one of the Gaussian in three dimensions: two instructions a
/// number, and those of the reduction; 2.5 times as much in double. A further number of the signal
/// takes fewer instructions where several rows share its read.
inline double relative_pair_cost(const CallTraits& call, int rows_per_thread = 1) {
  const double shared = rows_per_thread > 1 ? 0.7 * (call.signal - 1) : 0;
  const double instructions = call.column_bytes / 2.0 - shared + call.instructions;
  return instructions / 8 * (call.is_double ? 2.5 : 1);
}

/// Tensor core instructions for 16 rows and 8 columns.
inline int products_of(const CallTraits& call) {
  return call.coordinates <= 8 ? call.coordinate_chunks
                               : static_cast<int>(divide_up(call.coordinates, 16)) * 3;
}

inline KernelCost kernel_cost(const DeviceFigures& device, const CallTraits& call,
                              std::int64_t block_rows, std::int64_t tile,
                              const KernelFigures& figures, std::int64_t merge_batch) {
  return {
      .block_rows = block_rows,
      .tile = tile,
      .figures = figures,
      .merge_batch = merge_batch,
      .column_bytes = static_cast<double>(call.column_bytes),
      .merge_byte_ns = call.merges_numbers ? device.merge_byte_of_numbers_ns : device.merge_byte_ns,
      .most_span = any_span,
      .launch_ns = device.launch_ns,
      .memory_bytes_per_ns = device.memory_bytes_per_ns,
      .cache_bytes = device.cache_bytes,
      .cache_bytes_per_ns = device.cache_bytes_per_ns};
}

/// rows_kernel. rows_per_thread: 1, 4 or 8.
inline KernelCost rows_cost(const DeviceFigures& device, const CallTraits& call,
                            int rows_per_thread) {
  KernelFigures figures = rows_per_thread == 1   ? device.rows_1
                          : rows_per_thread == 4 ? device.rows_4
                                                 : device.rows_8;
  const double special_ns = figures.pair_ns + (call.special_functions - 1) *
                                                  (rows_per_thread == 1 ? device.special_function_ns
                                                                        : device.special_rows_ns);
  figures.pair_ns *= relative_pair_cost(call, rows_per_thread);
  if (rows_per_thread == 1 && call.column_bytes > 128) {
    figures.pair_ns *= device.rows_1_of_long_columns;
    if (call.signal > 32) figures.pair_ns *= device.rows_1_of_long_signals;
  }
  figures.pair_ns = std::max(figures.pair_ns, special_ns);
  KernelCost cost =
      kernel_cost(device, call, 128 * rows_per_thread, call.tile_columns, figures, 16);
  cost.settling_columns =
      call.settling_columns + (call.signal > 8 ? device.end_of_signals_columns : 0);
  cost.long_state_bytes = std::max(0, call.state_bytes - 8);
  return cost;
}

/// The kernels with lists: list_rows_kernel, tensor_lists_kernel. A block must fill its lists, and
/// has few columns at a time that change them. As many blocks are resident as have shared memory.
inline KernelCost of_lists(const DeviceFigures& device, const CallTraits& call, int block_rows,
                           int tile, std::size_t shared_bytes, KernelFigures figures) {
  figures.block_ns += device.list_entry_ns * call.list_length;
  figures.resident_blocks =
      std::clamp<std::int64_t>(device.shared_bytes / static_cast<std::int64_t>(shared_bytes + 1024),
                               1, figures.resident_blocks);
  KernelCost cost = kernel_cost(device, call, block_rows, tile, figures, 16);
  cost.most_columns = most_listed_columns;
  return cost;
}
inline KernelCost lists_cost(const DeviceFigures& device, const CallTraits& call, int block_rows,
                             int tile, std::size_t shared_bytes) {
  KernelFigures figures = device.lists;
  figures.pair_ns *= relative_pair_cost(call);
  return of_lists(device, call, block_rows, tile, shared_bytes, figures);
}
inline KernelCost tensor_lists_cost(const DeviceFigures& device, const CallTraits& call,
                                    int block_rows, int tile, std::size_t shared_bytes) {
  KernelFigures figures = device.tensor_lists;
  figures.pair_ns += products_of(call) * device.tensor_least_product_ns;
  return of_lists(device, call, block_rows, tile, shared_bytes, figures);
}

/// columns_kernel. block_rows: 1, 4 or 16; row_threads: the threads that share a row; blocks: that
/// a multiprocessor holds.
inline KernelCost columns_cost(const DeviceFigures& device, const CallTraits& call, int block_rows,
                               int row_threads, int blocks) {
  KernelFigures figures = block_rows == 1   ? device.columns_1
                          : block_rows == 4 ? device.columns_4
                                            : device.columns_16;
  // In fewer dimensions than three no less than the exponential takes.
  const double special_ns =
      call.special_functions > 1
          ? figures.pair_ns + (call.special_functions - 1) * device.special_rows_ns
          : 0.7 * figures.pair_ns;
  figures.pair_ns = std::max(figures.pair_ns * relative_pair_cost(call), special_ns);
  if (call.signal > 2) figures.pair_ns *= device.signals_of_columns;
  if (call.settling_columns > 0) {
    figures.pair_ns *= device.settling_of_columns;
    figures.block_ns += std::max(0, call.state_bytes - 16) * device.columns_state_byte_ns;
  }
  if (call.has_long_groups) figures.pair_ns *= device.long_groups_of_columns;
  figures.column_ns *= call.column_bytes;
  figures.resident_blocks = blocks;
  figures.busy_blocks = std::min(figures.busy_blocks, static_cast<double>(blocks));
  KernelCost cost =
      kernel_cost(device, call, block_rows, block_rows == 16 ? 256 : 1024, figures, 256);
  if (call.settling_columns > 0) cost.settling_columns = device.columns_settle;
  if (call.share_columns > 0) cost.most_span = row_threads * call.share_columns;
  return cost;
}

/// staged_columns_kernel. block_rows: 1, 4 or 16; shared_bytes: of a block.
inline KernelCost staged_cost(const DeviceFigures& device, const CallTraits& call, int block_rows,
                              int tile, int team_threads, std::size_t shared_bytes) {
  KernelFigures figures = block_rows == 1   ? device.staged_1
                          : block_rows == 4 ? device.staged_4
                                            : device.staged_16;
  figures.pair_ns *= relative_pair_cost(call);
  figures.column_ns *= call.column_bytes;
  figures.resident_blocks =
      std::clamp<std::int64_t>(device.shared_bytes / static_cast<std::int64_t>(shared_bytes + 1024),
                               1, figures.resident_blocks);
  figures.busy_blocks = std::min(figures.busy_blocks, static_cast<double>(figures.resident_blocks));
  KernelCost cost = kernel_cost(device, call, block_rows, tile, figures, 256);
  if (call.settling_columns > 0) cost.settling_columns = device.staged_settle;
  if (call.share_columns > 0) cost.most_span = team_threads * call.share_columns;
  return cost;
}

/// The tensor kernels. blocks: that a multiprocessor holds.
inline KernelCost tensor_cost(const DeviceFigures& device, const CallTraits& call, int block_rows,
                              int blocks) {
  const bool is_narrow = call.coordinates <= 8;
  const int products = products_of(call);
  KernelFigures figures{};
  if (call.gram_form == GramForm::least) {
    figures = device.tensor_least;
    // A block looks at many columns before it has bounds, more often where several are wanted.
    figures.pair_ns += products * device.tensor_least_product_ns;
    if (call.state_bytes > 16) figures.pair_ns += device.tensor_least_many_ns;
  } else {
    figures = block_rows > 256   ? device.tensor_sum_512
              : block_rows > 128 ? device.tensor_sum_256
                                 : device.tensor_sum_128;
    figures.pair_ns += (products - 1) * (is_narrow ? device.tensor_sum_narrow_product_ns
                                                   : device.tensor_sum_wide_product_ns);
  }
  if (call.multiplies_signals) {
    const double eights = static_cast<double>(divide_up(call.signal, 8));
    figures.pair_ns += device.tensor_split_ns +
                       eights * (call.signal <= 16 ? device.tensor_eight_signals_ns
                                                   : device.tensor_eight_of_long_signals_ns);
    figures.busy_blocks = std::min(figures.busy_blocks, static_cast<double>(blocks));
  } else if (call.gram_form == GramForm::sum) {
    // The more sums a lane has, the more of them do not stay in registers.
    const int further = call.signal - 1;
    figures.pair_ns += further * (1 + call.signal / (is_narrow ? 12.0 : 4.0)) *
                       (is_narrow ? device.tensor_narrow_signal_ns : device.tensor_wide_signal_ns);
  }
  figures.column_ns *= call.coordinate_chunks;
  if (call.gram_form == GramForm::sum && call.coordinates > 32) {
    const double factor = call.coordinates > 64 ? device.tensor_sum_of_65 : device.tensor_sum_of_33;
    figures.pair_ns *= factor;
    figures.column_ns *= factor;
  }
  figures.resident_blocks = blocks;
  KernelCost cost = kernel_cost(device, call, block_rows, call.tensor_tile_columns, figures, 16);
  cost.long_state_bytes = std::max(0, call.state_bytes - 8);
  if (call.multiplies_signals) {
    // 4 bytes of each number are read, and 4 written, at half the speed of reading.
    cost.prepared_column_ns = 16.0 * call.signal / device.memory_bytes_per_ns;
    cost.launch_ns += device.split_signals_ns;
  }
  return cost;
}

/// Of a kernel after one that splits `numbers` of each column: 4 bytes of a number are read, and 4
/// written, at half the speed of reading.
inline void add_splitting(const DeviceFigures& device, int numbers, KernelCost& cost) {
  cost.prepared_column_ns = 16.0 * numbers / device.memory_bytes_per_ns;
  cost.launch_ns += device.split_columns_ns;
}

/// Steps of 16 that the kernels which take the products of warpgroups take for so many coordinates.
inline double warpgroup_steps(int coordinates) {
  return static_cast<double>(divide_up(coordinates, 16));
}

/// warpgroup_lists_kernel and finish_lists_kernel. wanted: columns, of which a row has room for
/// `room`; finish_rows: of a block of the latter.
inline KernelCost warpgroup_lists_cost(const DeviceFigures& device, const CallTraits& call,
                                       int block_rows, int tile, int wanted, int room,
                                       int finish_rows) {
  const int dimension = call.coordinates - 1;
  KernelFigures figures = device.warpgroup_lists;
  figures.block_ns +=
      room * device.warpgroup_list_room_ns + dimension * device.warpgroup_list_row_ns;
  figures.pair_ns += warpgroup_steps(dimension) * device.warpgroup_lists_step_ns;
  KernelCost cost = kernel_cost(device, call, block_rows, tile, figures, 16);
  cost.settling_columns = device.settling_of_lists + wanted * device.settling_of_list_column;
  cost.finish_rows = finish_rows;
  cost.finish_ns = device.finish_ns +
                   wanted * (device.finish_list_ns + dimension * device.finish_list_number_ns);
  cost.finish_part_ns = device.finish_part_ns + wanted * device.finish_part_column_ns;
  cost.most_columns = most_listed_columns;
  add_splitting(device, dimension, cost);
  return cost;
}

/// The other kernels that take the products of warpgroups.
inline KernelCost warpgroup_cost(const DeviceFigures& device, const CallTraits& call,
                                 int block_rows, int tile) {
  KernelFigures figures = device.warpgroup_sum;
  figures.block_ns += call.coordinates * device.warpgroup_sum_row_ns;
  if (call.gram_form == GramForm::least) {
    figures = device.warpgroup_least;
    figures.block_ns += call.coordinates * device.warpgroup_least_row_ns;
    figures.pair_ns += warpgroup_steps(call.coordinates - 1) * device.warpgroup_least_step_ns;
  } else if (call.signal == 1) {
    figures.pair_ns += warpgroup_steps(call.coordinates) * device.warpgroup_sum_step_ns;
  } else {
    figures.block_ns += call.signal * device.warpgroup_signal_ns;
    // 8, 16, 32 or 64 numbers.
    const auto eights =
        static_cast<double>(std::bit_ceil(static_cast<unsigned>(divide_up(call.signal, 8))));
    if (call.coordinates > 16) {
      figures.pair_ns += warpgroup_steps(call.coordinates) * device.warpgroup_sum_step_ns +
                         device.warpgroup_tf32_split_ns + eights * device.warpgroup_tf32_eight_ns;
      if (block_rows < 192) figures.pair_ns += device.warpgroup_two_ns;
    } else {
      figures.pair_ns +=
          device.warpgroup_split_ns + (eights > 4 ? device.warpgroup_long_signals_ns
                                                  : eights * device.warpgroup_eight_signals_ns);
      // The square is one coordinate more.
      if (call.coordinates > 8) {
        figures.pair_ns += warpgroup_steps(call.coordinates + 1) * device.warpgroup_signals_step_ns;
      }
    }
  }
  KernelCost cost = kernel_cost(device, call, block_rows, tile, figures, 16);
  cost.long_state_bytes = std::max(0, call.state_bytes - 8);
  add_splitting(device, call.coordinates + (call.signal > 1 ? call.signal : 0), cost);
  return cost;
}

}  // namespace warpath::map_reduce::detail
