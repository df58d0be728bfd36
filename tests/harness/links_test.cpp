// The links as a table and as JSON, from given rates: what is measured, a GPU alone can tell.
#include "harness/links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/device.hpp"

namespace warpath::harness {
namespace {

/// Two GPUs, of which only the first can access the other's memory.
Links some_links() {
  Links links;
  links.bytes = 1 << 28;
  links.host = {{0, 55.25, 54, 40.5}, {1, 25, 26, 20}};
  links.pairs = {{0, 1, {390.04, 350, 370}, {380, 340, 360}}, {1, 0, {12.5, {}, {}}, {8, {}, {}}}};
  links.all_to_all = {{2, {381, 341, 361}}};
  return links;
}

TEST(Links, AreATable) {
  EXPECT_EQ(links_text(some_links()),
            "links between host and GPU, GB/s each way, pinned memory\n"
            "                          to GPU  from GPU both ways\n"
            "  host and GPU 0            55.2      54.0      40.5\n"
            "  host and GPU 1            25.0      26.0      20.0\n"
            "links between GPUs, GB/s out of each, by copy engine, or kernels that pull or push\n"
            "                            copy      pull      push | both ways:"
            "      copy      pull      push\n"
            "  GPU 0 to 1               390.0     350.0     370.0 |           "
            "     380.0     340.0     360.0\n"
            "  GPU 1 to 0                12.5         -         - |           "
            "       8.0         -         -  no peer access: by way of the host\n"
            "  all to all, 2 GPUs                                 |           "
            "     381.0     341.0     361.0\n");
}

TEST(Links, AreJson) {
  const Json json = to_json(some_links());
  EXPECT_EQ(json.at("bytes"), 1 << 28);
  EXPECT_EQ(json.at("host").size(), 2U);
  EXPECT_EQ(json.at("host")[0], (Json{{"gpu", 0},
                                      {"to_gpu_gb_per_s", 55.25},
                                      {"from_gpu_gb_per_s", 54.0},
                                      {"both_ways_gb_per_s", 40.5}}));
  const Json one_way = {
      {"copy_gb_per_s", 390.04}, {"pull_gb_per_s", 350.0}, {"push_gb_per_s", 370.0}};
  const Json both_ways = {
      {"copy_gb_per_s", 380.0}, {"pull_gb_per_s", 340.0}, {"push_gb_per_s", 360.0}};
  EXPECT_EQ(json.at("pairs")[0],
            (Json{{"from", 0}, {"to", 1}, {"one_way", one_way}, {"both_ways", both_ways}}));
  const Json without = {
      {"copy_gb_per_s", 12.5}, {"pull_gb_per_s", nullptr}, {"push_gb_per_s", nullptr}};
  EXPECT_EQ(json.at("pairs")[1].at("one_way"), without);
  const Json all = {{"copy_gb_per_s", 381.0}, {"pull_gb_per_s", 341.0}, {"push_gb_per_s", 361.0}};
  EXPECT_EQ(json.at("all_to_all"), (Json::array({{{"gpus", 2}, {"each_way", all}}})));
}

TEST(Links, OfOneGpuAreThoseToTheHost) {
  Links links = some_links();
  links.host.pop_back();
  links.pairs.clear();
  links.all_to_all.clear();
  const std::string text = links_text(links);
  EXPECT_THAT(text, testing::HasSubstr("host and GPU 0"));
  EXPECT_THAT(text, testing::EndsWith("links between GPUs: there is one GPU\n"));
  EXPECT_EQ(to_json(links).at("pairs"), Json::array());
}

TEST(Links, ThatWereNotMeasuredSayWhy) {
  Links links;
  links.not_measured = "some reason";
  EXPECT_EQ(links_text(links), "links: not measured: some reason\n");
  EXPECT_EQ(to_json(links), (Json{{"not_measured", "some reason"}}));
}

TEST(Links, AreMeasuredWhereTimesAre) {
  const Links links = measure_links();
  if (emulated) {
    EXPECT_EQ(links.not_measured, "the emulated backend times nothing");
    EXPECT_TRUE(links.host.empty() && links.pairs.empty() && links.all_to_all.empty());
    return;
  }
  ASSERT_EQ(links.not_measured, "");
  const std::size_t gpus = links.host.size();
  ASSERT_GE(gpus, 1U);
  EXPECT_EQ(links.pairs.size(), gpus * (gpus - 1));
  EXPECT_EQ(links.all_to_all.size(), gpus - 1);
  const auto all_there = [](const LinkRates& rates) {
    return rates.copy > 0 && rates.pull.value_or(1) > 0 && rates.push.value_or(1) > 0 &&
           rates.pull.has_value() == rates.push.has_value();
  };
  for (const HostLink& link : links.host) {
    EXPECT_TRUE(link.to_gpu > 0 && link.from_gpu > 0 && link.both_ways > 0) << link.gpu;
  }
  for (const PairLink& link : links.pairs) {
    EXPECT_TRUE(all_there(link.one_way) && all_there(link.both_ways))
        << link.from << " to " << link.to;
  }
  for (const AllToAll& all : links.all_to_all) EXPECT_TRUE(all_there(all.rates)) << all.gpus;
}

}  // namespace
}  // namespace warpath::harness
