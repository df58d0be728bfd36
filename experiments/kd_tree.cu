// The experiments of kd_tree: trees built, verified, and asked. And its demonstration.
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_compare.cuh"
#include "kd_tree/build.cuh"
#include "kd_tree/problems.hpp"
#include "kd_tree/queries.cuh"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;
using kd_tree::Variant;

std::unique_ptr<harness::Problem> make_problem_of(const Parameters& problem) {
  const std::string& operation = problem.text("operation");
  const std::string& type = problem.text("type");
  if (operation == "on_devices") {
    if (type == "float" || type == "int32") return trees::make_builds_on_devices(problem);
    throw std::invalid_argument("type is " + type + ": on_devices, expected float or int32");
  }
  if (operation != "build" && operation != "from_host") return trees::make_asked(problem);
  if (type == "int32") return trees::make_builds<std::int32_t>(problem);
  if (type == "int64") return trees::make_builds<std::int64_t>(problem);
  if (type == "double") return trees::make_builds<double>(problem);
  return trees::make_builds<float>(problem);
}

bool is_of_builds(const Parameters& problem) {
  const std::string& operation = problem.text("operation");
  return operation == "build" || operation == "from_host" || operation == "on_devices";
}
bool is_of_queries(const Parameters& problem) {
  return !is_of_builds(problem) && problem.text("operation") != "verify";
}
/// How many tuples are found for a query.
double answers_of(const Parameters& problem) {
  const std::string& operation = problem.text("operation");
  if (operation == "nearest") return 1;
  return operation == "k_nearest" ? problem.real("k") : problem.real("found");
}

/// The tuples, twice the stores and the nodes; of builds some copies of the tuples, and the arrays
/// of the source's; of queries the tuples in order, these queries twice, their boxes, two times
/// their answers, and what their sort needs.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t n = problem.integer("n");
  const std::int64_t d = problem.integer("d");
  const std::int64_t tuples =
      n * d * (problem.text("type").ends_with("64") || problem.text("type") == "double" ? 8 : 4);
  const std::int64_t fixed = tuples + 28 * n + (1 << 20);
  if (problem.text("operation") == "on_devices") {
    const std::int64_t sharing = problem.on("virtual") ? 1 : problem.integer("devices");
    return fixed + (6 * tuples + 8 * n * d + 48 * n) / sharing;
  }
  if (is_of_builds(problem)) return fixed + 3 * tuples + 8 * n * d + 24 * n;
  if (!is_of_queries(problem)) return fixed + 16 * n;
  const auto answers = static_cast<std::int64_t>(2 * answers_of(problem)) + 1;
  return fixed + 8 * n * (d + 1) + problem.integer("queries") * (16 * d + 48 + 16 * answers);
}

/// Coordinates that a build moves over all its levels; nodes that queries visit, about.
double steps(const Parameters& problem) {
  const double levels = std::log2(problem.real("n") + 2);
  if (is_of_queries(problem)) {
    return (4 * levels * std::exp2(problem.real("d")) + answers_of(problem)) *
           problem.real("queries");
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
      if (k > 0) name += ",";
      name += std::to_string(static_cast<int>(coordinates[i + k]));
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
          {choice_parameter("operation",
                            {"build", "from_host", "on_devices", "verify", "nearest", "k_nearest",
                             "within_radius", "in_box"},
                            "a build; the same from the copy of the tuples to the verification of "
                            "nodes; one of tuples on several devices; a verification; queries"),
           count_parameter("n", 1 << 20, "tuples"),
           choice_parameter("type", {"float", "double", "int32", "int64"},
                            "builds: of coordinates; on_devices float or int32, floats otherwise"),
           integer_parameter("d", 4, 1, kd_tree::most_dimensions, "coordinates of a tuple"),
           choice_parameter("distribution", {"uniform", "clustered"},
                            "of tuples and queries, in the unit cube"),
           real_parameter("duplicates", 0, 0, 0.99, "share of tuples that are copies of others"),
           switch_parameter("removes_duplicates", false, "whether copies are left out"),
           count_parameter("queries", 1 << 20, "queries: how many"),
           integer_parameter("k", 8, 2, 128, "k_nearest: how many tuples are asked for"),
           real_parameter("found", 16, 0, 1e6,
                          "within_radius, in_box: of a size that holds so many of uniform tuples"),
           choice_parameter("query_order", {"random", "curve"},
                            "queries: at random, or sorted along a curve"),
           integer_parameter("devices", 1, 1, 16,
                             "on_devices: among which the tuples lie in equal parts"),
           switch_parameter("virtual", false, "whether all devices are the first GPU"),
           of_variants(choice_parameter("sort", {"splitter_merge", "swap_merge"},
                                        "on_devices: how tuples are sorted over them")),
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
      .uses_links =
          [](const Parameters& problem) {
            return problem.text("operation") == "on_devices" && problem.integer("devices") > 1 &&
                   !problem.on("virtual");
          },
      .demonstration = demonstration};
  // Builds ask for the number of nodes, and for NaN; verification for what it has found.
  for (harness::Variant& variant : technique.variants) {
    variant.waits_for_gpu = variant.runs == Runs::anywhere && !variant.name.starts_with("ask_");
  }
  return technique;
}

}  // namespace warpath
