// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes whose GPUs are of several types, or cut in instances of several sizes; MPS.
#include "steer/world.h"

#include <gtest/gtest.h>

#include "steer/occupancy.h"
#include "steer/record.h"

namespace almanac::steer {
namespace {

manager::Job job(std::uint32_t number, const std::string& type, int gpus) {
  return {.number = manager::JobNumber{number},
          .partition = "p",
          .state = manager::State::running,
          .gpus = gpus,
          .gpu_type = type,
          .cpus = 6};
}

/// "cut" has four instances of one size and one of another, "whole" two GPUs with 100 of MPS each.
Mirror site() {
  Mirror mirror;
  manager::News news{.at = Time{1s}, .whole = true};
  news.nodes = {{.name = "cut",
                 .gpu_type = "1g.10gb|3g.40gb",
                 .gpus = 5,
                 .types = {{"1g.10gb", 4}, {"3g.40gb", 1}},
                 .cpus = 48,
                 .memory_gb = 100,
                 .partitions = {"p"}},
                {.name = "whole",
                 .gpu_type = "v100",
                 .gpus = 2,
                 .mps = 200,
                 .cpus = 48,
                 .memory_gb = 100,
                 .partitions = {"p"}}};
  news.partitions = {{{.name = "p", .nodes = {"cut", "whole"}}}};
  mirror.take(news);
  return mirror;
}

TEST(World, TakesANodeOfSeveralTypesForOneOfEach) {
  const auto world = make_world(site(), Grouping::all);
  ASSERT_EQ(world->cluster.nodes.size(), 3U);
  EXPECT_EQ(world->parts("cut"), (std::vector<NodeId>{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(world->parts("whole"), (std::vector<NodeId>{NodeId{2}}));
  EXPECT_EQ(world->cluster.gpus(NodeId{0}), 4);
  EXPECT_EQ(world->cluster.gpus(NodeId{1}), 1);
  EXPECT_EQ(world->cluster.gpu_types(), (std::vector<std::string>{"1g.10gb", "3g.40gb", "v100"}));
  for (const std::uint32_t part : {0U, 1U}) {
    EXPECT_EQ(world->cluster.node_label(NodeId{part}), "cut");
    EXPECT_EQ(world->cluster.classes[world->cluster.nodes[part].node_class].cpus, 48);
  }
  EXPECT_EQ(world->part_for(job(1, "3g.40gb", 1), "cut"), NodeId{1});
  EXPECT_EQ(world->part_for(job(1, "", 1), "cut"), NodeId{0}) << "of which it has most";
  EXPECT_EQ(world->part_for(job(1, "v100", 1), "cut"), kNoNode);
}

TEST(World, NumbersTiersByPartitionThenByQos) {
  Mirror mirror = site();
  manager::News news{.at = Time{2s}};
  news.partitions = {{{.name = "p", .nodes = {"cut", "whole"}},
                      {.name = "urgent", .nodes = {"cut", "whole"}, .priority_tier = 10},
                      {.name = "idle", .nodes = {"cut", "whole"}, .priority_tier = 0}}};
  news.limits = manager::Limits{.qos_priorities = {{"high", 1000}, {"mid", 50}}};
  const std::uint64_t before = mirror.hardware();
  mirror.take(news);
  EXPECT_GT(mirror.hardware(), before) << "another world";
  const auto world = make_world(mirror, Grouping::all);
  const auto tier = [&](const std::string& partition, const std::string& qos) {
    return world->tier({.partition = partition, .qos = qos});
  };
  EXPECT_EQ(tier("p", "normal"), 0);
  EXPECT_EQ(tier("p", "mid"), 1);
  EXPECT_EQ(tier("p", "high"), 2);
  EXPECT_EQ(tier("urgent", "normal"), 3) << "a partition goes before any QOS";
  EXPECT_EQ(tier("urgent", "high"), 5);
  EXPECT_EQ(tier("idle", "normal"), -3);
  EXPECT_EQ(tier("idle,urgent", "normal"), 3) << "the highest";

  Names names;
  manager::Job high = job(1, "", 1);
  high.qos = "high";
  EXPECT_EQ(to_request(high, *world, names).priority_tier, 2);
  mirror.take({.at = Time{3s}, .limits = manager::Limits{}});
  EXPECT_EQ(make_world(mirror, Grouping::all)->tier(high), 0);
}

TEST(Record, SaysYesOnlyIfTheUserMust) {
  manager::Job may = job(1, "", 1);
  may.requeueable = true;
  const manager::Job may_not = job(2, "", 1);
  Names names;
  const auto by_default = make_world(site(), Grouping::all);
  EXPECT_EQ(to_request(may, *by_default, names).requeue, trace::Requeue::unsaid);
  EXPECT_EQ(to_request(may_not, *by_default, names).requeue, trace::Requeue::no);
  const auto on_request = make_world(site(), Grouping::all, false);
  EXPECT_EQ(to_request(may, *on_request, names).requeue, trace::Requeue::yes);
  EXPECT_EQ(to_stored(may, *on_request).asked->requeue, trace::Requeue::yes);
  EXPECT_EQ(to_request(may_not, *on_request, names).requeue, trace::Requeue::no);
}

TEST(Occupancy, HoldsGpusOfItsTypeAndCoresBesideAllTypes) {
  const auto world = make_world(site(), Grouping::all);
  manager::Job two = job(1, "1g.10gb", 2);
  two.holds = {{.node = "cut", .gpus = 0b10010, .gpu_count = 2, .cpus = 6, .memory_gb = 10}};
  manager::Job large = job(2, "3g.40gb", 1);
  large.holds = {{.node = "cut", .gpu_count = 1, .cpus = 6, .memory_gb = 10}};
  const auto held = count_out(*world, {&two, &large});
  ASSERT_EQ(held[0].held.size(), 2U);
  EXPECT_EQ(held[0].held[0].node, NodeId{0});
  EXPECT_EQ(held[0].held[0].gpus, 0b0011U) << "which of them are alike";
  EXPECT_EQ(held[0].held[1].gpus, 0U);
  EXPECT_EQ(held[0].held[1].cpu_milli, 6000);
  ASSERT_EQ(held[1].held.size(), 2U);
  EXPECT_EQ(held[1].held[0].gpus, 0U);
  EXPECT_EQ(held[1].held[1].gpus, 0b1U);
}

TEST(Record, TakesMpsForAPartOfAGpu) {
  const auto world = make_world(site(), Grouping::all);
  manager::Job asks = job(1, "", 0);
  asks.mps = 25;
  Names names;
  const trace::Request request = to_request(asks, *world, names);
  EXPECT_EQ(request.gpus, 1);
  // Seven GPUs, instances too, but only the two with MPS count.
  EXPECT_FLOAT_EQ(request.gpu_share, 0.25F);
  asks.holds = {{.node = "whole", .gpus = 0b10, .mps = 25, .cpus = 6, .memory_gb = 10}};
  const auto held = count_out(*world, {&asks});
  ASSERT_EQ(held[0].held.size(), 1U);
  EXPECT_EQ(held[0].held[0].gpu_milli, 250);
  EXPECT_EQ(held[0].held[0].gpus, 0b10U);
}

}  // namespace
}  // namespace almanac::steer
