// The experiments of balanced_path_sets: inputs, variants, answers and costs.
#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "balanced_path_sets/balanced_path_sets.cuh"
#include "balanced_path_sets/demonstration.cuh"
#include "balanced_path_sets/no_duplicates.hpp"
#include "balanced_path_sets/parts.cuh"
#include "device_compare.cuh"
#include "harness/device.hpp"
#include "peers/thrust_sets.hpp"
#include "scratch.cuh"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using balanced_path_sets::SetOperation;
using harness::Parameters;

/// `count` keys, drawn uniformly from [0, distinct) and sorted: sums of exponential gaps, scaled,
/// have the distribution of sorted draws.
template <class Key>
std::vector<Key> uniform_keys(std::int64_t count, std::int64_t distinct, std::uint64_t seed) {
  const auto gaps = [seed](auto each, std::int64_t how_many) {
    std::mt19937_64 random(seed);
    double sum = 0;
    for (std::int64_t i = 0; i < how_many; ++i) {
      sum -= std::log(static_cast<double>(random() >> 11 | 1) * 0x1p-53);
      each(sum);
    }
    return sum;
  };
  const double end = gaps([](double) {}, count + 1);
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(count));
  gaps(
      [&](double sum) {
        const double key = std::floor(sum / end * static_cast<double>(distinct));
        keys.push_back(static_cast<Key>(std::min(key, static_cast<double>(distinct - 1))));
      },
      count);
  return keys;
}

/// Keys that rise by 1 to 3.
template <class Key>
std::vector<Key> unique_keys(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(count));
  Key key = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    key += static_cast<Key>(1 + random() % 3);
    keys.push_back(key);
  }
  return keys;
}

template <class Key>
std::vector<Key> make_keys(const std::string& distribution, std::int64_t count, std::int64_t n,
                           std::uint64_t seed) {
  if (distribution == "unique") return unique_keys<Key>(count, seed);
  const std::map<std::string, std::int64_t> distinct = {
      {"doc", n / 2}, {"published", n}, {"few", n / 20}, {"heavy1000", n / 2000}, {"huge16", 16}};
  return uniform_keys<Key>(count, std::max<std::int64_t>(1, distinct.at(distribution)), seed);
}

/// The fastest variant with its count on the host.
constexpr const char* counted = "single_pass_get";

SetOperation operation_of(const Parameters& point) {
  return harness::named<SetOperation>(point, "operation");
}

std::int64_t a_count(const Parameters& problem) {
  return problem.integer("n") * problem.integer("a_percent") / 100;
}

/// Both inputs, their values (a key's index among all keys), and the answer to one operation at a
/// time.
template <class Key>
class Sets : public harness::Problem {
 public:
  explicit Sets(const Parameters& problem)
      : a_count_(a_count(problem)),
        has_values_(problem.on("values")),
        has_duplicates_(problem.text("distribution") != "unique") {
    const std::int64_t n = problem.integer("n");
    const auto seed = static_cast<std::uint64_t>(problem.integer("seed"));
    const std::string& distribution = problem.text("distribution");
    auto b =
        std::async(std::launch::async, make_keys<Key>, distribution, n - a_count_, n, seed + 1);
    keys_ = make_keys<Key>(distribution, a_count_, n, seed);
    const std::vector<Key> b_keys = b.get();
    keys_.insert(keys_.end(), b_keys.begin(), b_keys.end());
    device_keys_ = upload(keys_);
    out_ = DeviceBuffer<Key>(n);
    if (has_values_) {
      std::vector<Key> values(keys_.size());
      std::iota(values.begin(), values.end(), Key{0});
      device_values_ = upload(values);
      out_values_ = DeviceBuffer<Key>(n);
    }
  }

  harness::Execution prepare(const Parameters& point) override {
    const SetOperation operation = operation_of(point);
    scratch_ = {};
    if constexpr (!harness::emulated) {
      if (point.text("variant") == "thrust") {
        return thrust_sets::set_operation(operation, arrays(), &host_count_, scratch_.peer);
      }
    }
    const std::string& variant = point.text("variant");
    if (variant == counted) {
      return [this, enqueue = prepare_ours(operation, {balanced_path_sets::Variant::single_pass})](
                 cudaStream_t stream) {
        enqueue(stream);
        host_count_ = count_.get(stream);
      };
    }
    if (variant == "compact_no_duplicates") return prepare_without_duplicates(operation);
    if (variant == "compact_range_checked") {
      return prepare_ours(operation, {balanced_path_sets::Variant::compact, true});
    }
    return prepare_ours(operation, {harness::named<balanced_path_sets::Variant>(point, "variant")});
  }

  void poison(cudaStream_t stream) override {
    const auto poison = [stream](auto& buffer) {
      if (buffer.count() > 0) {
        WARPATH_CUDA_CHECK(cudaMemsetAsync(
            buffer.data(), 0xA5, static_cast<std::size_t>(buffer.count()) * sizeof(Key), stream));
      }
    };
    poison(out_);
    poison(out_values_);
    WARPATH_CUDA_CHECK(cudaMemsetAsync(count_.data(), 0xA5, sizeof(std::int64_t), stream));
    host_count_ = -1;
  }

  std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) override {
    const SetOperation operation = operation_of(point);
    if (!is_answered_ || operation != operation_) answer(operation);
    const std::string& variant = point.text("variant");
    const bool is_single_pass = variant == "single_pass" || variant == counted;
    is_two_pass_ = !is_single_pass && variant != "thrust";
    if (is_two_pass_ && part_counters_.empty()) count_parts(stream);
    const bool is_on_host = variant == "thrust" || variant == counted;
    const std::int64_t outputs = is_on_host ? host_count_ : count_.get(stream);
    if (outputs != expected_.count()) {
      return std::to_string(outputs) + " outputs, expected " + std::to_string(expected_.count());
    }
    const auto wrong_key = difference("keys", out_.data(), expected_, stream);
    if (wrong_key.has_value() || !has_values_) return wrong_key;
    return difference("values", out_values_.data(), expected_values_, stream);
  }

  /// Reads all keys, and writes the outputs; reads and writes a value for each output.
  [[nodiscard]] harness::Cost cost() const override {
    const auto n = static_cast<std::int64_t>(keys_.size());
    const std::int64_t moved = n + expected_.count() * (has_values_ ? 3 : 1);
    return {n, moved * static_cast<std::int64_t>(sizeof(Key)), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    std::map<std::string, double> counters = {
        {"outputs_count", static_cast<double>(expected_.count())},
        {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
    if (is_two_pass_) counters.insert(part_counters_.begin(), part_counters_.end());
    return counters;
  }

 private:
  /// Of the parts that the source's variants give to tiles and threads, whatever the operation.
  void count_parts(cudaStream_t stream) {
    using balanced_path_sets::SetTuning;
    const thrust_sets::Arrays<Key> of = arrays();
    const auto sizes = [&](int part_items) {
      return part_sizes<Key>({of.a, nullptr, of.a_count}, {of.b, nullptr, of.b_count}, part_items,
                             stream);
    };
    const PartSizes tiles = sizes(SetTuning::tile_items);
    if (tiles.parts > 0) {
      part_counters_["least_tile_elements"] = tiles.least_elements;
      part_counters_["most_tile_elements"] = tiles.most_elements;
    }
    const PartSizes threads = sizes(SetTuning::items);
    if (threads.parts > 0) {
      part_counters_["least_thread_elements"] = threads.least_elements;
      part_counters_["most_thread_elements"] = threads.most_elements;
      part_counters_["least_thread_slots"] = threads.least_slots;
      part_counters_["most_thread_slots"] = threads.most_slots;
    }
  }

  harness::Execution prepare_without_duplicates([[maybe_unused]] SetOperation operation) {
    if constexpr (std::is_same_v<Key, std::int32_t>) {
      if (has_duplicates_) throw harness::NotHere("these inputs have duplicate keys");
      if (!has_values_) {
        return [this, operation](cudaStream_t stream) {
          const thrust_sets::Arrays<Key> of = arrays();
          compact_without_duplicates(operation, {of.a, of.a_count}, {of.b, of.b_count}, out_.span(),
                                     count_, *scratch_.workspace, stream);
        };
      }
    }
    throw harness::NotHere("compiled for 4-byte keys without values");
  }

  /// What std::set_* makes of the keys' indices.
  void answer(SetOperation operation) {
    std::vector<std::int32_t> indices(keys_.size());
    std::iota(indices.begin(), indices.end(), 0);
    const auto b = indices.begin() + a_count_;
    std::vector<std::int32_t> out(keys_.size());
    const auto less = [this](std::int32_t i, std::int32_t j) {
      return keys_[static_cast<std::size_t>(i)] < keys_[static_cast<std::size_t>(j)];
    };
    const auto run = [&](auto set_operation) {
      return set_operation(indices.begin(), b, b, indices.end(), out.begin(), less);
    };
    const auto end_of = [&] {
      switch (operation) {
        case SetOperation::intersection:
          return run([](auto... all) { return std::set_intersection(all...); });
        case SetOperation::set_union:
          return run([](auto... all) { return std::set_union(all...); });
        case SetOperation::difference:
          return run([](auto... all) { return std::set_difference(all...); });
        case SetOperation::symmetric_difference:
          return run([](auto... all) { return std::set_symmetric_difference(all...); });
      }
      throw std::logic_error("unknown operation");
    };
    out.erase(end_of(), out.end());
    std::vector<Key> expected(out.size());
    std::transform(out.begin(), out.end(), expected.begin(),
                   [this](std::int32_t i) { return keys_[static_cast<std::size_t>(i)]; });
    expected_ = {};
    expected_ = upload(expected);
    if (has_values_) {
      std::copy(out.begin(), out.end(), expected.begin());
      expected_values_ = {};
      expected_values_ = upload(expected);
    }
    operation_ = operation;
    is_answered_ = true;
  }

  [[nodiscard]] thrust_sets::Arrays<Key> arrays() {
    const Key* values = device_values_.data();
    return {device_keys_.data(),
            values,
            a_count_,
            device_keys_.data() + a_count_,
            has_values_ ? values + a_count_ : nullptr,
            device_keys_.count() - a_count_,
            out_.data(),
            out_values_.data()};
  }

  harness::Execution prepare_ours(SetOperation operation,
                                  const balanced_path_sets::Options& chosen) {
    switch (operation) {
      case SetOperation::intersection:
        return ours<SetOperation::intersection>(chosen);
      case SetOperation::set_union:
        return ours<SetOperation::set_union>(chosen);
      case SetOperation::difference:
        return ours<SetOperation::difference>(chosen);
      case SetOperation::symmetric_difference:
        return ours<SetOperation::symmetric_difference>(chosen);
    }
    throw std::logic_error("unknown operation");
  }

  template <SetOperation operation>
  harness::Execution ours(const balanced_path_sets::Options& options) {
    return [this, options](cudaStream_t stream) {
      const thrust_sets::Arrays<Key> of = arrays();
      const DeviceSpan<const Key> a{of.a, of.a_count};
      const DeviceSpan<const Key> b{of.b, of.b_count};
      if (!has_values_) {
        return balanced_path_sets::set_operation<operation>(a, b, out_.span(), count_,
                                                            *scratch_.workspace, stream, options);
      }
      balanced_path_sets::set_operation_by_key<operation>(
          a, {of.a_values, of.a_count}, b, {of.b_values, of.b_count}, out_.span(),
          out_values_.span(), count_, *scratch_.workspace, stream, options);
    };
  }

  std::int64_t a_count_;
  bool has_values_;
  bool has_duplicates_;
  std::vector<Key> keys_;  ///< A's, then B's
  DeviceBuffer<Key> device_keys_;
  DeviceBuffer<Key> device_values_;
  DeviceBuffer<Key> out_;
  DeviceBuffer<Key> out_values_;
  DeviceCount count_;
  bool is_answered_ = false;
  SetOperation operation_ = SetOperation::intersection;  ///< that is answered
  DeviceBuffer<Key> expected_;
  DeviceBuffer<Key> expected_values_;
  std::map<std::string, double> part_counters_;
  bool is_two_pass_ = false;  ///< whether the variant that was checked last is one of the source's
  Scratch scratch_;
  std::int64_t host_count_ = 0;  ///< of a variant that returns it to the host
};

std::unique_ptr<harness::Problem> make_sets(const Parameters& problem) {
  if (problem.text("key") == "i32") return harness::make_problem<Sets<std::int32_t>>(problem);
  return harness::make_problem<Sets<std::int64_t>>(problem);
}

/// Inputs, outputs and what is expected, each with values or without, what `compact` stores in
/// between, and where the parts of threads begin.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t key_bytes = problem.text("key") == "i32" ? 4 : 8;
  const std::int64_t arrays = problem.on("values") ? 8 : 4;
  return problem.integer("n") * (arrays * key_bytes + 2) + (1 << 20);
}

}  // namespace

harness::Technique balanced_path_sets_technique() {
  using namespace harness;            // NOLINT(google-build-using-namespace)
  using balanced_path_sets::Variant;  // not the harness's
  return {
      .name = "balanced_path_sets",
      .summary = "set operations on sorted multisets, cut along the balanced path",
      .source = "S. Baxter, Modern GPU 1.1, NVIDIA Research 2013: Multisets",
      .parameters = {integer_parameter("n", 1 << 20, 2, 2147483647, "keys of both inputs together"),
                     integer_parameter("a_percent", 50, 0, 100, "of them in A"),
                     choice_parameter("key", {"i32", "i64"}, "type of the keys, and of the values"),
                     switch_parameter("values", false, "a value for each key"),
                     choice_parameter(
                         "distribution",
                         {"doc", "published", "few", "unique", "heavy1000", "huge16"},
                         "of the keys: n/2 of them, drawn uniformly; n, n/20, n/2000, 16; "
                         "unique: they rise by 1 to 3"),
                     seed_parameter("of the keys"),
                     of_variants(choice_parameter("operation", SetOperation::intersection,
                                                  "what is computed"))},
      .variants = variants_of<Variant>(
          {{Variant::count_scan_stream, Role::technique,
            "the source: count the outputs, scan the counts, do it again and store"},
           {Variant::compact, Role::technique,
            "the source: store into a temporary array, scan the counts, close the gaps"},
           {Variant::single_pass, Role::technique,
            "once: the next keys are loaded meanwhile, places come from look-back"}},
          {{"compact_no_duplicates", Role::technique, Runs::anywhere,
            "compact with Duplicates = false: 4-byte keys that rise, without values"},
           {"compact_range_checked", Role::technique, Runs::anywhere,
            "compact with range checks in every tile"},
           {.name = counted,
            .role = Role::technique,
            .summary = "single_pass and DeviceCount::get(): what a caller waits for the count, as "
                       "Thrust's must",
            .waits_for_gpu = true},
           {.name = "thrust",
            .role = Role::peer,
            .runs = Runs::gpu,
            .summary = "thrust::set_*, or its by_key form; it returns the count to the host",
            .waits_for_gpu = true}}),
      .device_bytes = device_bytes,
      .make_problem = make_sets,
      .demonstration = balanced_path_sets::demonstration};
}

}  // namespace warpath
