// What problems.hpp declares of trees that are built already: verified, and asked.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kd_tree/nodes.cuh"
#include "kd_tree/problems.hpp"
#include "kd_tree/queries.cuh"
#include "kd_tree/trees.cuh"
#include "kd_tree/verify.cuh"

namespace warpath::experiments::trees {
namespace {

/// Trees that are built already, in either form.
class Asked : public Trees<float> {
 public:
  explicit Asked(const harness::Parameters& problem) : Trees<float>(problem), nodes_(n()) {
    if (tree_.nodes() > 0) {
      kd_tree::fill_nodes(expected_medians_.span(), tree_.nodes(), nodes_.span(), nullptr);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    }
  }

 protected:
  /// Whether the variant is `nodes`. Throws unless it is that or `stores`.
  static bool is_nodes(const harness::Parameters& point, const std::string& stores,
                       const std::string& nodes) {
    const std::string& variant = point.text("variant");
    if (variant == nodes) return true;
    if (variant != stores) throw harness::NotHere("is of another operation");
    return false;
  }
  [[nodiscard]] kd_tree::MedianTree<float> median_tree() const {
    return {points(), expected_medians_.span(), tree_.nodes()};
  }
  [[nodiscard]] kd_tree::NodeTree<float> node_tree() const {
    const std::uint32_t root = tree_.nodes() == 0 ? kd_tree::no_node : tree_.entries().front();
    return {points(), nodes_.span(), root, tree_.nodes()};
  }

  DeviceBuffer<kd_tree::Node> nodes_;
};

class Verifications : public Asked {
 public:
  using Asked::Asked;

  harness::Execution prepare(const harness::Parameters& point) override {
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
  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t) override {
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

/// Queries from the same distribution as the tuples, with another seed.
class Queries : public Asked {
 public:
  explicit Queries(const harness::Parameters& problem)
      : Asked(problem),
        count_(problem.integer("queries")),
        host_queries_(make_points<float>(count_, d_, problem.text("distribution"),
                                         problem.integer("seed") + 1000)) {
    if (problem.text("query_order") == "curve") sort_along_curve(host_queries_, d_);
    queries_ = upload(host_queries_);
  }

  /// visits_a_query: nodes that a search looks at which goes to the query's own side first.
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"visits_a_query", visits_ / static_cast<double>(count_)},
            {"workspace_bytes", static_cast<double>(memory_->bytes())}};
  }

 protected:
  /// Calls answer(i, visits) for each query i; visits: of nodes.
  template <class Answer>
  void for_each_query(const Answer& answer) {
    std::vector<std::int64_t> visits(static_cast<std::size_t>(count_));
    in_parts(count_, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        answer(i, visits[static_cast<std::size_t>(i)]);
      }
    });
    for (const std::int64_t of_query : visits) visits_ += static_cast<double>(of_query);
  }
  [[nodiscard]] const float* query(std::int64_t i) const { return host_queries_.data() + i * d_; }

  /// What calls ask(tree, options, stream) with the form of the tree that the variant names.
  template <class Ask>
  harness::Execution over_form(const harness::Parameters& point, const Ask& ask) {
    using kd_tree::Preparation;
    memory_ = std::make_unique<kd_tree::QueryMemory>();
    const std::string& variant = point.text("variant");
    if (variant == "ask_nodes") {
      return [ask, tree = node_tree()](cudaStream_t stream) {
        ask(tree, kd_tree::QueryOptions{Preparation::none}, stream);
      };
    }
    const std::map<std::string, Preparation> preparations = {
        {"ask_stores", Preparation::none},
        {"ask_in_order", Preparation::tree},
        {"ask_sorted", Preparation::tree_and_queries}};
    const auto found = preparations.find(variant);
    if (found == preparations.end()) throw harness::NotHere("is of another operation");
    return [ask, tree = median_tree(), options = kd_tree::QueryOptions{found->second}](
               cudaStream_t stream) { ask(tree, options, stream); };
  }

  std::int64_t count_;
  std::vector<float> host_queries_;
  double visits_ = 0;
  DeviceBuffer<float> queries_;
  std::unique_ptr<kd_tree::QueryMemory> memory_ = std::make_unique<kd_tree::QueryMemory>();
};

class Neighbours : public Queries {
 public:
  explicit Neighbours(const harness::Parameters& problem)
      : Queries(problem),
        k_(problem.text("operation") == "nearest" ? 1 : static_cast<int>(problem.integer("k"))),
        tuples_(count_ * k_),
        distances_(count_ * k_) {
    std::vector<std::uint32_t> tuples(static_cast<std::size_t>(count_ * k_));
    std::vector<float> distances(tuples.size());
    for_each_query([&](std::int64_t i, std::int64_t& visits) {
      auto place = static_cast<std::size_t>(i * k_);
      for (const Near& near : tree_.nearest(query(i), k_, visits)) {
        tuples[place] = near.tuple;
        distances[place++] = near.distance;
      }
    });
    expected_tuples_ = upload(tuples);
    expected_distances_ = upload(distances);
  }

  harness::Execution prepare(const harness::Parameters& point) override {
    return over_form(
        point, [this](const auto& tree, const kd_tree::QueryOptions& options, cudaStream_t stream) {
          kd_tree::k_nearest(tree, queries_.span(), k_, tuples_.span(), distances_.span(), *memory_,
                             stream, options);
        });
  }
  void poison(cudaStream_t stream) override {
    poison_buffer(tuples_, stream);
    poison_buffer(distances_, stream);
  }
  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t stream) override {
    if (auto wrong = difference("tuples", tuples_.data(), expected_tuples_, stream)) return wrong;
    return difference("distances", distances_.data(), expected_distances_, stream);
  }
  /// Reads each query once, and writes its answers.
  [[nodiscard]] harness::Cost cost() const override {
    return {count_, 4 * queries_.count() + 8 * tuples_.count(), 0, "copy"};
  }

 private:
  int k_;
  DeviceBuffer<std::uint32_t> tuples_;
  DeviceBuffer<float> distances_;
  DeviceBuffer<std::uint32_t> expected_tuples_;
  DeviceBuffer<float> expected_distances_;
};

/// All tuples within a radius, or in a box, of a size that holds `found` of uniform tuples: their
/// counts, and then, with the sums of the counts made beforehand, the tuples.
class Ranges : public Queries {
 public:
  explicit Ranges(const harness::Parameters& problem)
      : Queries(problem),
        is_of_boxes_(problem.text("operation") == "in_box"),
        edge_(edge_of(problem.real("found") / problem.real("n"))),
        counts_(count_) {
    std::vector<float> lows = host_queries_;
    std::vector<float> highs = host_queries_;
    for (float& low : lows) low -= edge_ / 2;
    for (float& high : highs) high += edge_ / 2;
    std::vector<std::vector<std::uint32_t>> found(static_cast<std::size_t>(count_));
    for_each_query([&](std::int64_t i, std::int64_t& visits) {
      found[static_cast<std::size_t>(i)] =
          is_of_boxes_ ? tree_.in_box(lows.data() + i * d_, highs.data() + i * d_, visits)
                       : tree_.within(query(i), edge_ * edge_, visits);
    });
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> tuples;
    for (const std::vector<std::uint32_t>& of_query : found) {
      counts.push_back(static_cast<std::int64_t>(of_query.size()));
      offsets.push_back(static_cast<std::int64_t>(tuples.size()));
      tuples.insert(tuples.end(), of_query.begin(), of_query.end());
    }
    lows_ = upload(lows);
    highs_ = upload(highs);
    offsets_ = upload(offsets);
    expected_counts_ = upload(counts);
    expected_tuples_ = upload(tuples);
    tuples_ = DeviceBuffer<std::uint32_t>(expected_tuples_.count());
  }

  harness::Execution prepare(const harness::Parameters& point) override {
    return over_form(
        point, [this](const auto& tree, const kd_tree::QueryOptions& options, cudaStream_t stream) {
          if (is_of_boxes_) {
            kd_tree::count_in_box(tree, lows_.span(), highs_.span(), counts_.span(), *memory_,
                                  stream, options);
            kd_tree::in_box(tree, lows_.span(), highs_.span(), offsets_.span(), tuples_.span(),
                            *memory_, stream, options);
          } else {
            kd_tree::count_within_radius(tree, queries_.span(), edge_, counts_.span(), *memory_,
                                         stream, options);
            kd_tree::within_radius(tree, queries_.span(), edge_, offsets_.span(), tuples_.span(),
                                   *memory_, stream, options);
          }
        });
  }
  void poison(cudaStream_t stream) override {
    poison_buffer(counts_, stream);
    poison_buffer(tuples_, stream);
  }
  std::optional<std::string> mismatch(const harness::Parameters&, cudaStream_t stream) override {
    if (auto wrong = difference("counts", counts_.data(), expected_counts_, stream)) return wrong;
    return difference("tuples", tuples_.data(), expected_tuples_, stream);
  }
  /// Reads each query once, and writes its count and its tuples.
  [[nodiscard]] harness::Cost cost() const override {
    const std::int64_t corners = is_of_boxes_ ? 2 : 1;
    return {count_, 4 * corners * queries_.count() + 8 * count_ + 4 * tuples_.count(), 0, "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    auto counters = Queries::counters();
    counters["found_a_query"] = static_cast<double>(tuples_.count()) / static_cast<double>(count_);
    return counters;
  }

 private:
  /// The radius of a ball, or the edge of a box, of that volume.
  [[nodiscard]] float edge_of(double volume) const {
    const double d = d_;
    const double unit =
        is_of_boxes_ ? 1 : std::pow(std::numbers::pi, d / 2) / std::tgamma(d / 2 + 1);
    return static_cast<float>(std::pow(volume / unit, 1 / d));
  }

  bool is_of_boxes_;
  float edge_;
  DeviceBuffer<float> lows_;
  DeviceBuffer<float> highs_;
  DeviceBuffer<std::int64_t> counts_;
  DeviceBuffer<std::int64_t> offsets_;
  DeviceBuffer<std::int64_t> expected_counts_;
  DeviceBuffer<std::uint32_t> tuples_;
  DeviceBuffer<std::uint32_t> expected_tuples_;
};

}  // namespace

std::unique_ptr<harness::Problem> make_asked(const harness::Parameters& problem) {
  const std::string& operation = problem.text("operation");
  if (operation == "verify") return harness::make_problem<Verifications>(problem);
  if (operation == "within_radius" || operation == "in_box") {
    return harness::make_problem<Ranges>(problem);
  }
  return harness::make_problem<Neighbours>(problem);
}

}  // namespace warpath::experiments::trees
