#include "harness/program.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/campaign.hpp"
#include "harness/compare.hpp"
#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/info.hpp"
#include "harness/interrupt.hpp"
#include "harness/judge.hpp"
#include "harness/list.hpp"
#include "harness/nearest.hpp"
#include "harness/new_process.hpp"
#include "harness/provenance.hpp"
#include "harness/registration.hpp"
#include "harness/shell_text.hpp"

namespace warpath::harness {
namespace {

namespace po = boost::program_options;

constexpr const char* usage =
    "warpath: a reproducible laboratory of GPU parallel primitives\n\n"
    "  warpath list [TECHNIQUE...]  techniques, variants, parameters and configurations\n"
    "  warpath run CONFIG...        verifies and measures every point of the configurations\n"
    "  warpath verify CONFIG...     verifies only\n"
    "  warpath judge ARCHIVE...     judges archives again, by what their configurations expect "
    "now\n"
    "  warpath compare A B          the times of two archives, or two folders of them, side by "
    "side\n"
    "  warpath demo TECHNIQUE       prints the source's own demonstration\n"
    "  warpath info                 measures what this machine and its links can do at best\n"
    "  warpath --version            the version, the commit and the backend of this program\n\n"
    "CONFIG is a file, or a technique for all of its configurations, or technique/experiment.\n"
    "warpath COMMAND --help says more. Exit codes: 0 good; 1 a point failed, or something could "
    "not be\nwritten; 2 bad input; 130, 143, 129, 141 ended by SIGINT, SIGTERM, SIGHUP, SIGPIPE, "
    "with all finished\npoints kept. A second SIGINT or SIGTERM ends at once.\n";

struct CommandLine {
  po::variables_map values;
  std::vector<std::string> benchmark_flags;
  /// What was typed, without paths of this machine.
  std::vector<std::string> portable;
};

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

/// True for a dangling link, too: reading it gives the error that names it.
bool is_there(const std::filesystem::path& file) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(file, error).type();
  return type != std::filesystem::file_type::none && type != std::filesystem::file_type::not_found;
}

bool is_absolute(const std::string& path) {
  return std::filesystem::path(path).is_absolute();
}

/// The words of the command line as another machine would have them: files as they are called in
/// the checkout, and no place outside of it.
std::vector<std::string> portable_words(const po::parsed_options& parsed,
                                        const std::vector<std::string>& benchmark_flags) {
  std::vector<std::string> words;
  for (const auto& option : parsed.options) {
    if (option.position_key >= 0) {
      const std::string& name = option.value.front();
      words.push_back(is_there(name) ? path_in_checkout(name) : name);
    } else if (option.string_key != "out" || !is_absolute(option.value.front())) {
      words.insert(words.end(), option.original_tokens.begin(), option.original_tokens.end());
    }
  }
  const std::string out = "--benchmark_out=";
  for (const std::string& flag : benchmark_flags) {
    const bool elsewhere = flag.starts_with(out) && is_absolute(flag.substr(out.size()));
    if (!elsewhere) words.push_back(flag);
  }
  return words;
}

/// Whether a command takes flags of Google Benchmark.
enum class Benchmarks { none, taken };

/// Parses what follows the command. --benchmark_* flags are kept for Google Benchmark.
CommandLine parse(const std::vector<std::string>& arguments, const po::options_description& visible,
                  Benchmarks benchmarks = Benchmarks::none) {
  CommandLine line;
  std::vector<std::string> ours;
  for (const std::string& argument : arguments) {
    (argument.starts_with("--benchmark_") ? line.benchmark_flags : ours).push_back(argument);
  }
  if (benchmarks == Benchmarks::none && !line.benchmark_flags.empty()) {
    throw UserError(abridged(line.benchmark_flags.front()) +
                    " has no effect on this command: only run and verify have benchmarks");
  }
  po::options_description all;
  all.add(visible).add_options()("config", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("config", -1);
  try {
    // No guessing of shortened names: a script must not change its meaning when an option is added.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const po::parsed_options parsed =
        po::command_line_parser(ours).options(all).positional(positional).style(style).run();
    po::store(parsed, line.values);
    po::notify(line.values);
    line.portable = portable_words(parsed, line.benchmark_flags);
  } catch (const po::unknown_option& error) {
    throw UserError("unknown option " + abridged(error.get_option_name()) +
                    suggestion(error.get_option_name(), option_names(visible)));
  } catch (const po::error& error) {
    throw UserError(abridged(error.what(), 200));
  }
  return line;
}

bool asked_for_help(const CommandLine& line, const char* synopsis,
                    const po::options_description& options) {
  if (!line.values.contains("help")) return false;
  std::cout << synopsis << "\n\n" << options;
  return true;
}

/// Results must not land in the folder that happens to be the current one.
void require_folder(const std::string& out) {
  if (out.empty()) throw UserError("--out '': expected the name of a folder");
}

std::vector<std::string> texts(const CommandLine& line, const char* name) {
  return line.values.contains(name) ? line.values[name].as<std::vector<std::string>>()
                                    : std::vector<std::string>();
}

void add_sweep_options(po::options_description& options, RunOptions& run) {
  options.add_options()("help,h", "this text")(
      "profile", po::value(&run.profile)->default_value(run.profile)->value_name("NAME"),
      "profile of the configuration, like smoke, paper or full")(
      "set", po::value(&run.overrides)->composing()->value_name("NAME=SPEC"),
      "values that replace a parameter's: n=1000,64K,2^20 or n=2^20:2^28:*4 or "
      "selectivity=0:1:+0.1; K, M and G are 1000, 10^6 and 10^9; once a parameter")(
      "force", po::bool_switch(&run.force),
      "expand to more than 10000 points, or run kernels on the CPU for more than an hour, if the "
      "sweep says so");
}

/// Configuration files by name: a file, a technique for all of its own, or technique/experiment.
std::vector<std::string> config_files(const std::vector<std::string>& names,
                                      const std::vector<Technique>& techniques) {
  std::vector<std::string> files;
  std::vector<std::string> known;
  for (const Technique& technique : techniques) {
    known.push_back(technique.name);
    for (const std::string& file : find_configs(technique.name)) known.push_back(file);
  }
  for (const std::string& name : names) {
    const bool is_technique = std::any_of(techniques.begin(), techniques.end(),
                                          [&](const Technique& t) { return t.name == name; });
    const std::string file = "configs/" + name + ".json";
    if (is_technique) {
      const auto found = find_configs(name);
      if (found.empty()) throw UserError("no configurations under configs/" + name);
      files.insert(files.end(), found.begin(), found.end());
    } else if (is_there(name)) {
      files.push_back(name);
    } else if (is_there(file)) {
      files.push_back(file);
    } else {
      throw UserError(abridged(name) + ": cannot be read: no such file, and no technique" +
                      suggestion(name, known));
    }
  }
  return files;
}

std::string portable_command(const std::string& command, const CommandLine& line) {
  std::vector<std::string> words = {"warpath", command};
  words.insert(words.end(), line.portable.begin(), line.portable.end());
  return shell_command(words);
}

int run_command(const std::vector<std::string>& arguments, RunOptions run,
                const std::vector<Technique>& techniques) {
  po::options_description options(
      "Options (and of Google Benchmark: --benchmark_filter=REGEX, --benchmark_list_tests,\n"
      "--benchmark_format=, --benchmark_out=, --benchmark_out_format=, --benchmark_context=,\n"
      "--benchmark_color=, --benchmark_counters_tabular)");
  add_sweep_options(options, run);
  options.add_options()("resume", po::bool_switch(&run.resume),
                        "measure only what has no valid record")(
      "out", po::value(&run.out)->default_value(run.out)->value_name("DIR"), "results folder")(
      "dry-run", po::bool_switch(&run.dry_run), "list points, bytes and an estimate of the time");
  const CommandLine line = parse(arguments, options, Benchmarks::taken);
  if (asked_for_help(line, "warpath run CONFIG... [options]", options)) return exit_good;
  require_folder(run.out);
  run.command = portable_command("run", line);
  read_benchmark_flags(line.benchmark_flags, "run", /*only_names=*/false);
  run.configs = config_files(texts(line, "config"), techniques);
  run.benchmark_flags = line.benchmark_flags;
  if (run.configs.empty()) throw UserError("warpath run: name at least one configuration file");
  return run_campaign(run, techniques);
}

int verify_command(const std::vector<std::string>& arguments, RunOptions run,
                   const std::vector<Technique>& techniques) {
  po::options_description options(
      "Options (and of Google Benchmark: --benchmark_filter=REGEX, --benchmark_list_tests)");
  add_sweep_options(options, run);
  const CommandLine line = parse(arguments, options, Benchmarks::taken);
  if (asked_for_help(line, "warpath verify CONFIG|TECHNIQUE... [options]", options))
    return exit_good;
  read_benchmark_flags(line.benchmark_flags, "verify", /*only_names=*/true);
  run.configs = config_files(texts(line, "config"), techniques);
  run.benchmark_flags = line.benchmark_flags;
  if (run.configs.empty()) {
    throw UserError("warpath verify: name at least one configuration file or technique");
  }
  return verify_campaign(run, techniques);
}

int judge_command(const std::vector<std::string>& arguments,
                  const std::vector<Technique>& techniques) {
  po::options_description options("Options");
  options.add_options()("help,h", "this text");
  const CommandLine line = parse(arguments, options);
  if (asked_for_help(line, "warpath judge ARCHIVE|FOLDER...", options)) return exit_good;
  const std::vector<std::string> names = texts(line, "config");
  if (names.empty()) throw UserError("warpath judge: name at least one archive, or a folder");
  return judge_archives(names, techniques);
}

int compare_command(const std::vector<std::string>& arguments) {
  std::string fail_above;
  po::options_description options("Options");
  options.add_options()("help,h", "this text")(
      "fail-above", po::value(&fail_above)->value_name("PERCENT"),
      "exit with 1 if a row is slower by more than this, beyond the noise, or not right any more");
  const CommandLine line = parse(arguments, options);
  if (asked_for_help(line, "warpath compare BEFORE AFTER [options]: archives, or folders of them",
                     options)) {
    return exit_good;
  }
  const std::vector<std::string> names = texts(line, "config");
  if (names.size() != 2) {
    throw UserError("warpath compare: name two archives, or two folders of archives");
  }
  const bool gates = line.values.contains("fail-above");
  return compare_archives(
      names[0], names[1],
      gates ? std::optional(read_percent("--fail-above", fail_above)) : std::nullopt);
}

int info_command(const std::vector<std::string>& arguments) {
  bool as_json = false;
  std::string out;
  po::options_description options("Options");
  options.add_options()("help,h", "this text")("json", po::bool_switch(&as_json), "print JSON")(
      "out", po::value(&out)->default_value("results/runs")->value_name("DIR"), "results folder");
  const CommandLine line = parse(arguments, options);
  if (asked_for_help(line, "warpath info [options]", options)) return exit_good;
  require_folder(out);
  return print_info(out, as_json);
}

int demo_command(const std::vector<std::string>& arguments,
                 const std::vector<Technique>& techniques) {
  po::options_description options("Options");
  options.add_options()("help,h", "this text");
  const CommandLine line = parse(arguments, options);
  if (asked_for_help(line, "warpath demo TECHNIQUE", options)) return exit_good;
  std::vector<std::string> known;
  for (const Technique& technique : techniques) {
    if (technique.demonstration) known.push_back(technique.name);
  }
  const std::vector<std::string> names = texts(line, "config");
  if (names.size() != 1) {
    std::string text = "warpath demo: name one of the techniques that have a demonstration:";
    for (const std::string& name : known) text += " " + name;
    throw UserError(text);
  }
  for (const Technique& technique : techniques) {
    if (technique.name != names[0] || !technique.demonstration) continue;
    std::cout << technique.demonstration();
    return exit_good;
  }
  throw UserError("no demonstration of \"" + abridged(names[0]) + "\"" +
                  suggestion(names[0], known));
}

int list_command(const std::vector<std::string>& arguments,
                 const std::vector<Technique>& techniques) {
  bool as_json = false;
  po::options_description options("Options");
  options.add_options()("help,h", "this text")("json", po::bool_switch(&as_json), "print JSON");
  const CommandLine line = parse(arguments, options);
  if (asked_for_help(line, "warpath list [TECHNIQUE...] [options]", options)) return exit_good;
  std::vector<Technique> listed;
  for (const std::string& name : texts(line, "config")) {
    std::vector<std::string> known;
    const auto found = std::find_if(techniques.begin(), techniques.end(), [&](const auto& each) {
      known.push_back(each.name);
      return each.name == name;
    });
    if (found == techniques.end()) {
      throw UserError("unknown technique \"" + abridged(name) + "\"" + suggestion(name, known));
    }
    listed.push_back(*found);
  }
  (as_json ? print_list_as_json : print_list)(listed.empty() ? techniques : listed);
  return exit_good;
}

int dispatch(int argc, const char* const* argv, const std::vector<Technique>& techniques) {
  const std::string command = argc > 1 ? argv[1] : "";
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  RunOptions run;
  run.arguments.assign(argv, argv + argc);
  run.typed = shell_command(run.arguments);
  if (command == "list") return list_command(arguments, techniques);
  if (command == "run") return run_command(arguments, run, techniques);
  if (command == "verify") return verify_command(arguments, run, techniques);
  if (command == "judge") return judge_command(arguments, techniques);
  if (command == "compare") return compare_command(arguments);
  if (command == "demo") return demo_command(arguments, techniques);
  if (command == "info") return info_command(arguments);
  if (command == probe_command) return device_is_usable() ? exit_good : exit_failed_points;
  if (command == "--version") {
    std::printf("warpath %s\n", version().c_str());
    return exit_good;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(usage, stdout);
    return exit_good;
  }
  if (command.empty()) throw UserError(std::string("name a command\n\n") + usage);
  throw UserError(
      "unknown command \"" + abridged(command) + "\"" +
      suggestion(command, {"list", "run", "verify", "judge", "compare", "demo", "info"}));
}

/// The exit code, once all of the output is written: it may not have been.
int code_after_output(int code) {
  std::cout.flush();
  errno = 0;
  const bool failed = std::fflush(stdout) != 0;
  const int error = errno;
  if (!failed && std::ferror(stdout) == 0 && std::cout) return code;
  if (interrupt_exit_code() == 128 + SIGPIPE) return 128 + SIGPIPE;  // the reader has closed it
  std::fprintf(stderr, "warpath: the output could not be written%s%s\n", error == 0 ? "" : ": ",
               error == 0 ? "" : std::strerror(error));
  return code == exit_good ? exit_failed_points : code;
}

}  // namespace

int run_program(int argc, const char* const* argv, const std::vector<Technique>& techniques) {
  // A limit on the size of files is an error that can be told, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  int code = exit_failed_points;
  try {
    code = dispatch(argc, argv, techniques);
  } catch (const UserError& error) {
    std::fprintf(stderr, "warpath: %s\n", error.what());
    code = exit_bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpath: %s\n", error.what());
  }
  return code_after_output(code);
}

}  // namespace warpath::harness
