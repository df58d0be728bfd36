// One map-reduce as kernels see it, and what every variant shares: a thread's loop over a tile of
// columns, and the merging of partial results.
//
// A Problem is one call: formula, reduction, arrays, M rows i, N columns j. What is known of a row
// i of the columns so far grows in up to three steps, so that the work of a pair is a take() and
// nothing else:
//
//                   columns j of a row, as one thread comes to them
//     |x x x x x x x x x x x x x x x x|x x x ... x x x|  ...  |x x x| ... |x x ...
//      \__________ take() ___________/ \_____________/         \___/
//            a Group: up to 16              Group              Group
//                     \__________ close() ____|____________________/
//                              a Share: up to 256 columns                Share ...
//                                        \__________ add(State&, Share) ___/
//                                              a State: any columns
//
//   Value   what the formula gives for a pair (i, j)
//   Group   of up to group_columns values, within one thread. Sum: a number; ArgMin: a value
//   Share   of up to share_columns values: a number where a State has more. Only sums by blocks
//           have it; for the others a Group is closed into the State
//   State   of any values, merged in any order: a sum with its error, a value with its column
//   Result  what is stored
//
// Threads, warps and blocks that have other columns of the same row exchange States; threads of
// columns_kernel, which have at most share_columns columns each, exchange ShareOf: Shares where
// there are any, else States.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/divide_up.hpp"
#include "core/last_block.cuh"
#include "core/warp.cuh"
#include "map_reduce/arrays.cuh"
#include "map_reduce/tuning.hpp"

namespace warpath::map_reduce::detail {

/// Whether a formula prepares rows and columns before the pairs (formulas.cuh).
template <class Formula>
concept Prepares = requires {
  typename Formula::Row;
  typename Formula::Column;
};

/// What a formula gets of each row and each column, and its value. Types, and not what functions
/// return: the host's compiler does not see the body of a device function.
template <bool prepares, class Formula, class XArrays, class YArrays>
struct PairOf;
template <class Formula, class... X, int... XD, class... Y, int... YD>
struct PairOf<false, Formula, Pack<Array<X, XD>...>, Pack<Array<Y, YD>...>> {
  using Row = Pack<Vector<X, XD>...>;
  using Column = Pack<Vector<Y, YD>...>;
  using Value = std::remove_cvref_t<
      std::invoke_result_t<const Formula&, const Vector<X, XD>&..., const Vector<Y, YD>&...>>;
};
template <class Formula, class XArrays, class YArrays>
struct PairOf<true, Formula, XArrays, YArrays> {
  using Row = typename Formula::Row;
  using Column = typename Formula::Column;
  using Value =
      std::remove_cvref_t<std::invoke_result_t<const Formula&, const Row&, const Column&>>;
};

/// Whether a reduction takes the columns in groups, and whether it closes those into shares.
template <class Reduction>
concept TakesGroups = requires {
  typename Reduction::Group;
};
template <class Reduction>
concept HasShares = requires {
  typename Reduction::Share;
};

/// out[i] becomes the reduction over j of formula(x_i, y_j).
template <class Formula_, class Reduction_, class XArrays, class YArrays>
struct Problem {
  using Formula = Formula_;
  using Reduction = Reduction_;
  using State = typename Reduction::State;
  static_assert(std::is_trivially_copyable_v<State>, "a reduction's State is trivially copyable");
  using Result = typename Reduction::Result;
  using Pair = PairOf<Prepares<Formula>, Formula, XArrays, YArrays>;
  using Row = typename Pair::Row;
  using Column = typename Pair::Column;
  using Value = typename Pair::Value;

  Formula formula;
  Reduction reduction;
  XArrays x;
  YArrays y;
  std::int64_t rows;
  std::int64_t columns;
  Result* out;

  /// Row i as the pairs need it.
  __device__ __forceinline__ Row row(std::int64_t i) const {
    if constexpr (Prepares<Formula>) {
      return apply([&](const auto&... of) { return formula.row(of...); }, elements(x, i), Pack<>{});
    } else {
      return elements(x, i);
    }
  }
  __device__ __forceinline__ Column column(std::int64_t j) const {
    return prepared(elements(y, j));
  }
  /// A column from its elements.
  template <class Elements>
  __device__ __forceinline__ Column prepared(const Elements& of_column) const {
    if constexpr (Prepares<Formula>) {
      return apply([&](const auto&... of) { return formula.column(of...); }, of_column, Pack<>{});
    } else {
      return of_column;
    }
  }
  __device__ __forceinline__ Value value(const Row& of_row, const Column& of_column) const {
    if constexpr (Prepares<Formula>) {
      return formula(of_row, of_column);
    } else {
      return apply(formula, of_row, of_column);
    }
  }
};

template <class Problem>
using RowOf = typename Problem::Row;
template <class Problem>
using ColumnOf = typename Problem::Column;
template <class Problem>
using ValueOfPair = typename Problem::Value;

/// A column in shared memory, so aligned that it comes in the fewest accesses.
template <class Column>
struct alignas(sizeof(Column) % 16 == 0  ? 16
               : sizeof(Column) % 8 == 0 ? 8
                                         : alignof(Column)) Staged {
  Column column;
};

/// The value of a pair of a row and a column of a tile, computed again.
template <class Problem>
struct Again {
  const Problem& problem;
  const RowOf<Problem>& row;
  const Staged<ColumnOf<Problem>>* tile;
  __device__ __forceinline__ auto operator()(int t) const {
    return problem.value(row, tile[t].column);
  }
};

/// One thread takes columns `begin` to `end` - 1 of a tile for its R rows, group by group:
/// close(r, group, t, count) for each row, where t is the group's first column.
template <int R, class Problem, class Close>
__device__ __forceinline__ void thread_reduce_groups(const Problem& problem,
                                                     const RowOf<Problem> (&rows)[R],
                                                     const typename Problem::State (&states)[R],
                                                     const Staged<ColumnOf<Problem>>* tile,
                                                     int begin, int end, Close close) {
  using Reduction = typename Problem::Reduction;
  const Reduction& reduction = problem.reduction;
  constexpr int full = Reduction::group_columns;
  for (; begin < end; begin += full) {
    typename Reduction::Group groups[R];
    const auto take_column = [&](int t) {
      const ColumnOf<Problem> column = tile[begin + t].column;
#pragma unroll
      for (int r = 0; r < R; ++r) reduction.take(groups[r], problem.value(rows[r], column));
    };
#pragma unroll
    for (int r = 0; r < R; ++r) groups[r] = reduction.open(states[r]);
    const int count = end - begin < full ? end - begin : full;
    if (count == full) {
#pragma unroll(full < 16 ? full : R < 4 ? 16 : 8)
      for (int t = 0; t < full; ++t) take_column(t);
    } else {
      for (int t = 0; t < count; ++t) take_column(t);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) close(r, groups[r], begin, count);
  }
}

/// One thread reduces `width` columns, the first of which is column `first`, into the states of its
/// R rows.
template <int R, class Problem>
__device__ __forceinline__ void thread_reduce_tile(const Problem& problem,
                                                   const RowOf<Problem> (&rows)[R],
                                                   typename Problem::State (&states)[R],
                                                   const Staged<ColumnOf<Problem>>* tile,
                                                   std::int64_t first, int width) {
  using Reduction = typename Problem::Reduction;
  const Reduction& reduction = problem.reduction;
  if constexpr (HasShares<Reduction>) {
    for (int begin = 0; begin < width; begin += Reduction::share_columns) {
      typename Reduction::Share shares[R] = {};
      thread_reduce_groups<R>(
          problem, rows, states, tile, begin, min(width, begin + Reduction::share_columns),
          [&](int r, const auto& group, int, int) { reduction.close(shares[r], group); });
#pragma unroll
      for (int r = 0; r < R; ++r) reduction.add(states[r], shares[r]);
    }
  } else if constexpr (TakesGroups<Reduction>) {
    thread_reduce_groups<R>(problem, rows, states, tile, 0, width,
                            [&](int r, const auto& group, int t, int count) {
                              reduction.close(states[r], group, first + t, count,
                                              Again<Problem>{problem, rows[r], tile + t});
                            });
  } else {
#pragma unroll 8
    for (int t = 0; t < width; ++t) {
      const ColumnOf<Problem> column = tile[t].column;
#pragma unroll
      for (int r = 0; r < R; ++r) {
        reduction.add(states[r], problem.value(rows[r], column), first + t);
      }
    }
  }
}

/// The state of row i from the states of parts first, first + step, ..., `count` of them, in this
/// order. Loads of short states are in flight 16 at a time: a last block has nothing else to wait
/// for.
template <class Problem>
__device__ __forceinline__ typename Problem::State thread_merge_parts(
    const Problem& problem, const typename Problem::State* partials, std::int64_t i,
    std::int64_t first, std::int64_t step, std::int64_t count) {
  using State = typename Problem::State;
  constexpr int batch = sizeof(State) <= 16 ? 16 : 1;
  const auto state_of = [&](std::int64_t n) {
    return partials[(first + n * step) * problem.rows + i];
  };
  State state = problem.reduction.neutral();
  std::int64_t n = 0;
  for (; n + batch <= count; n += batch) {
    State loaded[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) loaded[b] = state_of(n + b);
#pragma unroll
    for (int b = 0; b < batch; ++b) problem.reduction.merge(state, loaded[b]);
  }
  for (; n < count; ++n) problem.reduction.merge(state, state_of(n));
  return state;
}

/// How the pairs are divided among a kernel's blocks: block b has row block b % row_blocks, and of
/// the columns part b / row_blocks: `span` neighbouring ones. (Except columns_kernel for one row a
/// block, whose parts take turns.)
struct Split {
  std::int64_t row_blocks;
  std::int64_t parts;
  std::int64_t span;

  [[nodiscard]] __host__ __device__ std::int64_t blocks() const { return row_blocks * parts; }

  /// Parts are merged in bundles of so many, and then the bundles (not by columns_kernel).
  static constexpr std::int64_t bundle_parts = 16;
  [[nodiscard]] __host__ __device__ std::int64_t bundles() const {
    return divide_up(parts, bundle_parts);
  }
  [[nodiscard]] __host__ __device__ std::int64_t tickets() const {
    return row_blocks * (bundles() + 1);
  }
};

/// Ends a block that has results of its rows over one part of the columns: the last block of a
/// bundle of parts merges those, the last bundle of a row block all. store_as(part) stores the
/// block's results as those of a part, merge(first, step, count) replaces them by what parts
/// first, first + step, ... have, and finish() stores the final ones.
template <class StoreAs, class Merge, class Finish>
__device__ __forceinline__ void block_merge_parts(const Split& split, unsigned* tickets,
                                                  StoreAs store_as, Merge merge, Finish finish,
                                                  std::int64_t block = blockIdx.x) {
  const std::int64_t row_block = block % split.row_blocks;
  const std::int64_t part = block / split.row_blocks;
  const std::int64_t bundles = split.bundles();
  const std::int64_t bundle = part / Split::bundle_parts;
  if (split.parts > 1) {
    const std::int64_t first = bundle * Split::bundle_parts;
    const std::int64_t count = min(Split::bundle_parts, split.parts - first);
    unsigned* ticket = &tickets[row_block * (bundles + 1)];
    store_as(part);
    if (!is_last_block(ticket + 1 + bundle, static_cast<unsigned>(count))) return;
    merge(first, 1, count);
    if (bundles > 1) {
      store_as(first);
      if (!is_last_block(ticket, static_cast<unsigned>(bundles))) return;
      merge(0, Split::bundle_parts, bundles);
    }
  }
  finish();
}

/// Whether neighbouring threads merge neighbouring numbers of a row's states, and not each thread
/// the states of its rows: long ones lie too far apart.
template <class Problem>
constexpr bool merges_numbers = requires {
  typename Problem::Reduction::template Numbers<1>;
}
&&sizeof(typename Problem::State) > 16;

/// Of states whose numbers are merged one by one.
template <class Problem>
struct NumbersOf {
  using State = typename Problem::State;
  using Reduction = typename Problem::Reduction;
  using One = typename Reduction::template Numbers<1>;
  static constexpr int count = sizeof(State) / sizeof(One);
  /// As many as vector loads and stores take.
  static constexpr int at_once =
      sizeof(State) % 32 == 0 ? 16 / sizeof(typename Reduction::Number) : 1;
  using Some = typename Reduction::template Numbers<at_once>;

  /// act(i, e) for each row i of [begin, end) and every `Step`-th number e: neighbouring threads
  /// have neighbouring ones. The whole block.
  template <int Step, class Act>
  __device__ __forceinline__ static void block_for_each(std::int64_t begin, std::int64_t end,
                                                        Act act) {
    constexpr int steps = count / Step;
    const auto all = static_cast<int>(end - begin) * steps;
    for (int k = threadIdx.x; k < all; k += blockDim.x) {
      act(begin + k / steps, k % steps * Step);
    }
  }
};

/// Replaces the states of rows [begin, end) of part `first` by what parts first, first + step, ...,
/// `count` of them, have. The whole block.
template <class Problem>
__device__ __forceinline__ void block_merge_numbers(const Problem& problem,
                                                    typename Problem::State* partials,
                                                    std::int64_t begin, std::int64_t end,
                                                    std::int64_t first, std::int64_t step,
                                                    std::int64_t count) {
  using Numbers = NumbersOf<Problem>;
  constexpr int batch = 8;  // parts whose loads are in flight
  Numbers::template block_for_each<Numbers::at_once>(begin, end, [&](std::int64_t i, int e) {
    typename Numbers::Some merged{};
    for (std::int64_t n = 0; n < count; n += batch) {
      typename Numbers::Some loaded[batch];
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        if (n + b < count) {
          loaded[b].load(partials[(first + (n + b) * step) * problem.rows + i], e);
        }
      }
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        if (n + b < count) merged.merge(loaded[b]);
      }
    }
    merged.store(partials[first * problem.rows + i], e);
  });
}
/// Stores the results of rows [begin, end), whose merged states are those of part 0. The whole
/// block, after a barrier.
template <class Problem>
__device__ __forceinline__ void block_store_merged_results(const Problem& problem,
                                                           const typename Problem::State* partials,
                                                           std::int64_t begin, std::int64_t end) {
  using Numbers = NumbersOf<Problem>;
  Numbers::template block_for_each<Numbers::at_once>(begin, end, [&](std::int64_t i, int e) {
    typename Numbers::Some numbers;
    numbers.load(partials[i], e);
    numbers.store_result(problem.out[i], e);
  });
}

/// The same as block_merge_parts() for rows [begin, end), merging numbers: store_as(part) and
/// finish() are called as long as the block has the states of its own part.
template <class Problem, class StoreAs, class Finish>
__device__ __forceinline__ void block_finish_merging_numbers(
    const Problem& problem, const Split& split, std::int64_t begin, std::int64_t end,
    typename Problem::State* partials, unsigned* tickets, StoreAs store_as, Finish finish) {
  bool are_merged = false;  // then the states are those in `partials`
  block_merge_parts(
      split, tickets,
      [&](std::int64_t part) {
        if (!are_merged) store_as(part);
      },
      [&](std::int64_t first, std::int64_t step, std::int64_t count) {
        block_merge_numbers(problem, partials, begin, end, first, step, count);
        are_merged = true;
      },
      [&] {
        if (!are_merged) return finish();
        __syncthreads();  // the states are merged
        block_store_merged_results(problem, partials, begin, end);
      });
}

/// The same with states as numbers anywhere: set_numbers(row, e, numbers) sets those of the block's
/// row number `row` from number e on.
template <class Problem, class SetNumbers>
__device__ __forceinline__ void block_finish_numbers(const Problem& problem, const Split& split,
                                                     std::int64_t begin, std::int64_t end,
                                                     typename Problem::State* partials,
                                                     unsigned* tickets, SetNumbers set_numbers) {
  using Numbers = NumbersOf<Problem>;
  block_finish_merging_numbers(
      problem, split, begin, end, partials, tickets,
      [&](std::int64_t part) {
        Numbers::template block_for_each<Numbers::at_once>(begin, end, [&](std::int64_t i, int e) {
          typename Numbers::Some numbers;
          set_numbers(static_cast<int>(i - begin), e, numbers);
          numbers.store(partials[part * problem.rows + i], e);
        });
      },
      [&] {
        Numbers::template block_for_each<1>(begin, end, [&](std::int64_t i, int e) {
          typename Numbers::One numbers;
          set_numbers(static_cast<int>(i - begin), e, numbers);
          numbers.store_result(problem.out[i], e);
        });
      });
}

/// The same as block_merge_parts() with the states of rows in registers: for_each_row(act) calls
/// act(i, state) for each row i of the calling thread, with the state, which act may change.
/// finish_row(i, state) stores the result.
template <class Problem, class ForEachRow, class FinishRow>
__device__ __forceinline__ void block_merge_states(const Problem& problem, const Split& split,
                                                   typename Problem::State* partials,
                                                   unsigned* tickets, ForEachRow for_each_row,
                                                   FinishRow finish_row,
                                                   std::int64_t block = blockIdx.x) {
  block_merge_parts(
      split, tickets,
      [&](std::int64_t part) {
        for_each_row(
            [&](std::int64_t i, auto& state) { partials[part * problem.rows + i] = state; });
      },
      [&](std::int64_t first, std::int64_t step, std::int64_t count) {
        for_each_row([&](std::int64_t i, auto& state) {
          state = thread_merge_parts(problem, partials, i, first, step, count);
        });
      },
      [&] { for_each_row(finish_row); }, block);
}

/// The same, or by numbers where that is faster. The block has rows [begin, end).
template <class Problem, class ForEachRow>
__device__ __forceinline__ void block_finish_rows(const Problem& problem, const Split& split,
                                                  std::int64_t begin, std::int64_t end,
                                                  typename Problem::State* partials,
                                                  unsigned* tickets, ForEachRow for_each_row) {
  const auto finish_row = [&](std::int64_t i, auto& state) {
    problem.out[i] = problem.reduction.result(state);
  };
  if constexpr (merges_numbers<Problem>) {
    block_finish_merging_numbers(
        problem, split, begin, end, partials, tickets,
        [&](std::int64_t part) {
          for_each_row(
              [&](std::int64_t i, auto& state) { partials[part * problem.rows + i] = state; });
        },
        [&] { for_each_row(finish_row); });
  } else {
    block_merge_states(problem, split, partials, tickets, for_each_row, finish_row);
  }
}

/// __shfl_xor_sync of a state, word by word. All lanes of the warp call it.
template <class State>
__device__ __forceinline__ State shuffle_xor(const State& state, int distance) {
  static_assert(sizeof(State) % sizeof(unsigned) == 0, "states are whole words");
  constexpr int count = sizeof(State) / sizeof(unsigned);
  unsigned words[count];
  memcpy(words, &state, sizeof state);
#pragma unroll(count <= 64 ? count : 1)
  for (unsigned& word : words) word = __shfl_xor_sync(full_warp, word, distance);
  State other;
  memcpy(&other, words, sizeof other);
  return other;
}

/// The merged state, or share, of each `Lanes` neighbouring lanes, in all of them.
template <int Lanes, class Reduction, class State>
__device__ __forceinline__ State lanes_merge(const Reduction& reduction, State state) {
  static_assert(Lanes <= warp_threads && (Lanes & (Lanes - 1)) == 0);
#pragma unroll
  for (int distance = Lanes / 2; distance > 0; distance /= 2) {
    State other = shuffle_xor(state, distance);
    // The lower lane's state comes first in both, so that both compute the same.
    if ((lane_index() & distance) != 0) {
      reduction.merge(other, state);
      state = other;
    } else {
      reduction.merge(state, other);
    }
  }
  return state;
}

/// Merges the lanes' states, or shares, of R rows: that of row r is left in lanes r (32 / R) to
/// (r + 1) (32 / R) - 1. A lane gives half of its rows away for the other half of another lane's,
/// until it has one. states is used up.
template <int R, class Reduction, class State>
__device__ __forceinline__ State warp_merge(const Reduction& reduction, State (&states)[R]) {
  int distance = warp_threads / 2;
#pragma unroll
  for (int half = R / 2; half > 0; half /= 2, distance /= 2) {
    const bool is_upper = (lane_index() & distance) != 0;
#pragma unroll
    for (int r = 0; r < half; ++r) {
      const State given = is_upper ? states[r] : states[r + half];
      if (is_upper) states[r] = states[r + half];
      reduction.merge(states[r], shuffle_xor(given, distance));
    }
  }
  return lanes_merge<warp_threads / R>(reduction, states[0]);
}

}  // namespace warpath::map_reduce::detail
