#include "harness/archive.hpp"

#include <nlohmann/json.hpp>

#include "harness/new_process.hpp"
#include "harness/provenance.hpp"
#include "harness/row.hpp"
#include "harness/verdict.hpp"

namespace warpath::harness {

Json assemble_archive(const Config& config, const std::vector<Point>& points, const Store& store,
                      const Device& device, const RunFacts& facts) {
  std::vector<Json> rows;
  std::vector<Json> ceilings;
  Json links;
  bool complete = true;
  for (const Point& point : points) {
    const Json record = store.find(point, record_key(point, config.measure, device));
    const bool counts = !record.is_null() && (facts.is_resumed || record.at("run") == run_id());
    complete = complete && counts;
    if (!counts) continue;
    rows.push_back(record.at("row"));
    if (record.at("run") != run_id()) {
      rows.back()["run"] = record.at("run");
      rows.back()["commit"] = record.at("provenance").at("git_commit");
    }
    ceilings.push_back(record.at("ceilings"));
    if (record.contains("links")) links = record.at("links");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    refer_to(ceilings.back(), ceilings[i], rows[i]);
  }
  Json archive;
  archive["schema"] = 1;
  archive["run"] = run_id();
  archive["technique"] = config.technique->name;
  archive["experiment"] = config.experiment;
  archive["title"] = config.title;
  archive["source"] = config.source;
  archive["figure"] = config.figure;
  archive["claim"] = config.claim;
  archive["profile"] = facts.profile;
  archive["command"] = facts.command;
  archive["complete"] = complete;
  archive["measure"] = to_json(config.measure);
  archive["provenance"] = provenance(device);
  archive["ceilings"] = ceilings.empty() ? Json::object() : ceilings.back();
  if (!links.is_null()) archive["links"] = links;
  archive["rows"] = rows;
  archive["verdicts"] = judge(config, rows);
  return archive;
}

}  // namespace warpath::harness
