// Which kernel computes a call, and how it cuts the pairs: Plan, and how one is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <typeindex>
#include <vector>

#include "core/device.cuh"
#include "core/launch.cuh"
#include "map_reduce/cost_model.hpp"
#include "map_reduce/costs.hpp"
#include "map_reduce/source_schemes.cuh"
#include "map_reduce/staged_columns.cuh"
#include "map_reduce/tensor_least.cuh"
#include "map_reduce/tensor_sum.cuh"
#include "map_reduce/tuned.cuh"
#include "map_reduce/undecided_rows.cuh"
#include "map_reduce/variant.hpp"
#include "map_reduce/warp_lists.cuh"
#include "map_reduce/warpgroup_least.cuh"
#include "map_reduce/warpgroup_lists.cuh"
#include "map_reduce/warpgroup_signals.cuh"
#include "map_reduce/warpgroup_sum.cuh"

namespace warpath::map_reduce {

/// A kernel and how it cuts the pairs. Counts are numbers of rows or columns.
struct Choice {
  Variant variant = Variant::naive;  ///< never automatic
  bool is_over_columns = false;      ///< of tuned_2d: threads over the columns, for few rows
  bool takes_warpgroups = false;     ///< of tensor: products of warpgroups, for code of sm_90a
  int block_rows = 1;                ///< rows of a block: K for gpu_1d and gpu_2d, 1 for naive; of
                                     ///< the tuned kernels it tells the shapes apart
  std::int64_t parts = 1;            ///< parts of the columns
  std::int64_t span = 0;             ///< columns of a part, except for the last one
  double expected_ns = 0;  ///< run time by the cost model, in nanoseconds; 0: it has no figures
};

namespace detail {

/// What a plan depends on.
struct CallKey {
  std::type_index types;  ///< of the formula, the reduction and the arrays
  std::int64_t rows;
  std::int64_t columns;
  int device;
};

}  // namespace detail

/// What plan() chose for one call. reduce() takes it for every call of the same types (formula,
/// reduction, arrays), M, N and device, whatever the data and the formula's parameters; for any
/// other call it throws std::invalid_argument. Small, copyable, without device memory. Its members
/// are to be read: what is changed in them is not checked.
struct Plan : Choice {
  Plan(const detail::CallKey& for_call, const Choice& choice, std::int64_t bytes)
      : Choice(choice), extra_bytes(bytes), made_for(for_call) {}

  std::int64_t extra_bytes;  ///< that reduce() takes from its workspace for values, states, and
                             ///< split columns or signals, at most 2^63 - 1; on top of them come up
                             ///< to 255 bytes to align each of the two arrays and, where there are
                             ///< several parts, counters for the blocks
  detail::CallKey made_for;
};

namespace detail {

// ---------------------------------------------------------------- shapes of the kernels

/// Bytes of registers that a thread needs for each of its rows, about.
template <class Problem>
constexpr std::size_t row_bytes() {
  using Reduction = typename Problem::Reduction;
  std::size_t group = sizeof(typename Problem::State);
  if constexpr (TakesGroups<Reduction>) group = sizeof(typename Reduction::Group);
  return sizeof(RowOf<Problem>) + sizeof(typename Problem::State) + group;
}
template <class Problem>
constexpr bool keeps_lists = KeepsLists<typename Problem::Reduction>;
/// Whether that many rows fit into a thread's registers (256-byte limit).
template <class Problem>
constexpr bool has_rows_kernel(int rows_per_thread) {
  return rows_per_thread == 1 ||
         (!keeps_lists<Problem> && rows_per_thread * row_bytes<Problem>() <= 256);
}
/// Bytes of an element of the array over the columns whose elements are longest.
template <class... T, int... D>
constexpr std::size_t longest_element(const Pack<Array<T, D>...>&) {
  return std::max({sizeof(T) * D...});
}
/// Whether a group of the reduction is more than a number, and there are no shares: LogSumExp.
template <class Problem>
constexpr bool has_long_groups = [] {
  using Reduction = typename Problem::Reduction;
  if constexpr (HasShares<Reduction> || !TakesGroups<Reduction>) {
    return false;
  } else {
    return sizeof(typename Reduction::Group) > sizeof(NumberOf<ValueOfPair<Problem>>);
  }
}();
/// Whether a thread of columns_kernel loads one column at once, in vectors, rather than four.
/// (Measured for Gaussian sums, LogSumExp and ArgMin of 3 to 10 floats. Without shares a column is
/// a group of its own then.)
template <class Problem>
constexpr bool takes_single_columns(int block_rows) {
  const std::size_t least = block_rows == 1 ? 16 : has_long_groups<Problem> ? 32 : 28;
  return longest_element(decltype(Problem::y){}) >= least;
}
/// Whether the kernel of few rows is staged_columns_kernel, rather than columns_kernel.
template <class Problem>
constexpr bool is_staged(int block_rows) {
  if (block_rows > 1 && !has_rows_kernel<Problem>(4)) return true;
  return sizeof(ColumnOf<Problem>) > (block_rows < 16 ? 48 : 44);
}
/// Columns that a thread of columns_kernel loads at once from arrays that are aligned to 16 bytes.
template <class Problem>
constexpr int batch_of(int block_rows) {
  return takes_single_columns<Problem>(block_rows) || sizeof(ColumnOf<Problem>) > 32 ? 1 : 4;
}
/// Threads over the columns: 1, 4 or 16 rows a block; up to four in the registers of a thread, or,
/// in shared memory, with short states.
template <class Problem>
constexpr bool has_columns_kernel(int block_rows) {
  if (keeps_lists<Problem>) return false;
  if (block_rows == 1) return true;
  return is_staged<Problem>(block_rows) ? sizeof(ShareOf<Problem>) <= 16
                                        : has_rows_kernel<Problem>(4);
}
/// Of staged_columns_kernel. (Measured: two columns a thread save reads of the rows, but take too
/// many registers where columns are long.) A stage of one row is at most 40 KB, or 80 KB where
/// there are two.
template <class Problem, int BlockRows, int Bytes = sizeof(ColumnOf<Problem>)>
using StagedShapeOf = std::conditional_t<
    BlockRows == 16,
    std::conditional_t<Bytes <= 320, StagedShape<8, 2, 64, 2, 2>,
                       StagedShape<8, 2, (Bytes <= 600 ? 128 : 64), 1, 2>>,
    StagedShape<BlockRows, 1, (Bytes <= 600 ? 128 : 64), (BlockRows == 1 && Bytes <= 80 ? 2 : 1),
                (Bytes <= 320 ? 3 : 2)>>;
template <class Problem>
constexpr bool has_short_rows = sizeof(RowOf<Problem>) + sizeof(typename Problem::State) <= 32;
/// Blocks of columns_kernel at least a multiprocessor. (Measured: three blocks of four rows a
/// thread take less time than what registers without a limit leave room for, also where a few
/// spill.)
template <class Problem>
constexpr int columns_blocks(int block_rows, int rows_per_thread) {
  if (has_short_rows<Problem>) return block_rows == 1 ? 5 : 4;
  if (!takes_single_columns<Problem>(block_rows)) return 1;
  if (rows_per_thread == 1) return row_bytes<Problem>() <= 80 ? 4 : 1;
  return rows_per_thread * row_bytes<Problem>() <= 240 ? 3 : 1;
}
template <class Problem, int BlockRows, int Rows = (BlockRows < 4 ? 1 : 4)>
using ColumnsShapeOf =
    ColumnsShape<Rows, BlockRows / Rows, columns_blocks<Problem>(BlockRows, Rows)>;
/// Blocks of rows_kernel at least a multiprocessor. (Measured: the Gaussian in three dimensions
/// takes so many registers without a limit that only four fit.)
template <class Problem>
constexpr int rows_blocks(int rows_per_thread) {
  const std::size_t bytes = rows_per_thread * row_bytes<Problem>();
  if (rows_per_thread == 1 && bytes <= 64) return 5;
  return bytes <= 160 ? 4 : bytes <= 256 ? 3 : 2;
}
template <class Problem, int RowsPerThread>
using RowsShapeOf = RowsShape<RowsPerThread, rows_blocks<Problem>(RowsPerThread)>;

template <class Problem>
constexpr bool is_tensor_sum =
    Exponential<typename Problem::Formula, typename Problem::Reduction>::is_possible;
template <class Problem>
constexpr bool is_tensor_least =
    LeastDistance<typename Problem::Formula, typename Problem::Reduction>::is_possible;
/// Whether the tensor kernel of sums multiplies by signals on the tensor cores, too.
template <class Problem>
constexpr bool is_second_product = [] {
  using Form = ExponentialOf<Problem>;
  if constexpr (!Form::is_possible)
    return false;
  else
    return multiplies_signals<Form::dimension, Form::signal>;
}();
template <class Problem>
using SignalTileOf = SignalTile<ExponentialOf<Problem>::dimension, ExponentialOf<Problem>::signal>;
/// Whether there is a kernel that takes the products of warpgroups.
template <class Problem>
constexpr bool has_warpgroups =
    has_warpgroup_sum<ExponentialOf<Problem>> || has_warpgroup_signals<ExponentialOf<Problem>> ||
    has_warpgroup_least<Problem> || has_warpgroup_lists<Problem>;
/// It, and the one that splits the columns before it: act.operator()<Storage, SplitterStorage>(
/// kernel, splitting kernel), with what blocks of both have in dynamic shared memory.
template <class Problem, class Act>
auto with_warpgroup_kernels(Act&& act) {
  using Form = ExponentialOf<Problem>;
  if constexpr (has_warpgroup_sum<Form>) {
    using Storage = WarpgroupStorageOf<Problem>;
    return act
        .template operator()<Storage, SplitterStorage<Form::dimension, Storage::Tile::columns>>(
            warpgroup_sum_kernel<Problem>, split_columns_kernel<Problem>);
  } else if constexpr (has_warpgroup_least<Problem>) {
    return act.template
    operator()<WarpgroupLeastStorage<Problem>, LeastSplitterStorage<Problem::Formula::dimension>>(
        warpgroup_least_kernel<Problem>, split_least_kernel<Problem>);
  } else if constexpr (has_warpgroup_lists<Problem>) {
    return act.template
    operator()<WarpgroupListsStorageOf<Problem>, LeastSplitterStorage<Problem::Formula::dimension>>(
        warpgroup_lists_kernel<Problem>, split_least_kernel<Problem>);
  } else {
    return act.template operator()<WarpgroupSignalsStorageOf<Problem>,
                                   SplitColumnsAndSignalsStorage<Form::dimension, Form::signal>>(
        warpgroup_signals_kernel<Problem>, split_columns_and_signals_kernel<Problem>);
  }
}
/// Whether the current device can run it, and the program has been compiled for that: no other
/// tensor kernel is taken then.
template <class Problem>
bool can_run_warpgroups() {
  if constexpr (has_warpgroups<Problem>) {
    return with_warpgroup_kernels<Problem>([&]<class Storage, class>(auto kernel, auto) {
      return warpath::can_run(kernel,
                              {.hopper = true, .shared_bytes = sizeof(Storage), .sm_90a = true});
    });
  }
  return false;
}
template <class Problem>
constexpr bool has_tensor = is_tensor_sum<Problem> || is_tensor_least<Problem>;

/// act.operator()<Shape>() for each shape of the tensor kernels, those with most rows first. No two
/// have as many rows. Long states, and rows of many dimensions, take registers.
template <class Problem, class Act>
void for_each_tensor_shape(Act&& act) {
  constexpr bool is_wide = sizeof(RowOf<Problem>) > 32;
  constexpr bool is_very_wide = sizeof(RowOf<Problem>) > 256;
  if constexpr (keeps_lists<Problem>) {
    act.template operator()<ListShapeOf<float>>();
  } else if constexpr (is_second_product<Problem>) {
    if constexpr (sizeof(typename Problem::State) <= 128) {
      act.template operator()<TensorShape<2, 8, 1, 2>>();
    } else {
      act.template operator()<TensorShape<2, 8, 1, 1>>();
    }
  } else if constexpr (sizeof(typename Problem::State) > 16) {
    if constexpr (is_tensor_sum<Problem>) {
      act.template operator()<TensorShape<1, 8, 1, 2>>();
    } else {
      act.template operator()<TensorShape<1, 16, 1, 1>>();
    }
  } else if constexpr (is_very_wide) {
    act.template operator()<TensorShape<2, 8, 1, 1>>();
  } else if constexpr (is_wide) {
    act.template operator()<TensorShape<4, 8, 1, 1>>();
    act.template operator()<TensorShape<2, 8, 1, 1>>();
  } else {
    if constexpr (is_tensor_sum<Problem>) act.template operator()<TensorShape<4, 8, 1, 2>>();
    act.template operator()<TensorShape<2, 8, 1, 3>>();
    act.template operator()<TensorShape<2, 4, 2, 3>>();
  }
}

/// The tensor kernel of a shape: act(kernel, bytes of dynamic shared memory).
template <class Problem, class Shape, class Act>
auto with_tensor_kernel(Act&& act) {
  if constexpr (is_tensor_sum<Problem>) {
    return act(tensor_sum_kernel<Shape, Problem>, sizeof(TensorStorageOf<Shape, Problem>));
  } else if constexpr (keeps_lists<Problem>) {
    return act(tensor_lists_kernel<Problem>, sizeof(LeastListStorage<Problem>));
  } else {
    return act(tensor_least_kernel<Shape, Problem>, sizeof(LeastStorage<Shape, Problem>));
  }
}

// ---------------------------------------------------------------- candidates

/// Instructions that the reduction of a value costs about.
template <class Reduction>
constexpr double instructions_of() {
  if constexpr (requires { Reduction::instructions; }) return Reduction::instructions;
  return 1;
}

template <class Problem>
using NumberOfPair = NumberOf<ValueOfPair<Problem>>;

template <class Problem>
constexpr CallTraits traits_of() {
  using Reduction = typename Problem::Reduction;
  static_assert(sizeof(Staged<ColumnOf<Problem>>) <= shared_bytes_everywhere,
                "a column, of all arrays over j together, must fit the shared memory of every "
                "device: it has 96 KiB at most");
  CallTraits call{.column_bytes = sizeof(ColumnOf<Problem>),
                  .state_bytes = sizeof(typename Problem::State),
                  .tile_columns = columns_of_tile(sizeof(Staged<ColumnOf<Problem>>)),
                  .is_double = sizeof(NumberOfPair<Problem>) == sizeof(double),
                  .instructions = instructions_of<Reduction>(),
                  .signal = sizeof(ValueOfPair<Problem>) / sizeof(NumberOfPair<Problem>)};
  call.merges_numbers = merges_numbers<Problem>;
  call.has_long_groups = has_long_groups<Problem>;
  if constexpr (requires { Problem::Formula::special_functions; }) {
    call.special_functions = Problem::Formula::special_functions;
  }
  if constexpr (requires { Reduction::settling_columns; }) {
    call.settling_columns = Reduction::settling_columns;
  }
  if constexpr (HasShares<Reduction>) call.share_columns = Reduction::share_columns;
  if constexpr (KeepsLists<Reduction>) call.list_length = Reduction::length;
  if constexpr (has_tensor<Problem>) {
    constexpr int D = sizeof(RowOf<Problem>) / sizeof(float);
    call.gram_form = is_tensor_sum<Problem> ? GramForm::sum : GramForm::least;
    call.coordinates = is_tensor_least<Problem> ? D + 1 : D;
    call.coordinate_chunks = chunks_of(call.coordinates);
    call.tensor_tile_columns = tensor_tile<D>;  // (tensor_least_kernel takes parts of larger ones.)
    if constexpr (is_second_product<Problem>) {
      call.multiplies_signals = true;
      call.tensor_tile_columns = SignalTileOf<Problem>::columns;
    }
  }
  return call;
}

/// A kernel that a call may run.
struct Candidate {
  Variant variant;
  bool is_over_columns;
  bool takes_warpgroups;
  int rows_per_thread;  ///< of rows_kernel, else 0
  KernelCost cost;
  bool (*can_run)();  ///< on the current device; null: everywhere
};

/// All kernels that compute these pairs, but for the source's. Made once: their costs do not depend
/// on M, N and the options.
template <class Problem>
const std::vector<Candidate>& candidates_of() {
  static const std::vector<Candidate> all = [] {
    constexpr CallTraits call = traits_of<Problem>();
    const DeviceFigures& device = h200_figures;
    std::vector<Candidate> made;
    for (const int R : {1, 4, 8}) {
      if (!has_rows_kernel<Problem>(R)) continue;
      KernelCost cost{};
      if constexpr (keeps_lists<Problem>) {
        cost = lists_cost(device, call, ListStorage<Problem>::Shape::block_rows,
                          ListStorage<Problem>::tile, sizeof(ListStorage<Problem>));
      } else {
        cost = rows_cost(device, call, R);
      }
      made.push_back({Variant::tuned_1d, false, false, R, cost, nullptr});
      made.push_back({Variant::tuned_2d, false, false, R, cost, nullptr});
    }
    const auto add_few_rows = [&]<int Rows>() {
      if constexpr (!has_columns_kernel<Problem>(Rows)) {
        return;
      } else if constexpr (is_staged<Problem>(Rows)) {
        using Shape = StagedShapeOf<Problem, Rows>;
        constexpr std::size_t bytes = sizeof(StagedStorage<Shape, Problem>);
        made.push_back({Variant::tuned_2d, true, false, 0,
                        staged_cost(device, call, Rows, Shape::tile, Shape::team_threads, bytes),
                        [] {
                          return warpath::can_run(staged_columns_kernel<Shape, Problem>,
                                                  {.shared_bytes = bytes});
                        }});
      } else {
        using Shape = ColumnsShapeOf<Problem, Rows>;
        // No limit: 3 are taken to fit.
        constexpr int blocks = Shape::blocks > 1 ? Shape::blocks : 3;
        made.push_back({Variant::tuned_2d, true, false, 0,
                        columns_cost(device, call, Rows, Shape::team_threads, blocks), nullptr});
      }
    };
    add_few_rows.template operator()<1>();
    add_few_rows.template operator()<4>();
    add_few_rows.template operator()<16>();
    if constexpr (has_tensor<Problem>) {
      for_each_tensor_shape<Problem>([&]<class Shape>() {
        KernelCost cost{};
        if constexpr (keeps_lists<Problem>) {
          using Storage = LeastListStorage<Problem>;
          cost = tensor_lists_cost(device, call, Shape::block_rows, Storage::tile, sizeof(Storage));
        } else {
          cost = tensor_cost(device, call, Shape::block_rows, Shape::blocks);
        }
        made.push_back(
            {Variant::tensor, false, false, 0, cost, [] {
               return !can_run_warpgroups<Problem>() &&
                      with_tensor_kernel<Problem, Shape>([](auto kernel, std::size_t shared_bytes) {
                        return warpath::can_run(kernel, {.shared_bytes = shared_bytes});
                      });
             }});
      });
    }
    if constexpr (has_warpgroups<Problem>) {
      with_warpgroup_kernels<Problem>([&]<class Storage, class>(auto, auto) {
        KernelCost cost{};
        if constexpr (has_warpgroup_lists<Problem>) {
          cost = warpgroup_lists_cost(device, call, Storage::block_rows, Storage::Tile::columns,
                                      Problem::Reduction::length, Storage::room,
                                      FinishStorage<Problem>::block_rows);
        } else {
          cost = warpgroup_cost(device, call, Storage::block_rows, Storage::Tile::columns);
        }
        made.push_back({Variant::tensor, false, true, 0, cost, can_run_warpgroups<Problem>});
      });
    }
    return made;
  }();
  return all;
}

/// The candidate with the least expected time among those that the options allow; none where they
/// allow none.
inline std::optional<Choice> cheapest(const std::vector<Candidate>& candidates, std::int64_t rows,
                                      std::int64_t columns, const Options& options,
                                      int processors) {
  std::optional<Choice> best;
  for (const Candidate& candidate : candidates) {
    const KernelCost& cost = candidate.cost;
    if (options.variant != Variant::automatic && options.variant != candidate.variant) continue;
    if (options.rows_per_thread > 0 && candidate.variant != Variant::tensor &&
        options.rows_per_thread != candidate.rows_per_thread) {
      continue;
    }
    if (columns > cost.most_columns) continue;
    const int wanted = candidate.variant == Variant::tuned_1d ? 1 : options.splits;
    if (wanted > 0 && divide_up(columns, wanted) > cost.most_span) continue;
    if (best && least_ns(cost, rows, columns, processors) >= best->expected_ns) continue;
    const Cut cut = wanted > 0 ? cut_of(cost, rows, columns, wanted, processors)
                               : best_cut(cost, rows, columns, processors);
    if (best && cut.expected_ns >= best->expected_ns) continue;
    if (candidate.can_run != nullptr && !candidate.can_run()) continue;
    best = {candidate.variant,
            candidate.is_over_columns,
            candidate.takes_warpgroups,
            static_cast<int>(cost.block_rows),
            cut.parts,
            cut.span,
            cut.expected_ns};
  }
  return best;
}

// ---------------------------------------------------------------- the plan of a call

/// Throws std::invalid_argument for options out of range, and for a variant that this formula and
/// reduction do not have.
template <class Problem>
void require_options(const Options& options) {
  require_enum("variant", options.variant);
  const int R = options.rows_per_thread;
  if (R != 0 && R != 1 && R != 4 && R != 8) {
    throw std::invalid_argument("rows_per_thread is " + std::to_string(R) +
                                ": expected 1, 4 or 8, or 0 for the cost model's choice");
  }
  if (const int K = options.block_threads; K < 32 || K > 1024 || K % 32 != 0) {
    throw std::invalid_argument("block_threads is " + std::to_string(K) +
                                ": expected a multiple of 32, the threads of a warp, up to 1024");
  }
  require_in_range("splits", options.splits, 0, 65535);
  constexpr std::size_t column_bytes = sizeof(Staged<ColumnOf<Problem>>);
  if (options.variant == Variant::gpu_1d) {
    require_block(gpu_1d_kernel<Problem>, options.block_threads, column_bytes);
  }
  if (options.variant == Variant::gpu_2d) {
    require_block(gpu_2d_kernel<Problem>, options.block_threads, column_bytes);
  }
  if (options.variant == Variant::tensor && !has_tensor<Problem>) {
    throw std::invalid_argument(
        "variant tensor has no such formula and reduction: expected float, and Gaussian with Sum "
        "by blocks, LogGaussian with LogSumExp, or SquaredDistance with Min, ArgMin, KMin or "
        "ArgKMin");
  }
}

template <class Problem>
Choice choose(std::int64_t rows, std::int64_t columns, const Options& options) {
  switch (options.variant) {
    case Variant::naive:
      return {.variant = Variant::naive, .block_rows = 1, .parts = 1, .span = columns};
    case Variant::gpu_1d:
      return {.variant = Variant::gpu_1d,
              .block_rows = options.block_threads,
              .parts = 1,
              .span = columns};
    case Variant::gpu_2d:
      return {.variant = Variant::gpu_2d,
              .block_rows = options.block_threads,
              .parts = divide_up(columns, options.block_threads),
              .span = options.block_threads};
    default:
      break;
  }
  const auto best = cheapest(candidates_of<Problem>(), rows, columns, options, device_processors());
  if (best) return *best;
  if (keeps_lists<Problem> && columns > most_listed_columns) {
    throw std::invalid_argument("N is " + std::to_string(columns) + ": lists of so many least " +
                                "values have up to " + std::to_string(most_listed_columns) +
                                " columns, but for variants naive, gpu_1d and gpu_2d");
  }
  if (options.variant == Variant::tensor) {
    throw std::invalid_argument(
        "variant tensor: its blocks have more shared memory than this device has for one");
  }
  throw std::invalid_argument("rows_per_thread is " + std::to_string(options.rows_per_thread) +
                              ": so many rows and states of this call do not fit into the "
                              "registers of a thread, expected fewer");
}

/// a b `bytes`, none negative; the largest number where that overflows.
inline std::int64_t bytes_of(std::int64_t a, std::int64_t b, std::size_t bytes) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto size = static_cast<std::int64_t>(bytes);
  if (a == 0 || b == 0) return 0;
  return a > most / b || a * b > most / size ? most : a * b * size;
}

/// a + b, neither negative; the largest number where that overflows.
inline std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return a > most - b ? most : a + b;
}

/// Blocks of undecided_rows_kernel: as many as are on the device at once.
inline unsigned undecided_blocks() {
  return 2 * static_cast<unsigned>(device_processors());
}
/// Bytes of what a search for nearest columns by warpgroups finds in each part, or of the states of
/// rows that are undecided, which come after it. Storage: of the search's blocks.
template <class Problem, class Storage>
std::int64_t bytes_of_parts(const Choice& choice, std::int64_t rows) {
  const bool has_parts = has_warpgroup_lists<Problem> || choice.parts > 1;
  return std::max(
      has_parts ? bytes_of(rows, choice.parts, sizeof(typename Storage::Found)) : 0,
      bytes_of(undecided_states(rows, undecided_blocks()), 1, sizeof(typename Problem::State)));
}

/// Bytes of values, states, split columns or signals, and numbers of rows that a call takes from
/// its workspace.
template <class Problem>
std::int64_t extra_bytes_of(const Choice& choice, std::int64_t rows, std::int64_t columns) {
  if (choice.variant == Variant::naive) {
    return bytes_of(rows, columns, sizeof(ValueOfPair<Problem>));
  }
  std::int64_t split = 0;
  const auto set_split = [&]<class Tile>(const Tile*) {
    split = bytes_of(divide_up(columns, Tile::columns), 1, sizeof(Tile));
  };
  if constexpr (is_second_product<Problem>) {
    if (choice.variant == Variant::tensor) set_split(static_cast<SignalTileOf<Problem>*>(nullptr));
  }
  if constexpr (has_warpgroups<Problem>) {
    with_warpgroup_kernels<Problem>([&]<class Storage, class>(auto, auto) {
      if (choice.takes_warpgroups) set_split(static_cast<typename Storage::Tile*>(nullptr));
    });
  }
  if constexpr (is_tensor_least<Problem> && has_warpgroups<Problem>) {
    if (choice.takes_warpgroups) {
      return with_warpgroup_kernels<Problem>([&]<class Storage, class>(auto, auto) {
        const std::int64_t numbers =
            bytes_of(undecided_numbers(rows), 1, sizeof(unsigned long long));
        return sum_of(split, sum_of(bytes_of_parts<Problem, Storage>(choice, rows), numbers));
      });
    }
  }
  if constexpr (is_tensor_sum<Problem>) {
    if (choice.variant == Variant::tensor && !choice.takes_warpgroups) {
      const std::int64_t row_blocks = divide_up(rows, choice.block_rows);
      std::int64_t far = 0;
      for_each_tensor_shape<Problem>([&]<class Shape>() {
        if (Shape::block_rows != choice.block_rows) return;
        far = bytes_of(row_blocks, choice.parts, sizeof(FarPointsOf<Shape, Problem>));
      });
      const std::int64_t states = bytes_of(rows, choice.parts, sizeof(typename Problem::State));
      return sum_of(sum_of(states, far), split);
    }
  }
  if (choice.parts == 1 && choice.variant != Variant::gpu_2d) return split;
  const std::int64_t states =
      bytes_of(rows, choice.parts,
               choice.is_over_columns ? sizeof(ShareOf<Problem>) : sizeof(typename Problem::State));
  return sum_of(states, split);
}

template <class Problem>
CallKey key_of(std::int64_t rows, std::int64_t columns) {
  return {typeid(Problem), rows, columns, current_device()};
}

/// Without rows or columns nothing is chosen, but the options are looked at.
template <class Problem>
Plan plan_of(std::int64_t rows, std::int64_t columns, const Options& options) {
  require_options<Problem>(options);
  const bool is_empty = rows == 0 || columns == 0;
  const Choice choice = is_empty ? Choice{} : choose<Problem>(rows, columns, options);
  return {key_of<Problem>(rows, columns), choice, extra_bytes_of<Problem>(choice, rows, columns)};
}

/// Throws std::invalid_argument unless the plan was made for such a call.
template <class Problem>
void require_plan(const Plan& plan, std::int64_t rows, std::int64_t columns) {
  const CallKey call = key_of<Problem>(rows, columns);
  const CallKey& made_for = plan.made_for;
  if (made_for.types != call.types) {
    throw std::invalid_argument(
        "the plan was made for another formula, reduction, or types of arrays: expected a plan of "
        "this call");
  }
  const auto require_same = [](std::int64_t planned, std::int64_t here, const std::string& what) {
    if (planned == here) return;
    throw std::invalid_argument("the plan was made for " + what + " " + std::to_string(planned) +
                                ": this call has " + std::to_string(here));
  };
  require_same(made_for.rows, call.rows, "M =");
  require_same(made_for.columns, call.columns, "N =");
  require_same(made_for.device, call.device, "device");
}

}  // namespace detail
}  // namespace warpath::map_reduce
