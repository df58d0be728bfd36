// Compactions of records: input, variants, answer and cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compaction_data.cuh"
#include "device_compare.cuh"
#include "harness/device.hpp"
#include "harness/technique.hpp"
#include "host_inputs.hpp"
#include "peers/cub_select.hpp"
#include "scratch.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/selection.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::experiments {

template <class T>
class Records;
/// compact_if of records with random units, of which the share `selectivity` is kept.
template <class Unit, int Count>
class Records<Record<Unit, Count>> : public harness::Problem {
 public:
  using T = Record<Unit, Count>;

  explicit Records(const harness::Parameters& problem)
      : n_(problem.integer("n")),
        offset_(problem.integer("offset")),
        predicate_{bound_of(problem.real("selectivity"))},
        elements_(static_cast<std::size_t>(n_)),
        out_(offset_ + n_) {
    const std::int64_t seed = problem.integer("seed");
    in_parts(n_, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        for (int k = 0; k < Count; ++k) {
          elements_[static_cast<std::size_t>(i)].units[k] =
              static_cast<Unit>(random_bits(seed, i * Count + k));
        }
      }
    });
    expected_ = warp_compaction::oracle::compact_if(elements_, predicate_);
    in_ = upload(elements_, offset_);
    device_expected_ = upload(expected_);
  }

  harness::Execution prepare(const harness::Parameters& point) override {
    const std::string& variant = point.text("variant");
    scratch_ = {};
    if (variant == "std") {
      host_out_.resize(elements_.size());
      return [this](cudaStream_t) {
        const auto end =
            std::copy_if(elements_.begin(), elements_.end(), host_out_.begin(), predicate_);
        host_kept_ = end - host_out_.begin();
      };
    }
    const T* const in = in_.data() + offset_;
    T* const out = out_.data() + offset_;
    if constexpr (!harness::emulated) {
      if (variant == "cub") {
        return cub_select::select_if(in, out, kept_.data(), n_, predicate_, scratch_.peer);
      }
    }
    return [this, in, out, options = options_of(point)](cudaStream_t stream) {
      warp_compaction::compact_if(DeviceSpan<const T>{in, n_}, DeviceSpan<T>{out, n_}, predicate_,
                                  kept_, *scratch_.workspace, stream, options);
    };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(out_.data(), 0xA5,
                                       static_cast<std::size_t>(out_.count()) * sizeof(T), stream));
    WARPATH_CUDA_CHECK(cudaMemsetAsync(kept_.data(), 0xA5, sizeof(std::int64_t), stream));
    host_kept_ = 0;
  }

  std::optional<std::string> mismatch(const harness::Parameters& point,
                                      cudaStream_t stream) override {
    if (point.text("variant") == "std") {
      if (auto wrong = wrong_count(host_kept_, expected_.size())) return wrong;
      const bool is_right = std::equal(
          expected_.begin(), expected_.end(), host_out_.begin(),
          [](const T& a, const T& b) { return std::equal(a.units, a.units + Count, b.units); });
      return is_right ? std::nullopt : std::optional("the records differ from the oracle's");
    }
    if (auto wrong = wrong_count(kept_.get(stream), expected_.size())) return wrong;
    return difference("out", out_.data() + offset_, device_expected_, stream);
  }

  [[nodiscard]] harness::Cost cost() const override {
    const auto kept = static_cast<std::int64_t>(expected_.size());
    return {n_, (n_ + kept) * static_cast<std::int64_t>(sizeof(T)), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"kept_items", static_cast<double>(expected_.size())},
            {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
  }

 private:
  /// Keys are uniform in all values of a unit, or of 32 bits.
  static std::uint32_t bound_of(double share) {
    const double keys = std::pow(2.0, std::min<double>(32, 8 * sizeof(Unit)));
    return static_cast<std::uint32_t>(
        std::min(share * keys, static_cast<double>(std::numeric_limits<std::uint32_t>::max())));
  }

  std::int64_t n_;
  std::int64_t offset_;
  KeyBelow<T> predicate_;
  std::vector<T> elements_;
  std::vector<T> expected_;
  std::vector<T> host_out_;
  std::int64_t host_kept_ = 0;
  DeviceBuffer<T> in_;
  DeviceBuffer<T> device_expected_;
  DeviceBuffer<T> out_;
  DeviceCount kept_;
  Scratch scratch_;
};

/// The problem of the first of `Types` that has the size and the alignment that are asked for.
template <class... Types>
std::unique_ptr<harness::Problem> make_records_of(const harness::Parameters& problem) {
  const std::int64_t bytes = problem.integer("element_bytes");
  const std::int64_t alignment = problem.integer("element_alignment");
  std::unique_ptr<harness::Problem> made;
  const auto try_type = [&]<class T>(std::type_identity<T>) {
    if (made || sizeof(T) != bytes || alignof(T) != alignment) return;
    made = harness::make_problem<Records<T>>(problem);
  };
  (try_type(std::type_identity<Types>{}), ...);
  return made;
}

}  // namespace warpath::experiments
