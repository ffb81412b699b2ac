// SPDX-License-Identifier: Apache-2.0
#include "kueue/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::kueue {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kGpu = "nvidia.com/gpu";

std::vector<ResourceGroup> gpus(Amount nominal, std::optional<Amount> borrowing = std::nullopt,
                                std::optional<Amount> lending = std::nullopt) {
  return {{{{"h100", {{kGpu, {nominal, borrowing, lending}}}}}}};
}

/// A workload of one pod.
Submission work(std::string name, std::string queue, std::int64_t created, Amount num_gpus,
                std::int64_t priority = 0) {
  return {.name = std::move(name),
          .queue = std::move(queue),
          .created = created,
          .priority = priority,
          .pod_sets = {{.name = "main", .requests = {{kGpu, num_gpus}}}}};
}

class SchedulerTest : public testing::Test {
 protected:
  SchedulerTest() { setup_.flavors = {{.name = "h100"}}; }

  void begin() { scheduler_ = *Scheduler::make(setup_); }
  void submit(Submission submission) { ASSERT_TRUE(scheduler_->submit(std::move(submission))); }

  /// The names of those that the next cycle admits.
  std::vector<std::string> admitted() {
    std::vector<std::string> names;
    for (const Admitted& each : scheduler_->cycle(now_++).admitted) names.push_back(each.workload);
    return names;
  }
  std::vector<std::pair<std::string, std::string_view>> preempted() {
    std::vector<std::pair<std::string, std::string_view>> made;
    for (const Preempted& each : scheduler_->cycle(now_++).preempted) {
      made.emplace_back(each.workload, name_of(each.reason));
    }
    return made;
  }

  kueue::Setup setup_;
  std::optional<Scheduler> scheduler_;
  std::int64_t now_ = 1'000;
};

TEST_F(SchedulerTest, AQueueAdmitsOneWorkloadACycle) {
  setup_.queues = {{.name = "a", .groups = gpus(8)}};
  begin();
  submit(work("late", "a", 2, 1));
  submit(work("early", "a", 1, 1));
  submit(work("urgent", "a", 3, 1, 5));
  EXPECT_THAT(scheduler_->waiting("a"), ElementsAre("urgent", "early", "late"));
  EXPECT_THAT(admitted(), ElementsAre("urgent"));
  EXPECT_THAT(admitted(), ElementsAre("early"));
  EXPECT_THAT(admitted(), ElementsAre("late"));
  EXPECT_THAT(admitted(), IsEmpty());
}

// The first needs 6 of the 4 GPUs that are left: in a best-effort queue the next one passes it.
TEST_F(SchedulerTest, AStrictQueueWaitsForItsFirst) {
  for (const bool is_strict : {true, false}) {
    setup_.queues = {{.name = "a", .groups = gpus(8), .is_strict = is_strict}};
    begin();
    submit(work("running", "a", 1, 4));
    EXPECT_THAT(admitted(), ElementsAre("running"));
    submit(work("wide", "a", 2, 6));
    submit(work("narrow", "a", 3, 2));
    EXPECT_THAT(admitted(), IsEmpty());
    EXPECT_EQ(admitted().empty(), is_strict);
    EXPECT_EQ(scheduler_->aside("a").empty(), is_strict);
  }
}

TEST_F(SchedulerTest, WhatWasSetAsideComesBackWhenQuotaIsFree) {
  setup_.queues = {{.name = "a", .groups = gpus(8)}};
  begin();
  submit(work("first", "a", 1, 8));
  EXPECT_THAT(admitted(), ElementsAre("first"));
  submit(work("second", "a", 2, 8));
  submit(work("third", "a", 3, 8));  // of the same shape: set aside with it
  EXPECT_THAT(admitted(), IsEmpty());
  EXPECT_THAT(scheduler_->heads(), IsEmpty());
  EXPECT_THAT(scheduler_->aside("a"), ElementsAre("second", "third"));
  scheduler_->remove("first");
  EXPECT_THAT(scheduler_->heads(), ElementsAre("second"));
  EXPECT_THAT(admitted(), ElementsAre("second"));
}

TEST_F(SchedulerTest, QueuesOfACohortBorrowUpToTheirLimit) {
  setup_.queues = {{.name = "a", .cohort = "all", .groups = gpus(4, 2)},
                   {.name = "b", .cohort = "all", .groups = gpus(8)}};
  begin();
  submit(work("a1", "a", 1, 6));
  submit(work("a2", "a", 2, 1));
  EXPECT_THAT(admitted(), ElementsAre("a1"));  // 4 of its own and 2 of b's
  EXPECT_THAT(admitted(), IsEmpty());
  scheduler_->remove("a1");
  submit(work("a3", "a", 0, 7));  // more than it could ever have
  EXPECT_THAT(admitted(), IsEmpty());
  EXPECT_THAT(admitted(), ElementsAre("a2"));
}

TEST_F(SchedulerTest, AQueueKeepsWhatItDoesNotLend) {
  setup_.queues = {{.name = "a", .cohort = "all", .groups = gpus(0)},
                   {.name = "b", .cohort = "all", .groups = gpus(8, std::nullopt, 3)}};
  begin();
  submit(work("a1", "a", 1, 4));
  EXPECT_THAT(admitted(), IsEmpty());
  submit(work("a2", "a", 2, 3));
  EXPECT_THAT(admitted(), ElementsAre("a2"));
}

// Both need the last 4 GPUs. b is within its own quota, so it goes first, whatever the priority.
TEST_F(SchedulerTest, WhoBorrowsComesAfterWhoDoesNot) {
  setup_.queues = {{.name = "a", .cohort = "all", .groups = gpus(0)},
                   {.name = "b", .cohort = "all", .groups = gpus(4)}};
  begin();
  submit(work("borrower", "a", 1, 4, 1'000));
  submit(work("owner", "b", 2, 4));
  EXPECT_THAT(admitted(), ElementsAre("owner"));
}

TEST_F(SchedulerTest, AQueueReclaimsItsQuotaFromTheLowestPriorityAndTheNewest) {
  setup_.queues = {
      {.name = "a", .cohort = "all", .groups = gpus(0)},
      {.name = "b", .cohort = "all", .groups = gpus(8), .reclaim_within_cohort = Preempts::any}};
  begin();
  for (const char* const name : {"old", "new", "dear"}) {
    submit(work(name, "a", 1, 2, std::string_view(name) == "dear" ? 7 : 0));
    EXPECT_THAT(admitted(), ElementsAre(name));
  }
  submit(work("owner", "b", 2, 4));
  EXPECT_THAT(preempted(), ElementsAre(std::pair("new", "InCohortReclamation")));
  EXPECT_THAT(admitted(), ElementsAre("owner"));
  EXPECT_THAT(scheduler_->holding(), ElementsAre("dear", "old", "owner"));
}

TEST_F(SchedulerTest, WithinAQueueALowerPriorityGivesWay) {
  setup_.queues = {{.name = "a", .groups = gpus(8), .within_queue = Preempts::lower_priority}};
  begin();
  submit(work("equal", "a", 1, 4, 5));
  submit(work("lower", "a", 2, 4, 1));
  EXPECT_THAT(admitted(), ElementsAre("equal"));
  EXPECT_THAT(admitted(), ElementsAre("lower"));
  submit(work("new", "a", 3, 4, 5));
  EXPECT_THAT(preempted(), ElementsAre(std::pair("lower", "InClusterQueue")));
  EXPECT_THAT(admitted(), ElementsAre("new"));
}

// a holds 2 of the cohort's 8 GPUs and b holds 4, and each requests the last 2. With them a would
// have 4, and b 6, which counts as 3 at weight 2.
TEST_F(SchedulerTest, FairSharingGivesToWhoWouldBorrowLessForItsWeight) {
  for (const double weight : {1.0, 2.0}) {
    setup_.is_fair = true;
    setup_.cohorts = {{.name = "all", .groups = gpus(8)}};
    setup_.queues = {{.name = "a", .cohort = "all", .groups = gpus(0)},
                     {.name = "b", .cohort = "all", .groups = gpus(0), .weight = weight}};
    begin();
    submit(work("a1", "a", 1, 2));
    submit(work("b1", "b", 2, 4));
    EXPECT_THAT(admitted(), ElementsAre("a1", "b1"));
    submit(work("a2", "a", 3, 2));
    submit(work("b2", "b", 4, 2));
    EXPECT_THAT(admitted(), ElementsAre(weight == 1 ? "a2" : "b2"));
  }
}

TEST_F(SchedulerTest, TakesTheNextFlavorWhenTheFirstIsFull) {
  setup_.flavors = {{.name = "h100"}, {.name = "a100"}};
  setup_.queues = {{.name = "a", .groups = {{{{"h100", {{kGpu, {4}}}}, {"a100", {{kGpu, {8}}}}}}}}};
  begin();
  submit(work("first", "a", 1, 4));
  submit(work("second", "a", 2, 4));
  EXPECT_EQ(scheduler_->cycle(1).admitted[0].pod_sets[0].flavors[0].second, "h100");
  EXPECT_EQ(scheduler_->cycle(2).admitted[0].pod_sets[0].flavors[0].second, "a100");
}

TEST_F(SchedulerTest, AdmitsFewerPodsWhereThatIsAllowed) {
  setup_.queues = {{.name = "a", .groups = gpus(8)}};
  begin();
  Submission elastic = work("elastic", "a", 1, 1);
  elastic.pod_sets[0].count = 16;
  elastic.pod_sets[0].min_count = 4;
  submit(elastic);
  const Cycle cycle = scheduler_->cycle(1);
  ASSERT_EQ(cycle.admitted.size(), 1U);
  EXPECT_EQ(cycle.admitted[0].pod_sets[0].count, 8);
}

TEST_F(SchedulerTest, RefusesWhatDoesNotFitTogether) {
  setup_.queues = {{.name = "a", .groups = gpus(8)}, {.name = "a", .groups = gpus(8)}};
  EXPECT_EQ(Scheduler::make(setup_).error().message, "queue 'a' is declared twice");
  setup_.queues = {{.name = "a", .groups = {{{{"b200", {{kGpu, {4}}}}}}}}};
  EXPECT_EQ(Scheduler::make(setup_).error().message, "queue a: flavor 'b200' is not declared");
  setup_.queues.clear();
  setup_.cohorts = {{.name = "x", .parent = "y"}, {.name = "y", .parent = "x"}};
  EXPECT_EQ(Scheduler::make(setup_).error().message, "cohort 'x' is its own ancestor");
  setup_.cohorts.clear();
  begin();
  EXPECT_EQ(scheduler_->submit(work("w", "none", 1, 1)).error().message,
            "workload w: no queue is called 'none'");
}

}  // namespace
}  // namespace almanac::kueue
