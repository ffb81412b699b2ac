// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/will_run.h"

#include <gtest/gtest.h>

#include "slurmctld/backfill/node_space.h"
#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

/// Returns the start; nothing if there is none.
std::optional<Seconds> predict(Machines& machines, const std::string& options,
                               const std::vector<RunningJob>& running, Seconds now) {
  const Submission job = machines.parse(options);
  FutureFits fits(machines.all, running);
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

TEST(WillRun, FindsNoStartForAJobThatNeverFits) {
  Machines machines;
  EXPECT_FALSE(predict(machines, "-n1 --mem=900000", {}, 1000));
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
