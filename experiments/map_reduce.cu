// The experiments of map_reduce: parameters and variants. map_reduce/pairs.cuh has the inputs, the
// answers and the costs.
#include <memory>
#include <string>

#include "map_reduce/cases.hpp"
#include "map_reduce/variant.hpp"
#include "techniques.hpp"

namespace warpath {
namespace {

using harness::Parameters;
using map_reduce::Accuracy;

std::unique_ptr<harness::Problem> make_problem(const Parameters& problem) {
  using namespace experiments::pairs;  // NOLINT(google-build-using-namespace)
  if (problem.text("formula") != "gaussian" || problem.text("reduction") != "sum") {
    return make_other(problem);
  }
  return problem.integer("d") == 3 ? make_gaussian_sum(problem)
                                   : make_gaussian_sum_of_dimension(problem);
}

/// Inputs, results, and room for partial results.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t m = problem.integer("m");
  const std::int64_t n = problem.integer("n");
  const std::int64_t d = problem.integer("d");
  const std::int64_t results = problem.text("reduction") == "argkmin" ? 10 : 1;
  return (m + n) * d * 8 + n * 8 + m * results * 8 + (std::int64_t{64} << 20);
}

}  // namespace

harness::Technique map_reduce_technique() {
  using harness::Role;
  using harness::Runs;
  harness::Technique technique;
  technique.name = "map_reduce";
  technique.summary = "reductions over j of F(x_i, y_j) for every i, without storing the values";
  technique.source =
      "B. Charlier, J. Feydy, J. A. Glaunès, F.-D. Collin, G. Durif, Kernel Operations on the GPU, "
      "with Autodiff, without Memory Overflows, JMLR 22(74), 2021; documentation of KeOps, "
      "Map-Reduce schemes";
  technique.parameters = {
      {"m", std::int64_t{10'000}, {}, 1, 1e8, true, "rows i"},
      {"n", std::int64_t{10'000}, {}, 1, 1e8, true, "columns j"},
      {"d", std::int64_t{3}, {}, 1, 128, true, "dimensions of the points: 1, 3, 16, 64 or 128"},
      {"formula",
       std::string("gaussian"),
       {"gaussian", "laplacian", "log_gaussian", "squared_distance"},
       0,
       0,
       true,
       "F: exp(-|x-y|^2) b, exp(-|x-y|) b, -|x-y|^2, |x-y|^2"},
      {"reduction",
       std::string("sum"),
       {"sum", "log_sum_exp", "argmin", "argkmin"},
       0,
       0,
       true,
       "over j; argkmin: the 10 least"},
      {"number", std::string("float32"), {"float32", "float64"}, 0, 0, true, "type of all numbers"},
      {"accuracy", std::string("block"), enum_names<Accuracy>(), 0, 0, true,
       "how sums are added: one by one, tile by tile, with compensation"},
      {"seed", std::int64_t{42}, {}, 0, 9e15, true, "of points and signals"},
      {"block_threads", std::int64_t{192}, {}, 32, 1024, false, "K of gpu_1d and gpu_2d"},
      {"rows_per_thread",
       std::int64_t{0},
       {},
       0,
       8,
       false,
       "of tuned_1d and tuned_2d: 1, 4 or 8; 0: the cost model's choice"},
      {"splits",
       std::int64_t{0},
       {},
       0,
       65535,
       false,
       "parts of the columns, of tuned_2d and tensor; 0: the cost model's choice"},
  };
  technique.variants = {
      {"naive", Role::naive, Runs::anywhere, "tensorized: all m x n values in device memory"},
      {"gpu_1d", Role::technique, Runs::anywhere, "the source: a thread a row, tiles of columns"},
      {"gpu_2d", Role::technique, Runs::anywhere,
       "the source: tiles one by one to the blocks, partial results, a final reduction"},
      {"tuned_1d", Role::technique, Runs::anywhere, "several rows a thread, in registers"},
      {"tuned_2d", Role::technique, Runs::anywhere,
       "the same with the columns in parts; for few rows, threads over the columns"},
      {"tensor", Role::technique, Runs::anywhere, "Gram form on the tensor cores"},
      {"automatic", Role::technique, Runs::anywhere, "what the cost model expects to be fastest"},
      {"cpu", Role::oracle, Runs::host, "tensorized on one CPU core"},
      {"cpu_openmp", Role::oracle, Runs::host, "tensorized on all CPU cores"},
  };
  technique.device_bytes = device_bytes;
  technique.make_problem = make_problem;
  return technique;
}

}  // namespace warpath
