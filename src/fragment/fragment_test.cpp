// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "fragment/curve.h"
#include "fragment/fill.h"
#include "fragment/mix.h"
#include "fragment/rule.h"

namespace almanac::fragment {
namespace {

Node node_of(std::int64_t cores, std::initializer_list<std::int16_t> free) {
  Node node{.cpu_milli = cores * 1000, .memory_mib = 1 << 20, .model = 1};
  for (const std::int16_t milli : free) {
    node.free_milli[static_cast<std::size_t>(node.gpus++)] = milli;
  }
  return node;
}

Request part_of(int milli, std::int64_t cores = 1) { return {cores * 1000, 0, 1, milli}; }
Request whole(int gpus, std::int64_t cores = 1) { return {cores * 1000, 0, gpus, kWhole}; }

TEST(Mix, CountsWhatEachKindCannotUse) {
  const Mix mix({{part_of(300), 0.5}, {whole(1), 0.25}, {{1000, 0, 0, 0}, 0.25}});
  // Of 200, 500 and 1000 free the first kind cannot use 200, the second 700, the third all 1700.
  EXPECT_DOUBLE_EQ(mix.unusable(node_of(8, {200, 500, 1000})),
                   0.5 * 200 + 0.25 * 700 + 0.25 * 1700);
  // Without cores nothing is of use.
  EXPECT_DOUBLE_EQ(mix.unusable(node_of(0, {200, 500, 1000})), 1700);
  EXPECT_DOUBLE_EQ(mix.unusable(node_of(8, {0, 0})), 0);
}

TEST(Mix, CountsAllOfANodeOfAnotherModel) {
  Request other = part_of(300);
  other.models = 2;
  EXPECT_DOUBLE_EQ(Mix({{other, 1}}).unusable(node_of(8, {1000})), 1000);
}

TEST(Mix, TakesTheMostFrequentKinds) {
  std::vector<Pod> pods(90, {part_of(500), ""});
  pods.insert(pods.end(), 6, {whole(1), ""});
  pods.insert(pods.end(), 4, {whole(2), ""});
  const Mix mix = Mix::of(pods, 0.95);
  ASSERT_EQ(mix.kinds().size(), 2);
  EXPECT_EQ(mix.kinds()[0].request, part_of(500));
  EXPECT_DOUBLE_EQ(mix.kinds()[0].frequency, 90. / 96);
  EXPECT_DOUBLE_EQ(mix.kinds()[1].frequency, 6. / 96);
}

std::int32_t score(const char* rule, const Node& node, const Request& request) {
  const Mix mix;
  return find_rule(rule)->make(mix)->choose(node, request, 0).score;
}

TEST(Rules, ScoreAsPublished) {
  const Node idle = node_of(64, {1000, 1000});
  EXPECT_EQ(score("DotProd", idle, whole(2, 32)), 90);  // 100 (1 - (1/2 1/4 + 1/4 1/4) / 2)
  EXPECT_EQ(score("BestFit", idle, whole(1, 32)), 81);  // 100 (1 - (32/128 + 1/8) / 2)
  EXPECT_EQ(score("GpuPacking", idle, part_of(500)), 31);
  EXPECT_EQ(score("GpuPacking", node_of(64, {1000, 400}), part_of(300)), 96);
  EXPECT_EQ(score("GpuPacking", node_of(64, {1000, 400}), part_of(500)), 49);
  EXPECT_EQ(score("GpuClustering", idle, part_of(500)), 18 + 25);
  Node held = idle;
  take(held, part_of(400), 1);
  EXPECT_EQ(score("GpuClustering", held, part_of(500)), 20 + 75);
  take(held, whole(1), 2);
  EXPECT_EQ(score("GpuClustering", held, part_of(500)), 23 + 50);
}

TEST(Rules, TheGradientFillsAnOpenGpu) {
  const Mix mix({{part_of(500), 0.5}, {whole(1), 0.5}});
  for (const char* name : {"FGD", "fgd_exact"}) {
    const auto rule = find_rule(name)->make(mix);
    const Node node = node_of(8, {1000, 500, 1000});
    EXPECT_EQ(rule->choose(node, part_of(500), mix.unusable(node)).gpus, 2U) << name;
  }
}

/// The cluster without memory: every node is looked at for every pod.
struct SlowFill {
  std::vector<Node> nodes;
  std::vector<std::int32_t> ranks;
  const Mix* mix;
  const Rule* rule;

  std::optional<Fill::Place> place(const Request& request) {
    std::optional<std::size_t> best;
    Choice chosen;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      if (!fits(nodes[at], request)) continue;
      const Choice choice = rule->choose(nodes[at], request, mix->unusable(nodes[at]));
      if (best && (choice.score < chosen.score ||
                   (choice.score == chosen.score && ranks[at] > ranks[*best]))) {
        continue;
      }
      best = at;
      chosen = choice;
    }
    if (!best) return std::nullopt;
    take(nodes[*best], request, chosen.gpus);
    return Fill::Place{*best, chosen.gpus};
  }
};

TEST(Fill, RemembersWhatItWouldFindAnew) {
  Rng rng(1);
  const std::vector<Request> kinds{
      part_of(250, 2), part_of(700, 1), whole(1, 4), whole(2, 2), {8000, 0, 0, 0}};
  Mix mix({{kinds[0], 0.4}, {kinds[1], 0.2}, {kinds[2], 0.2}, {kinds[3], 0.1}, {kinds[4], 0.1}});
  for (const RuleEntry& entry : rules()) {
    const auto rule = entry.make(mix);
    if (rule->draws()) continue;
    SlowFill slow{{}, {}, &mix, rule.get()};
    for (int node = 0; node < 12; ++node) {
      slow.nodes.push_back(rng.below(2) == 0 ? node_of(16, {1000, 1000, 1000, 1000})
                                             : node_of(32, {1000, 1000}));
      slow.ranks.push_back(11 - node);
    }
    Fill fast(slow.nodes, slow.ranks, mix, *rule);
    for (int pod = 0; pod < 120; ++pod) {
      const Request& request = kinds[rng.below(kinds.size())];
      const auto ours = fast.place(request);
      const auto theirs = slow.place(request);
      ASSERT_EQ(ours.has_value(), theirs.has_value()) << entry.name << " pod " << pod;
      if (!ours) continue;
      ASSERT_EQ(ours->node, theirs->node) << entry.name << " pod " << pod;
      ASSERT_EQ(ours->gpus, theirs->gpus) << entry.name << " pod " << pod;
    }
    double unusable = 0;
    for (const Node& node : slow.nodes) unusable += mix.unusable(node);
    EXPECT_EQ(fast.unusable(), unusable) << entry.name;
  }
}

TEST(Curve, TakesThePointsBesideWhereNothingArrived) {
  CurveSampler sampler(10);
  sampler.sample(0, 0, 0);
  sampler.sample(200, 200, 98);  // 2 %
  const Curve curve = sampler.curve();
  EXPECT_EQ(curve.allocated[0], 0);
  EXPECT_EQ(curve.allocated[1], 1);
  EXPECT_EQ(curve.allocated[2], 2);
  EXPECT_DOUBLE_EQ(curve.fragments[2], 0.98);
  EXPECT_DOUBLE_EQ(curve.of_the_idle[2], 1);
  EXPECT_TRUE(std::isnan(curve.allocated[130]));
}

}  // namespace
}  // namespace almanac::fragment
