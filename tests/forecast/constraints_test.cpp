// SPDX-License-Identifier: Apache-2.0
#include "forecast/constraints.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "policy/registry.h"

namespace almanac::forecast {
namespace {

using testing::ElementsAre;
using Kind = Constraint::Kind;

constexpr NameId kA100{1};

struct Situation {
  std::vector<trace::Job> jobs{};
  cluster::Cluster cluster = cluster::uniform(1, 8);
  std::string policy = "fifo";

  void add(Duration submit, int gpus, Duration run) {
    trace::Job& job = jobs.emplace_back();
    job.id = trace::JobKey{jobs.size()};
    job.request.submit = Time{submit};
    job.request.gpus = gpus;
    job.outcome.run = run;
  }
  experiment::Prepared prepare() const {
    experiment::Experiment experiment;
    experiment.policies = {policy};
    experiment.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
    trace::Trace log;
    log.jobs = jobs;
    EXPECT_EQ(log.names.intern("A100"), kA100);
    auto made = experiment::prepare(experiment, std::move(log), cluster);
    EXPECT_TRUE(made) << to_string(made.error());
    return std::move(*made);
  }
  Constraints find(std::uint32_t job) const {
    experiment::Prepared prepared = prepare();
    auto found = find_constraints(prepared, 0, JobId{job});
    EXPECT_TRUE(found);
    return *found;
  }
};

TEST(Constraints, NameTheJobsThatHoldEnough) {
  Situation one;
  one.add(0s, 2, 1h);
  one.add(0s, 6, 1h);
  one.add(10s, 4, 1h);
  const Constraints found = one.find(2);
  EXPECT_EQ(found.at, Time{10s});
  EXPECT_FALSE(found.starts_now);
  EXPECT_THAT(found.singles, ElementsAre(Constraint{Kind::job, JobId{1}}));
}

TEST(Constraints, NameTheOrder) {
  Situation one;
  one.add(0s, 4, 1h);
  one.add(1s, 8, 1h);  // waits for all GPUs, and fifo lets none pass
  one.add(10s, 4, 1h);
  // If job 0 ended, job 1 would take everything.
  EXPECT_THAT(one.find(2).singles, ElementsAre(Constraint{Kind::order}));
}

TEST(Constraints, NamePairs) {
  Situation one;
  one.add(0s, 8, 1h);
  one.add(1s, 8, 1h);
  one.add(10s, 4, 1h);
  const Constraints found = one.find(2);
  EXPECT_TRUE(found.singles.empty());
  ASSERT_EQ(found.pairs.size(), 1U);
  EXPECT_EQ(found.pairs[0].first, Constraint{Kind::order});
  EXPECT_EQ(found.pairs[0].second, (Constraint{Kind::job, JobId{0}}));
}

TEST(Constraints, NameTheVirtualCluster) {
  Situation one;
  one.cluster = cluster::Cluster{};
  one.cluster.add_vc("red");
  one.cluster.add_nodes({.gpus = 8}, 1);
  one.cluster.add_vc("blue");
  one.cluster.add_nodes({.gpus = 8}, 1);
  trace::Trace log;
  const NameId red = log.names.intern("red");
  one.add(0s, 4, 1h);
  one.add(1s, 8, 1h);
  for (trace::Job& job : one.jobs) job.request.vc = red;
  log.jobs = one.jobs;
  experiment::Experiment experiment;
  experiment.policies = {"fifo"};
  auto prepared = experiment::prepare(experiment, std::move(log), one.cluster);
  ASSERT_TRUE(prepared);
  const auto found = find_constraints(*prepared, 0, JobId{1});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->singles, ElementsAre(Constraint{Kind::vc}, Constraint{Kind::job, JobId{0}}));
}

/// Two tasks of an array that runs one at a time, the second submitted 10 s later, and a job of 7
/// GPUs. The cluster has 8.
experiment::Prepared two_tasks(int gpus_of_second) {
  trace::Trace log;
  const auto add = [&](const char* id, Duration submit, int gpus, int at_once) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = log.key(id);
    job.request.submit = Time{submit};
    job.request.gpus = gpus;
    job.request.array_limit = at_once;
    job.outcome.run = 1h;
  };
  add("51_1", 0s, 1, 1);
  add("X", 0s, 7, 0);
  add("51_2", 10s, gpus_of_second, 1);
  experiment::Experiment experiment;
  experiment.policies = {"fifo"};
  auto made = experiment::prepare(experiment, std::move(log), cluster::uniform(1, 8));
  EXPECT_TRUE(made);
  return std::move(*made);
}

TEST(Constraints, NameTheTaskThatLeavesItsArrayNoRoom) {
  experiment::Prepared prepared = two_tasks(1);
  const auto found = find_constraints(prepared, 0, JobId{2});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, Time{10s}) << "nothing else happens then";
  EXPECT_FALSE(found->starts_now);
  EXPECT_THAT(found->singles, ElementsAre(Constraint{Kind::job, JobId{0}}));
}

TEST(Constraints, NameTheLimitOfTheArray) {
  experiment::Prepared prepared = two_tasks(2);
  const auto found = find_constraints(prepared, 0, JobId{2});
  ASSERT_TRUE(found);
  // Once task 1 has ended, one GPU is free. It takes the limit and job X.
  EXPECT_TRUE(found->singles.empty());
  const Constraint limit{Kind::array};
  ASSERT_EQ(found->pairs.size(), 1U);
  EXPECT_EQ(found->pairs[0], std::pair(limit, Constraint{Kind::job, JobId{1}}));
  EXPECT_EQ(in_words(limit, prepared.trace, JobId{2}, [](JobId) { return "-"; }),
            "if more than 1 of the tasks of its array ran at once");
}

TEST(Constraints, OfAJobThatNeverWaitedAreNone) {
  Situation one;
  one.add(0s, 4, 1h);
  EXPECT_EQ(one.find(0).at, kNoTime);
}

/// Quotas and maintenance are the two things in the way of a job that waits on an idle cluster.
TEST(Constraints, NameQuotasAndMaintenance) {
  Situation one;
  one.add(0s, 4, 1h);
  experiment::Prepared prepared = one.prepare();
  sim::Present present;
  present.waiting.push_back({.job = JobId{0}, .past = {.since = Time{}}});
  const auto find = [&](auto starts) {
    return find_constraints({.trace = prepared.trace,
                             .cluster = prepared.cluster,
                             .present = present,
                             .has_quotas = true,
                             .has_closures = true,
                             .starts = [&](const Decision& decision) -> Result<bool> {
                               return starts(decision.with_quotas, decision.with_closures);
                             }},
                            JobId{0});
  };
  const Constraint quotas{Kind::quotas};
  const Constraint closures{Kind::closures};
  EXPECT_THAT(find([](bool with_quotas, bool) { return !with_quotas; })->singles,
              ElementsAre(quotas));
  EXPECT_THAT(find([](bool, bool with_closures) { return !with_closures; })->singles,
              ElementsAre(closures));
  const auto both =
      find([](bool with_quotas, bool with_closures) { return !with_quotas && !with_closures; });
  EXPECT_TRUE(both->singles.empty());
  EXPECT_THAT(both->pairs, ElementsAre(std::pair(quotas, closures)));
}

/// When a job of a case starts, simulated from the beginning.
Time start_of(const Situation& one, std::uint32_t job) {
  const experiment::Prepared prepared = one.prepare();
  return experiment::simulate_run(prepared, 0)->jobs[job].start;
}

/// Of 1,000 random jobs that wait, each named job starts it if it had ended by then, in a
/// simulation from the beginning, and no other running job does. Likewise the queue's order, if the
/// jobs that wait at that time had never come, and the GPU type, if the job had not required it.
TEST(Constraints, OfAThousandWaitingJobsStartThemAndNoOthersDo) {
  int checked = 0;
  int named = 0;
  int named_order = 0;
  int named_type = 0;
  for (std::uint64_t seed = 0; checked < 1000; ++seed) {
    Rng rng(seed);
    Situation one;
    one.cluster = cluster::Cluster{};
    one.cluster.add_vc("all");
    one.cluster.add_nodes({.gpus = 4, .gpu_type = "A100"}, 1);
    one.cluster.add_nodes({.gpus = 4, .gpu_type = "V100"}, 1);
    one.policy = seed % 2 == 0 ? "fifo" : "fifo+scan";
    Duration now{0};
    for (int job = 0; job < 12; ++job) {
      now += Duration{static_cast<std::int64_t>(1 + rng.below(60'000))};
      one.add(now, static_cast<int>(1 + rng.below(4)),
              Duration{static_cast<std::int64_t>(60'000 + rng.below(300'000))});
      if (rng.below(3) == 0) one.jobs.back().request.gpu_type = kA100;
    }
    experiment::Prepared prepared = one.prepare();
    const auto schedule = experiment::simulate_run(prepared, 0);
    for (std::uint32_t job = 0; job < one.jobs.size() && checked < 1000; ++job) {
      const Time submit = one.jobs[job].request.submit;
      if (schedule->jobs[job].start == submit) continue;
      ++checked;
      const auto found = find_constraints(prepared, 0, JobId{job});
      ASSERT_TRUE(found);
      ASSERT_EQ(found->at, submit);
      for (std::uint32_t other = 0; other < job; ++other) {
        const Time start = schedule->jobs[other].start;
        if (start >= submit || schedule->jobs[other].end <= submit) continue;
        Situation without = one;
        without.jobs[other].outcome.run = submit - start;
        const bool starts = start_of(without, job) == submit;
        const bool is_named = std::count(found->singles.begin(), found->singles.end(),
                                         Constraint{Kind::job, JobId{other}}) == 1;
        EXPECT_EQ(is_named, starts) << "seed " << seed << " job " << job << " other " << other;
        named += is_named ? 1 : 0;
      }
      const auto names = [&](Kind kind) {
        return std::count(found->singles.begin(), found->singles.end(), Constraint{kind}) == 1;
      };
      Situation first = one;
      first.jobs.clear();
      std::uint32_t place = 0;
      for (std::uint32_t other = 0; other < one.jobs.size(); ++other) {
        if (other < job && schedule->jobs[other].start > submit) continue;  // it waits, too
        if (other < job) ++place;
        first.jobs.push_back(one.jobs[other]);
      }
      EXPECT_EQ(names(Kind::order), start_of(first, place) == submit)
          << "seed " << seed << " job " << job;
      named_order += names(Kind::order) ? 1 : 0;
      Situation any = one;
      any.jobs[job].request.gpu_type = kNoName;
      const bool requires_type = one.jobs[job].request.gpu_type != kNoName;
      EXPECT_EQ(names(Kind::gpu_type), requires_type && start_of(any, job) == submit)
          << "seed " << seed << " job " << job;
      named_type += names(Kind::gpu_type) ? 1 : 0;
    }
  }
  EXPECT_GT(named, 300);
  EXPECT_GT(named_order, 50);
  EXPECT_GT(named_type, 50);
}

}  // namespace
}  // namespace almanac::forecast
