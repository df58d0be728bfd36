// What sorts in place are measured on: the arrays that they destroy, and what must come out.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/buffer.cuh"
#include "device_compare.cuh"
#include "harness/technique.hpp"
#include "merge_sort/dispatch.cuh"
#include "merge_sort/inputs.hpp"
#include "merge_sort/variant.hpp"
#include "scratch.cuh"
#include "sort_data.cuh"

namespace warpath::experiments::sorting {

/// Our own options of a point; none of a peer's.
inline std::optional<merge_sort::Options> options_of(const harness::Parameters& point) {
  const std::string& variant = point.text("variant");
  for (const auto& entry : enum_table(merge_sort::Variant{})) {
    if (entry.name != variant) continue;
    return merge_sort::Options{entry.value,
                               harness::named<merge_sort::LowLevelMerge>(point, "low_level")};
  }
  return std::nullopt;
}

/// How often a variant of ours reads and writes all items, sorting tiles once and then merging.
template <class Tuning>
int passes_over_memory(std::int64_t n, const merge_sort::Options& options) {
  return 1 + merge_sort::detail::merge_passes<Tuning>(n, options);
}

/// Keys and 32-bit values (or keys alone) in two arrays, which a sort permutes.
template <class K>
class SortProblem : public harness::Problem {
 public:
  void poison(cudaStream_t stream) override {
    poison(keys_, stream);
    poison(values_, stream);
    sorted_ = {keys_.data(), values_.data(), n_};
  }
  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t stream) override {
    if (auto wrong = difference("keys", sorted_.keys, expected_keys_, stream)) return wrong;
    return difference("values", sorted_.values, expected_values_, stream);
  }
  /// Reads and writes each key and value once.
  [[nodiscard]] harness::Cost cost() const override { return {n_, 2 * item_bytes() * n_}; }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    const auto workspace = static_cast<double>(scratch_.bytes());
    std::map<std::string, double> counters = {
        {"tied_neighbours_percent", ties_.neighbours_percent},
        {"tied_items_percent", ties_.entries_percent},
        {"workspace_bytes", workspace},
        {"workspace_percent", 100 * workspace / static_cast<double>(item_bytes() * n_)}};
    if (movement_.passes > 0) {
      counters["passes_count"] = movement_.passes;
      counters["moved_bytes"] = static_cast<double>(movement_.bytes);
    }
    return counters;
  }

 protected:
  SortProblem(std::int64_t n, bool has_values) : n_(n), keys_(n), values_(has_values ? n : 0) {}

  void expect(const std::vector<Entry<K>>& sorted) {
    ties_ = ties_of(sorted);
    std::vector<K> keys(sorted.size());
    std::vector<std::uint32_t> values(values_.count() > 0 ? sorted.size() : 0);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = sorted[i].value;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = sorted[i].reference;
    expected_keys_ = upload(keys);
    expected_values_ = upload(values);
  }

  /// Passes over memory, and the bytes that they read and write at least; none if not known.
  struct Movement {
    int passes = 0;
    std::int64_t bytes = 0;
  };

  /// Passes that each read and write all items.
  [[nodiscard]] Movement movement_of(int passes) const {
    return {passes, 2 * item_bytes() * n_ * passes};
  }

  /// For prepare(): forgets the last variant's memory, and notes what this one moves.
  void begin(const Movement& movement) {
    scratch_ = {};
    movement_ = movement;
  }

  [[nodiscard]] std::int64_t item_bytes() const {
    return static_cast<std::int64_t>(sizeof(K)) + (values_.count() > 0 ? 4 : 0);
  }

  template <class T>
  static void copy(DeviceBuffer<T>& to, const DeviceBuffer<T>& from, cudaStream_t stream) {
    if (from.count() == 0) return;
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(),
                                       static_cast<std::size_t>(from.count()) * sizeof(T),
                                       cudaMemcpyDeviceToDevice, stream));
  }

  std::int64_t n_;
  DeviceBuffer<K> keys_;
  DeviceBuffer<std::uint32_t> values_;
  /// Where the result is: a radix sort leaves it in either of two buffers.
  PairArrays<const K, const std::uint32_t> sorted_{};
  Scratch scratch_;

 private:
  template <class T>
  static void poison(DeviceBuffer<T>& buffer, cudaStream_t stream) {
    if (buffer.count() == 0) return;
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        buffer.data(), 0xA5, static_cast<std::size_t>(buffer.count()) * sizeof(T), stream));
  }

  DeviceBuffer<K> expected_keys_;
  DeviceBuffer<std::uint32_t> expected_values_;
  Ties ties_;
  Movement movement_;  ///< of the variant that was prepared last
};

}  // namespace warpath::experiments::sorting
