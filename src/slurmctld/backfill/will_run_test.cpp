// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/will_run.h"

#include <gtest/gtest.h>

#include "slurmctld/backfill/known_fits.h"
#include "slurmctld/backfill/node_space.h"
#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

/// Returns the start; nothing if there is none.
std::optional<Seconds> predict(Machines& machines, const std::string& options,
                               const std::vector<RunningJob>& running, Seconds now) {
  const Submission job = machines.parse(options);
  FutureFits fits;
  const auto planned =
      will_run(machines.room,
               {.request = job.request, .partition = machines.rules, .candidates = machines.all},
               fits, running, now, {});
  return planned ? std::optional(planned->start) : std::nullopt;
}

TEST(WillRun, StartsNowIfItFits) {
  Machines machines;
  EXPECT_EQ(predict(machines, "-N8", {}, 1000), 1000);
}

TEST(WillRun, PlansForTheLastEndOfAWindow) {
  Machines machines;
  machines.start("-n32 -w n05");
  machines.start("-n32 -w n06");
  machines.start("-n32 -w n07");
  // The first end is rounded up to 1140; the window reaches 30 s beyond.
  const std::vector<RunningJob> running{{1, 1115, &machines.running[0]},
                                        {2, 1150, &machines.running[1]},
                                        {3, 1400, &machines.running[2]}};
  EXPECT_EQ(predict(machines, "-N6 -n6", running, 1000), 1150);
  EXPECT_EQ(predict(machines, "-N8 -n8", running, 1000), 1400);
}

TEST(WillRun, GuessesTheEndOfJobsThatAreOverTheirLimits) {
  const Allocation allocation{.partition = 0};
  const RunningJob job{1, 900, &allocation, 600};
  EXPECT_EQ((WillRunSettings{.kill_wait = 30}).guess_end(job, 920), 930);
  EXPECT_EQ((WillRunSettings{.kill_wait = 30}).guess_end(job, 1000), 1001);
  EXPECT_EQ((WillRunSettings{.kill_wait = 30, .over_limits = {120}}).guess_end(job, 1000), 1050);
  EXPECT_EQ((WillRunSettings{.over_limits = {kNoSeconds}}).guess_end(job, 1000), 1600);
}

TEST(KnownFits, ForgetsAZoneOfNodesAtOnce) {
  NodeBits left(4);
  left.insert(0);
  left.insert(1);
  NodeBits middle(4);
  middle.insert(1);
  middle.insert(2);
  NodeBits right(4);
  right.insert(3);
  KnownFits known({left, middle, right}, 4);
  const std::vector<RunningJob> none;
  const Allocation allocation{.shares = {{.node = 0}, {.node = 3}}};
  const std::vector<RunningJob> one{{1, 100, &allocation}};
  const FitAsk asks_left{.partition = 0, .candidates = left};
  const FitAsk asks_right{.partition = 2, .candidates = right};
  EXPECT_EQ(known.of(asks_left).holder(0, left, none), nullptr);
  EXPECT_EQ(known.of(asks_right).holder(0, right, none), nullptr);
  // Node 2 shares a partition with node 1, and that one with node 0.
  known.forget(2);
  EXPECT_NE(known.of(asks_left).holder(0, left, one), nullptr);
  EXPECT_EQ(known.of(asks_right).holder(0, right, one), nullptr) << "an answer that was kept";
}

TEST(WillRun, FindsNoStartForAJobThatNeverFits) {
  Machines machines;
  EXPECT_FALSE(predict(machines, "-n1 --mem=900000", {}, 1000));
}

TEST(NodeSpace, FindsALaterStartBehindPromisesOfAllNodes) {
  NodeSpace space(0, 1000, NodeBits(2, true));
  const NodeBits both(2, true);
  space.promise(both, 100, 200);
  NodeBits nodes(2, true);
  EXPECT_EQ(space.narrow(nodes, 50, 600), 200);
  EXPECT_TRUE(nodes.empty());
}

TEST(NodeSpace, KeepsPromisesFromLaterJobs) {
  NodeSpace space(0, 1000, NodeBits(2, true));
  NodeBits first(2);
  first.insert(0);
  space.promise(first, 100, 200);
  NodeBits free(2, true);
  EXPECT_EQ(space.narrow(free, 0, 150), 200);
  EXPECT_FALSE(free.contains(0));
  EXPECT_TRUE(free.contains(1));
  EXPECT_TRUE(space.is_promised(first, 150, 160));
  EXPECT_FALSE(space.is_promised(first, 200, 300));
}

}  // namespace
}  // namespace almanac::slurmctld
