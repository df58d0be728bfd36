// Formulas and reductions in double precision, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
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

// ---------------------------------------------------------------- judging

/// |result - expected| / |expected|, by the Euclidean norm over all; 0 for two empty vectors.
template <class T>
double relative_error(const std::vector<T>& result, const std::vector<double>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = static_cast<double>(result[i]) - expected[i];
    difference += off * off;
    norm += expected[i] * expected[i];
  }
  if (difference == 0) return 0;
  return std::sqrt(difference / norm);
}

}  // namespace warpath::map_reduce::oracle
