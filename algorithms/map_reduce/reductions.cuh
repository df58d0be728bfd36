// The reductions over j. A reduction is a struct with a trivially copyable type State, a type
// Result, and
//
//   State neutral()                      what N = 0 gives
//   void add(State&, value, j)           one more value, F(x_i, y_j); j ascends from call to call
//   void merge(State&, const State&)     the state of other columns, in any order
//   Result result(const State&)          what is stored for row i
//
// all const, on the device. Where several values can be reduced cheaper than one by one, it also
// has Group and group_columns, and the kernels call for each row and each such group of columns
//
//   Group open(const State&)             before the group
//   void take(Group&, value)             for each of its columns
//   void close(State&, const Group&, j, count, again)
//                                        after it; again(t) computes the value of column j + t anew
//
// Where a state costs more than what a few hundred columns need, it also has Share and
// share_columns: groups of up to so many columns, neighbours or not, are added to a Share, shares
// are merged, and the State is formed from them (problem.cuh has the picture):
//
//   void close(Share&, const Group&)     instead of the close() above
//   void merge(Share&, const Share&)
//   void add(State&, const Share&)
//   Share share(const State&)            the state, as short as a share
//
// with Share{} the neutral one. A State that is as many equal parts as a value has numbers, and
// that can be merged part by part, also has the number's type Number and a template Numbers<Count>,
// those of Count neighbouring numbers, with Numbers<Count>{} neutral:
//
//   void load(const State&, e)           those of numbers e to e + Count - 1
//   void store(State&, e) const
//   void store_result(Result&, e) const
//   void merge(const Numbers&)
//
// For the cost model: instructions, what the reduction of a value
// costs about, 1 where it is not said; settling_columns, to how many columns more it comes that
// states change often over the first ones.
//
// Of equal values the one with the lowest j is taken; a NaN is never the least or the greatest.
// Those here are of float or double (Sum<Value, Accuracy::plain> of whatever can be added), and
// convert what the formula returns to that.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/vector.cuh"
#include "map_reduce/arithmetic.cuh"
#include "map_reduce/arrays.cuh"
#include "map_reduce/variant.hpp"

namespace warpath::map_reduce {

namespace detail {

template <class T>
__host__ __device__ __forceinline__ constexpr int numbers_of(const T&) {
  return 1;
}
template <class T, int E>
__host__ __device__ __forceinline__ constexpr int numbers_of(const Vector<T, E>&) {
  return E;
}
template <class T>
__device__ __forceinline__ T& number(T& value, int) {
  return value;
}
template <class T, int E>
__device__ __forceinline__ T& number(Vector<T, E>& value, int e) {
  return value[e];
}
template <class T>
__device__ __forceinline__ const T& number(const T& value, int) {
  return value;
}
template <class T, int E>
__device__ __forceinline__ const T& number(const Vector<T, E>& value, int e) {
  return value[e];
}

/// The type of a value's numbers.
template <class Value>
using NumberOf = std::remove_cvref_t<decltype(number(std::declval<Value&>(), 0))>;

// Sums that no compiler may rearrange or contract, whatever its flags.
__device__ __forceinline__ float plus(float a, float b) {
#ifdef SIMT_EMULATION
  return a + b;
#else
  return __fadd_rn(a, b);
#endif
}
__device__ __forceinline__ double plus(double a, double b) {
#ifdef SIMT_EMULATION
  return a + b;
#else
  return __dadd_rn(a, b);
#endif
}

/// sum - excess grows by value (Kahan). An infinite sum, or a NaN, has no excess: it stays what it
/// is, where the difference of two infinities would make it a NaN.
template <class T>
__device__ __forceinline__ void add_compensated(T& sum, T& excess, T value) {
  const T term = plus(value, -excess);
  const T next = plus(sum, term);
  const T rest = plus(plus(next, -sum), -term);
  excess = fabs(rest) <= std::numeric_limits<T>::max() ? rest : T{0};
  sum = next;
}

}  // namespace detail

/// The sum of the values, numbers or Vectors. The accuracy option says how rounding errors grow
/// with N: plain adds one by one; kahan carries the error of each addition along; block adds 16
/// columns one by one, 16 such groups one by one, and carries the error of adding those along. All
/// additions of equal terms may round in the same direction: 16 of them are off by 5e-7 at most,
/// 256 in a row by 8e-6.
///
/// A sum that passes the largest number is infinite. (With terms of both signs it is enough that
/// the sum of some columns passes it; where others pass it with the other sign, it is a NaN.)
template <class Value, Accuracy accuracy = Accuracy::block>
struct Sum;

template <class Value>
struct Sum<Value, Accuracy::plain> {
  using State = Value;
  using Result = Value;
  __device__ __forceinline__ State neutral() const { return {}; }
  __device__ __forceinline__ void add(State& sum, const Value& value, std::int64_t) const {
    merge(sum, value);
  }
  __device__ __forceinline__ void merge(State& sum, const State& other) const {
#pragma unroll
    for (int e = 0; e < detail::numbers_of(Value{}); ++e) {
      detail::number(sum, e) += detail::number(other, e);
    }
  }
  __device__ __forceinline__ Result result(const State& sum) const {
    return sum;
  }
};

template <class Value>
struct Sum<Value, Accuracy::kahan> {
  static_assert(std::is_floating_point_v<detail::NumberOf<Value>>,
                "Sum by blocks and Kahan's are of float or double, or vectors of those; of other "
                "numbers it is Sum<Value, Accuracy::plain>");
  struct State {
    Value sum;
    Value excess;  ///< Kahan compensation: by how much `sum` exceeds the true total
  };
  using Result = Value;
  __device__ __forceinline__ State neutral() const { return {}; }
  __device__ __forceinline__ void add(State& state, const Value& value, std::int64_t) const {
#pragma unroll
    for (int e = 0; e < detail::numbers_of(Value{}); ++e) {
      detail::add_compensated(detail::number(state.sum, e), detail::number(state.excess, e),
                              detail::number(value, e));
    }
  }
  __device__ __forceinline__ void merge(State& state, const State& other) const {
    add(state, other.sum, 0);
    add(state, negative(other.excess), 0);
  }
  __device__ __forceinline__ Result result(const State& state) const {
    return state.sum;
  }

  using Number = detail::NumberOf<Value>;
  /// Part of a state of Vectors: those of some neighbouring numbers, which are as many states.
  template <int Count>
  struct Numbers {
    Number sums[Count];
    Number excesses[Count];

    /// Of numbers e to e + Count - 1, in the widest loads and stores that this allows.
    __device__ __forceinline__ void load(const State& state, int e) {
      load_vector(&detail::number(state.sum, e), sums);
      load_vector(&detail::number(state.excess, e), excesses);
    }
    __device__ __forceinline__ void store(State& state, int e) const {
      store_vector(&detail::number(state.sum, e), sums);
      store_vector(&detail::number(state.excess, e), excesses);
    }
    /// (Results need no alignment of vectors.)
    __device__ __forceinline__ void store_result(Result& result, int e) const {
#pragma unroll
      for (int q = 0; q < Count; ++q) detail::number(result, e + q) = sums[q];
    }
    __device__ __forceinline__ void merge(const Numbers& other) {
#pragma unroll
      for (int e = 0; e < Count; ++e) {
        detail::add_compensated(sums[e], excesses[e], other.sums[e]);
        detail::add_compensated(sums[e], excesses[e], -other.excesses[e]);
      }
    }
  };

 protected:
  __device__ __forceinline__ static Value negative(Value value) {
#pragma unroll
    for (int e = 0; e < detail::numbers_of(Value{}); ++e) {
      detail::number(value, e) = -detail::number(value, e);
    }
    return value;
  }
};

template <class Value>
struct Sum<Value, Accuracy::block> : Sum<Value, Accuracy::kahan> {
  using State = typename Sum<Value, Accuracy::kahan>::State;
  using Group = Value;
  /// The sum of some columns.
  struct Share {
    Value sum;
  };
  using Sum<Value, Accuracy::kahan>::add;
  using Sum<Value, Accuracy::kahan>::merge;
  static constexpr int group_columns = 16;
  static constexpr int share_columns = 256;
  static constexpr double instructions = 0;  ///< one with the product by a signal
  __device__ __forceinline__ Group open(const State&) const { return {}; }
  __device__ __forceinline__ void take(Group& group, const Value& value) const {
    Sum<Value, Accuracy::plain>().merge(group, value);
  }
  __device__ __forceinline__ void close(Share& share, const Group& group) const {
    Sum<Value, Accuracy::plain>().merge(share.sum, group);
  }
  __device__ __forceinline__ void merge(Share& share, const Share& other) const {
    close(share, other.sum);
  }
  __device__ __forceinline__ void add(State& state, const Share& share) const {
    this->add(state, share.sum, 0);
  }
  __device__ __forceinline__ Share share(const State& state) const {
    return {state.sum};  // the excess is at most half a unit in the last place of it
  }
};

/// log of the sum of exp(value), for values that are finite or infinite; -infinity where there is
/// none. The sum is a compensated one.
template <class T>
struct LogSumExp {
  static_assert(std::is_floating_point_v<T>, "LogSumExp is of float or double");
  /// exp(shift) (sum - excess). The shift is one of the values; it need not be the greatest: it is
  /// enough that no sum overflows. As a value it is finite wherever the values are, while its
  /// product with log2 e need not be.
  struct State {
    T shift;
    T sum;
    T excess;
  };
  using Result = T;
  struct Group {
    T exponent;  ///< of 2, by the state's shift
    T sum;
  };
  static constexpr int group_columns = 16;
  static constexpr double instructions = 3;
  static constexpr int settling_columns = 200;

  __device__ __forceinline__ State neutral() const { return {none(), 0, 0}; }
  __device__ __forceinline__ void add(State& state, T value, std::int64_t) const {
    if (value == none()) return;
    merge(state, {value, 1, 0});
  }
  __device__ __forceinline__ void merge(State& state, const State& other) const {
    if (other.sum == 0) return;
    // The greater shift; that of a state without columns is -infinity.
    if (state.shift < other.shift) {
      const T smaller = power(state.shift, other.shift);
      state = {other.shift, state.sum * smaller, state.excess * smaller};
    }
    const T smaller = power(other.shift, state.shift);
    detail::add_compensated(state.sum, state.excess, other.sum * smaller);
    detail::add_compensated(state.sum, state.excess, -other.excess * smaller);
  }
  __device__ __forceinline__ Result result(const State& state) const {
    return state.shift + log2_of(state.sum) * static_cast<T>(1 / log2_e);
  }

  __device__ __forceinline__ Group open(const State& state) const {
    return {state.shift * static_cast<T>(log2_e), 0};
  }
  __device__ __forceinline__ void take(Group& group, T value) const {
    group.sum += exp2_of(fma(value, static_cast<T>(log2_e), -group.exponent));
  }
  /// A group that passes the shift of those before it by far, as the first one does, is summed
  /// again with its own greatest value, and so is one whose exponent is infinite. (The limit leaves
  /// room for 2^60 groups.)
  template <class Again>
  __device__ __forceinline__ void close(State& state, const Group& group, std::int64_t, int count,
                                        const Again& again) const {
    const bool is_finite = fabs(group.exponent) <= std::numeric_limits<T>::max();
    if (is_finite && group.sum < static_cast<T>(0x1p60)) {
      return detail::add_compensated(state.sum, state.excess, group.sum);
    }
    State mine = neutral();
    for (int t = 0; t < count; ++t) {
      const T value = again(t);
      if (value > mine.shift) mine.shift = value;
    }
    for (int t = 0; t < count; ++t) {
      const T value = again(t);
      if (value != none()) mine.sum += power(value, mine.shift);
    }
    merge(state, mine);
  }

 private:
  __device__ __forceinline__ static constexpr T none() {
    return -std::numeric_limits<T>::infinity();
  }
  /// exp(value - shift), also for equal infinities.
  __device__ __forceinline__ static T power(T value, T shift) {
    return value == shift ? T{1} : exp2_of((value - shift) * static_cast<T>(log2_e));
  }
};

namespace detail {

/// What comes first in the order of the reduction: least or greatest value.
template <class T, bool is_least>
struct Order {
  static_assert(std::is_floating_point_v<T>,
                "Min, Max, ArgMin, ArgMax, KMin and ArgKMin are of float or double");
  __host__ __device__ __forceinline__ static constexpr T worst() {
    return is_least ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  }
  __device__ __forceinline__ static bool is_better(T a, T b) { return is_least ? a < b : a > b; }
  __device__ __forceinline__ static T better(T a, T b) {
    // fmin, fmax: the other one of a NaN.
    if constexpr (is_least) return fmin(a, b);
    return fmax(a, b);
  }
};

template <class T, bool is_least>
struct Extreme {
  using State = T;
  using Result = T;
  using Group = T;
  using Better = Order<T, is_least>;
  static constexpr int group_columns = 16;
  __device__ __forceinline__ State neutral() const { return Better::worst(); }
  __device__ __forceinline__ void add(State& best, T value, std::int64_t) const {
    best = Better::better(best, value);
  }
  __device__ __forceinline__ void merge(State& best, const State& other) const {
    best = Better::better(best, other);
  }
  __device__ __forceinline__ Result result(const State& best) const { return best; }
  __device__ __forceinline__ Group open(const State& best) const { return best; }
  __device__ __forceinline__ void take(Group& best, T value) const { add(best, value, 0); }
  template <class Again>
  __device__ __forceinline__ void close(State& best, const Group& group, std::int64_t, int,
                                        const Again&) const {
    best = group;
  }
};

template <class T, bool is_least>
struct ArgExtreme {
  struct State {
    T value;
    std::int64_t j;
  };
  using Result = std::int64_t;
  using Group = T;
  using Better = Order<T, is_least>;
  static constexpr int group_columns = 16;
  static constexpr double instructions = 2.4;
  static constexpr int settling_columns = 3000;
  __device__ __forceinline__ State neutral() const { return {Better::worst(), -1}; }
  __device__ __forceinline__ void add(State& best, T value, std::int64_t j) const {
    merge(best, {value, j});
  }
  __device__ __forceinline__ void merge(State& best, const State& other) const {
    const bool is_tie = other.value == best.value && other.j >= 0;
    const bool is_first = best.j < 0 || other.j < best.j;
    if (Better::is_better(other.value, best.value) || (is_tie && is_first)) best = other;
  }
  __device__ __forceinline__ Result result(const State& best) const { return best.j; }

  /// The least value of a group is cheap; where it lies is asked only if it is better than all
  /// before, which happens about log(N) times.
  __device__ __forceinline__ Group open(const State&) const { return Better::worst(); }
  __device__ __forceinline__ void take(Group& group, T value) const {
    group = Better::better(group, value);
  }
  template <class Again>
  __device__ __forceinline__ void close(State& best, const Group& group, std::int64_t j, int count,
                                        const Again& again) const {
    if (!Better::is_better(group, best.value) && best.j >= 0) return;
    for (int t = 0; t < count; ++t) add(best, again(t), j + t);
  }
};

/// The K best in their order: value by value, lowest j first where they are equal. Up to 16 of them
/// are in registers, with all loops unrolled. More are in local memory; there the tuned variants
/// have kernels that keep lists in shared memory (warp_lists.cuh), and no State but for merging
/// parts.
template <class T, int K, class Result_>
struct KLeast {
  static_assert(1 <= K && K <= max_dimension, "K is 1 to 128");
  using Number = T;
  static constexpr int length = K;
  static constexpr bool is_long = K > 16;
  struct State {
    T values[K];
    std::int64_t j[K];
  };
  using Result = Result_;
  using Group = T;
  static constexpr int group_columns = 16;
  static constexpr double instructions = 8;
  static constexpr int settling_columns = 2000 + 600 * K;
  __device__ __forceinline__ State neutral() const {
    State state;
#pragma unroll(is_long ? 1 : K)
    for (int k = 0; k < K; ++k) {
      state.values[k] = std::numeric_limits<T>::infinity();
      state.j[k] = -1;
    }
    return state;
  }
  __device__ __forceinline__ void add(State& best, T value, std::int64_t j) const {
    // Only +infinity is not less than what stands for "none".
    if (!(value < best.values[K - 1]) && !(value == best.values[K - 1] && best.j[K - 1] < 0)) {
      return;
    }
    insert(best, value, j, [](T a, T b, std::int64_t, std::int64_t b_j) {
      return a < b || (a == b && b_j < 0);  // after those that are equal: their j is lower
    });
  }
  /// (The loop over all of `other` is not unrolled: K times K instructions take nvcc minutes.)
  __device__ __forceinline__ void merge(State& best, const State& other) const {
    const auto comes_before = [](T a, T b, std::int64_t a_j, std::int64_t b_j) {
      return a < b || (a == b && (b_j < 0 || a_j < b_j));
    };
    if constexpr (is_long) {
      const State mine = best;
      int of_mine = 0;
      int of_other = 0;
      for (int k = 0; k < K; ++k) {
        const bool is_other =
            other.j[of_other] >= 0 && comes_before(other.values[of_other], mine.values[of_mine],
                                                   other.j[of_other], mine.j[of_mine]);
        best.values[k] = is_other ? other.values[of_other] : mine.values[of_mine];
        best.j[k] = is_other ? other.j[of_other] : mine.j[of_mine];
        ++(is_other ? of_other : of_mine);
      }
    } else {
      State rest = other;
#pragma unroll 1
      for (int n = 0; n < K; ++n) {
        if (rest.j[0] < 0 ||
            !comes_before(rest.values[0], best.values[K - 1], rest.j[0], best.j[K - 1])) {
          break;
        }
        insert(best, rest.values[0], rest.j[0], comes_before);
#pragma unroll
        for (int k = 0; k + 1 < K; ++k) {
          rest.values[k] = rest.values[k + 1];
          rest.j[k] = rest.j[k + 1];
        }
        rest.j[K - 1] = -1;
      }
    }
  }
  __device__ __forceinline__ Group open(const State&) const {
    return std::numeric_limits<T>::infinity();
  }
  __device__ __forceinline__ void take(Group& group, T value) const {
    group = fmin(group, value);
  }
  template <class Again>
  __device__ __forceinline__ void close(State& best, const Group& group, std::int64_t j, int count,
                                        const Again& again) const {
    if (!(group < best.values[K - 1]) && best.j[K - 1] >= 0) return;
    for (int t = 0; t < count; ++t) add(best, again(t), j + t);
  }

 private:
  /// What comes after the new one moves up by one; the last one leaves.
  template <class ComesBefore>
  __device__ __forceinline__ static void insert(State& best, T value, std::int64_t j,
                                                ComesBefore comes_before) {
    if constexpr (is_long) {
      int k = K - 1;
#pragma unroll 1
      for (; k > 0 && comes_before(value, best.values[k - 1], j, best.j[k - 1]); --k) {
        best.values[k] = best.values[k - 1];
        best.j[k] = best.j[k - 1];
      }
      best.values[k] = value;
      best.j[k] = j;
      return;
    }
    bool is_before = comes_before(value, best.values[K - 1], j, best.j[K - 1]);
#pragma unroll
    for (int k = K - 1; k >= 0; --k) {
      const bool is_before_next = k > 0 && comes_before(value, best.values[k > 0 ? k - 1 : 0], j,
                                                        best.j[k > 0 ? k - 1 : 0]);
      if (is_before) {
        best.values[k] = is_before_next ? best.values[k > 0 ? k - 1 : 0] : value;
        best.j[k] = is_before_next ? best.j[k > 0 ? k - 1 : 0] : j;
      }
      is_before = is_before_next;
    }
  }
};

}  // namespace detail

/// The least value; +infinity where there is none.
template <class T>
struct Min : detail::Extreme<T, true> {};
/// The greatest value; -infinity where there is none.
template <class T>
struct Max : detail::Extreme<T, false> {};
/// The column of the least value; -1 where there is none.
template <class T>
struct ArgMin : detail::ArgExtreme<T, true> {};
/// The column of the greatest value; -1 where there is none.
template <class T>
struct ArgMax : detail::ArgExtreme<T, false> {};

/// The K least values, ascending; after the last +infinity.
template <class T, int K>
struct KMin : detail::KLeast<T, K, Vector<T, K>> {
  __device__ __forceinline__ Vector<T, K> result(
      const typename detail::KLeast<T, K, Vector<T, K>>::State& best) const {
    Vector<T, K> values;
#pragma unroll(K <= 16 ? K : 1)
    for (int k = 0; k < K; ++k) values[k] = best.values[k];
    return values;
  }
  /// One of the numbers of a result.
  __device__ __forceinline__ static T number(T value, std::int64_t) {
    return value;
  }
};
/// The columns of the K least values, by ascending value; after the last -1.
template <class T, int K>
struct ArgKMin : detail::KLeast<T, K, Vector<std::int64_t, K>> {
  __device__ __forceinline__ Vector<std::int64_t, K> result(
      const typename detail::KLeast<T, K, Vector<std::int64_t, K>>::State& best) const {
    Vector<std::int64_t, K> columns;
#pragma unroll(K <= 16 ? K : 1)
    for (int k = 0; k < K; ++k) columns[k] = best.j[k];
    return columns;
  }
  /// One of the numbers of a result.
  __device__ __forceinline__ static std::int64_t number(T, std::int64_t j) {
    return j;
  }
};

}  // namespace warpath::map_reduce
