// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/deal_out.h"

#include <algorithm>
#include <array>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/cluster.h"
#include "policy/kit/size_choices.h"

namespace almanac::policy {
namespace {

/// The proportional share is 4 cores: nodes of 2 GPUs and 8 cores.
const JobChoices kHungry{
    .all = {{4'000, 0, 1}, {6'000, 0, 1.5}, {8'000, 0, 2}}, .least = 0, .best = 2};
const JobChoices kModest{.all = {{2'000, 0, 1}}, .least = 0, .best = 0};

class PackingTest : public testing::Test {
 protected:
  static cluster::Cluster nodes(int count) {
    cluster::Cluster made;
    made.add_vc("all");
    made.add_nodes({.gpus = 2, .cpus = 8}, static_cast<std::uint32_t>(count));
    return made;
  }
  void add(const JobChoices& choices, int gpus = 1, std::span<const cluster::Grant> held = {}) {
    jobs_.push_back({.job = JobId{static_cast<std::uint32_t>(jobs_.size())},
                     .gpus = gpus,
                     .choices = &choices,
                     .wish = choices.best,
                     .held = held});
  }
  void pack_on(int count) {
    cluster_ = nodes(count);
    ledger_.emplace(cluster_);
    pack(jobs_, VcId{0}, *ledger_);
  }
  std::size_t node(std::size_t job) const { return index(jobs_[job].grants.at(0).node); }
  int cpu_milli(std::size_t job) const { return jobs_[job].grants.at(0).cpu_milli; }

  cluster::Cluster cluster_;
  std::optional<cluster::Ledger> ledger_;
  std::vector<PackedJob> jobs_;
};

constexpr std::array kOnFirst{cluster::Grant{.node = NodeId{0}, .gpus = 1},
                              cluster::Grant{.node = NodeId{0}, .gpus = 2}};
constexpr std::array kOnSecond{cluster::Grant{.node = NodeId{1}, .gpus = 1},
                               cluster::Grant{.node = NodeId{1}, .gpus = 2}};

TEST_F(PackingTest, NewHungryJobsGoApart) {
  add(kHungry);
  add(kHungry);
  pack_on(2);
  EXPECT_NE(node(0), node(1));
  EXPECT_EQ(cpu_milli(0), 8'000);
  EXPECT_EQ(cpu_milli(1), 8'000);
}

TEST_F(PackingTest, WhereCoresDoNotMatterTheFullestNodeTakesTheNext) {
  add(kModest);
  add(kModest);
  add(kModest);
  pack_on(3);
  EXPECT_EQ(node(0), node(1));
  EXPECT_NE(node(0), node(2));
}

TEST_F(PackingTest, WhoRunsStaysWhereNothingIsToBeHad) {
  add(kModest, 1, {kOnFirst.data(), 1});
  add(kModest, 1, {kOnSecond.data() + 1, 1});
  pack_on(2);
  EXPECT_EQ(jobs_[0].grants.at(0).gpus, 1U);
  EXPECT_EQ(jobs_[0].grants.at(0).node, NodeId{0});
  EXPECT_EQ(jobs_[1].grants.at(0).gpus, 2U);
  EXPECT_EQ(jobs_[1].grants.at(0).node, NodeId{1});
}

TEST_F(PackingTest, AHungryJobChangesPlacesWithAModestOne) {
  add(kHungry, 1, {kOnFirst.data(), 1});
  add(kHungry, 1, {kOnFirst.data() + 1, 1});
  add(kModest, 1, {kOnSecond.data(), 1});
  add(kModest, 1, {kOnSecond.data() + 1, 1});
  pack_on(2);
  EXPECT_NE(node(0), node(1));
  EXPECT_NE(node(2), node(3));
  EXPECT_EQ(cpu_milli(0), 6'000);
  EXPECT_EQ(cpu_milli(1), 6'000);
}

TEST_F(PackingTest, AJobThatNoNodeHoldsIsSpreadAndGetsTheSameForEachGpu) {
  add(kModest);
  add(kHungry, 3);
  pack_on(2);
  ASSERT_EQ(jobs_[1].grants.size(), 2U);
  for (const cluster::Grant& grant : jobs_[1].grants) {
    EXPECT_EQ(grant.cpu_milli % grant.count(), 0);
    EXPECT_EQ(grant.cpu_milli / grant.count(), 4'000);
  }
}

TEST_F(PackingTest, WhoFindsNoGpuGetsNothing) {
  for (int job = 0; job < 3; ++job) add(kModest);
  pack_on(1);
  EXPECT_FALSE(jobs_[0].grants.empty());
  EXPECT_FALSE(jobs_[1].grants.empty());
  EXPECT_TRUE(jobs_[2].grants.empty());
}

RC_GTEST_FIXTURE_PROP(PackingTest, EveryJobThatFitsByGpusRunsAtItsShareAtLeast, ()) {
  const int count = *rc::gen::inRange(1, 6);
  int left = 2 * count;
  while (left > 0) {
    const int gpus = *rc::gen::inRange(1, std::min(left, 5) + 1);
    add(*rc::gen::arbitrary<bool>() ? kHungry : kModest, gpus);
    left -= gpus;
  }
  pack_on(count);  // the ledger sees to it that no job takes what is not there
  for (const PackedJob& job : jobs_) {
    int gpus = 0;
    for (const cluster::Grant& grant : job.grants) {
      gpus += grant.count();
      RC_ASSERT(grant.cpu_milli >= job.choices->all[job.choices->least].cpu_milli * grant.count());
      RC_ASSERT(grant.cpu_milli * job.grants[0].count() ==
                job.grants[0].cpu_milli * grant.count());  // each GPU as much
    }
    RC_ASSERT(gpus == job.gpus);
  }
}

}  // namespace
}  // namespace almanac::policy
