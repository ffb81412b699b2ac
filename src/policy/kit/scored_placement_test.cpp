// SPDX-License-Identifier: Apache-2.0

/// \file
/// Placements that score nodes: what they remember equals what they would compute from scratch, on
/// a ledger that grows, shrinks and is restored.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "policy/kit/node_images.h"
#include "policy/registry.h"
#include "rules/fragment/mix.h"

namespace almanac::policy {
namespace {

constexpr const char* kScored[] = {"balanced",    "dot_prod",   "fgd",        "gpu_clustering",
                                   "gpu_packing", "least_left", "random_node"};

cluster::Demand part_of(int milli, int cores = 1) {
  return {.gpus = 1, .cpu_milli = cores * 1000, .gpu_milli = milli};
}
cluster::Demand whole(int gpus, int cores_each = 1) {
  return {.gpus = gpus, .cpu_milli = cores_each * 1000};
}

std::shared_ptr<const fragment::Mix> mix_of(std::vector<cluster::Demand> kinds) {
  fragment::Tally tally;
  for (const cluster::Demand& demand : kinds) tally.add(pod_of(demand));
  return std::make_shared<fragment::Mix>(tally.mix(1));
}

cluster::Cluster two_nodes_of_two_gpus() {
  cluster::Cluster made;
  made.add_vc("all");
  made.add_nodes({.gpus = 2, .cpus = 64}, 2);
  return made;
}

/// The node on which `name` puts the last of `jobs`, and which of its GPUs.
cluster::Grant last_place(const char* name, const std::vector<cluster::Demand>& jobs) {
  const cluster::Cluster machines = two_nodes_of_two_gpus();
  cluster::Ledger ledger(machines);
  Host host;
  host.mix = mix_of({part_of(500), whole(1), whole(2)});
  const auto placement = registry().placements.make(Choice(name), host);
  Rng rng(1);
  std::vector<cluster::Grant> grants;
  for (const cluster::Demand& job : jobs) {
    EXPECT_TRUE(placement->place(ledger, VcId{0}, job, rng, grants)) << name;
  }
  return grants.back();
}

TEST(ScoredPlacement, GivesPartsOfGpusAsItsRuleSays) {
  for (const char* name : {"balanced", "fgd", "gpu_packing", "gpu_clustering", "least_left"}) {
    const cluster::Grant second = last_place(name, {part_of(500), part_of(500)});
    EXPECT_EQ(index(second.node), 0U) << name;
    EXPECT_EQ(second.gpus, 1U) << name;
    EXPECT_EQ(second.gpu_milli, 500) << name;
  }
  // Beside its like: the job of two GPUs goes to the other node, and so does nothing after it.
  EXPECT_EQ(index(last_place("gpu_clustering", {part_of(500), whole(1)}).node), 1U);
  EXPECT_EQ(index(last_place("gpu_clustering", {part_of(500), whole(1), whole(1)}).node), 1U);
  EXPECT_EQ(index(last_place("gpu_packing", {part_of(500), whole(1)}).node), 0U);
}

TEST(ScoredPlacement, LearnsTheMixFromWhatComes) {
  // One GPU free on a node of each size. Where all ask two, the pair is kept; where all ask one
  // with many cores, the node with the cores is.
  cluster::Cluster machines;
  machines.add_vc("all");
  machines.add_nodes({.gpus = 2, .cpus = 64}, 1);
  machines.add_nodes({.gpus = 1, .cpus = 64}, 1);
  const auto node_of_one_gpu = [&](const cluster::Demand& expected) {
    cluster::Ledger ledger(machines);
    const auto placement = registry().placements.make("fgd", {});
    for (int job = 0; job < 10; ++job) placement->expect(expected);
    Rng rng(1);
    std::vector<cluster::Grant> grants;
    EXPECT_TRUE(placement->place(ledger, VcId{0}, whole(1), rng, grants));
    return index(grants.back().node);
  };
  EXPECT_EQ(node_of_one_gpu(whole(2)), 1U);
  EXPECT_EQ(node_of_one_gpu(whole(1)), 0U);
}

TEST(ScoredPlacement, BalancedKeepsRareModelsAndCores) {
  cluster::Cluster machines;
  machines.add_vc("all");
  machines.add_nodes({.gpus = 8, .gpu_type = "T4", .cpus = 64}, 1);
  machines.add_nodes({.gpus = 8, .gpu_type = "A100", .cpus = 64}, 1);
  machines.add_nodes({.gpus = 8, .gpu_type = "A100", .cpus = 128}, 1);
  cluster::Demand of_a_t4 = whole(1, 8);
  of_a_t4.gpu_types = 1;
  Host host;
  std::vector<cluster::Demand> kinds(99, whole(1, 8));
  kinds.push_back(of_a_t4);
  host.mix = mix_of(kinds);
  const auto node_of = [&](const char* name, const cluster::Demand& demand) {
    cluster::Ledger ledger(machines);
    Rng rng(1);
    std::vector<cluster::Grant> grants;
    EXPECT_TRUE(
        registry().placements.make(name, host)->place(ledger, VcId{0}, demand, rng, grants));
    return index(grants.back().node);
  };
  // Any GPU will do: not the T4, which others ask by name. Many cores: where they are in excess.
  EXPECT_EQ(node_of("fgd", whole(1, 8)), 0U);
  EXPECT_EQ(node_of("balanced", whole(1, 8)), 1U);
  EXPECT_EQ(node_of("balanced", whole(1, 24)), 2U);
}

RC_GTEST_PROP(ScoredPlacement, RemembersWhatItWouldFindAnew, ()) {
  cluster::Cluster machines;
  machines.add_vc("all");
  machines.add_nodes({.gpus = 4, .cpus = 16}, 4);
  machines.add_nodes({.gpus = 2, .gpu_type = "V100", .cpus = 32}, 4);
  const std::vector<cluster::Demand> kinds{
      part_of(250, 2), part_of(700), whole(1, 4), whole(2, 1), {.tasks = 1, .cpu_milli = 8000}};
  Host host;
  host.mix = mix_of(kinds);
  const Choice name(
      *rc::gen::elementOf(std::vector<std::string>(std::begin(kScored), std::end(kScored))));
  const auto knowing = registry().placements.make(name, host);
  cluster::Ledger ledger(machines);
  std::vector<std::vector<cluster::Grant>> held;
  for (int step = 0; step < 60; ++step) {
    const int move = *rc::gen::inRange(0, 8);
    if (move == 0 && !held.empty()) {
      for (const cluster::Grant& grant : held.back()) ledger.give_back(grant);
      held.pop_back();
      continue;
    }
    if (move == 1) {
      ledger.commit();
      const NodeId node{static_cast<std::uint32_t>(*rc::gen::inRange(0, 8))};
      ledger.set_drained(node, !ledger.drained(node));
      continue;
    }
    const cluster::Demand& demand = *rc::gen::elementOf(kinds);
    // Its rule may go by what held a node before it looked: that one knows all.
    const bool is_clustering = name == "gpu_clustering";
    const std::size_t before = ledger.mark();
    Rng rng(static_cast<std::uint64_t>(step));
    Rng same = rng;
    std::vector<cluster::Grant> grants;
    std::vector<cluster::Grant> anew;
    const bool fits = knowing->place(ledger, VcId{0}, demand, rng, grants);
    ledger.undo(before);
    const bool fits_anew =
        registry().placements.make(name, host)->place(ledger, VcId{0}, demand, same, anew);
    RC_ASSERT(fits == fits_anew);
    if (!is_clustering) RC_ASSERT(grants == anew);
    if (!fits) continue;
    if (move == 2) {
      ledger.undo(before);
      continue;
    }
    held.push_back(anew);
  }
}

}  // namespace
}  // namespace almanac::policy
