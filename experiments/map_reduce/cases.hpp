// The problems of map_reduce's experiments, by what is computed. Each throws std::invalid_argument
// for parameters that are not compiled.
#pragma once

#include <memory>

#include "harness/technique.hpp"

namespace warpath::experiments::pairs {

/// Gaussian sums in three dimensions, of every type of numbers and accuracy.
std::unique_ptr<harness::Problem> make_gaussian_sum(const harness::Parameters& problem);
/// Gaussian sums in 1, 5, 7, 8, 10, 16, 64 or 128 dimensions, float32.
std::unique_ptr<harness::Problem> make_gaussian_sum_of_dimension(
    const harness::Parameters& problem);
/// Those of them in 5, 7, 8 or 10 dimensions; null in any other number.
std::unique_ptr<harness::Problem> make_gaussian_sum_of_few_dimensions(
    const harness::Parameters& problem);
/// Gaussian sums in three dimensions with signals of 3, 16 or 64 numbers, float32.
std::unique_ptr<harness::Problem> make_gaussian_sum_of_signals(const harness::Parameters& problem);
/// The same in 64 dimensions, with signals of 16 or 64 numbers.
std::unique_ptr<harness::Problem> make_signals_in_many_dimensions(
    const harness::Parameters& problem);
/// The 100 nearest columns in three dimensions, float32.
std::unique_ptr<harness::Problem> make_nearest_100(const harness::Parameters& problem);
/// The nearest column in 16, 64 or 128 dimensions, float32.
std::unique_ptr<harness::Problem> make_nearest_in_many_dimensions(
    const harness::Parameters& problem);
/// The 10 nearest columns in 64 or 128 dimensions, and the 100 nearest ones in 64, float32.
std::unique_ptr<harness::Problem> make_k_nearest_in_many_dimensions(
    const harness::Parameters& problem);
/// Other formulas and reductions in three dimensions, float32.
std::unique_ptr<harness::Problem> make_other(const harness::Parameters& problem);

}  // namespace warpath::experiments::pairs
