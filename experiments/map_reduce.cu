// The experiments of map_reduce: parameters and variants. map_reduce/pairs.cuh has the inputs, the
// answers and the costs.
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "map_reduce/cases.hpp"
#include "map_reduce/variant.hpp"
#include "techniques.hpp"

namespace warpath {
namespace {

using harness::Parameters;
using map_reduce::Accuracy;

std::unique_ptr<harness::Problem> make_pairs(const Parameters& problem) {
  using namespace experiments::pairs;  // NOLINT(google-build-using-namespace)
  const bool is_gaussian_sum =
      problem.text("formula") == "gaussian" && problem.text("reduction") == "sum";
  if (problem.integer("e") != 1) {
    if (is_gaussian_sum) return make_gaussian_sum_of_signals(problem);
    throw std::invalid_argument("e " + std::to_string(problem.integer("e")) +
                                ": compiled is gaussian with sum");
  }
  const bool is_k_nearest = problem.text("formula") == "squared_distance" &&
                            problem.text("reduction").starts_with("argkmin");
  if (is_k_nearest && problem.integer("d") != 3) return make_k_nearest_in_many_dimensions(problem);
  if (problem.text("reduction") == "argkmin_100") return make_nearest_100(problem);
  if (!is_gaussian_sum) return make_other(problem);
  return problem.integer("d") == 3 ? make_gaussian_sum(problem)
                                   : make_gaussian_sum_of_dimension(problem);
}

/// A peer that is a Python program.
harness::Variant in_python(std::string name, const std::string& program, std::string summary) {
  return {.name = std::move(name),
          .role = harness::Role::peer,
          .runs = harness::Runs::elsewhere,
          .summary = std::move(summary),
          .program = "experiments/peers/" + program + ".py"};
}

/// Inputs, results, and room for split columns and partial results.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t m = problem.integer("m");
  const std::int64_t n = problem.integer("n");
  const std::int64_t d = problem.integer("d");
  const std::int64_t e = problem.integer("e");
  const std::string reduction = problem.text("reduction");
  const std::int64_t results = reduction == "argkmin" ? 10 : reduction == "argkmin_100" ? 100 : e;
  return (m + 2 * n) * d * 8 + n * e * 8 + m * results * 8 + (std::int64_t{64} << 20);
}

/// Pairs; one of many dimensions, or with a signal of many numbers, counts for several of three.
double steps(const Parameters& problem) {
  return problem.real("m") * problem.real("n") * (problem.real("d") + problem.real("e") + 17) / 21;
}

}  // namespace

harness::Technique map_reduce_technique() {
  using namespace harness;  // NOLINT(google-build-using-namespace)
  using map_reduce::Options;
  using map_reduce::Variant;  // not the harness's
  const std::vector<std::string> reductions = {"sum", "log_sum_exp", "argmin", "argkmin",
                                               "argkmin_100"};
  return {.name = "map_reduce",
          .summary = "reductions over j of F(x_i, y_j) for every i, without storing the values",
          .source =
              "B. Charlier, J. Feydy, J. A. Glaunès, F.-D. Collin, G. Durif, Kernel Operations on "
              "the GPU, with Autodiff, without Memory Overflows, JMLR 22(74), 2021; documentation "
              "of KeOps, Map-Reduce schemes",
          .parameters =
              {integer_parameter("m", 10'000, 1, 100'000'000, "rows i"),
               integer_parameter("n", 10'000, 1, 100'000'000, "columns j"),
               integer_parameter("d", 3, 1, 128, "dimensions of points: 1, 3, 8, 16, 64 or 128"),
               integer_parameter("e", 1, 1, 64, "numbers of a column's signal: 1, 3, 16 or 64"),
               integer_parameter("extent", 1, 1, 1'000'000, "points lie in [0, extent)^d"),
               integer_parameter("averaged", 1, 1, 64,
                                 "a coordinate is the mean of so many uniform numbers: twelve make "
                                 "a normal cloud, nearly, with a deviation of extent / 12"),
               choice_parameter("formula",
                                {"gaussian", "laplacian", "log_gaussian", "squared_distance"},
                                "F: exp(-|x-y|^2) b, exp(-|x-y|) b, -|x-y|^2, |x-y|^2"),
               choice_parameter("reduction", reductions,
                                "over j; argkmin: the 10 least; argkmin_100: the 100 least"),
               choice_parameter("number", {"float32", "float64"}, "type of all numbers"),
               choice_parameter("accuracy", Accuracy::block,
                                "how sums are added: one by one, tile by tile, with compensation"),
               seed_parameter("of points and signals"),
               of_variants(integer_parameter("block_threads", Options{}.block_threads, 32, 1024,
                                             "K of gpu_1d and gpu_2d")),
               of_variants(integer_parameter(
                   "rows_per_thread", 0, 0, 8,
                   "of tuned_1d and tuned_2d: 1, 4 or 8; 0: the cost model's choice")),
               of_variants(integer_parameter(
                   "splits", 0, 0, 65535,
                   "parts of the columns, of tuned_2d and tensor; 0: the cost model's choice"))},
          .variants = variants_of<Variant>(
              {{Variant::naive, Role::naive, "tensorized: all m x n values in device memory"},
               {Variant::gpu_1d, Role::technique, "the source: a thread a row, tiles of columns"},
               {Variant::gpu_2d, Role::technique,
                "the source: tiles one by one to the blocks, partial results, a final reduction"},
               {Variant::tuned_1d, Role::technique, "several rows a thread, in registers"},
               {Variant::tuned_2d, Role::technique,
                "the same with the columns in parts; for few rows, threads over the columns"},
               {Variant::tensor, Role::technique, "Gram form on the tensor cores"},
               {Variant::automatic, Role::technique, "what the cost model expects to be fastest"}},
              {{"cpu", Role::oracle, Runs::host, "tensorized on one CPU core"},
               {"cpu_openmp", Role::oracle, Runs::host, "tensorized on all CPU cores"},
               in_python("keops_1d", "keops", "KeOps, scheme GPU_1D"),
               in_python("keops_2d", "keops", "KeOps, scheme GPU_2D"),
               in_python("triton", "triton_gaussian", "a fused kernel"),
               in_python("torch_tensorized", "torch_gaussian", "PyTorch: all differences stored"),
               in_python("torch_cdist", "torch_gaussian", "PyTorch: torch.cdist, then in place"),
               in_python("torch_gram", "torch_gaussian", "PyTorch: one matrix product, in place"),
               in_python("torch_topk", "torch_gaussian", "PyTorch: one matrix product, torch.topk"),
               in_python("numpy_tensorized", "numpy_gaussian", "NumPy: all differences stored"),
               in_python("numpy_gram", "numpy_gaussian", "NumPy: BLAS products, in place")}),
          .device_bytes = device_bytes,
          .make_problem = make_pairs,
          .steps = steps};
}

}  // namespace warpath
