// The experiments of kd_tree: trees of floats built, verified, and asked for the nearest tuples.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_compare.cuh"
#include "harness/device.hpp"
#include "host_inputs.hpp"
#include "kd_tree/build.cuh"
#include "kd_tree/host_build.hpp"
#include "kd_tree/host_tree.hpp"
#include "kd_tree/queries.cuh"
#include "kd_tree/verify.cuh"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;
using kd_tree::Variant;

/// A number in [0, 1) of 24 random bits.
float uniform(std::uint64_t bits) {
  return std::ldexp(static_cast<float>(bits >> 40), -24);
}

/// n tuples in the unit cube. Clustered: about a thousand centres, off by the product of three
/// uniform numbers in each coordinate, a hundredth of the edge at most.
std::vector<float> make_points(std::int64_t n, int d, const std::string& distribution,
                               std::int64_t seed) {
  std::vector<float> points(static_cast<std::size_t>(n * d));
  in_parts(n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      for (int k = 0; k < d; ++k) {
        const std::int64_t place = i * d + k;
        float x = uniform(random_bits(seed, place));
        if (distribution == "clustered") {
          const std::int64_t centre = random_bits(seed + 1, i) % 1000;
          const float off = uniform(random_bits(seed + 2, place)) *
                            uniform(random_bits(seed + 3, place)) * (x - 0.5F);
          x = uniform(random_bits(seed + 4, centre * d + k)) + 0.02F * off;
        }
        points[static_cast<std::size_t>(place)] = x;
      }
    }
  });
  return points;
}

/// The share of tuples that are copies of others, each of any.
void duplicate(std::vector<float>& points, int d, double share, std::int64_t seed) {
  const auto n = static_cast<std::int64_t>(points.size()) / d;
  const auto distinct =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(n) * (1 - share)));
  for (std::int64_t i = distinct; i < n; ++i) {
    const auto of =
        static_cast<std::int64_t>(random_bits(seed + 5, i) % static_cast<std::uint64_t>(distinct));
    std::copy_n(points.begin() + of * d, d, points.begin() + i * d);
  }
}

/// Along a curve: in the order of the bits of all coordinates, the highest of each first.
void sort_along_curve(std::vector<float>& tuples, int d) {
  const auto n = static_cast<std::int64_t>(tuples.size()) / d;
  struct Place {
    std::uint64_t key;
    std::int64_t i;
  };
  std::vector<Place> places(static_cast<std::size_t>(n));
  const int bits = std::min(21, 63 / d);
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t key = 0;
    for (int bit = bits - 1; bit >= 0; --bit) {
      for (int k = 0; k < d; ++k) {
        const float x = std::clamp(tuples[static_cast<std::size_t>(i * d + k)], 0.0F, 0.999F);
        key = key << 1 | (static_cast<std::uint64_t>(std::ldexp(x, bits)) >> bit & 1);
      }
    }
    places[static_cast<std::size_t>(i)] = {key, i};
  }
  sort_in_parts(places, [](const Place& a, const Place& b) {
    return a.key != b.key ? a.key < b.key : a.i < b.i;
  });
  std::vector<float> sorted;
  sorted.reserve(tuples.size());
  for (const Place& place : places) {
    const auto first = tuples.begin() + place.i * d;
    sorted.insert(sorted.end(), first, first + d);
  }
  tuples.swap(sorted);
}

void poison_bytes(void* memory, std::int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  WARPATH_CUDA_CHECK(cudaMemsetAsync(memory, 0xA5, static_cast<std::size_t>(bytes), stream));
}

/// Tuples, and their tree on the host.
class Trees : public harness::Problem {
 public:
  explicit Trees(const Parameters& problem)
      : d_(static_cast<int>(problem.integer("d"))),
        removes_duplicates_(problem.on("removes_duplicates")) {
    const std::int64_t seed = problem.integer("seed");
    host_points_ = make_points(problem.integer("n"), d_, problem.text("distribution"), seed);
    duplicate(host_points_, d_, problem.real("duplicates"), seed);
    tree_ = std::make_unique<HostTree>(host_points_, d_, removes_duplicates_);
    points_ = upload(host_points_);
    expected_medians_ = upload(tree_->entries());
  }

 protected:
  [[nodiscard]] std::int64_t n() const { return points_.count() / d_; }
  [[nodiscard]] kd_tree::Points<float> points() const { return {points_.span(), d_}; }

  int d_;
  bool removes_duplicates_;
  std::vector<float> host_points_;
  std::unique_ptr<HostTree> tree_;
  DeviceBuffer<float> points_;
  DeviceBuffer<std::uint32_t> expected_medians_;
};

/// Whether a variant is of trees that are built already.
bool is_of_trees(const std::string& variant) {
  return variant.starts_with("verify_") || variant.starts_with("ask_");
}

class Builds : public Trees {
 public:
  explicit Builds(const Parameters& problem)
      : Trees(problem), medians_(kd_tree::median_entries(n())) {}

  harness::Execution prepare(const Parameters& point) override {
    memory_ = std::make_unique<kd_tree::BuildMemory>();
    if (point.text("variant") == "cpu") {
      const kd_tree::HostOptions options{static_cast<int>(point.integer("threads")),
                                         removes_duplicates_};
      is_on_host_ = true;
      return [this, options](cudaStream_t) {
        host_build_ = kd_tree::build_on_host(std::span<const float>(host_points_), d_, options);
      };
    }
    is_on_host_ = false;
    if (is_of_trees(point.text("variant"))) throw harness::NotHere("builds no tree");
    kd_tree::Options options;
    options.variant = harness::named<Variant>(point, "variant");
    options.removes_duplicates = removes_duplicates_;
    return [this, options](cudaStream_t stream) {
      nodes_ = kd_tree::build(points(), medians_.span(), *memory_, stream, options);
    };
  }
  void poison(cudaStream_t stream) override {
    poison_bytes(medians_.data(), medians_.count() * 4, stream);
    host_build_ = {};
    nodes_ = -1;
  }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    const std::int64_t nodes = is_on_host_ ? host_build_.nodes : nodes_;
    if (nodes != tree_->nodes()) {
      return std::to_string(nodes) + " nodes, expected " + std::to_string(tree_->nodes());
    }
    if (!is_on_host_) return difference("medians", medians_.data(), expected_medians_, stream);
    for (std::size_t i = 0; i < tree_->entries().size(); ++i) {
      if (host_build_.medians[i] != tree_->entries()[i]) {
        return "medians[" + std::to_string(i) + "] is wrong";
      }
    }
    return std::nullopt;
  }
  /// Reads each tuple once, and writes its node.
  [[nodiscard]] harness::Cost cost() const override {
    return {n(), 4 * (points_.count() + n()), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    const auto tuple_bytes = static_cast<double>(4 * points_.count());
    return {{"nodes", static_cast<double>(tree_->nodes())},
            {"workspace_bytes", static_cast<double>(memory_->bytes())},
            {"workspace_per_tuple_bytes", static_cast<double>(memory_->bytes()) / tuple_bytes}};
  }

 private:
  DeviceBuffer<std::uint32_t> medians_;
  std::int64_t nodes_ = 0;
  bool is_on_host_ = false;  ///< of the variant that was prepared last
  kd_tree::HostTree host_build_;
  std::unique_ptr<kd_tree::BuildMemory> memory_ = std::make_unique<kd_tree::BuildMemory>();
};

/// Trees that are built already, in either form.
class Asked : public Trees {
 public:
  explicit Asked(const Parameters& problem) : Trees(problem), nodes_(n()) {
    if (tree_->nodes() > 0) {
      kd_tree::fill_nodes(expected_medians_.span(), tree_->nodes(), nodes_.span(), nullptr);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    }
  }

 protected:
  /// Whether the variant is `nodes`. Throws unless it is that or `stores`.
  static bool is_nodes(const Parameters& point, const std::string& stores,
                       const std::string& nodes) {
    const std::string& variant = point.text("variant");
    if (variant == nodes) return true;
    if (variant != stores) throw harness::NotHere("is of another operation");
    return false;
  }
  [[nodiscard]] kd_tree::MedianTree<float> median_tree() const {
    return {points(), expected_medians_.span(), tree_->nodes()};
  }
  [[nodiscard]] kd_tree::NodeTree<float> node_tree() const {
    const std::uint32_t root = tree_->nodes() == 0 ? kd_tree::no_node : tree_->entries().front();
    return {points(), nodes_.span(), root, tree_->nodes()};
  }

  DeviceBuffer<kd_tree::Node> nodes_;
};

class Verifications : public Asked {
 public:
  using Asked::Asked;

  harness::Execution prepare(const Parameters& point) override {
    workspace_ = std::make_unique<Workspace>();
    if (is_nodes(point, "verify_stores", "verify_nodes")) {
      return [this, tree = node_tree()](cudaStream_t stream) {
        finding_ = kd_tree::verify(tree.points, tree.nodes, tree.root, tree.node_count, *workspace_,
                                   stream);
      };
    }
    return [this, tree = median_tree()](cudaStream_t stream) {
      finding_ = kd_tree::verify(tree.points, tree.medians, tree.node_count, *workspace_, stream);
    };
  }
  void poison(cudaStream_t) override { finding_.reset(); }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t) override {
    if (!finding_) return "nothing was verified";
    if (finding_->is_right()) return std::nullopt;
    return kd_tree::describe(*finding_);
  }
  /// Reads each tuple and its node once.
  [[nodiscard]] harness::Cost cost() const override {
    return {n(), 4 * (points_.count() + n()), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"workspace_bytes", static_cast<double>(workspace_->bytes())}};
  }

 private:
  std::optional<kd_tree::Finding> finding_;
  std::unique_ptr<Workspace> workspace_ = std::make_unique<Workspace>();
};

/// Queries from the same distribution, with another seed.
class Neighbours : public Asked {
 public:
  explicit Neighbours(const Parameters& problem)
      : Asked(problem),
        k_(problem.text("operation") == "nearest" ? 1 : static_cast<int>(problem.integer("k"))) {
    auto queries = make_points(problem.integer("queries"), d_, problem.text("distribution"),
                               problem.integer("seed") + 1000);
    if (problem.text("query_order") == "curve") sort_along_curve(queries, d_);
    queries_ = upload(queries);
    const std::int64_t m = problem.integer("queries");
    tuples_ = DeviceBuffer<std::uint32_t>(m * k_);
    distances_ = DeviceBuffer<float>(m * k_);
    std::vector<std::uint32_t> tuples(static_cast<std::size_t>(m * k_));
    std::vector<float> distances(tuples.size());
    std::vector<std::int64_t> visits(static_cast<std::size_t>(m));
    in_parts(m, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const auto found =
            tree_->nearest(queries.data() + i * d_, k_, visits[static_cast<std::size_t>(i)]);
        for (int j = 0; j < k_; ++j) {
          tuples[static_cast<std::size_t>(i * k_ + j)] = found[static_cast<std::size_t>(j)].tuple;
          distances[static_cast<std::size_t>(i * k_ + j)] =
              found[static_cast<std::size_t>(j)].distance;
        }
      }
    });
    for (const std::int64_t of_query : visits) visits_ += static_cast<double>(of_query);
    expected_tuples_ = upload(tuples);
    expected_distances_ = upload(distances);
  }

  harness::Execution prepare(const Parameters& point) override {
    using kd_tree::Preparation;
    const std::string& variant = point.text("variant");
    memory_ = std::make_unique<kd_tree::QueryMemory>();
    if (variant == "ask_nodes") {
      return [this](cudaStream_t stream) { ask(node_tree(), Preparation::none, stream); };
    }
    const std::map<std::string, Preparation> preparations = {
        {"ask_stores", Preparation::none},
        {"ask_in_order", Preparation::tree},
        {"ask_sorted", Preparation::tree_and_queries}};
    const auto found = preparations.find(variant);
    if (found == preparations.end()) throw harness::NotHere("is of another operation");
    return [this, preparation = found->second](cudaStream_t stream) {
      ask(median_tree(), preparation, stream);
    };
  }
  void poison(cudaStream_t stream) override {
    poison_bytes(tuples_.data(), tuples_.count() * 4, stream);
    poison_bytes(distances_.data(), distances_.count() * 4, stream);
  }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    if (auto wrong = difference("tuples", tuples_.data(), expected_tuples_, stream)) return wrong;
    return difference("distances", distances_.data(), expected_distances_, stream);
  }
  /// Reads each query once, and writes its answers.
  [[nodiscard]] harness::Cost cost() const override {
    return {queries_.count() / d_, 4 * queries_.count() + 8 * tuples_.count(), 0, "copy"};
  }
  /// Nodes that a search visits which goes to the query's side first.
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"visits_a_query", visits_ / static_cast<double>(queries_.count() / d_)},
            {"workspace_bytes", static_cast<double>(memory_->bytes())}};
  }

 private:
  template <class Tree>
  void ask(const Tree& tree, kd_tree::Preparation preparation, cudaStream_t stream) {
    kd_tree::k_nearest(tree, queries_.span(), k_, tuples_.span(), distances_.span(), *memory_,
                       stream, {preparation});
  }

  int k_;
  double visits_ = 0;
  DeviceBuffer<float> queries_;
  DeviceBuffer<std::uint32_t> tuples_;
  DeviceBuffer<float> distances_;
  DeviceBuffer<std::uint32_t> expected_tuples_;
  DeviceBuffer<float> expected_distances_;
  std::unique_ptr<kd_tree::QueryMemory> memory_ = std::make_unique<kd_tree::QueryMemory>();
};

std::unique_ptr<harness::Problem> make_problem_of(const Parameters& problem) {
  const std::string& operation = problem.text("operation");
  if (operation == "build") return harness::make_problem<Builds>(problem);
  if (operation == "verify") return harness::make_problem<Verifications>(problem);
  return harness::make_problem<Neighbours>(problem);
}

bool is_of_queries(const Parameters& problem) {
  return problem.text("operation") == "nearest" || problem.text("operation") == "k_nearest";
}

/// The tuples, twice the stores, and of builds some copies of the tuples; of queries the tuples in
/// order, these queries twice, two times their answers, and what their sort needs.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t n = problem.integer("n");
  const std::int64_t d = problem.integer("d");
  const std::int64_t queries = is_of_queries(problem) ? problem.integer("queries") : 0;
  const std::int64_t build = problem.text("operation") == "build" ? 16 * n * (d + 1) : 16 * n;
  const std::int64_t in_order = queries > 0 ? 8 * n * (d + 1) : 0;
  return 4 * n * d + 16 * n + build + in_order +
         queries * (8 * d + 24 + 16 * problem.integer("k")) + (1 << 20);
}

/// Coordinates that a build moves over all its levels; nodes that queries visit, about.
double steps(const Parameters& problem) {
  const double levels = std::log2(problem.real("n") + 2);
  if (is_of_queries(problem)) {
    return 4 * problem.real("queries") * levels * std::exp2(problem.real("d"));
  }
  return problem.real("n") * problem.real("d") * levels;
}

/// A subtree as text, what is less above what is greater.
void draw(const std::vector<std::string>& names, const std::vector<std::uint32_t>& medians,
          std::size_t entry, const std::string& indent, const std::string& side,
          std::string& text) {
  if (entry >= medians.size() || medians[entry] == kd_tree::no_node) return;
  text += indent + side + names[medians[entry]] + "\n";
  const std::string deeper = indent + (side.empty() ? "" : "   ");
  draw(names, medians, 2 * entry + 1, deeper, "<  ", text);
  draw(names, medians, 2 * entry + 2, deeper, ">  ", text);
}

/// Brown's example: fifteen tuples, their tree, and the nearest of them to another.
std::string demonstration() {
  const std::vector<float> coordinates = {2, 3, 3, 5, 4, 2, 9, 6, 7, 4, 7, 9, 8, 1, 5,
                                          7, 2, 6, 9, 4, 1, 8, 4, 2, 9, 7, 8, 6, 3, 1,
                                          3, 4, 5, 1, 6, 8, 9, 5, 3, 2, 1, 3, 8, 7, 6};
  const int d = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < coordinates.size(); i += 3) {
    std::string name = "(";
    for (std::size_t k = 0; k < 3; ++k) {
      name += (k > 0 ? "," : "") + std::to_string(static_cast<int>(coordinates[i + k]));
    }
    names.push_back(name + ")");
  }
  const DeviceBuffer<float> device = upload(coordinates);
  const kd_tree::Points<float> points{device.span(), d};
  DeviceBuffer<std::uint32_t> stores(kd_tree::median_entries(points.count()));
  kd_tree::BuildMemory memory;
  const std::int64_t nodes = kd_tree::build(points, stores.span(), memory, nullptr);
  std::vector<std::uint32_t> medians(static_cast<std::size_t>(stores.count()));
  const auto copy_back = [](auto& to, const auto& from) {
    WARPATH_CUDA_CHECK(
        cudaMemcpy(to.data(), from.data(), to.size() * sizeof to[0], cudaMemcpyDeviceToHost));
  };
  copy_back(medians, stores);

  const DeviceBuffer<float> query = upload(std::vector<float>{8, 3, 3});
  const int k = 3;
  DeviceBuffer<std::uint32_t> tuples(k);
  DeviceBuffer<float> distances(k);
  kd_tree::QueryMemory asking;
  kd_tree::k_nearest(kd_tree::MedianTree<float>{points, stores.span(), nodes}, query.span(), k,
                     tuples.span(), distances.span(), asking, nullptr);
  std::vector<std::uint32_t> found(k);
  std::vector<float> squares(k);
  copy_back(found, tuples);
  copy_back(squares, distances);

  std::string text =
      "The tree of R. A. Brown's fifteen tuples. Level 0 splits by x, y, z, level 1 by "
      "y, z, x, level 2 by z, x, y:\n\n";
  draw(names, medians, 0, "", "", text);
  text += "\nThe three nearest to (8,3,3), and their squared distances:\n\n";
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += names[found[i]] + "  " + std::to_string(static_cast<int>(squares[i])) + "\n";
  }
  return text;
}

}  // namespace

harness::Technique kd_tree_technique() {
  using namespace harness;  // NOLINT(google-build-using-namespace)
  using kd_tree::Variant;   // not the harness's
  Technique technique{
      .name = "kd_tree",
      .summary = "the balanced k-d tree: built, verified, and asked for nearest tuples",
      .source = "J. Robinson, KdTreeGPU, GitHub: Building the KD Tree",
      .parameters =
          {choice_parameter("operation", {"build", "verify", "nearest", "k_nearest"},
                            "a build; a tree's verification; queries for the nearest tuple, or k"),
           count_parameter("n", 1 << 20, "tuples of floats"),
           integer_parameter("d", 4, 1, kd_tree::most_dimensions, "coordinates of a tuple"),
           choice_parameter("distribution", {"uniform", "clustered"},
                            "of tuples and queries, in the unit cube"),
           real_parameter("duplicates", 0, 0, 0.99, "share of tuples that are copies of others"),
           switch_parameter("removes_duplicates", false, "whether copies are left out"),
           count_parameter("queries", 1 << 20, "nearest, k_nearest: how many"),
           integer_parameter("k", 8, 2, 128, "k_nearest: how many tuples are asked for"),
           choice_parameter("query_order", {"random", "curve"},
                            "nearest, k_nearest: at random, or sorted along a curve"),
           seed_parameter("of the tuples"),
           of_variants(integer_parameter("threads", 0, 0, 1024,
                                         "cpu: threads; 0: as many as there are cores"))},
      .variants = variants_of<Variant>(
          {{Variant::four_partitioners, Role::technique,
            "the source: a superkey sort for each coordinate, then level after level of "
            "partitioning"},
           {Variant::half_sorts, Role::technique,
            "the source's refactoring: one sort, a split, and sorts of the halves"},
           {Variant::fast, Role::technique,
            "medians by selection, tuples moved; the last levels in shared memory"}},
          {{"cpu", Role::oracle, Runs::host, "Brown's build on the CPU, in tasks of OpenMP"},
           {"verify_stores", Role::technique, Runs::anywhere,
            "verify: the implicit form, breadth first"},
           {"verify_nodes", Role::technique, Runs::anywhere, "verify: nodes with links"},
           {"ask_stores", Role::technique, Runs::anywhere, "queries over the implicit form"},
           {"ask_nodes", Role::technique, Runs::anywhere, "queries over nodes with links"},
           {"ask_in_order", Role::technique, Runs::anywhere,
            "queries over tuples that are put in order first"},
           {"ask_sorted", Role::technique, Runs::anywhere,
            "the same, and queries too are brought into the order of the tree"}}),
      .device_bytes = device_bytes,
      .make_problem = make_problem_of,
      .steps = steps,
      .demonstration = demonstration};
  // Builds ask for the number of nodes, and for NaN; verification for what it has found.
  for (harness::Variant& variant : technique.variants) {
    variant.waits_for_gpu = variant.runs == Runs::anywhere && !variant.name.starts_with("ask_");
  }
  return technique;
}

}  // namespace warpath
