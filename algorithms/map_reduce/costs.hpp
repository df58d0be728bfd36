// Cost figures of a device, for the cost model (cost_model.hpp). Plain C++.
//
// They were fitted to some 2,000 run times over M, N and the number of parts of the Gaussian sum
// with one signal in three dimensions, float32, on one NVIDIA H200, driver 570; those of threads
// over the columns, later, to some 9,000 of Gaussian sums, LogSumExp and ArgMin in 1 to 64
// dimensions, launched back to back on the same columns. README.md states the errors of the fits.
// Since the latter fit some were moved by hand, so that old and new calls side by side chose
// better: launch_ns and all block_ns by a microsecond, pair_ns and merge_step_ns of threads over
// rows, what the kernels of warpgroups begin with, and most of the former by a little. Other
// devices are taken to differ by their number of multiprocessors only. Times are in nanoseconds, on
// one multiprocessor.
#pragma once

#include <cstdint>

namespace warpath::map_reduce::detail {

/// One kernel of one shape.
struct KernelFigures {
  double pair_ns;                ///< a pair (i, j)
  double column_ns;              ///< a column that a block loads
  double busy_blocks;            ///< resident blocks that keep the multiprocessor busy
  std::int64_t resident_blocks;  ///< blocks that are resident at once
  double block_ns;               ///< to start and to end a block
  double merge_ns;               ///< to merge partial results, once
  double merge_step_ns;          ///< for each batch of partial results that a thread waits for
};

struct DeviceFigures {
  double launch_ns;            ///< of a kernel
  double memory_bytes_per_ns;  ///< of the whole device
  double cache_bytes;          ///< of the second cache, those that stay,
  double cache_bytes_per_ns;   ///< and how fast they are read

  KernelFigures rows_1;  ///< rows_kernel, 1, 4 or 8 rows a thread
  KernelFigures rows_4;
  KernelFigures rows_8;
  double rows_1_of_long_columns;  ///< factor of pair_ns for columns of more than 128 bytes: most of
                                  ///< the time goes into reading them from shared memory
  double rows_1_of_long_signals;  ///< the same for signals of more than 32 numbers, on top
  double end_of_signals_columns;  ///< what a block's end costs with more than 8, in columns more

  double merge_byte_ns;             ///< to merge a byte of a long state
  double merge_byte_of_numbers_ns;  ///< the same where threads merge numbers of states
  double signals_of_columns;   ///< factor of pair_ns, threads over the columns, for signals of more
                               ///< than two numbers
  double settling_of_columns;  ///< factor of pair_ns, threads over the columns, where states change
                               ///< often over the first columns of each
  double columns_settle;       ///< settling_columns of columns_kernel there,
  double staged_settle;        ///< and of staged_columns_kernel
  double columns_state_byte_ns;   ///< block_ns there for each byte of a long state
  double long_groups_of_columns;  ///< factor of pair_ns, threads over the columns, for groups of
                                  ///< more than a number
  double special_function_ns;     ///< pair_ns of a second exponential or root, 1 row a thread
  double special_rows_ns;         ///< the same, more rows, and threads over the columns

  KernelFigures columns_1;  ///< columns_kernel, 1, 4 or 16 rows a block; column_ns a byte
  KernelFigures columns_4;
  KernelFigures columns_16;
  KernelFigures staged_1;  ///< staged_columns_kernel, the same
  KernelFigures staged_4;
  KernelFigures staged_16;
  std::int64_t shared_bytes;  ///< shared memory of a multiprocessor

  KernelFigures tensor_sum_512;  ///< the tensor kernel of sums, blocks of 512, 256 or 128 rows;
  KernelFigures tensor_sum_256;  ///< pair_ns with one tensor core instruction for 16 rows and 8
  KernelFigures tensor_sum_128;  ///< columns; column_ns a chunk of coordinates
  double tensor_sum_narrow_product_ns;  ///< pair_ns of a further instruction: up to 8 coordinates
  double tensor_sum_wide_product_ns;    ///< the same for more coordinates
  double tensor_narrow_signal_ns;       ///< pair_ns of a further number of the signal, but for a
                                        ///< growth with the signal: up to 8 coordinates
  double tensor_wide_signal_ns;         ///< the same for more coordinates
  double tensor_split_ns;  ///< pair_ns to split an exponential where signals are multiplied on
                           ///< the tensor cores, and
  double tensor_eight_signals_ns;          ///< for eight numbers, where there are up to 16;
  double tensor_eight_of_long_signals_ns;  ///< the same where there are more
  double split_signals_ns;                 ///< of the preceding kernel, beside reading and writing
  double tensor_sum_of_33;  ///< factor of the time of 33 to 64 coordinates, and of more:
  double tensor_sum_of_65;  ///< fewer blocks are resident

  KernelFigures warpgroup_sum;        ///< warpgroup_sum_kernel, without products
  double warpgroup_sum_step_ns;       ///< pair_ns of a step of 16 coordinates
  double warpgroup_signals_step_ns;   ///< the same, where signals are multiplied in halves
  double warpgroup_split_ns;          ///< pair_ns to split an exponential there,
  double warpgroup_eight_signals_ns;  ///< for eight numbers of up to 32,
  double warpgroup_long_signals_ns;   ///< and for 33 to 64
  double warpgroup_tf32_split_ns;     ///< pair_ns to split an exponential in TF32,
  double warpgroup_tf32_eight_ns;     ///< and for eight numbers
  double warpgroup_two_ns;            ///< more of a pair where a block has two warpgroups only
  double warpgroup_signal_ns;         ///< block_ns of a number
  double warpgroup_sum_row_ns;        ///< block_ns of a coordinate of the block's rows
  KernelFigures warpgroup_least;      ///< warpgroup_least_kernel, without products
  double warpgroup_least_step_ns;     ///< pair_ns of a step of 16 coordinates
  double warpgroup_least_row_ns;      ///< block_ns of a coordinate of the block's rows
  KernelFigures warpgroup_lists;      ///< warpgroup_lists_kernel, without products and lists
  double warpgroup_lists_step_ns;     ///< pair_ns of a step of 16 coordinates
  double warpgroup_list_room_ns;      ///< block_ns of a column that a row has room for
  double warpgroup_list_row_ns;       ///< block_ns of a coordinate of the block's rows
  double settling_of_lists;           ///< settling_columns of lists there,
  double settling_of_list_column;     ///< and of each column that is wanted
  double finish_ns;                   ///< of finish_lists_kernel,
  double finish_list_ns;              ///< and of a column that is wanted,
  double finish_list_number_ns;       ///< and of each of its coordinates
  double finish_part_ns;              ///< finish_part_ns there
  double finish_part_column_ns;       ///< and of a column that is wanted
  double split_columns_ns;            ///< of the preceding kernel, beside reading and writing

  KernelFigures tensor_least;  ///< the tensor kernel of least distances, without instructions
  KernelFigures lists;         ///< list_rows_kernel
  KernelFigures tensor_lists;  ///< tensor_lists_kernel, without instructions
  double list_entry_ns;        ///< block_ns more for each entry of a row's list

  double tensor_least_product_ns;  ///< pair_ns of an instruction
  double tensor_least_many_ns;     ///< pair_ns more where several least distances are wanted
};

inline constexpr DeviceFigures h200_figures = {.launch_ns = 1700,
                                               .memory_bytes_per_ns = 4100,
                                               .cache_bytes = 48e6,
                                               .cache_bytes_per_ns = 8500,
                                               .rows_1 = {.pair_ns = 0.0478,
                                                          .column_ns = 1,
                                                          .busy_blocks = 1.6,
                                                          .resident_blocks = 5,
                                                          .block_ns = 1450,
                                                          .merge_ns = 2000,
                                                          .merge_step_ns = 520},
                                               .rows_4 = {.pair_ns = 0.0483,
                                                          .column_ns = 0.25,
                                                          .busy_blocks = 1.35,
                                                          .resident_blocks = 5,
                                                          .block_ns = 2270,
                                                          .merge_ns = 2170,
                                                          .merge_step_ns = 4000},
                                               .rows_8 = {.pair_ns = 0.0452,
                                                          .column_ns = 1,
                                                          .busy_blocks = 1.25,
                                                          .resident_blocks = 4,
                                                          .block_ns = 5000,
                                                          .merge_ns = 2600,
                                                          .merge_step_ns = 15000},
                                               .rows_1_of_long_columns = 1.45,
                                               .rows_1_of_long_signals = 1.4,
                                               .end_of_signals_columns = 220,
                                               .merge_byte_ns = 0.16,
                                               .merge_byte_of_numbers_ns = 0.04,
                                               .signals_of_columns = 1.25,
                                               .settling_of_columns = 1.4,
                                               .columns_settle = 900,
                                               .staged_settle = 150,
                                               .columns_state_byte_ns = 380,
                                               .long_groups_of_columns = 1.35,
                                               .special_function_ns = 0.036,
                                               .special_rows_ns = 0.043,
                                               .columns_1 = {.pair_ns = 0.0757,
                                                             .column_ns = 0.0057,
                                                             .busy_blocks = 1.39,
                                                             .resident_blocks = 5,
                                                             .block_ns = 600,
                                                             .merge_ns = 860,
                                                             .merge_step_ns = 990},
                                               .columns_4 = {.pair_ns = 0.0664,
                                                             .column_ns = 0,
                                                             .busy_blocks = 1.3,
                                                             .resident_blocks = 4,
                                                             .block_ns = 450,
                                                             .merge_ns = 850,
                                                             .merge_step_ns = 2000},
                                               .columns_16 = {.pair_ns = 0.0485,
                                                              .column_ns = 0.0034,
                                                              .busy_blocks = 1.38,
                                                              .resident_blocks = 4,
                                                              .block_ns = 1150,
                                                              .merge_ns = 300,
                                                              .merge_step_ns = 1770},
                                               .staged_1 = {.pair_ns = 0.15,
                                                            .column_ns = 0.015,
                                                            .busy_blocks = 1.6,
                                                            .resident_blocks = 4,
                                                            .block_ns = 1200,
                                                            .merge_ns = 375,
                                                            .merge_step_ns = 1310},
                                               .staged_4 = {.pair_ns = 0.13,
                                                            .column_ns = 0,
                                                            .busy_blocks = 1.29,
                                                            .resident_blocks = 3,
                                                            .block_ns = 743,
                                                            .merge_ns = 775,
                                                            .merge_step_ns = 2340},
                                               .staged_16 = {.pair_ns = 0.065,
                                                             .column_ns = 0,
                                                             .busy_blocks = 1.45,
                                                             .resident_blocks = 2,
                                                             .block_ns = 690,
                                                             .merge_ns = 900,
                                                             .merge_step_ns = 2040},
                                               .shared_bytes = 228 * 1024,
                                               .tensor_sum_512 = {.pair_ns = 0.0318,
                                                                  .column_ns = 1,
                                                                  .busy_blocks = 1.14,
                                                                  .resident_blocks = 2,
                                                                  .block_ns = 2770,
                                                                  .merge_ns = 2150,
                                                                  .merge_step_ns = 720},
                                               .tensor_sum_256 = {.pair_ns = 0.0304,
                                                                  .column_ns = 1,
                                                                  .busy_blocks = 1.29,
                                                                  .resident_blocks = 3,
                                                                  .block_ns = 2490,
                                                                  .merge_ns = 1230,
                                                                  .merge_step_ns = 1320},
                                               .tensor_sum_128 = {.pair_ns = 0.0425,
                                                                  .column_ns = 0.23,
                                                                  .busy_blocks = 1.24,
                                                                  .resident_blocks = 3,
                                                                  .block_ns = 2230,
                                                                  .merge_ns = 1000,
                                                                  .merge_step_ns = 300},
                                               .tensor_sum_narrow_product_ns = 0.013,
                                               .tensor_sum_wide_product_ns = 0.0075,
                                               .tensor_narrow_signal_ns = 0.0046,
                                               .tensor_wide_signal_ns = 0.015,
                                               .tensor_split_ns = 0.0097,
                                               .tensor_eight_signals_ns = 0.0168,
                                               .tensor_eight_of_long_signals_ns = 0.02,
                                               .split_signals_ns = 4000,
                                               .tensor_sum_of_33 = 1.25,
                                               .tensor_sum_of_65 = 1.75,
                                               .warpgroup_sum = {.pair_ns = 0.0235,
                                                                 .column_ns = 0,
                                                                 .busy_blocks = 1,
                                                                 .resident_blocks = 1,
                                                                 .block_ns = 4200,
                                                                 .merge_ns = 1230,
                                                                 .merge_step_ns = 1320},
                                               .warpgroup_sum_step_ns = 0.0186,
                                               .warpgroup_signals_step_ns = 0.0115,
                                               .warpgroup_split_ns = 0.0352,
                                               .warpgroup_eight_signals_ns = 0.0013,
                                               .warpgroup_long_signals_ns = 0.0465,
                                               .warpgroup_tf32_split_ns = 0.013,
                                               .warpgroup_tf32_eight_ns = 0.0165,
                                               .warpgroup_two_ns = 0.035,
                                               .warpgroup_signal_ns = 200,
                                               .warpgroup_sum_row_ns = 58,
                                               .warpgroup_least = {.pair_ns = 0.0223,
                                                                   .column_ns = 0,
                                                                   .busy_blocks = 1,
                                                                   .resident_blocks = 1,
                                                                   .block_ns = 9000,
                                                                   .merge_ns = 1230,
                                                                   .merge_step_ns = 1320},
                                               .warpgroup_least_step_ns = 0.005,
                                               .warpgroup_least_row_ns = 130,
                                               .warpgroup_lists = {.pair_ns = 0,
                                                                   .column_ns = 13,
                                                                   .busy_blocks = 1,
                                                                   .resident_blocks = 1,
                                                                   .block_ns = 4900,
                                                                   .merge_ns = 0,
                                                                   .merge_step_ns = 0},
                                               .warpgroup_lists_step_ns = 0.0038,
                                               .warpgroup_list_room_ns = 358,
                                               .warpgroup_list_row_ns = 107,
                                               .settling_of_lists = 2025,
                                               .settling_of_list_column = 245,
                                               .finish_ns = 2150,
                                               .finish_list_ns = 384,
                                               .finish_list_number_ns = 3.6,
                                               .finish_part_ns = 311,
                                               .finish_part_column_ns = 8.4,
                                               .split_columns_ns = 2500,
                                               .tensor_least = {.pair_ns = 0.0105,
                                                                .column_ns = 1,
                                                                .busy_blocks = 1.3,
                                                                .resident_blocks = 3,
                                                                .block_ns = 41000,
                                                                .merge_ns = 1230,
                                                                .merge_step_ns = 1320},
                                               .lists = {.pair_ns = 0.04,
                                                         .column_ns = 1,
                                                         .busy_blocks = 5,
                                                         .resident_blocks = 5,
                                                         .block_ns = 401000,
                                                         .merge_ns = 60000,
                                                         .merge_step_ns = 1000},
                                               .tensor_lists = {.pair_ns = 0.045,
                                                                .column_ns = 1,
                                                                .busy_blocks = 5,
                                                                .resident_blocks = 5,
                                                                .block_ns = 201000,
                                                                .merge_ns = 60000,
                                                                .merge_step_ns = 1000},
                                               .list_entry_ns = 6000,
                                               .tensor_least_product_ns = 0.0065,
                                               .tensor_least_many_ns = 0.025};

}  // namespace warpath::map_reduce::detail
