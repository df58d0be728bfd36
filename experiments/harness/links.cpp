#include "harness/links.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace warpath::harness {
namespace {

/// What cannot be is null.
Json rate_or_null(const std::optional<double>& rate) {
  return rate ? Json(*rate) : Json(nullptr);
}

Json rates_json(const LinkRates& rates) {
  return {{"copy_gb_per_s", rates.copy},
          {"pull_gb_per_s", rate_or_null(rates.pull)},
          {"push_gb_per_s", rate_or_null(rates.push)}};
}

std::string rate_cell(const std::optional<double>& rate) {
  std::array<char, 32> text{};
  if (rate) {
    std::snprintf(text.data(), text.size(), "%10.1f", *rate);
  } else {
    std::snprintf(text.data(), text.size(), "%10s", "-");
  }
  return text.data();
}

std::string rate_cells(const LinkRates& rates) {
  return rate_cell(rates.copy) + rate_cell(rates.pull) + rate_cell(rates.push);
}

/// A line's name, as wide as the first column.
std::string line_name(const std::string& text) {
  std::array<char, 64> padded{};
  std::snprintf(padded.data(), padded.size(), "  %-20s", text.c_str());
  return padded.data();
}

}  // namespace

Json to_json(const Links& links) {
  if (!links.not_measured.empty()) return {{"not_measured", links.not_measured}};
  Json host = Json::array();
  for (const HostLink& link : links.host) {
    host.push_back({{"gpu", link.gpu},
                    {"to_gpu_gb_per_s", link.to_gpu},
                    {"from_gpu_gb_per_s", link.from_gpu},
                    {"both_ways_gb_per_s", link.both_ways}});
  }
  Json pairs = Json::array();
  for (const PairLink& link : links.pairs) {
    pairs.push_back({{"from", link.from},
                     {"to", link.to},
                     {"one_way", rates_json(link.one_way)},
                     {"both_ways", rates_json(link.both_ways)}});
  }
  Json all_to_all = Json::array();
  for (const AllToAll& all : links.all_to_all) {
    all_to_all.push_back({{"gpus", all.gpus}, {"each_way", rates_json(all.rates)}});
  }
  return {{"bytes", links.bytes}, {"host", host}, {"pairs", pairs}, {"all_to_all", all_to_all}};
}

std::string links_text(const Links& links) {
  if (!links.not_measured.empty()) return "links: not measured: " + links.not_measured + "\n";
  std::string text = "links between host and GPU, GB/s each way, pinned memory\n" + line_name("") +
                     "    to GPU  from GPU both ways\n";
  for (const HostLink& link : links.host) {
    text += line_name("host and GPU " + std::to_string(link.gpu)) + rate_cell(link.to_gpu) +
            rate_cell(link.from_gpu) + rate_cell(link.both_ways) + "\n";
  }
  if (links.pairs.empty()) return text + "links between GPUs: there is one GPU\n";
  const std::string columns = "      copy      pull      push";
  text += "links between GPUs, GB/s out of each, by copy engine, or kernels that pull or push\n" +
          line_name("") + columns + " | both ways:" + columns + "\n";
  const std::string both_ways = " |           ";
  for (const PairLink& link : links.pairs) {
    text += line_name("GPU " + std::to_string(link.from) + " to " + std::to_string(link.to)) +
            rate_cells(link.one_way) + both_ways + rate_cells(link.both_ways) +
            (link.one_way.push ? "\n" : "  no peer access: by way of the host\n");
  }
  for (const AllToAll& all : links.all_to_all) {
    text += line_name("all to all, " + std::to_string(all.gpus) + " GPUs") +
            std::string(columns.size(), ' ') + both_ways + rate_cells(all.rates) + "\n";
  }
  return text;
}

}  // namespace warpath::harness
