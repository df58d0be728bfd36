#include "harness/plan.hpp"

#include <limits>
#include <map>
#include <set>

#include "harness/error.hpp"

namespace warpath::harness {

std::vector<Experiment> read_experiments(const RunOptions& options,
                                         const std::vector<Technique>& techniques) {
  std::vector<Experiment> experiments;
  std::set<std::string> names;
  for (const std::string& file : options.configs) {
    Experiment experiment{read_config(file, techniques), {}};
    const Technique& technique = *experiment.config.technique;
    std::string name = technique.name;
    name += "/" + experiment.config.experiment;
    if (!names.insert(name).second) {
      throw UserError(std::string(file) + ": another configuration of this run is the experiment " +
                      name +
                      ", too; their results would overwrite each other. Run them one by one");
    }
    std::vector<Values> overrides;
    for (const std::string& text : options.overrides) {
      Values values = read_override(text, technique);
      for (const Values& earlier : overrides) {
        if (earlier.first == values.first) {
          throw UserError("--set " + abridged(text) + ": another --set names \"" + values.first +
                          "\", too; give all of its values to one, separated by commas");
        }
      }
      overrides.push_back(std::move(values));
    }
    const auto limit = options.force ? std::numeric_limits<std::int64_t>::max() : max_points;
    experiment.points = expand(experiment.config, options.profile, overrides, limit);
    experiments.push_back(std::move(experiment));
  }
  // Moving a configuration keeps its points valid: they refer to `techniques` only.
  return experiments;
}

std::vector<Group> group_points(const std::vector<Experiment>& experiments) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  for (const Experiment& experiment : experiments) {
    for (const Point& point : experiment.points) {
      const auto [found, added] = index.emplace(point.group(), groups.size());
      if (added) groups.push_back({&experiment, {}});
      groups[found->second].points.push_back(&point);
    }
  }
  return groups;
}

}  // namespace warpath::harness
