// How fast data crosses to another GPU, and to the host and back: what work on several GPUs is held
// against.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/value.hpp"

namespace warpath::harness {

/// GB/s (10^9 bytes a second) that leave one GPU, by what moves the data.
struct LinkRates {
  double copy = 0;             ///< the copy engine
  std::optional<double> pull;  ///< a kernel of the target; empty where it has no access
  std::optional<double> push;  ///< a kernel of the source
};

/// From one GPU to another.
struct PairLink {
  int from = 0;  ///< CUDA's numbers
  int to = 0;
  LinkRates one_way;
  LinkRates both_ways;  ///< of each direction, while both are busy: the same as from `to` to `from`
};

/// Each of the first `gpus` GPUs sends an equal part to every other one.
struct AllToAll {
  int gpus = 0;
  LinkRates rates;
};

/// Between pinned memory of the host and one GPU. GB/s.
struct HostLink {
  int gpu = 0;
  double to_gpu = 0;
  double from_gpu = 0;
  double both_ways = 0;  ///< of each direction, while both are busy
};

struct Links {
  std::string not_measured;  ///< why; the rest is empty then
  std::int64_t bytes = 0;    ///< that left a GPU in each sample
  std::vector<HostLink> host;
  std::vector<PairLink> pairs;
  std::vector<AllToAll> all_to_all;
};

/// Measures the links of all GPUs that are visible, 16 at most: takes 512 MiB of each, and 128 MiB
/// of the host. Not measured on the emulated backend, which times nothing, and where a GPU lacks
/// the memory. The GPUs have access to each other's memory from then on. Throws CudaError.
Links measure_links();

/// README.md lists the fields. Of what was not measured, {"not_measured": why}.
Json to_json(const Links& links);
/// As a table, of lines that end.
std::string links_text(const Links& links);

}  // namespace warpath::harness
