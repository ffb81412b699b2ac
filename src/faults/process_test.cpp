// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "faults/job_faults.h"
#include "faults/lemon_test.h"
#include "faults/node_faults.h"

namespace almanac::faults {
namespace {

cluster::Cluster nodes(std::uint32_t count) {
  cluster::Cluster made;
  made.classes.push_back({.gpus = 8});
  made.vcs.push_back({.name = "all", .num_nodes = count});
  made.nodes.resize(count);
  return made;
}

Model ten_a_thousand_days() {
  Model model;
  model.causes.push_back({.name = "node", .unit = Unit::node, .per_day = 0.01});
  return model;
}

std::vector<NodeFaults::Fault> until(NodeFaults& faults, Time end) {
  std::vector<NodeFaults::Fault> all;
  while (faults.next_at() < end) all.push_back(faults.take());
  return all;
}

constexpr Time kBegin{};

TEST(NodeFaults, ComeAtTheirRateInOrderOfTime) {
  const cluster::Cluster cluster = nodes(1000);
  const Model model = ten_a_thousand_days();
  NodeFaults faults(model, cluster, 1, kBegin);
  const auto all = until(faults, kBegin + 100 * 24h);
  EXPECT_NEAR(static_cast<double>(all.size()), 1000, 4 * std::sqrt(1000));
  for (std::size_t at = 1; at < all.size(); ++at) EXPECT_LE(all[at - 1].at, all[at].at);
}

TEST(NodeFaults, OfANodeDoNotDependOnTheOtherNodes) {
  const Model model = ten_a_thousand_days();
  const cluster::Cluster few = nodes(1);
  const cluster::Cluster many = nodes(50);
  NodeFaults alone(model, few, 7, kBegin);
  NodeFaults among(model, many, 7, kBegin);
  std::vector<Time> first;
  for (const auto& each : until(alone, kBegin + 1000 * 24h)) first.push_back(each.at);
  std::vector<Time> second;
  for (const auto& each : until(among, kBegin + 1000 * 24h)) {
    if (each.node == NodeId{0}) second.push_back(each.at);
  }
  EXPECT_EQ(first, second);
}

TEST(NodeFaults, LemonsKeepTheMeanOfTheFleet) {
  const cluster::Cluster cluster = nodes(5000);
  Model model = ten_a_thousand_days();
  model.lemons = {.share = 0.02, .factor = 50};
  NodeFaults faults(model, cluster, 3, kBegin);
  EXPECT_NEAR(faults.lemons(), 100, 4 * std::sqrt(100));
  double of_lemons = 0;
  const auto all = until(faults, kBegin + 100 * 24h);
  for (const auto& each : all) of_lemons += faults.is_lemon(each.node) ? 1 : 0;
  const double share = of_lemons / static_cast<double>(all.size());
  const double lemons = faults.lemons() * 50.0;
  EXPECT_NEAR(share, lemons / (lemons + 5000 - faults.lemons()), 0.03);
}

TEST(NodeFaults, NoticesComeBeforeTheFailure) {
  const cluster::Cluster cluster = nodes(100);
  Model model = ten_a_thousand_days();
  model.causes[0].notice = 10min;
  NodeFaults faults(model, cluster, 3, kBegin);
  const auto all = until(faults, kBegin + 100 * 24h);
  std::vector<Time> announced(100, kNoTime);
  for (const auto& each : all) {
    if (each.is_notice) {
      EXPECT_LE(each.fails_at - each.at, 10min);
      announced[index(each.node)] = each.fails_at;
    } else {
      EXPECT_EQ(each.at, announced[index(each.node)]);
    }
  }
}

TEST(NodeFaults, RepairsHaveTheirMedianAndTail) {
  const cluster::Cluster cluster = nodes(1000);
  Model model = ten_a_thousand_days();
  model.causes[0].repair = 10h;
  model.causes[0].spread = 2;
  NodeFaults faults(model, cluster, 3, kBegin);
  double below = 0;
  const auto all = until(faults, kBegin + 400 * 24h);
  for (const auto& each : all) below += each.repair < 10h ? 1 : 0;
  EXPECT_NEAR(below / static_cast<double>(all.size()), 0.5, 0.03);
}

TEST(JobFaults, ComeInTimeOnGpusAtTheirRate) {
  Model model;
  model.causes.push_back({.name = "hang", .unit = Unit::software, .per_day = 0.01});
  model.causes.push_back({.name = "typo", .unit = Unit::user, .per_day = 0.02});
  JobFaults faults(model, 1, 1000);
  int software = 0;
  int all = 0;
  for (std::uint32_t job = 0; job < 1000; ++job) {
    for (auto at = faults.next(JobId{job}, 8, Duration{0}); *at < 10 * 24h;
         at = faults.next(JobId{job}, 8, *at)) {
      ++all;
      software += faults.take(JobId{job}, 8) == 0 ? 1 : 0;
    }
  }
  EXPECT_NEAR(all, 1000, 4 * std::sqrt(1000));  // 8 x 0.01 + 0.02 a day, for 10 days
  EXPECT_NEAR(software, 800, 4 * std::sqrt(1000));
}

TEST(LemonTest, FindsALemonWithinThreeFailures) {
  // Among 2,000 nodes that fail once in 100 days, 24 fail 100 times as often.
  const cluster::Cluster cluster = nodes(2000);
  Model model = ten_a_thousand_days();
  model.lemons = {.share = 0.012, .factor = 100};
  int lemons = 0;
  int late = 0;
  int ordinary = 0;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    NodeFaults faults(model, cluster, seed, kBegin);
    std::vector<int> failures(2000);
    std::vector<int> found(2000);
    for (const auto& each : until(faults, kBegin + 330 * 24h)) {
      const auto node = index(each.node);
      ++failures[node];
      const bool named = is_lemon(failures[node], each.at - kBegin, model.node_per_day(8));
      if (named && found[node] == 0) found[node] = failures[node];
    }
    for (std::uint32_t node = 0; node < 2000; ++node) {
      const bool is_one = faults.is_lemon(NodeId{node});
      lemons += is_one ? 1 : 0;
      late += is_one && (found[node] == 0 || found[node] > 3) ? 1 : 0;
      ordinary += is_one ? 0 : 1;
      wrong += !is_one && found[node] > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(lemons, 150);
  EXPECT_EQ(late, 0);
  EXPECT_LE(wrong, 0.01 * ordinary);
}

}  // namespace
}  // namespace almanac::faults
