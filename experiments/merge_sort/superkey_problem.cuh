// What superkey_problem.hpp declares.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "merge_sort/merge_sort.cuh"
#include "merge_sort/sort_problem.cuh"
#include "merge_sort/superkey_problem.hpp"
#include "peers/cub_sort.hpp"
#include "peers/thrust_sort.hpp"

namespace warpath::experiments::sorting {

/// References to all tuples, 0, 1, 2, ...; they are sorted by superkeys that begin with coordinate
/// 0.
template <class C>
class Superkeys : public SortProblem<C> {
 public:
  explicit Superkeys(const harness::Parameters& problem)
      : SortProblem<C>(problem.integer("n"), true), d_(static_cast<int>(problem.integer("d"))) {
    const std::vector<C> tuples =
        make_tuples<C>(problem.text("distribution"), this->n_, d_, problem.integer("seed"));
    const std::vector<Entry<C>> sorted = sorted_tuples(tuples, d_);
    this->expect(sorted);
    long_ties_ = unordered_runs(sorted, Tuning::TiesShape::most_ranked);
    tuples_ = upload(tuples);
    std::vector<std::uint32_t> references(static_cast<std::size_t>(this->n_));
    std::iota(references.begin(), references.end(), 0U);
    references_ = upload(references);
  }

  harness::Execution prepare(const harness::Parameters& point) override {
    const auto options = options_of(point);
    this->begin(options ? movement_of_ours(*options) : Movement{});
    if constexpr (!harness::emulated) {
      const SuperkeyArrays<C> arrays{tuples_.data(), d_, this->values_.data(), this->keys_.data(),
                                     this->n_};
      const std::string& variant = point.text("variant");
      if (variant == "cub_merge") return cub_sort::by_superkey(arrays, this->scratch_.peer);
      if (variant == "thrust") return thrust_sort::by_superkey(arrays, this->scratch_.peer);
    }
    if (!options) throw harness::NotHere("sorts by numbers, not by superkeys");
    return [this, options = *options](cudaStream_t stream) {
      const Tuples<C> tuples{tuples_.span(), d_, 0};
      merge_sort::sort_superkeys(tuples, this->values_.span(), this->keys_.span(), first_nan_,
                                 *this->scratch_.workspace, stream, options);
    };
  }
  harness::Execution restore() override {
    return [this](cudaStream_t stream) { this->copy(this->values_, references_, stream); };
  }
  std::optional<std::string> mismatch(const harness::Parameters& point,
                                      cudaStream_t stream) override {
    if (options_of(point) && first_nan_.get(stream) != -1) {
      return "found NaN at " + std::to_string(first_nan_.get(stream)) + ", expected none";
    }
    return SortProblem<C>::mismatch(point, stream);
  }

 private:
  using Tuning = merge_sort::TuningOf<sizeof(merge_sort::detail::SuperkeyItem<C>)>;
  using typename SortProblem<C>::Movement;

  /// Without the tuples that comparisons read. The first pass reads no values, but all coordinates.
  /// `multiway_merge` then reads the values to find ties. Runs that are too long for shared memory
  /// and not in order take as many passes more as their length needs: to look, sort, merge, and
  /// find ties again; those that are so in further coordinates are not counted. Of a radix sort,
  /// which is a library's, nothing is known.
  [[nodiscard]] Movement movement_of_ours(const merge_sort::Options& options) const {
    if (options.variant == merge_sort::Variant::key_then_ties) return {};
    const std::int64_t column = static_cast<std::int64_t>(sizeof(C)) * this->n_;
    Movement movement = this->movement_of(passes_over_memory<Tuning>(this->n_, options));
    movement.bytes += (d_ - 1) * column;
    if (options.variant == merge_sort::Variant::binary_merge || d_ == 1) return movement;
    movement.passes += 1;
    movement.bytes += column;
    if (long_ties_.entries == 0) return movement;
    const int merges =
        merge_sort::detail::passes_of<Tuning>(long_ties_.longest, options.variant).merges;
    const int passes = 3 + merges;
    movement.passes += passes;
    movement.bytes += 2 * this->item_bytes() * long_ties_.entries * passes;
    return movement;
  }

  int d_;
  UnorderedRuns long_ties_;  ///< too long for shared memory
  DeviceBuffer<C> tuples_;
  DeviceBuffer<std::uint32_t> references_;  ///< not sorted
  DeviceCount first_nan_;
};

template <class C>
std::unique_ptr<harness::Problem> make_superkeys(const harness::Parameters& problem) {
  return std::make_unique<Superkeys<C>>(problem);
}

}  // namespace warpath::experiments::sorting
