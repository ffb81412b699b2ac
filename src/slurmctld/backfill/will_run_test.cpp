// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/backfill/will_run.h"

#include <gtest/gtest.h>

#include "slurmctld/backfill/known_fits.h"
#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

Ends ends_of(std::vector<RunningJob>& running) {
  Ends ends;
  for (RunningJob& each : running) ends.add(each);
  return ends;
}

/// Returns the start; nothing if there is none.
std::optional<Seconds> predict(Machines& machines, const std::string& options,
                               std::vector<RunningJob> running, Seconds now) {
  const Submission job = machines.parse(options);
  const Ends ends = ends_of(running);
  FutureFits fits;
  const auto planned =
      will_run(machines.room,
               {.request = job.request, .partition = machines.rules, .candidates = machines.all},
               fits, {.all = ends, .in_zone = running}, now, {});
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

TEST(WillRun, KeepsAWindowOpenForAnEndElsewhere) {
  Machines machines;
  machines.start("-n32 -w n05");
  machines.start("-n32 -w n06");
  const Submission job = machines.parse("-N7 -n7");
  const Allocation elsewhere{};
  // The first window reaches to 1170. Without another end in it, it has only the first job.
  const auto start_if_another_ends = [&](Seconds end) {
    FutureFits fits;
    std::vector<RunningJob> all{
        {1, 1115, &machines.running[0]}, {2, end, &elsewhere}, {3, 1200, &machines.running[1]}};
    const Ends ends = ends_of(all);
    const std::vector<RunningJob> zone{all[0], all[2]};
    return will_run(
               machines.room,
               {.request = job.request, .partition = machines.rules, .candidates = machines.all},
               fits, {.all = ends, .in_zone = zone}, 1000, {})
        ->start;
  };
  EXPECT_EQ(start_if_another_ends(1171), 1115);
  // The job behind the other one is not compared with the window's end.
  EXPECT_EQ(start_if_another_ends(1170), 1200);
}

TEST(Ends, SortsByEndThenByJob) {
  std::vector<RunningJob> jobs{{7, 100}, {2, 200}, {9, 100}, {3, 100}};
  Ends ends = ends_of(jobs);
  const RunningJob& seventh = jobs[0];
  EXPECT_EQ(ends.after(jobs[3]), 100);
  EXPECT_EQ(ends.after(jobs[2]), 200);
  EXPECT_EQ(ends.after(jobs[1]), Ends::kNever);
  ends.remove({9, 100});
  EXPECT_EQ(ends.after(seventh), 200);
  // Its slot is free again.
  RunningJob next{1, 150};
  ends.add(next);
  EXPECT_EQ(ends.after(seventh), 150);
  EXPECT_EQ(ends.after(next), 200);
  ends.remove({7, 100});
  ends.remove({1, 150});
  EXPECT_EQ(ends.after(jobs[3]), 200);
}

TEST(WillRun, AnswersAgainWhenAnEndElsewhereHasChanged) {
  Machines machines;
  machines.start("-n32 -w n05");
  machines.start("-n32 -w n06");
  const Submission job = machines.parse("-N7 -n7");
  const Allocation elsewhere{};
  std::vector<RunningJob> zone{{1, 1115, &machines.running[0]}, {3, 1200, &machines.running[1]}};
  Ends ends = ends_of(zone);
  FutureFits fits;
  const auto start = [&] {
    return will_run(
               machines.room,
               {.request = job.request, .partition = machines.rules, .candidates = machines.all},
               fits, {.all = ends, .in_zone = zone}, 1000, {})
        ->start;
  };
  EXPECT_EQ(start(), 1115);
  EXPECT_EQ(start(), 1115);
  RunningJob other{2, 1170, &elsewhere};
  ends.add(other);
  EXPECT_EQ(start(), 1200) << "the window stays open for the other end";
  ends.remove(other);
  EXPECT_EQ(start(), 1115);
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
  const Zones zones({left, middle, right}, 4);
  KnownFits known(zones);
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

}  // namespace
}  // namespace almanac::slurmctld
