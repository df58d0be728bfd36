#include "harness/campaign.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "harness/archive.hpp"
#include "harness/colour.hpp"
#include "harness/dry_run.hpp"
#include "harness/error.hpp"
#include "harness/estimate.hpp"
#include "harness/interrupt.hpp"
#include "harness/json_file.hpp"
#include "harness/links.hpp"
#include "harness/new_process.hpp"
#include "harness/progress.hpp"
#include "harness/provenance.hpp"
#include "harness/registration.hpp"
#include "harness/row.hpp"
#include "harness/summary.hpp"

namespace warpath::harness {
namespace {

/// The order in which variants are sampled; a constant, so that a run can be repeated.
constexpr std::uint64_t order_seed = 0x5EED;

/// Measures the group of a point when its first point is asked for, and remembers the rows.
class Campaign {
 public:
  Campaign(const RunOptions& options, const std::vector<Experiment>& experiments,
           const Device& device)
      : options_(options),
        experiments_(experiments),
        groups_(group_points(experiments)),
        device_(device),
        flags_(read_benchmark_flags(options.benchmark_flags, "run", /*only_names=*/false)),
        clock_(device.l2_bytes, device.pci_bus),
        store_(std::filesystem::path(options.out) / device.slug) {}

  int run() {
    try {
      return measure_and_report();
    } catch (const std::system_error& error) {
      if (!is_full(error)) throw;
      throw std::runtime_error(error.what() +
                               std::string("; what is there is kept. With room for more, go on "
                                           "with\n  ") +
                               how_to_go_on());
    }
  }

 private:
  int measure_and_report() {
    find_finished();
    std::vector<Benchmark> benchmarks;
    for (const Group& group : groups_) {
      for (const Point* point : group.points) {
        benchmarks.push_back({point->name(), [this, point, &group] { return row(*point, group); }});
      }
    }
    Registration registration(std::move(benchmarks), flags_);
    selected_ = {registration.selected().begin(), registration.selected().end()};
    std::erase_if(rows_, [this](const auto& row) { return !selected_.contains(row.first); });
    const std::size_t missing = selected_.size() - rows_.size();
    if (options_.resume || is_continued()) {
      std::fprintf(stderr, "resuming: %zu points are finished, %zu are to be measured\n",
                   rows_.size(), missing);
    }
    if (!is_continued()) check_executor_time(find_pending(), options_);
    progress_ = std::make_unique<Progress>(missing);
    if (missing > 0) measure_needed_ceilings();
    measure_needed_links();
    registration.run();
    progress_.reset();
    return report();
  }

  [[nodiscard]] std::vector<Pending> find_pending() const {
    std::vector<Pending> pending;
    for (const Group& group : groups_) {
      Pending of_group{&group, {}};
      for (const Point* point : group.points) {
        const std::string name = point->name();
        if (selected_.contains(name) && !rows_.contains(name)) of_group.points.push_back(point);
      }
      if (!of_group.points.empty()) pending.push_back(std::move(of_group));
    }
    return pending;
  }

  /// With --resume, points that have a valid record need not run. Nor does, in a process that
  /// continues a run, what that run has measured, or seen fail.
  void find_finished() {
    if (!options_.resume && !is_continued()) return;
    for (const Group& group : groups_) {
      for (const Point* point : group.points) {
        const Json record = store_.find(*point, key(*point, group));
        const bool is_of_this_run = record.is_object() && record.value("run", "") == run_id();
        if (!is_of_this_run && !(options_.resume && is_finished(record))) continue;
        rows_[point->name()] = record.at("row");
        ceilings_ = read_ceilings_summary(record.at("ceilings"));
        if (record.contains("links")) links_ = record.at("links");
      }
    }
  }

  Json key(const Point& point, const Group& group) const {
    return record_key(point, group.experiment->config.measure, device_);
  }

  /// All percentages of a campaign refer to the same ceilings: a resumed one takes those of its
  /// records.
  void measure_needed_ceilings() {
    if (ceilings_) return;
    progress_->begins("ceilings of this machine");
    ceilings_ = measure_ceilings(clock_, /*quick=*/true);
  }

  /// The same of the links, for which only some techniques care.
  void measure_needed_links() {
    const std::vector<Pending> pending = find_pending();
    const bool are_needed = std::any_of(pending.begin(), pending.end(), [](const Pending& each) {
      return uses_links(*each.points.front());
    });
    if (emulated || !are_needed || !links_.is_null()) return;
    progress_->begins("links of this machine");
    links_ = to_json(measure_links());
  }
  static bool uses_links(const Point& point) {
    return point.technique->uses_links && point.technique->uses_links(point.problem());
  }

  Json row(const Point& point, const Group& group) {
    if (!rows_.contains(point.name()) && !interrupted()) measure(group);
    const auto found = rows_.find(point.name());
    return found == rows_.end() ? Json(nullptr) : found->second;
  }

  void measure(const Group& group) {
    std::vector<const Point*> points;
    for (const Point* point : group.points) {
      if (selected_.contains(point->name()) && !rows_.contains(point->name())) {
        points.push_back(point);
      }
    }
    if (points.empty()) return;
    progress_->begins(
        points.front()->technique->name + "/" + points.front()->experiment + " " +
        points.front()->short_name() +
        (points.size() > 1 ? " and " + std::to_string(points.size() - 1) + " more" : ""));
    GroupRun run(
        points, group.experiment->config.measure, /*timed=*/true, clock_, order_seed,
        [&](const Point& point, const PointResult& result) { keep(point, group, result); });
    run.run();
    if (!run.device_lost() || interrupted()) return;
    if (works_in_a_new_process()) {
      progress_->message("the device refuses this process further work: going on in a new one");
      continue_in_a_new_process(options_.arguments);
    }
    measure(group);  // without a device: the other points fail, with the reason in their records
  }

  void keep(const Point& point, const Group& group, const PointResult& result) {
    Json row = make_row(point, result, group.experiment->config.measure, *ceilings_);
    Json record = {{"schema", 1},
                   {"run", run_id()},
                   {"key", key(point, group)},
                   {"row", row},
                   {"ceilings", ceilings_summary(*ceilings_)},
                   {"provenance", provenance(device_)}};
    if (!links_.is_null() && uses_links(point)) record["links"] = links_;
    store_.write(point, record);
    if (!result.error.empty()) {
      progress_->message(coloured("FAILED", Colour::red, stderr) + " " + point.name() +
                         "\n       " + result.error);
    } else if (result.skipped.starts_with(does_not_fit)) {
      progress_->message("skipped " + point.name() + "\n       " + result.skipped);
    }
    rows_[point.name()] = std::move(row);
    progress_->ended();
  }

  int report() {
    const RunFacts facts{options_.profile, options_.command, options_.resume};
    std::FILE* const table = flags_.owns_stdout() ? stderr : stdout;
    bool failed = false;
    for (const Experiment& experiment : experiments_) {
      std::vector<Point> points;
      for (const Point& point : experiment.points) {
        if (selected_.contains(point.name())) points.push_back(point);
      }
      if (points.empty()) continue;
      const Json archive = assemble_archive(experiment.config, points, store_, device_, facts);
      const auto file = archive_file(experiment, points);
      if (archive.at("complete") == false && says(file, "complete") == true) {
        std::fprintf(stderr, "%s is of a complete run, and stays as it is\n", file.c_str());
        print_summary(archive, table);
      } else {
        store_.write_archive(file, archive);
        print_summary(archive, table);
        std::fprintf(table, "\n%s\n", file.c_str());
      }
      failed = failed || has_failed(archive.at("rows"));
    }
    const bool cut_short = std::any_of(selected_.begin(), selected_.end(),
                                       [&](const auto& name) { return !rows_.contains(name); });
    if (cut_short) {
      std::fprintf(
          stderr,
          "interrupted: the finished points are kept. Measure the missing ones with\n  %s\n",
          how_to_go_on().c_str());
      return interrupt_exit_code();
    }
    return failed ? exit_failed_points : exit_good;
  }

  /// What the archive that is there has under `key`; null if there is none.
  static Json says(const std::filesystem::path& archive, const char* key) {
    try {
      return std::filesystem::exists(archive) ? read_json(archive).at(key) : Json(nullptr);
    } catch (const std::exception&) {
      return nullptr;  // not an archive
    }
  }

  [[nodiscard]] std::string how_to_go_on() const {
    return options_.typed + (options_.resume ? "" : " --resume");
  }

  /// The whole configuration has the plain name. What --set or a filter chose stands beside it, and
  /// so does another profile's run if the archive there is of the default profile.
  [[nodiscard]] std::filesystem::path archive_file(const Experiment& experiment,
                                                   const std::vector<Point>& points) const {
    const auto named = [&](const std::string& part) {
      return store_.archive_file(experiment.config.technique->name, experiment.config.experiment,
                                 part);
    };
    std::vector<std::string> part = options_.overrides;
    if (points.size() < experiment.points.size()) part.push_back("filter=" + flags_.filter);
    const bool is_beside = !part.empty() || says(named(""), "profile") == default_profile;
    if (options_.profile != default_profile && is_beside) {
      part.insert(part.begin(), "profile=" + options_.profile);
    }
    std::string text;
    for (const std::string& word : part) text += (text.empty() ? "" : ",") + word;
    return named(text);
  }

  /// A size that does not fit is a failure where it was asked for, and where it leaves nothing; a
  /// shipped sweep may go beyond what a small GPU holds.
  [[nodiscard]] bool has_failed(const Json& rows) const {
    std::size_t unfit = 0;
    for (const Json& row : rows) {
      if (row.contains("error")) return true;
      if (row.value("skipped", "").starts_with(does_not_fit)) ++unfit;
    }
    return unfit > 0 && (unfit == rows.size() || !options_.overrides.empty());
  }

  const RunOptions& options_;
  const std::vector<Experiment>& experiments_;
  std::vector<Group> groups_;
  const Device& device_;
  BenchmarkFlags flags_;
  GpuClock clock_;
  Store store_;
  std::optional<Ceilings> ceilings_;
  Json links_;  ///< null: nobody needs them
  std::set<std::string> selected_;
  std::map<std::string, Json> rows_;
  std::unique_ptr<Progress> progress_;
};

/// Takes out the points that --benchmark_filter leaves out.
void filter_points(std::vector<Experiment>& experiments, const BenchmarkFlags& flags) {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments) {
    for (const Point& point : experiment.points) names.push_back(point.name());
  }
  const std::vector<std::string> left = filtered(names, flags);
  const std::set<std::string> kept(left.begin(), left.end());
  for (Experiment& experiment : experiments) {
    std::erase_if(experiment.points,
                  [&](const Point& point) { return !kept.contains(point.name()); });
  }
}

void print_names(const std::vector<Experiment>& experiments) {
  for (const Experiment& experiment : experiments) {
    for (const Point& point : experiment.points) std::printf("%s\n", point.name().c_str());
  }
}

/// Says what would run, and writes nothing.
void print_plan(std::vector<Experiment>& experiments, const RunOptions& options,
                const BenchmarkFlags& flags) {
  filter_points(experiments, flags);
  std::optional<Device> device;
  std::optional<Records> records;
  if (options.resume) {
    device = query_device();
    records.emplace(std::filesystem::path(options.out) / device->slug);
  }
  const auto has_record = [&](const Experiment& experiment, const Point& point) {
    return records &&
           is_finished(records->find(point, record_key(point, experiment.config.measure, *device)));
  };
  if (!flags.list_tests) {
    print_dry_run(experiments, has_record);
    const std::vector<Group> groups = group_points(experiments);
    std::vector<Pending> pending;
    for (const Group& group : groups) {
      Pending of_group{&group, {}};
      for (const Point* point : group.points) {
        if (!has_record(*group.experiment, *point)) of_group.points.push_back(point);
      }
      if (!of_group.points.empty()) pending.push_back(std::move(of_group));
    }
    try {
      check_executor_time(pending, options);
    } catch (const UserError& refusal) {
      std::fprintf(stderr, "warpath: the run would be refused: %s\n", refusal.what());
    }
    return;
  }
  for (Experiment& experiment : experiments) {
    std::erase_if(experiment.points,
                  [&](const Point& point) { return has_record(experiment, point); });
  }
  print_names(experiments);
}

}  // namespace

int run_campaign(const RunOptions& options, const std::vector<Technique>& techniques) {
  std::vector<Experiment> experiments = read_experiments(options, techniques);
  const BenchmarkFlags flags =
      read_benchmark_flags(options.benchmark_flags, "run", /*only_names=*/false);
  if (options.dry_run || flags.list_tests) {
    print_plan(experiments, options, flags);
    return exit_good;
  }
  const Device device = query_device();
  catch_interrupts();
  return Campaign(options, experiments, device).run();
}

int verify_campaign(const RunOptions& options, const std::vector<Technique>& techniques) {
  std::vector<Experiment> experiments = read_experiments(options, techniques);
  const BenchmarkFlags flags =
      read_benchmark_flags(options.benchmark_flags, "verify", /*only_names=*/true);
  filter_points(experiments, flags);
  if (flags.list_tests) {
    print_names(experiments);
    return exit_good;
  }
  const Device device = query_device();
  GpuClock clock(device.l2_bytes, device.pci_bus);
  catch_interrupts();
  const std::vector<Group> groups = group_points(experiments);
  std::vector<Pending> pending;
  pending.reserve(groups.size());
  for (const Group& group : groups) pending.push_back({&group, group.points});
  check_executor_time(pending, options);
  std::size_t total = 0;
  for (const Experiment& experiment : experiments) total += experiment.points.size();
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
  std::size_t unfit = 0;
  {
    Progress progress(total);
    for (const Group& group : groups) {
      if (interrupted()) break;
      progress.begins(group.points.front()->name());
      GroupRun run(group.points, group.experiment->config.measure, /*timed=*/false, clock,
                   order_seed, [&](const Point& point, const PointResult& result) {
                     if (!result.error.empty()) {
                       ++failed;
                       progress.message(coloured("FAILED", Colour::red, stderr) + " " +
                                        point.name() + "\n       " + result.error);
                     } else {
                       ++(result.verified == Verified::passed ? passed : skipped);
                       if (result.skipped.starts_with(does_not_fit)) ++unfit;
                     }
                     progress.ended();
                   });
      run.run();
      if (run.device_lost()) {
        progress.message("the device refuses this process further work: nothing more is verified");
        break;
      }
    }
  }
  std::printf("%zu of %zu points are right, %zu failed, %zu cannot run here\n", passed, total,
              failed, skipped);
  const std::size_t left = total - passed - failed - skipped;
  if (left > 0) std::printf("%zu were not verified\n", left);
  if (left > 0 && interrupted()) return interrupt_exit_code();
  // As in has_failed().
  const bool is_unfit = unfit > 0 && (unfit == total || !options.overrides.empty());
  return failed == 0 && !is_unfit ? exit_good : exit_failed_points;
}

}  // namespace warpath::harness
