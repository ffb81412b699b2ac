// SPDX-License-Identifier: Apache-2.0
#include "capacity/grow.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace almanac::capacity {
namespace {

/// `weeks` weeks of 20 users; user u submits a job of 1, 2, 4 or 8 GPUs each day at hour u.
trace::Trace weeks_of_users(int weeks) {
  trace::Trace log;
  for (int day = 0; day < 7 * weeks; ++day) {
    for (int user = 0; user < 20; ++user) {
      trace::Job& job = log.jobs.emplace_back();
      job.id = trace::JobKey{log.jobs.size()};
      job.request.submit = Time{24h * day + 1h * user};
      job.request.gpus = 1 << (user % 4);
      job.request.user = log.names.intern("u" + std::to_string(user));
      job.outcome.run = 30min;
    }
  }
  return log;
}

double gpu_time(const trace::Trace& log) {
  double sum = 0;
  for (const trace::Job& job : log.jobs) sum += job.request.gpus * seconds(job.outcome.run);
  return sum;
}

TEST(Grow, AddsUsersWithAFractionOfTheGpuTime) {
  const trace::Trace log = weeks_of_users(4);
  const Growth more = grow(log, 0.2, 1);
  EXPECT_NEAR(more.share, 0.2, 0.02 + 1e-9);
  EXPECT_NEAR(gpu_time(more.trace) / gpu_time(log), 1 + more.share, 1e-9);
  EXPECT_EQ(more.trace.jobs.size(), log.jobs.size() + static_cast<std::size_t>(more.jobs));
  std::set<std::string> users;
  std::set<trace::JobKey> ids;
  for (const trace::Job& job : more.trace.jobs) {
    users.insert(std::string(more.trace.names[job.request.user]));
    EXPECT_TRUE(ids.insert(job.id).second) << "an id twice";
  }
  EXPECT_EQ(users.size(), 20 + static_cast<std::size_t>(more.users));
}

TEST(Grow, KeepsTheMixAndTheHours) {
  const trace::Trace log = weeks_of_users(4);
  const Growth more = grow(log, 0.3, 3);
  const Time last = log.jobs.back().request.submit;
  std::map<std::string, int> days_of;  // by added user
  Time before{};
  for (const trace::Job& job : more.trace.jobs) {
    EXPECT_GE(job.request.submit, before) << "in order of submission";
    before = job.request.submit;
    EXPECT_LE(job.request.submit, last);
    const std::string user(more.trace.names[job.request.user]);
    if (!user.ends_with("+new")) continue;
    ++days_of[user];
    const int number = std::stoi(user.substr(1));
    EXPECT_EQ(job.request.gpus, 1 << (number % 4));
    EXPECT_EQ(job.request.submit.time_since_epoch() % 24h, 1h * number);
  }
  ASSERT_FALSE(days_of.empty());
  for (const auto& [user, days] : days_of) EXPECT_EQ(days, 28) << user << " submits each day";
}

TEST(Grow, ShiftsByWholeWeeks) {
  trace::Trace log;
  const NameId ann = log.names.intern("ann");
  for (const Duration at : {Duration{0h}, Duration{3h}, Duration{24h * 28}}) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{log.jobs.size()};
    job.request.submit = Time{at};
    job.request.gpus = 1;
    job.request.user = ann;
    job.outcome.run = 1h;
  }
  log.jobs[1].request.after = log.jobs[0].id;
  const Growth more = grow(log, 1, 5);
  ASSERT_EQ(more.jobs, 3);
  std::map<std::string, const trace::Job*> added;
  for (const trace::Job& job : more.trace.jobs) added[more.trace.id(job.id)] = &job;
  const Duration by = added.at("1+new")->request.submit - Time{};
  EXPECT_GT(by, 0h);
  EXPECT_EQ(by % (24h * 7), 0h);
  EXPECT_EQ(added.at("2+new")->request.submit - Time{3h}, by) << "all jobs of a user shift alike";
  EXPECT_EQ(added.at("2+new")->request.after, added.at("1+new")->id);
}

TEST(Grow, DrawsJobsWhereOneUserHoldsAll) {
  trace::Trace log = weeks_of_users(4);
  for (trace::Job& job : log.jobs) job.request.user = log.names.intern("ann");
  const Growth more = grow(log, 0.2, 1);
  EXPECT_NEAR(more.share, 0.2, 0.02);
  EXPECT_EQ(more.users, 1);
}

TEST(Grow, IsTheSameEachTimeAndOtherForAnotherSeed) {
  const trace::Trace log = weeks_of_users(3);
  const auto ids = [&](std::uint64_t seed) {
    const Growth more = grow(log, 0.2, seed);
    std::string all;
    for (const trace::Job& job : more.trace.jobs) all += more.trace.id(job.id) + " ";
    return all;
  };
  EXPECT_EQ(ids(1), ids(1));
  EXPECT_NE(ids(1), ids(2));
}

}  // namespace
}  // namespace almanac::capacity
