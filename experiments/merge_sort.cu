// The experiments of merge_sort: inputs, variants, answers and costs.
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/device.hpp"
#include "merge_sort/inputs.hpp"
#include "merge_sort/merge_sort.cuh"
#include "merge_sort/sort_problem.cuh"
#include "merge_sort/superkey_problem.hpp"
#include "peers/cub_sort.hpp"
#include "peers/thrust_sort.hpp"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;

/// Keys, and values (or none) that say where each key was: only a stable sort gives all of them.
template <class K, bool has_values>
class Pairs : public sorting::SortProblem<K> {
 public:
  explicit Pairs(const Parameters& problem)
      : sorting::SortProblem<K>(problem.integer("n"), has_values) {
    const std::vector<K> keys =
        sorting::make_tuples<K>(problem.text("distribution"), this->n_, 1, problem.integer("seed"));
    this->expect(sorting::sorted_tuples(keys, 1));
    unsorted_keys_ = upload(keys);
    std::vector<std::uint32_t> values(has_values ? keys.size() : 0);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
    unsorted_values_ = upload(values);
  }

  harness::Execution prepare(const Parameters& point) override {
    const auto options = sorting::options_of(point);
    if (options && options->variant == merge_sort::Variant::key_then_ties) {
      throw harness::NotHere("sorts superkeys only");
    }
    const int passes = options ? sorting::passes_over_memory<Tuning>(this->n_, *options) : 0;
    this->begin(this->movement_of(passes));
    if constexpr (!harness::emulated) {
      if (!options) return prepare_peer(point.text("variant"));
    }
    return [this, options = options.value()](cudaStream_t stream) {
      Workspace& workspace = *this->scratch_.workspace;
      if constexpr (has_values) {
        merge_sort::sort_pairs(this->keys_.span(), this->values_.span(), workspace, stream,
                               options);
      } else {
        merge_sort::sort_keys(this->keys_.span(), workspace, stream, options);
      }
    };
  }
  harness::Execution restore() override {
    return [this](cudaStream_t stream) {
      this->copy(this->keys_, unsorted_keys_, stream);
      this->copy(this->values_, unsorted_values_, stream);
    };
  }

 private:
  using Value = std::conditional_t<has_values, std::uint32_t, merge_sort::detail::NoValue>;
  using Tuning = merge_sort::TuningOf<sizeof(merge_sort::detail::Item<K, Value>)>;

  harness::Execution prepare_peer(const std::string& variant) {
    const PairArrays<K> arrays{this->keys_.data(), this->values_.data(), this->n_};
    const auto& storage = this->scratch_.peer;
    if constexpr (has_values) {
      if (variant == "thrust") return thrust_sort::pairs(arrays, storage);
      if (variant == "cub_radix") return cub_sort::radix_pairs(arrays, storage, &this->sorted_);
      return cub_sort::pairs(arrays, storage);
    } else {
      if (variant == "thrust") return thrust_sort::keys(arrays, storage);
      if (variant == "cub_radix") return cub_sort::radix_keys(arrays, storage, &this->sorted_);
      return cub_sort::keys(arrays, storage);
    }
  }

  DeviceBuffer<K> unsorted_keys_;
  DeviceBuffer<std::uint32_t> unsorted_values_;
};

/// Types are those that the configurations run: each takes seconds to compile.
[[noreturn]] void refuse_type(const Parameters& problem, const std::string& expected) {
  throw std::invalid_argument("type is " + problem.text("type") + ": of " +
                              problem.text("operation") + ", expected " + expected);
}

std::unique_ptr<harness::Problem> make_sort(const Parameters& problem) {
  const std::string& type = problem.text("type");
  if (problem.text("operation") == "keys") {
    if (type != "uint32") refuse_type(problem, "uint32");
    return harness::make_problem<Pairs<std::uint32_t, false>>(problem);
  }
  if (problem.text("operation") == "pairs") {
    if (type != "float") refuse_type(problem, "float");
    return harness::make_problem<Pairs<float, true>>(problem);
  }
  if (type == "float") return sorting::make_superkeys<float>(problem);
  if (type == "double") return sorting::make_superkeys<double>(problem);
  if (type == "int32") return sorting::make_superkeys<std::int32_t>(problem);
  if (type == "int64") return sorting::make_superkeys<std::int64_t>(problem);
  refuse_type(problem, "float, double, int32 or int64");
}

/// What is sorted, the same before and after, and the copies of our workspace and of three peers;
/// the tuples.
std::int64_t device_bytes(const Parameters& problem) {
  const std::string& type = problem.text("type");
  const std::int64_t size = type == "double" || type == "int64" ? 8 : 4;
  const std::int64_t value = problem.text("operation") == "keys" ? 0 : 4;
  const std::int64_t d = problem.text("operation") == "superkeys" ? problem.integer("d") : 0;
  const std::int64_t item = 7 * (size + value) + d * size;
  return problem.integer("n") * item + (1 << 20);
}

}  // namespace

harness::Technique merge_sort_technique() {
  using namespace harness;    // NOLINT(google-build-using-namespace)
  using merge_sort::Variant;  // not the harness's
  return {
      .name = "merge_sort",
      .summary = "stable sort of keys, pairs, and references to tuples by superkey",
      .source = "J. Robinson, KdTreeGPU, GitHub: GPU Sort; Merge Sort",
      .parameters =
          {choice_parameter("operation", {"superkeys", "pairs", "keys"},
                            "what is sorted: references to tuples by superkey, keys with a 32-bit "
                            "value each, keys"),
           integer_parameter("n", 1 << 20, 1, 4294967295, "references, or keys"),
           choice_parameter("type", {"float", "double", "int32", "int64", "uint32"},
                            "of a coordinate; pairs have float keys, keys are uint32"),
           integer_parameter("d", 4, 1, 16, "superkeys: coordinates of a tuple"),
           choice_parameter("distribution", sorting::distributions(),
                            "of the coordinates: any numbers, 24 random bits, one of 1000 numbers, "
                            "all equal; coordinate 0 in an order, and any numbers"),
           seed_parameter("of the input"),
           of_variants(choice_parameter("low_level", merge_sort::LowLevelMerge::merge_path,
                                        "how our variants merge two runs in shared memory"))},
      .variants = variants_of<Variant>(
          {{Variant::binary_merge, Role::technique,
            "the source: sorted tiles, then runs merged two by two"},
           {Variant::multiway_merge, Role::technique,
            "the same tiles, then 16 or 32 runs merged at once"},
           {Variant::key_then_ties, Role::technique,
            "superkeys: CUB's radix sort of the first coordinate, then ties as multiway_merge"}},
          {{"cub_merge", Role::peer, Runs::gpu, "CUB DeviceMergeSort, its stable forms"},
           {"cub_radix", Role::peer, Runs::gpu,
            "CUB DeviceRadixSort with a double buffer: of numbers, by their bits"},
           {"thrust", Role::peer, Runs::gpu,
            "thrust::stable_sort, stable_sort_by_key: of numbers a radix sort, by superkey a merge "
            "sort"}}),
      .device_bytes = device_bytes,
      .make_problem = make_sort};
}

}  // namespace warpath
