// warpath_ranks: sorts over several hosts, one rank a GPU, started by mpirun.
#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/error.hpp"
#include "harness/json_file.hpp"
#include "harness/nearest.hpp"
#include "harness/provenance.hpp"
#include "multi_gpu_sort/ranks/nccl_transport.hpp"
#include "multi_gpu_sort/ranks/sorts.hpp"

namespace warpath::experiments {
namespace {

namespace po = boost::program_options;
using harness::Json;
using harness::UserError;
using multi_gpu_sort::Step;

constexpr const char* usage =
    "warpath_ranks: sorts elements that lie on the GPUs of one host or of several, one MPI rank a "
    "GPU\n\n"
    "  mpirun -n 4 --bind-to none warpath_ranks --n 2^30 --type u32\n\n"
    "Exit codes: 0 good; 1 a result was wrong, or a rank failed or did not answer; 2 bad input.\n";

struct CommandLine {
  SortsOfRanks sorts;
  std::chrono::milliseconds deadline{30'000};
  std::string json;  ///< a file; none if empty
  int stalling_rank = -1;
  int failing_rank = -1;
  Step after = Step::sort;
  bool wants_help = false;
};

/// "268435456", or "2^28".
std::int64_t read_number(const std::string& option, const std::string& text, std::int64_t least,
                         std::int64_t most) {
  const bool is_power = text.starts_with("2^");
  const std::string_view digits = std::string_view(text).substr(is_power ? 2 : 0);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool is_good = error == std::errc() && end == digits.data() + digits.size();
  if (is_good && is_power) {
    is_good = number >= 0 && number < 63;
    number = is_good ? std::int64_t{1} << number : 0;
  }
  if (is_good && number >= least && number <= most) return number;
  throw UserError(option + " is '" + harness::abridged(text) +
                  "': expected a number, like 1000 or "
                  "2^28, of " +
                  std::to_string(least) + " to " + std::to_string(most));
}

CommandLine parse(int argc, char** argv, po::options_description& options) {
  std::string n = "2^24";
  std::string type = "u32";
  std::string arrangement = "uniform";
  std::string seed = "42";
  std::string repeats = "10";
  std::string deadline = "30000";
  std::string stalling = "-1";
  std::string failing = "-1";
  std::string after = "sort";
  CommandLine line;
  const auto text = [](std::string& value, const char* name) {
    return po::value(&value)->default_value(value)->value_name(name);
  };
  options.add_options()("help,h", po::bool_switch(&line.wants_help), "this text")(
      "n", text(n, "N"), "elements of all ranks together, in equal parts: 1000, 2^28")(
      "type", text(type, "TYPE"), "of a key: u32, u64 or f32")(
      "pairs", po::bool_switch(&line.sorts.has_values),
      "keys with a value of 32 bits each, which says where the key was")(
      "distribution", text(arrangement, "NAME"), "uniform, sorted, reversed or all_equal")(
      "seed", text(seed, "SEED"), "of uniform keys")(
      "repeats", text(repeats, "COUNT"), "sorts that are measured; each of them is verified")(
      "json", po::value(&line.json)->value_name("FILE"),
      "writes the times and where they are from")(
      "deadline-ms", text(deadline, "MS"),
      "how long a rank waits for another one: longer than the sort of a part takes")(
      "stall-rank", po::value(&stalling)->value_name("RANK"),
      "to try it: this rank stops, and does not come back")(
      "fail-rank", po::value(&failing)->value_name("RANK"), "to try it: this rank fails")(
      "after", text(after, "STEP"), "when it does so: after sort, split, exchange or merge");
  po::variables_map values;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(argc, argv).options(options).positional({}).style(style).run(),
        values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    throw UserError("unknown option " + harness::abridged(error.get_option_name()) +
                    harness::suggestion(error.get_option_name(), names));
  } catch (const po::error& error) {
    throw UserError(harness::abridged(error.what(), 200));
  }
  constexpr std::int64_t most_elements = std::int64_t{1} << 45;
  constexpr std::int64_t most_ranks = 1 << 20;
  line.sorts.n = read_number("--n", n, 0, most_elements);
  if (line.sorts.has_values && line.sorts.n > std::int64_t{1} << 32) {
    throw UserError("--n is " + n + ": expected at most 2^32 with --pairs");
  }
  try {
    line.sorts.type = enum_value<KeyType>(type, "--type");
    line.sorts.arrangement = enum_value<Arrangement>(arrangement, "--distribution");
    line.after = enum_value<Step>(after, "--after");
  } catch (const std::invalid_argument& error) {
    throw UserError(error.what());
  }
  line.sorts.seed = static_cast<std::uint64_t>(read_number("--seed", seed, 0, most_elements));
  line.sorts.repeats = static_cast<int>(read_number("--repeats", repeats, 1, 1'000'000));
  line.deadline =
      std::chrono::milliseconds(read_number("--deadline-ms", deadline, 1, 24 * 3600 * 1000));
  line.stalling_rank = static_cast<int>(read_number("--stall-rank", stalling, -1, most_ranks));
  line.failing_rank = static_cast<int>(read_number("--fail-rank", failing, -1, most_ranks));
  return line;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Where a rank runs.
struct Place {
  char host[256];
  char gpu[256];
};
Place own_place() {
  Place place{};
  std::snprintf(place.host, sizeof place.host, "%s", host_name().c_str());
  std::snprintf(place.gpu, sizeof place.gpu, "%s", device_name().c_str());
  return place;
}

void report(const CommandLine& line, const std::vector<Place>& places, const TimesOfRanks& times) {
  const SortsOfRanks& sorts = line.sorts;
  std::set<std::string> hosts;
  Json gpus = Json::array();
  for (const Place& place : places) {
    hosts.insert(place.host);
    gpus.push_back(place.gpu);
  }
  const double total = median(times.milliseconds.at("total"));
  const double rate = static_cast<double>(sorts.n) / total / 1e6;
  std::printf("%lld %s%s, %s, on %zu ranks of %zu hosts (%s); all results verified\n",
              static_cast<long long>(sorts.n), std::string(enum_name(sorts.type)).c_str(),
              sorts.has_values ? " with values" : "",
              std::string(enum_name(sorts.arrangement)).c_str(), places.size(), hosts.size(),
              places.front().gpu);
  std::printf("%-10s %12s %12s %12s   ms, of %d sorts, the slowest rank's\n", "step", "median",
              "min", "max", sorts.repeats);
  Json steps;
  for (const char* const name : {"sort", "split", "exchange", "merge", "write", "total"}) {
    const std::vector<double>& ms = times.milliseconds.at(name);
    const auto [least, most] = std::minmax_element(ms.begin(), ms.end());
    std::printf("%-10s %12.3f %12.3f %12.3f\n", name, median(ms), *least, *most);
    steps[name] = {{"median", median(ms)}, {"min", *least}, {"max", *most}, {"samples", ms.size()}};
    if (std::string_view(name) == "total") steps[name]["samples_ms"] = ms;
  }
  std::printf("%.2f G elements/s; %.1f %% of the elements came to another rank\n", rate,
              100 * times.moved_share);
  if (line.json.empty()) return;
  const Json json = {{"program", "warpath_ranks"},
                     {"version", harness::version()},
                     {"time", harness::utc_now()},
                     {"ranks", places.size()},
                     {"hosts", hosts.size()},
                     {"gpus", gpus},
                     {"n", sorts.n},
                     {"type", enum_name(sorts.type)},
                     {"pairs", sorts.has_values},
                     {"distribution", enum_name(sorts.arrangement)},
                     {"seed", sorts.seed},
                     {"verified", "passed"},
                     {"time_ms", steps},
                     {"items_per_s", rate * 1e9},
                     {"moved_share", times.moved_share},
                     {"workspace_of_a_rank_bytes", times.memory}};
  harness::write_atomically(line.json, harness::file_text(json));
}

void run(CommandLine line) {
  const auto transport = connect_by_nccl(line.deadline);
  const int rank = transport->rank();
  for (const int named : {line.stalling_rank, line.failing_rank}) {
    if (named < transport->ranks()) continue;
    throw UserError("rank " + std::to_string(named) +
                    " is to stall or fail: expected one of 0 to " +
                    std::to_string(transport->ranks() - 1));
  }
  line.sorts.after_step = [&line, rank](Step step) {
    if (step != line.after) return;
    if (rank == line.failing_rank) throw std::runtime_error("as --fail-rank asks for");
    while (rank == line.stalling_rank) std::this_thread::sleep_for(std::chrono::hours(1));
  };
  const TimesOfRanks times = sort_and_verify(*transport, line.sorts);
  const std::vector<Place> places = multi_gpu_sort::all_gather(*transport, own_place());
  if (rank == 0) report(line, places, times);
}

int main_of_rank(int argc, char** argv) {
  const Mpi mpi(&argc, &argv);
  const std::string name = "warpath_ranks, rank " + std::to_string(mpi.rank()) + ": ";
  try {
    po::options_description options("Options", 100);
    const CommandLine line = parse(argc, argv, options);
    if (line.wants_help) {
      if (mpi.rank() == 0) std::cout << usage << '\n' << options;
      return 0;
    }
    run(line);
    return 0;
  } catch (const UserError& error) {
    std::cerr << name + error.what() + " (see --help)\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << name + error.what() + "\n";
    Mpi::end_all(1);
  }
}

}  // namespace
}  // namespace warpath::experiments

int main(int argc, char** argv) {
  return warpath::experiments::main_of_rank(argc, argv);
}
