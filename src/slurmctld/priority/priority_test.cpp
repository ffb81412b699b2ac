// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/priority/priority.h"

#include <gtest/gtest.h>

#include "slurmctld/priority/example_site_test.h"

namespace almanac::slurmctld {
namespace {

constexpr AssociationAt kU1 = 2, kU3 = 5;

Time at(int second) { return Time(std::chrono::seconds(1'000'000 + second)); }

site::Site aging_site() {
  site::Site site = example_site();
  site.config.priority.weight_age = 600;
  return site;
}

PriorityJob job(std::uint32_t number, AssociationAt association = kU1) {
  return {.number = number,
          .association = association,
          .qos = 0,
          .partitions = {0},
          .size = {.requested = {{site::kCpu, 1}, {site::kNode, 1}}}};
}

TEST(Priorities, JobsAgeFromTheFirstPassAfterTheQueueWasBuilt) {
  const site::Site site = aging_site();
  Priorities made(site);
  made.pass(at(0));
  EXPECT_EQ(made.submit(job(1), at(10)), 1U);
  made.set_eligible(1, at(10));
  made.pass(at(60));
  EXPECT_EQ(made.priority(1), 1U);  // no queue was built yet
  made.build_queue(at(61));
  EXPECT_EQ(made.priority(1), 1U);
  made.pass(at(120));
  // 110.0 / 600 x 600 is a little less than 110, in Slurm too.
  EXPECT_EQ(made.priority(1), 109U);
  EXPECT_EQ(made.ages_since(1), at(10));
}

TEST(Priorities, FractionsOfASecondAreCutOff) {
  const site::Site site = aging_site();
  Priorities made(site);
  made.submit(job(1), at(10) + 900ms);
  made.set_eligible(1, at(10) + 900ms);
  made.build_queue(at(11));
  made.pass(at(60) + 100ms);
  EXPECT_EQ(made.priority(1), 50U);
}

TEST(Priorities, HeldJobsLoseTheirAge) {
  const site::Site site = aging_site();
  Priorities made(site);
  made.submit(job(1), at(0));
  made.set_eligible(1, at(0));
  made.build_queue(at(1));
  made.hold(1);
  EXPECT_EQ(made.priority(1), 0U);
  made.build_queue(at(2));
  made.pass(at(60));
  EXPECT_EQ(made.priority(1), 0U);
  made.release(1, at(70));
  EXPECT_EQ(made.priority(1), 1U);
  made.build_queue(at(71));
  made.pass(at(120));
  EXPECT_EQ(made.priority(1), 50U);
}

TEST(Priorities, AccrueAlwaysAgesFromSubmission) {
  site::Site site = aging_site();
  site.config.priority.accrue_always = true;
  Priorities made(site);
  made.submit(job(1), at(0));  // depends on others: not eligible
  made.build_queue(at(1));
  made.pass(at(60));
  EXPECT_EQ(made.priority(1), 60U);
}

TEST(Priorities, LimitedJobsAgeOneAfterTheOther) {
  site::Site site = aging_site();
  site.qos[0].per_user.jobs_accrue = 1;
  Priorities made(site);
  for (const std::uint32_t number : {1, 2}) {
    made.submit(job(number), at(0));
    made.set_eligible(number, at(0));
  }
  made.submit(job(3, kU3), at(0));
  made.set_eligible(3, at(0));
  made.build_queue(at(5));
  EXPECT_EQ(made.ages_since(1), at(5));  // not from when it became eligible
  EXPECT_FALSE(made.ages_since(2));
  EXPECT_EQ(made.ages_since(3), at(5));  // another user
  made.start(1, at(20), 0, {{site::kCpu, 1}});
  made.build_queue(at(23));
  EXPECT_EQ(made.ages_since(2), at(23));
}

TEST(Priorities, ChargesRunningJobsAtEachPassAndAtTheirEnd) {
  site::Site site = example_site();
  site.config.priority.decay_half_life = 0s;
  Priorities made(site);
  made.pass(at(0));
  made.submit(job(1), at(5));
  made.start(1, at(10), 0, {{site::kCpu, 4}});
  made.pass(at(60));
  EXPECT_EQ(static_cast<double>(made.usage().of(kU1).raw), 4 * 50);
  made.end(1, at(75));
  EXPECT_EQ(static_cast<double>(made.usage().total().raw), 4 * 65);
  EXPECT_FALSE(made.knows(1));
}

TEST(Priorities, RequeuedJobsKeepTheirPriorityUntilTheNextPass) {
  const site::Site site = aging_site();
  Priorities made(site);
  made.submit(job(1), at(0));
  made.set_eligible(1, at(0));
  made.build_queue(at(1));
  made.pass(at(60));
  made.start(1, at(61), 0, {{site::kCpu, 4}});
  made.requeue(1, at(100));
  EXPECT_GT(made.usage().of(kU1).raw, 0);
  EXPECT_EQ(made.priority(1), 60U);
  EXPECT_FALSE(made.ages_since(1));
  made.pass(at(120));
  EXPECT_EQ(made.priority(1), 1U);
  made.set_eligible(1, at(111));
  made.build_queue(at(121));
  made.pass(at(180));
  EXPECT_EQ(made.priority(1), 69U);
}

TEST(Priorities, FairTreeFollowsUsage) {
  site::Site site = example_site();
  site.config.priority.weight_fair_share = 1000;
  Priorities made(site);
  made.pass(at(0));
  EXPECT_EQ(made.submit(job(1), at(1)), 1000U);
  made.submit(job(2, kU3), at(1));
  made.submit(job(3), at(1));
  made.start(1, at(2), 0, {{site::kCpu, 4}});
  made.pass(at(60));
  // chem has used all: phys and bio tie before it, then u2, then u1.
  EXPECT_EQ(made.priority(2), 1000U);
  EXPECT_EQ(made.priority(3), 250U);
}

// Classic: step by step through the list of jobs, against accounts as they were before the pass.
TEST(Priorities, ClassicSeesUseOfJobsBeforeItInTheSamePass) {
  site::Site site = example_site();
  site.config.priority.no_fair_tree = true;
  site.config.priority.weight_fair_share = 1'000'000;
  site.config.priority.decay_half_life = 0s;
  Priorities made(site);
  made.pass(at(0));
  made.submit(job(1), at(1));
  made.submit(job(2, kU3), at(1));
  made.submit(job(4, kU3), at(1));
  made.submit(job(3, kU3), at(1));
  made.start(1, at(2), 0, {{site::kCpu, 4}});
  made.start(3, at(2), 0, {{site::kCpu, 4}});
  made.pass(at(60));
  // Job 2 was evaluated before job 3 was charged: the user has used nothing yet. Job 4 reads what
  // was found for job 2.
  EXPECT_EQ(made.priority(2), 1'000'000U);
  EXPECT_EQ(made.priority(4), 1'000'000U);
  made.pass(at(120));
  EXPECT_LT(made.priority(4), 1'000'000U);
}

TEST(Priorities, FollowSharesThatAreChanged) {
  site::Site site = example_site();
  site.config.priority.weight_fair_share = 1000;
  Priorities made(site);
  made.pass(at(0));
  made.submit(job(1), at(1));
  made.submit(job(2, kU3), at(1));
  for (const std::uint32_t number : {3, 4}) {
    made.submit(job(number, number == 3 ? kU1 : kU3), at(1));
    made.start(number, at(2), 0, {{site::kCpu, 4}});
  }
  made.pass(at(60));
  EXPECT_LT(made.priority(2), made.priority(1));  // equal usage, shares of 5 and 3
  site::Site changed = site;
  changed.associations[1].shares = 1;
  made.change_accounts(changed);
  made.pass(at(120));
  EXPECT_GT(made.priority(2), made.priority(1));
}

TEST(Priorities, EachPartitionHasItsOwn) {
  site::Site site = example_site();
  site.config.priority.weight_partition = 1000;
  Priorities made(site);
  PriorityJob both = job(1);
  both.partitions = {1, 0};
  EXPECT_EQ(made.submit(both, at(0)), 1000U);  // of the first requested
  EXPECT_EQ(made.priority(1, 0), 250U);
  EXPECT_EQ(made.priority(1, 1), 1000U);
  made.set_partition(1, 0);
  EXPECT_EQ(made.priority(1), 250U);
}

TEST(Priorities, UsageIsResetAtMidnight) {
  site::Site site = example_site();
  site.config.priority.usage_reset = site::UsageReset::daily;
  Priorities made(site);
  const Time evening = Time(std::chrono::hours(24 * 10 - 1));
  made.pass(evening);
  made.submit(job(1), evening);
  made.start(1, evening, 0, {{site::kCpu, 1}});
  made.end(1, evening + 10min);
  EXPECT_GT(made.usage().total().raw, 0);
  made.pass(evening + 59min);
  EXPECT_GT(made.usage().total().raw, 0);
  made.pass(evening + 60min);
  EXPECT_EQ(made.usage().total().raw, 0);
}

TEST(Priorities, IncreaseOnlyNeverLowers) {
  site::Site site = example_site();
  site.config.priority.weight_fair_share = 1000;
  site.config.priority.increase_only = true;
  Priorities made(site);
  made.pass(at(0));
  made.submit(job(1), at(1));
  made.submit(job(2), at(1));
  made.start(1, at(2), 0, {{site::kCpu, 4}});
  made.pass(at(60));
  EXPECT_EQ(made.priority(2), 1000U);
}

}  // namespace
}  // namespace almanac::slurmctld
