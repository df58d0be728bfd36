// Formulas and reductions in double precision, by std:: alone: of one pair and one row, for tests
// of any formula; and of all rows by all cores, for large problems. Shares no code with what it
// judges.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace warpath::map_reduce::oracle {

// ---------------------------------------------------------------- formulas, of D numbers each

template <class T>
double squared_distance(const T* x, const T* y, int dimension) {
  double sum = 0;
  for (int k = 0; k < dimension; ++k) {
    const double difference = static_cast<double>(x[k]) - static_cast<double>(y[k]);
    sum += difference * difference;
  }
  return sum;
}
template <class T>
double gaussian(const T* x, const T* y, int dimension, double width) {
  return std::exp(-squared_distance(x, y, dimension) / (width * width));
}
template <class T>
double laplacian(const T* x, const T* y, int dimension, double width) {
  return std::exp(-std::sqrt(squared_distance(x, y, dimension)) / width);
}
template <class T>
double inner_product(const T* x, const T* y, int dimension) {
  double sum = 0;
  for (int k = 0; k < dimension; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(y[k]);
  return sum;
}
template <class T>
double energy_distance(const T* x, const T* y, int dimension) {
  return -std::sqrt(squared_distance(x, y, dimension));
}

// ---------------------------------------------------------------- reductions, of one row's values

inline double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
inline double log_sum_exp(const std::vector<double>& values) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  if (values.empty()) return none;
  const double most = *std::max_element(values.begin(), values.end());
  if (most == none) return none;
  double total = 0;
  for (const double value : values) total += std::exp(value - most);
  return most + std::log(total);
}
/// The columns by ascending value, of equal ones the lower column first.
inline std::vector<std::int64_t> by_value(const std::vector<double>& values) {
  std::vector<std::int64_t> columns(values.size());
  std::iota(columns.begin(), columns.end(), std::int64_t{0});
  std::stable_sort(columns.begin(), columns.end(), [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return columns;
}

// ---------------------------------------------------------------- all rows, by all cores

enum class Formula { gaussian, laplacian, log_gaussian, squared_distance };

/// Points of `dimension` numbers each, x_i for the rows and y_j for the columns, and a signal b_j.
/// Widths are 1.
struct Inputs {
  int dimension;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> b;
};

inline double value_of(Formula formula, double square) {
  switch (formula) {
    case Formula::gaussian:
      return std::exp(-square);
    case Formula::laplacian:
      return std::exp(-std::sqrt(square));
    case Formula::log_gaussian:
      return -square;
    default:
      return square;
  }
}

/// take(i, first, values, count) for each row i and each block of `count` columns from `first` on,
/// in this order for each row; values[t] is formula(x_i, y_(first + t)). Different rows are taken
/// by different threads.
template <class Take>
void for_each_block(Formula formula, const Inputs& inputs, const Take& take) {
  constexpr std::size_t block_columns = 512;
  constexpr std::size_t block_rows = 16;  // that use a block of columns while it is in the cache
  const auto dimension = static_cast<std::size_t>(inputs.dimension);
  const std::size_t rows = inputs.x.size() / dimension;
  const std::size_t columns = inputs.y.size() / dimension;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::vector<double> coordinates(dimension * block_columns);  // [dimension][block_columns]
    std::vector<double> values(block_columns);
    for (std::size_t begin = 0; (begin = next.fetch_add(block_rows)) < rows;) {
      const std::size_t end = std::min(rows, begin + block_rows);
      for (std::size_t first = 0; first < columns; first += block_columns) {
        const std::size_t count = std::min(block_columns, columns - first);
        for (std::size_t k = 0; k < dimension; ++k) {
          for (std::size_t t = 0; t < count; ++t) {
            coordinates[k * block_columns + t] = inputs.y[(first + t) * dimension + k];
          }
        }
        for (std::size_t i = begin; i < end; ++i) {
          std::fill(values.begin(), values.end(), 0.0);
          for (std::size_t k = 0; k < dimension; ++k) {
            const double x = inputs.x[i * dimension + k];
            const double* y = &coordinates[k * block_columns];
            for (std::size_t t = 0; t < block_columns; ++t) {
              values[t] += (x - y[t]) * (x - y[t]);
            }
          }
          for (std::size_t t = 0; t < count; ++t) values[t] = value_of(formula, values[t]);
          take(i, first, values.data(), count);
        }
      }
    }
  };
  std::vector<std::thread> threads(std::max(1U, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
}

inline std::size_t rows_of(const Inputs& inputs) {
  return inputs.x.size() / static_cast<std::size_t>(inputs.dimension);
}

/// The sum over j of formula(x_i, y_j) b_j, for each row i.
inline std::vector<double> sums(Formula formula, const Inputs& inputs) {
  std::vector<double> totals(rows_of(inputs));
  for_each_block(formula, inputs,
                 [&](std::size_t i, std::size_t first, const double* values, std::size_t count) {
                   double of_block = 0;
                   for (std::size_t t = 0; t < count; ++t) {
                     of_block += values[t] * inputs.b[first + t];
                   }
                   totals[i] += of_block;
                 });
  return totals;
}

/// The logarithm of the sum over j of exp(formula(x_i, y_j)), for each row i.
inline std::vector<double> log_sums(Formula formula, const Inputs& inputs) {
  std::vector<std::vector<double>> of_blocks(rows_of(inputs));
  for_each_block(formula, inputs,
                 [&](std::size_t i, std::size_t, const double* values, std::size_t count) {
                   of_blocks[i].push_back(log_sum_exp({values, values + count}));
                 });
  std::vector<double> logs;
  for (const std::vector<double>& of_row : of_blocks) logs.push_back(log_sum_exp(of_row));
  return logs;
}

/// The K least of formula(x_i, y_j) over j, in ascending order: K numbers for each row i, infinite
/// where there are fewer columns.
inline std::vector<double> least(Formula formula, const Inputs& inputs, std::size_t K) {
  std::vector<double> found(rows_of(inputs) * K, std::numeric_limits<double>::infinity());
  for_each_block(formula, inputs,
                 [&](std::size_t i, std::size_t, const double* values, std::size_t count) {
                   double* const of_row = &found[i * K];
                   double* const last = of_row + K - 1;
                   for (std::size_t t = 0; t < count; ++t) {
                     if (values[t] >= *last) continue;
                     double* const place = std::upper_bound(of_row, last, values[t]);
                     std::copy_backward(place, last, last + 1);
                     *place = values[t];
                   }
                 });
  return found;
}

// ---------------------------------------------------------------- judging

/// |result - expected| / |expected|, by the Euclidean norm over all; 0 for two empty vectors.
/// Infinities that are expected and there are left out.
template <class T>
double relative_error(const std::vector<T>& result, const std::vector<double>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isinf(expected[i]) && static_cast<double>(result[i]) == expected[i]) continue;
    const double off = static_cast<double>(result[i]) - expected[i];
    difference += off * off;
    norm += expected[i] * expected[i];
  }
  if (difference == 0) return 0;
  return std::sqrt(difference / norm);
}

/// What the difference of one result is compared with.
enum class Scale {
  one,      ///< 1: the difference itself counts
  itself,   ///< the expected value
  all_rows  ///< the expected value or, if that is more, the root mean square of all: what single
            ///< rows add up may cancel, and a row may be many times larger than most
};

/// How far results may be off.
struct Tolerance {
  double overall;  ///< relative_error() of all results
  double each;     ///< |result - expected| / scale of every single one: finds one wrong tile
  Scale scale;
};

/// The result that is furthest off, in units of the scale; NaN is infinitely far off.
struct Worst {
  std::size_t index;
  double error;
};
inline Worst worst_of(const std::vector<double>& results, const std::vector<double>& expected,
                      Scale scale) {
  double squares = 0;
  for (const double value : expected) squares += value * value;
  const double mean = std::sqrt(squares / static_cast<double>(expected.size()));
  Worst worst{0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = std::abs(results[i] - expected[i]);
    if (off == 0 || results[i] == expected[i]) continue;
    const double unit = scale == Scale::one      ? 1
                        : scale == Scale::itself ? std::abs(expected[i])
                                                 : std::max(std::abs(expected[i]), mean);
    const double error = off / unit;
    if (error <= worst.error) continue;
    worst = {i, std::isnan(error) ? std::numeric_limits<double>::infinity() : error};
  }
  return worst;
}

/// Empty where the results are right; else what is wrong, and where.
inline std::optional<std::string> mismatch(const std::vector<double>& results,
                                           const std::vector<double>& expected,
                                           const Tolerance& tolerance) {
  char text[200];
  if (results.size() != expected.size()) {
    std::snprintf(text, sizeof text, "%zu results: expected %zu", results.size(), expected.size());
    return text;
  }
  const Worst worst = worst_of(results, expected, tolerance.scale);
  if (worst.error > tolerance.each) {
    std::snprintf(
        text, sizeof text,
        "result %zu is %.9g: expected %.9g; the error is %.3g, and at most %.3g is allowed",
        worst.index, results[worst.index], expected[worst.index], worst.error, tolerance.each);
    return text;
  }
  const double error = relative_error(results, expected);
  if (error <= tolerance.overall) return std::nullopt;  // (NaN is not)
  std::snprintf(text, sizeof text, "the relative error is %.3g: expected at most %.3g", error,
                tolerance.overall);
  return text;
}

}  // namespace warpath::map_reduce::oracle
