// The experiments of partitioners: levels of a k-d tree, and partitions of plain elements.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_compare.cuh"
#include "harness/device.hpp"
#include "host_inputs.hpp"
#include "partitioners/partitioners.cuh"
#include "partitioners/tree_levels.hpp"
#include "peers/cub_partition.hpp"
#include "scratch.cuh"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;
using partitioners::Partitioner;
using partitioners::Variant;

void poison_all(DeviceBuffer<std::uint32_t>& buffer, cudaStream_t stream) {
  if (buffer.count() == 0) return;
  WARPATH_CUDA_CHECK(
      cudaMemsetAsync(buffer.data(), 0xA5, static_cast<std::size_t>(buffer.count()) * 4, stream));
}

/// All levels of one tree: each is a point of its own, given what a build would give it.
class Levels : public harness::Problem {
 public:
  explicit Levels(const Parameters& problem)
      : n_(problem.integer("n")),
        d_(static_cast<int>(problem.integer("d"))),
        tree_(make_tuples(n_, d_, problem.integer("seed")), d_),
        tuples_(upload(tree_.tuples())),
        medians_(2 * std::int64_t{1} << partitioners::last_level(n_)),
        next_medians_(medians_.count()) {
    for (int i = 1; i < d_; ++i) out_.emplace_back(n_);
    keep_level();
  }

  harness::Execution prepare(const Parameters& point) override {
    const auto level = static_cast<int>(point.integer("level"));
    if (level > partitioners::last_level(n_)) {
      throw harness::NotHere("a tree of " + std::to_string(n_) + " tuples has no level " +
                             std::to_string(level));
    }
    while (tree_.level() <= level + 1) keep_level();
    scratch_ = {};
    options_ = options_of(point);
    level_ = level;
    return [this, level, options = options_](cudaStream_t stream) { run(level, options, stream); };
  }

  void poison(cudaStream_t stream) override {
    for (auto& array : out_) poison_all(array, stream);
    poison_all(medians_, stream);
    poison_all(next_medians_, stream);
  }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    const LevelInput& now = levels_[static_cast<std::size_t>(level_)];
    const LevelInput& next = levels_[static_cast<std::size_t>(level_) + 1];
    if (auto wrong = difference("medians", medians_.data(), now.medians, stream)) return wrong;
    if (is_leaf()) {
      if (level_ == partitioners::last_level(n_)) return std::nullopt;
      return difference("next_medians", next_medians_.data(), next.medians, stream);
    }
    for (int i = 0; i + 1 < d_; ++i) {
      const auto array = static_cast<std::size_t>(array_of(level_, i));
      const std::string name = "array " + std::to_string(array);
      const auto& out = out_[static_cast<std::size_t>(i)];
      if (auto wrong = difference(name, out.data(), next.arrays[array], stream)) return wrong;
    }
    return std::nullopt;
  }
  /// Reads and writes each reference of the arrays once; a leaf reads and writes the nodes.
  [[nodiscard]] harness::Cost cost() const override {
    const std::int64_t references = levels_[static_cast<std::size_t>(level_)].references;
    return {references, 8 * references * (is_leaf() ? 1 : d_ - 1), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    const partitioners::Level level{static_cast<std::uint32_t>(n_), level_};
    std::map<std::string, double> counters = {
        {"segment_items", level.largest_segment()},
        {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
    if (options_.variant == Variant::source) {
      const partitioners::CallCounts calls = partitioners::count_calls(n_, options_.warps);
      counters["calls_of_multi_warp"] = calls.multi_warp;
      counters["calls_of_warp_per_array"] = calls.warp_per_array;
      counters["calls_of_sub_warp"] = calls.sub_warp;
      counters["calls_of_leaf"] = calls.leaf;
      counters["calls_in_all"] = calls.total();
    }
    return counters;
  }
  [[nodiscard]] std::map<std::string, std::string> choices() const override {
    if (options_.variant != Variant::source) return {};
    return {{"partitioner", std::string(enum_name(partitioner()))}};
  }

 private:
  /// What a level is given, and its nodes.
  struct LevelInput {
    std::vector<DeviceBuffer<std::uint32_t>> arrays;
    DeviceBuffer<std::uint32_t> medians;
    std::int64_t references;
  };

  static std::vector<float> make_tuples(std::int64_t n, int d, std::int64_t seed) {
    std::vector<float> tuples(static_cast<std::size_t>(n * d));
    in_parts(n * d, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        tuples[static_cast<std::size_t>(i)] = any_number<float>(random_bits(seed, i));
      }
    });
    return tuples;
  }

  /// Copies the tree's level to the device, and goes to the next one.
  void keep_level() {
    LevelInput input{{}, upload(tree_.medians()), tree_.references()};
    for (const auto& array : tree_.arrays()) input.arrays.push_back(upload(array));
    levels_.push_back(std::move(input));
    tree_.advance();
  }

  partitioners::Options options_of(const Parameters& point) const {
    partitioners::Options options{harness::named<Variant>(point, "variant"),
                                  harness::named<Partitioner>(point, "partitioner"),
                                  static_cast<int>(point.integer("warps")),
                                  point.text("sides") == "noted"};
    const auto number = static_cast<int>(point.integer("level"));
    const partitioners::Level level{static_cast<std::uint32_t>(n_), number};
    const std::uint32_t largest = level.largest_segment();
    const bool is_out_of_range =
        (options.partitioner == Partitioner::multi_warp &&
         level.segments() > static_cast<std::uint32_t>(options.warps)) ||
        (options.partitioner == Partitioner::sub_warp &&
         largest > partitioners::sub_warp_segment) ||
        (options.partitioner == Partitioner::leaf && largest > partitioners::leaf_segment);
    if (is_out_of_range) {
      throw harness::NotHere("a level of " + std::to_string(level.segments()) + " segments of " +
                             std::to_string(largest) + " is out of the partitioner's range");
    }
    return options;
  }

  /// The source's partitioner that the variant that was prepared last runs.
  [[nodiscard]] Partitioner partitioner() const {
    if (options_.partitioner != Partitioner::by_level) return options_.partitioner;
    return partitioners::partitioner_of_level(n_, level_, options_.warps);
  }
  [[nodiscard]] bool is_leaf() const {
    return options_.variant == Variant::source && partitioner() == Partitioner::leaf;
  }
  /// Of the arrays beside a level's primary one, the i-th.
  [[nodiscard]] int array_of(int level, int i) const { return (level + 1 + i) % d_; }

  void run(int level, const partitioners::Options& options, cudaStream_t stream) {
    const LevelInput& input = levels_[static_cast<std::size_t>(level)];
    std::vector<partitioners::ReferenceArray> arrays;
    for (int i = 0; i + 1 < d_; ++i) {
      arrays.push_back({input.arrays[static_cast<std::size_t>(array_of(level, i))].span(),
                        out_[static_cast<std::size_t>(i)].span()});
    }
    partitioners::partition_level(Tuples<float>{tuples_.span(), d_, level % d_}, level,
                                  input.arrays[static_cast<std::size_t>(level % d_)].span(), arrays,
                                  {medians_.span(), next_medians_.span()}, *scratch_.workspace,
                                  stream, options);
  }

  std::int64_t n_;
  int d_;
  TreeLevels tree_;  ///< at the level after the last one of levels_
  DeviceBuffer<float> tuples_;
  std::vector<LevelInput> levels_;
  std::vector<DeviceBuffer<std::uint32_t>> out_;
  DeviceBuffer<std::uint32_t> medians_;
  DeviceBuffer<std::uint32_t> next_medians_;
  int level_ = 0;                  ///< of the variant that was prepared last
  partitioners::Options options_;  ///< of the same
  Scratch scratch_;
};

/// Uniform elements in two classes or three. Three: the first two have half of the share each.
class Elements : public harness::Problem {
 public:
  explicit Elements(const Parameters& problem)
      : operation_(problem.text("operation")), n_(problem.integer("n")), counts_(2) {
    std::vector<std::uint32_t> elements(static_cast<std::size_t>(n_));
    const std::int64_t seed = problem.integer("seed");
    in_parts(n_, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        elements[static_cast<std::size_t>(i)] =
            static_cast<std::uint32_t>(random_bits(seed, i) % range);
      }
    });
    const auto end = static_cast<std::uint32_t>(problem.real("share") * range);
    if (operation_ == "three_way") {
      predicates_[0] = {0, end / 2};
      predicates_[1] = {end / 2, end};
    } else {
      predicates_[0] = {0, end};
    }
    for (const std::uint32_t x : elements) {
      const int its_class = predicates_[0](x) ? 0 : predicates_[1](x) ? 1 : 2;
      classes_[static_cast<std::size_t>(its_class)].push_back(x);
    }
    in_ = upload(elements);
    for (std::size_t c = 0; c < 3; ++c) {
      // Two classes have the outputs 0 and 2; one output for both is 0.
      const bool is_used = c == 0 || operation_ == "three_way" || (c == 2 && !has_one_output());
      out_[c] = DeviceBuffer<std::uint32_t>(is_used ? n_ : 0);
    }
  }

  harness::Execution prepare(const Parameters& point) override {
    scratch_ = {};
    const std::string& variant = point.text("variant");
    is_cub_ = variant == "cub";
    if constexpr (!harness::emulated) {
      if (is_cub_) return prepare_cub();
    }
    if (variant != "look_back") throw harness::NotHere("partitions levels, not plain elements");
    return [this](cudaStream_t stream) { run(stream); };
  }
  void poison(cudaStream_t stream) override {
    for (auto& out : out_) poison_all(out, stream);
    for (DeviceCount& count : own_counts_) {
      WARPATH_CUDA_CHECK(cudaMemsetAsync(count.data(), 0xA5, sizeof(std::int64_t), stream));
    }
    WARPATH_CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0xA5, 2 * sizeof(std::int64_t), stream));
  }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    for (std::size_t c = 0; c < (operation_ == "three_way" ? 2U : 1U); ++c) {
      std::int64_t count = own_counts_[c].get(stream);
      if (is_cub_) {
        WARPATH_CUDA_CHECK(cudaMemcpyAsync(&count, counts_.data() + c, sizeof count,
                                           cudaMemcpyDeviceToHost, stream));
        WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
      }
      if (count != static_cast<std::int64_t>(classes_[c].size())) {
        return "class " + std::to_string(c) + " has " + std::to_string(count) +
               " elements, expected " + std::to_string(classes_[c].size());
      }
    }
    if (operation_ != "three_way" && (is_cub_ || has_one_output())) {
      std::vector<std::uint32_t> expected = classes_[0];
      if (is_cub_) {
        expected.insert(expected.end(), classes_[2].rbegin(), classes_[2].rend());
      } else {
        expected.insert(expected.end(), classes_[2].begin(), classes_[2].end());
      }
      return difference("out", out_[0].data(), upload(expected), stream);
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const std::string name = "output " + std::to_string(c);
      if (auto wrong = difference(name, out_[c].data(), upload(classes_[c]), stream)) return wrong;
    }
    return std::nullopt;
  }
  [[nodiscard]] harness::Cost cost() const override { return {n_, 8 * n_, 0, "copy"}; }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"first_items", static_cast<double>(classes_[0].size())},
            {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
  }

 private:
  static constexpr std::uint32_t range = 1U << 31;

  [[nodiscard]] bool has_one_output() const { return operation_ == "partition_one_output"; }
  void run(cudaStream_t stream) {
    Workspace& workspace = *scratch_.workspace;
    if (operation_ == "three_way") {
      partitioners::partition_three_way<std::uint32_t>(
          in_.span(), out_[0].span(), out_[1].span(), out_[2].span(), predicates_[0],
          predicates_[1], own_counts_[0], own_counts_[1], workspace, stream);
    } else if (has_one_output()) {
      partitioners::partition<std::uint32_t>(in_.span(), out_[0].span(), predicates_[0],
                                             own_counts_[0], workspace, stream);
    } else {
      partitioners::partition<std::uint32_t>(in_.span(), out_[0].span(), out_[2].span(),
                                             predicates_[0], own_counts_[0], workspace, stream);
    }
  }
  harness::Execution prepare_cub() {
    if (operation_ == "three_way") {
      return cub_partition::three_way(in_.data(), out_[0].data(), out_[1].data(), out_[2].data(),
                                      counts_.data(), n_, predicates_[0], predicates_[1],
                                      scratch_.peer);
    }
    return cub_partition::two_way(in_.data(), out_[0].data(), counts_.data(), n_, predicates_[0],
                                  scratch_.peer);
  }

  std::string operation_;
  std::int64_t n_;
  InRange predicates_[2] = {{0, 0}, {0, 0}};
  std::vector<std::uint32_t> classes_[3];  ///< two classes are 0 and 2
  DeviceBuffer<std::uint32_t> in_;
  DeviceBuffer<std::uint32_t> out_[3];
  DeviceCount own_counts_[2];
  DeviceBuffer<std::int64_t> counts_;  ///< CUB's
  bool is_cub_ = false;
  Scratch scratch_;
};

std::unique_ptr<harness::Problem> make_problem_of(const Parameters& problem) {
  if (problem.text("operation") == "level") return harness::make_problem<Levels>(problem);
  return harness::make_problem<Elements>(problem);
}

/// Levels: the tuples, all levels' arrays, the outputs, nodes and multi_warp's temporary arrays.
/// Elements: input, outputs, and one expected output at a time.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t n = problem.integer("n");
  if (problem.text("operation") != "level") return 20 * n + (1 << 20);
  const std::int64_t levels = partitioners::last_level(n) + 3;
  return 4 * n * (problem.integer("d") * (levels + 3) + 8) + (1 << 20);
}

/// References, or elements, that one execution reads and writes.
double steps(const Parameters& problem) {
  return 2 * problem.real("n") * (problem.text("operation") == "level" ? problem.real("d") : 1);
}

}  // namespace

harness::Technique partitioners_technique() {
  using namespace harness;      // NOLINT(google-build-using-namespace)
  using partitioners::Variant;  // not the harness's
  return {
      .name = "partitioners",
      .summary = "a k-d tree's reference arrays split about their medians; stable partitions",
      .source = "J. Robinson, KdTreeGPU, GitHub: Partitioning",
      .parameters =
          {choice_parameter("operation",
                            {"level", "partition", "partition_one_output", "three_way"},
                            "a level of a tree of float tuples; uint32 elements into two outputs, "
                            "one, or three"),
           integer_parameter("n", 1 << 20, 1, 2147483647, "tuples, or elements"),
           integer_parameter("d", 4, 2, 16, "level: coordinates of a tuple, reference arrays"),
           real_parameter("share", 0.5, 0, 1,
                          "elements: share that is selected; three_way: half of it each by the "
                          "first and the second predicate"),
           seed_parameter("of the input"),
           of_variants(integer_parameter("level", 0, 0, 30, "which level of the tree")),
           of_variants(choice_parameter("partitioner", Partitioner::by_level,
                                        "source: which one, if another than the level's")),
           of_variants(integer_parameter("warps", 2048, 1, partitioners::most_warps,
                                         "source: warps of its kernels")),
           of_variants(choice_parameter("sides", {"compared", "noted"},
                                        "source: by superkeys, or noted in a bit vector first"))},
      .variants = variants_of<Variant>(
          {{Variant::source, Role::technique, "the source: one of four partitioners, by level"},
           {Variant::look_back, Role::technique,
            "one pass over the level, both sides through one word of a look-back; one pass over "
            "plain elements"},
           {Variant::side_bits, Role::technique,
            "each tuple's side is noted once, for all arrays: in L2, or in a block's shared "
            "memory"}},
          {{"cub", Role::peer, Runs::gpu,
            "CUB DevicePartition::If, of one predicate (the rest comes in reverse) or two"}}),
      .device_bytes = device_bytes,
      .make_problem = make_problem_of,
      .steps = steps};
}

}  // namespace warpath
