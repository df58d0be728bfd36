// The experiments of warp_compaction: inputs, variants, answers and costs.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>

#include "compaction_data.cuh"
#include "device_compare.cuh"
#include "harness/device.hpp"
#include "host_inputs.hpp"
#include "peers/cub_select.hpp"
#include "scratch.cuh"
#include "techniques.hpp"
#include "warp_compaction/comparisons.hpp"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/records.hpp"
#include "warp_compaction/selection.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;
namespace oracle = warp_compaction::oracle;

constexpr std::uint32_t key_range = 1u << 31;

/// An element with this key; the bits go where it has room beside.
template <class T>
T make_element(std::uint32_t key, std::uint64_t bits) {
  if constexpr (std::is_same_v<T, std::uint32_t>) return key;
  if constexpr (std::is_same_v<T, std::uint64_t>) return bits << 32 | key;
  if constexpr (std::is_same_v<T, Element16>) {
    const auto high = static_cast<std::uint32_t>(bits >> 32);
    return {key, {static_cast<std::uint32_t>(bits), high, ~high}};
  }
}

/// Elements with uniform keys.
template <class T>
std::vector<T> uniform_elements(std::int64_t n, std::int64_t seed) {
  std::vector<T> elements(static_cast<std::size_t>(n));
  in_parts(n, [&elements, seed](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::uint64_t bits = random_bits(seed, i);
      elements[static_cast<std::size_t>(i)] =
          make_element<T>(static_cast<std::uint32_t>(bits) % key_range, random_bits(seed + 1, i));
    }
  });
  return elements;
}

/// The number of the run that each element is in: a new run begins with probability `share`.
std::vector<std::uint32_t> run_numbers(std::int64_t n, double share, std::int64_t seed) {
  std::vector<std::uint32_t> runs(static_cast<std::size_t>(n));
  const auto bound = static_cast<std::uint64_t>(share * key_range);
  std::uint32_t run = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0 && random_bits(seed, i) % key_range < bound) ++run;
    runs[static_cast<std::size_t>(i)] = run;
  }
  return runs;
}

/// Elements in runs of equal ones.
template <class T>
std::vector<T> elements_in_runs(std::int64_t n, double share, std::int64_t seed) {
  const std::vector<std::uint32_t> runs = run_numbers(n, share, seed);
  std::vector<T> elements(runs.size());
  in_parts(n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::uint32_t run = runs[static_cast<std::size_t>(i)];
      elements[static_cast<std::size_t>(i)] = make_element<T>(run, random_bits(seed + 1, run));
    }
  });
  return elements;
}

/// One column: select_if, select_flagged and unique.
template <class T>
class Selection : public harness::Problem {
 public:
  explicit Selection(const Parameters& problem)
      : operation_(problem.text("operation")),
        n_(problem.integer("n")),
        offset_(problem.integer("offset")),
        predicate_{static_cast<std::uint32_t>(problem.real("selectivity") * key_range)} {
    const std::int64_t seed = problem.integer("seed");
    elements_ = operation_ == "unique" ? elements_in_runs<T>(n_, problem.real("selectivity"), seed)
                                       : uniform_elements<T>(n_, seed);
    if (operation_ == "select_if") {
      expected_ = oracle::compact_if(elements_, predicate_);
    } else if (operation_ == "unique") {
      expected_ = oracle::unique(elements_, std::equal_to<>{});
    } else {
      flags_.resize(elements_.size());
      std::transform(elements_.begin(), elements_.end(), flags_.begin(), [this](const T& element) {
        return static_cast<std::uint8_t>(predicate_(element));
      });
      expected_ = oracle::compact_flagged(elements_, flags_);
    }
    in_ = upload(elements_, offset_);
    device_flags_ = upload(flags_, offset_);
    device_expected_ = upload(expected_);
    out_ = DeviceBuffer<T>(offset_ + n_);
  }

  harness::Execution prepare(const Parameters& point) override {
    const std::string& variant = point.text("variant");
    scratch_ = {};
    if (variant == "std") {
      host_out_.resize(elements_.size());
      return [this](cudaStream_t) { run_on_host(); };
    }
    if constexpr (!harness::emulated) {
      if (variant == "cub") return prepare_cub();
    }
    return [this, options = options_of(point)](cudaStream_t stream) { run(options, stream); };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(out_.data(), 0xA5,
                                       static_cast<std::size_t>(out_.count()) * sizeof(T), stream));
    WARPATH_CUDA_CHECK(cudaMemsetAsync(kept_.data(), 0xA5, sizeof(std::int64_t), stream));
    host_kept_ = 0;
  }

  std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) override {
    comparisons_.reset();
    if (point.text("variant") == "std") {
      if (auto wrong = wrong_count(static_cast<std::int64_t>(host_kept_), expected_.size()))
        return wrong;
      if (std::equal(expected_.begin(), expected_.end(), host_out_.begin())) return std::nullopt;
      return "the elements differ from the oracle's";
    }
    if (auto wrong = wrong_count(kept_.get(stream), expected_.size())) return wrong;
    if (auto wrong = difference("out", out().data, device_expected_, stream)) return wrong;
    count_comparisons(point, stream);
    return std::nullopt;
  }

  [[nodiscard]] harness::Cost cost() const override {
    const std::int64_t flags = operation_ == "select_flagged" ? n_ : 0;
    const auto kept = static_cast<std::int64_t>(expected_.size());
    return {n_, (n_ + kept) * static_cast<std::int64_t>(sizeof(T)) + flags, 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    std::map<std::string, double> counters = {
        {"kept_items", static_cast<double>(expected_.size())},
        {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
    if (comparisons_) {
      counters["comparisons_per_item"] =
          static_cast<double>(*comparisons_) / static_cast<double>(n_);
    }
    return counters;
  }

 private:
  /// Of `unique` on 4-byte elements by the two-pass variants, in one more execution.
  void count_comparisons([[maybe_unused]] const Parameters& point,
                         [[maybe_unused]] cudaStream_t stream) {
    if constexpr (std::is_same_v<T, std::uint32_t>) {
      if (operation_ != "unique" || !point.text("variant").starts_with("two_pass")) return;
      comparisons_ =
          comparisons_of_unique(in(), out(), kept_, *scratch_.workspace, stream, options_of(point));
    }
  }

  [[nodiscard]] DeviceSpan<const T> in() const { return {in_.data() + offset_, n_}; }
  [[nodiscard]] DeviceSpan<T> out() { return {out_.data() + offset_, n_}; }
  [[nodiscard]] DeviceSpan<const std::uint8_t> flags() const {
    return {device_flags_.data() + offset_, n_};
  }

  void run(const warp_compaction::Options& options, cudaStream_t stream) {
    Workspace& workspace = *scratch_.workspace;
    if (operation_ == "select_if") {
      warp_compaction::compact_if(in(), out(), predicate_, kept_, workspace, stream, options);
    } else if (operation_ == "unique") {
      warp_compaction::unique(in(), out(), kept_, workspace, stream, options);
    } else {
      warp_compaction::compact_flagged(in(), flags(), out(), kept_, workspace, stream, options);
    }
  }
  harness::Execution prepare_cub() {
    if (operation_ == "select_if") {
      return cub_select::select_if(in().data, out().data, kept_.data(), n_, predicate_,
                                   scratch_.peer);
    }
    if (operation_ == "unique")
      return cub_select::unique(in().data, out().data, kept_.data(), n_, scratch_.peer);
    return cub_select::select_flagged(in().data, flags().data, out().data, kept_.data(), n_,
                                      scratch_.peer);
  }
  void run_on_host() {
    auto end = host_out_.begin();
    if (operation_ == "select_if") {
      end = std::copy_if(elements_.begin(), elements_.end(), end, predicate_);
    } else if (operation_ == "unique") {
      end = std::unique_copy(elements_.begin(), elements_.end(), end);
    } else {
      for (std::size_t i = 0; i < elements_.size(); ++i) {
        if (flags_[i] != 0) *end++ = elements_[i];
      }
    }
    host_kept_ = static_cast<std::size_t>(end - host_out_.begin());
  }

  std::string operation_;
  std::int64_t n_;
  std::int64_t offset_;
  KeyBelow<T> predicate_;
  std::vector<T> elements_;
  std::vector<std::uint8_t> flags_;
  std::vector<T> expected_;
  std::vector<T> host_out_;
  std::size_t host_kept_ = 0;
  DeviceBuffer<T> in_;
  DeviceBuffer<std::uint8_t> device_flags_;
  DeviceBuffer<T> device_expected_;
  DeviceBuffer<T> out_;
  DeviceCount kept_;
  Scratch scratch_;
  std::optional<std::int64_t> comparisons_;  ///< of the answer that was checked last
};

/// Two columns: unique_by_key (a key and a 4-byte value) and remove_duplicates (a coordinate and a
/// 4-byte reference).
template <class K>
class PairSelection : public harness::Problem {
 public:
  PairSelection(const Parameters& problem, std::vector<K> keys, std::vector<std::uint32_t> values,
                oracle::Pairs<K, std::uint32_t> expected)
      : n_(problem.integer("n")),
        expected_(std::move(expected)),
        keys_(upload(keys)),
        values_(upload(values)),
        expected_keys_(upload(expected_.first)),
        expected_values_(upload(expected_.second)),
        out_keys_(n_),
        out_values_(n_),
        host_keys_(std::move(keys)),
        host_values_(std::move(values)) {}

  harness::Execution prepare(const Parameters& point) override {
    scratch_ = {};
    if (point.text("variant") != "std") return prepare_on_device(point);
    return [this](cudaStream_t) { host_out_ = run_on_host(); };
  }
  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(
        cudaMemsetAsync(out_keys_.data(), 0xA5, static_cast<std::size_t>(n_) * sizeof(K), stream));
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        out_values_.data(), 0xA5, static_cast<std::size_t>(n_) * sizeof(std::uint32_t), stream));
    WARPATH_CUDA_CHECK(cudaMemsetAsync(kept_.data(), 0xA5, sizeof(std::int64_t), stream));
    host_out_ = {};
  }
  std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) override {
    if (point.text("variant") == "std") {
      if (host_out_ == expected_) return std::nullopt;
      return "the pairs differ from the oracle's";
    }
    if (auto wrong = wrong_count(kept_.get(stream), expected_.first.size())) return wrong;
    if (auto wrong = difference("out_keys", out_keys_.data(), expected_keys_, stream)) return wrong;
    return difference("out_values", out_values_.data(), expected_values_, stream);
  }
  [[nodiscard]] harness::Cost cost() const override {
    const auto kept = static_cast<std::int64_t>(expected_.first.size());
    return {n_, (n_ + kept) * static_cast<std::int64_t>(sizeof(K) + sizeof(std::uint32_t)), 0,
            "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"kept_items", static_cast<double>(expected_.first.size())},
            {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
  }

 protected:
  virtual harness::Execution prepare_on_device(const Parameters& point) = 0;
  virtual oracle::Pairs<K, std::uint32_t> run_on_host() = 0;

  std::int64_t n_;
  oracle::Pairs<K, std::uint32_t> expected_;
  DeviceBuffer<K> keys_;
  DeviceBuffer<std::uint32_t> values_;
  DeviceBuffer<K> expected_keys_;
  DeviceBuffer<std::uint32_t> expected_values_;
  DeviceBuffer<K> out_keys_;
  DeviceBuffer<std::uint32_t> out_values_;
  DeviceCount kept_;
  Scratch scratch_;
  std::vector<K> host_keys_;
  std::vector<std::uint32_t> host_values_;
  oracle::Pairs<K, std::uint32_t> host_out_;
};

std::vector<std::uint32_t> indices(std::int64_t n) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0u);
  return values;
}

template <class K>
class UniqueByKey : public PairSelection<K> {
 public:
  static std::unique_ptr<harness::Problem> make(const Parameters& problem) {
    const std::int64_t n = problem.integer("n");
    auto keys = elements_in_runs<K>(n, problem.real("selectivity"), problem.integer("seed"));
    auto values = indices(n);
    auto expected = oracle::unique_by_key(keys, values, std::equal_to<>{});
    return std::make_unique<UniqueByKey>(problem, std::move(keys), std::move(values),
                                         std::move(expected));
  }
  using PairSelection<K>::PairSelection;

 private:
  harness::Execution prepare_on_device(const Parameters& point) override {
    if constexpr (!harness::emulated) {
      if (point.text("variant") == "cub") {
        return cub_select::unique_by_key(this->keys_.data(), this->values_.data(),
                                         this->out_keys_.data(), this->out_values_.data(),
                                         this->kept_.data(), this->n_, this->scratch_.peer);
      }
    }
    return [this, options = options_of(point)](cudaStream_t stream) {
      warp_compaction::unique_by_key(this->keys_.span(), this->values_.span(),
                                     this->out_keys_.span(), this->out_values_.span(), this->kept_,
                                     *this->scratch_.workspace, stream, options);
    };
  }
  oracle::Pairs<K, std::uint32_t> run_on_host() override {
    return oracle::unique_by_key(this->host_keys_, this->host_values_, std::equal_to<>{});
  }
};

/// References to shuffled tuples of four coordinates, sorted by superkey from coordinate 0 on; a
/// quarter of the distinct neighbours tie in that coordinate.
class RemoveDuplicates : public PairSelection<std::int32_t> {
 public:
  static constexpr int dimensions = 4;

  static std::unique_ptr<harness::Problem> make(const Parameters& problem) {
    const std::int64_t n = problem.integer("n");
    const std::int64_t seed = problem.integer("seed");
    const auto runs = run_numbers(n, problem.real("selectivity"), seed);
    std::vector<std::uint32_t> references = indices(n);
    std::shuffle(references.begin(), references.end(),
                 std::mt19937_64(static_cast<std::uint64_t>(seed)));
    std::vector<std::int32_t> values(runs.size());
    std::vector<std::int32_t> tuples(runs.size() * dimensions);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::int32_t* tuple = tuples.data() + std::size_t{references[i]} * dimensions;
      tuple[0] = values[i] =
          static_cast<std::int32_t>(runs[i] / 4 * 3 + runs[i] % 4 / 2 + runs[i] % 4 / 3);
      tuple[1] = static_cast<std::int32_t>(runs[i]);
      for (int k = 2; k < dimensions; ++k)
        tuple[k] = static_cast<std::int32_t>(random_bits(seed + k, runs[i]));
    }
    auto expected = oracle::remove_duplicates(values, references, tuples, dimensions, 0);
    if (expected.first_disorder >= 0)
      throw std::logic_error("the experiment's tuples are not sorted");
    return std::make_unique<RemoveDuplicates>(problem, std::move(values), std::move(references),
                                              std::move(tuples), std::move(expected.kept));
  }
  RemoveDuplicates(const Parameters& problem, std::vector<std::int32_t> values,
                   std::vector<std::uint32_t> references, std::vector<std::int32_t> tuples,
                   oracle::Pairs<std::int32_t, std::uint32_t> expected)
      : PairSelection(problem, std::move(values), std::move(references), std::move(expected)),
        tuples_(upload(tuples)),
        host_tuples_(std::move(tuples)) {}

  std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) override {
    if (point.text("variant") != "std" && disorder_.get(stream) >= 0) {
      return "reported a disorder at " + std::to_string(disorder_.get(stream)) + ", expected none";
    }
    return PairSelection::mismatch(point, stream);
  }

 private:
  harness::Execution prepare_on_device(const Parameters& point) override {
    return [this, options = options_of(point)](cudaStream_t stream) {
      warp_compaction::remove_duplicates(
          keys_.span(), values_.span(), {tuples_.span(), dimensions, 0}, out_keys_.span(),
          out_values_.span(), kept_, disorder_, *this->scratch_.workspace, stream, options);
    };
  }
  oracle::Pairs<std::int32_t, std::uint32_t> run_on_host() override {
    oracle::Pairs<std::int32_t, std::uint32_t> out;
    for (std::size_t i = 0; i < host_values_.size(); ++i) {
      const std::int32_t* tuple = host_tuples_.data() + std::size_t{host_values_[i]} * dimensions;
      if (i > 0) {
        const std::int32_t* before =
            host_tuples_.data() + std::size_t{host_values_[i - 1]} * dimensions;
        if (std::equal(tuple, tuple + dimensions, before)) continue;
      }
      out.first.push_back(host_keys_[i]);
      out.second.push_back(host_values_[i]);
    }
    return out;
  }

  DeviceBuffer<std::int32_t> tuples_;
  DeviceCount disorder_;
  std::vector<std::int32_t> host_tuples_;
};

template <class T>
std::unique_ptr<harness::Problem> make_with_elements(const Parameters& problem) {
  if (problem.text("operation") == "unique_by_key") return UniqueByKey<T>::make(problem);
  return harness::make_problem<Selection<T>>(problem);
}

[[noreturn]] void refuse(const Parameters& problem, const std::string& why) {
  throw std::invalid_argument(
      "element_bytes is " + std::to_string(problem.integer("element_bytes")) +
      ", element_alignment " + std::to_string(problem.integer("element_alignment")) + ": " + why);
}

std::unique_ptr<harness::Problem> make_selection(const Parameters& problem) {
  const std::int64_t bytes = problem.integer("element_bytes");
  const std::int64_t alignment = problem.integer("element_alignment");
  const std::string& operation = problem.text("operation");
  const bool has_pairs = operation == "unique_by_key" || operation == "remove_duplicates";
  if (has_pairs && problem.integer("offset") != 0) {
    throw std::invalid_argument("offset is " + std::to_string(problem.integer("offset")) + ": " +
                                operation + " has arrays that begin aligned memory");
  }
  if (alignment != 0) {
    if (operation != "select_if") refuse(problem, operation + " has numbers, of alignment 0");
    if (auto made = make_records_of_bytes(problem)) return made;
    if (auto made = make_records_of_words(problem)) return made;
    refuse(problem,
           "expected records of 1, 3, 5, 7, 12 or 33 bytes aligned to 1, 2 or 10 to 2, 12, 20 or "
           "64 to 4, 24 or 32 to 8");
  }
  if (operation == "remove_duplicates") {
    if (bytes == 4) return RemoveDuplicates::make(problem);
    refuse(problem, "remove_duplicates has coordinates of 4 bytes");
  }
  if (bytes == 4) return make_with_elements<std::uint32_t>(problem);
  if (bytes == 8) return make_with_elements<std::uint64_t>(problem);
  if (bytes == 16) return make_with_elements<Element16>(problem);
  refuse(problem, "expected 4, 8 or 16, or the alignment of a record");
}

/// Input, output, the expected output, and two_pass_copy's temporary.
std::int64_t device_bytes(const Parameters& problem) {
  const std::string& operation = problem.text("operation");
  const std::int64_t n = problem.integer("n");
  const bool pairs = operation == "unique_by_key" || operation == "remove_duplicates";
  const std::int64_t element = problem.integer("element_bytes") + (pairs ? 4 : 0);
  const std::int64_t flags = operation == "select_flagged" ? n : 0;
  const std::int64_t tuples =
      operation == "remove_duplicates" ? n * RemoveDuplicates::dimensions * 4 : 0;
  return 4 * (n + problem.integer("offset")) * element + flags + tuples + (1 << 20);
}

}  // namespace

harness::Technique warp_compaction_technique() {
  using namespace harness;         // NOLINT(google-build-using-namespace)
  using warp_compaction::Variant;  // not the harness's
  return {
      .name = "warp_compaction",
      .summary =
          "stream compaction by warp ballots, and removal of duplicates from sorted references",
      .source =
          "J. Robinson, KdTreeGPU, GitHub: Remove Duplicates; Differences from the Compaction "
          "Algorithm Paper",
      .parameters =
          {choice_parameter(
               "operation",
               {"select_if", "select_flagged", "unique", "unique_by_key", "remove_duplicates"},
               "what is kept: by a predicate, by flags, the first of each run (with its value), "
               "distinct tuples"),
           integer_parameter("n", 1 << 20, 1, 4294967295, "input elements"),
           integer_parameter("element_bytes", 4, 1, 64,
                             "bytes of an element (of a key): 4, 8 or 16, or of a record"),
           integer_parameter("element_alignment", 0, 0, 8,
                             "bytes that a record is aligned to: its units; 0: a number"),
           integer_parameter("offset", 0, 0, 1024,
                             "elements between aligned memory and the arrays' begin"),
           real_parameter("selectivity", 0.5, 0, 1, "share of the elements that is kept"),
           seed_parameter("of the input"),
           of_variants(switch_parameter("coalescing", true,
                                        "the two-pass variants' 64-word shared write buffer"))},
      .variants = variants_of<Variant>(
          {{Variant::two_pass_copy, Role::technique,
            "the source: segments to a temporary buffer, then closed up"},
           {Variant::two_pass_recount, Role::technique,
            "Billeter et al.: count, then decide again and write"},
           {Variant::single_pass, Role::technique, "one pass by decoupled look-back"}},
          {{"cub", Role::peer, Runs::gpu, "CUB DeviceSelect If, Flagged, Unique, UniqueByKey"},
           {"std", Role::oracle, Runs::host,
            "one thread of std::copy_if, std::unique_copy or a loop"}}),
      .device_bytes = device_bytes,
      .make_problem = make_selection};
}

}  // namespace warpath
