// SPDX-License-Identifier: Apache-2.0
#include "advice/advise.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advice/candidates.h"
#include "advice/losers.h"
#include "advice/site.h"
#include "policy/registry.h"

namespace almanac::advice {
namespace {

/// Four weeks: each day a job of all GPUs for 10 h comes first, 30 short ones of one GPU behind it.
/// First come, first served makes all wait for it; ann's are known to be short.
trace::Trace crowded_mornings(int short_jobs, int days = 42) {
  trace::Trace log;
  const NameId ann = log.names.intern("ann");
  const NameId eve = log.names.intern("eve");
  const auto add = [&](Time submit, Duration run, int gpus, NameId user, const char* name) {
    trace::Job& job = log.jobs.emplace_back();
    job.id = trace::JobKey{log.jobs.size()};
    job.request.submit = submit;
    job.request.gpus = gpus;
    job.request.user = user;
    job.request.name = log.names.intern(name);
    job.outcome.run = run;
    job.outcome.state = trace::JobState::completed;
  };
  for (int day = 0; day < days; ++day) {
    const Time morning{24h * day + 8h};
    add(morning, 10h, 8, eve, "big");
    add(morning + 1min, 10h, 8, eve, "big");
    for (int each = 0; each < short_jobs; ++each) {
      add(morning + 2min + each * 1s, 10min, 1, ann, "short");
    }
  }
  return log;
}

Question question(const std::string& policies) {
  return {.weeks = 24h * 28,
          .policies = candidates(policies).value(),
          .quotas = sim::SiteQuotas{},
          .seed = 1};
}

TEST(Advise, FindsTheOrderThatHelpsAndSaysHowSure) {
  const auto advice = advise(crowded_mornings(30), cluster::uniform(1, 8), question("fifo,qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  ASSERT_TRUE(advice->best);
  const Outcome& best = advice->outcomes[*advice->best];
  EXPECT_EQ(best.policy, "qssf");
  EXPECT_GT(best.wait.times, 1.5);
  ASSERT_TRUE(best.wait.sure);
  EXPECT_LE(best.wait.sure->from, best.wait.times);
  EXPECT_GE(best.wait.sure->to, best.wait.times);
  EXPECT_NE(advice->recommendation.find("Try qssf"), std::string::npos) << advice->recommendation;
  EXPECT_EQ(advice->users, 2);
  EXPECT_FALSE(advice->real) << "the log does not tell when jobs started";
}

TEST(Advise, SaysToStayWhereNobodyWaits) {
  const auto advice = advise(crowded_mornings(3), cluster::uniform(8, 8), question("fifo,qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_FALSE(advice->best);
  EXPECT_NE(advice->recommendation.find("Stay"), std::string::npos) << advice->recommendation;
}

TEST(Advise, IsNotSureOfAFewDays) {
  for (const int days : {1, 13, 14}) {
    const auto advice =
        advise(crowded_mornings(30, days), cluster::uniform(1, 8), question("fifo,qssf"));
    ASSERT_TRUE(advice) << to_string(advice.error());
    EXPECT_EQ(advice->days, days);
    EXPECT_EQ(advice->best.has_value(), days == 14) << days;
    EXPECT_EQ(advice->outcomes[1].wait.sure.has_value(), days == 14) << days;
    if (days == 14) continue;
    EXPECT_TRUE(advice->recommendation.starts_with("Too early to advise: jobs of "))
        << advice->recommendation;
    EXPECT_EQ(advice->recommendation.find("Stay"), std::string::npos);
  }
}

TEST(Advise, IsTheSameEachTime) {
  const auto once = advise(crowded_mornings(20), cluster::uniform(1, 8), question("qssf"));
  const auto again = advise(crowded_mornings(20), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(once && again);
  ASSERT_TRUE(once->outcomes[0].wait.sure && again->outcomes[0].wait.sure);
  EXPECT_EQ(once->outcomes[0].wait.sure->from, again->outcomes[0].wait.sure->from);
  EXPECT_EQ(once->recommendation, again->recommendation);
}

TEST(Advise, WarnsWhereThePlayIsNotLikeTheTruth) {
  trace::Trace log = crowded_mornings(30);
  for (trace::Job& job : log.jobs) {
    job.outcome.start = job.request.submit + 300h;
    job.outcome.end = job.outcome.start + job.outcome.run;
  }
  const auto advice = advise(std::move(log), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  ASSERT_TRUE(advice->real);
  EXPECT_NEAR(advice->real->avg_wait_s, 300 * 3600.0, 1);
  EXPECT_FALSE(advice->reproduces);
  EXPECT_TRUE(
      advice->recommendation.starts_with("This model does not reproduce your cluster: as "
                                         "played, jobs wait "))
      << advice->recommendation;
  EXPECT_EQ(advice->recommendation.find("Try "), std::string::npos);
  EXPECT_TRUE(advice->cautions.empty());
}

TEST(Advise, DoesNotSayToStayWhereOnlyTheModelHardlyWaits) {
  trace::Trace log = crowded_mornings(3);
  for (trace::Job& job : log.jobs) {
    job.outcome.start = job.request.submit + 20min;
    job.outcome.end = job.outcome.start + job.outcome.run;
  }
  const auto advice = advise(std::move(log), cluster::uniform(8, 8), question("fifo,qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_TRUE(advice->recommendation.starts_with("This model does not reproduce your cluster"));
  EXPECT_EQ(advice->recommendation.find("Stay"), std::string::npos) << advice->recommendation;
  EXPECT_EQ(advice->recommendation.find("nothing to gain"), std::string::npos);
}

TEST(Advise, GivesNoneWhereNeitherStartsNorNodesAreKnown) {
  for (const int nodes : {1, 8}) {
    cluster::Cluster guessed = cluster::uniform(nodes, 8);
    guessed.inferred = true;
    const auto advice = advise(crowded_mornings(20), guessed, question("fifo,qssf"));
    ASSERT_TRUE(advice) << to_string(advice.error());
    EXPECT_FALSE(advice->reproduces);
    EXPECT_TRUE(advice->recommendation.starts_with("Whether this model is like your cluster"));
    EXPECT_EQ(advice->recommendation.find("Stay"), std::string::npos) << advice->recommendation;
    EXPECT_EQ(advice->recommendation.find("Try"), std::string::npos) << advice->recommendation;
  }
  const auto told = advise(crowded_mornings(20), cluster::uniform(8, 8), question("fifo,qssf"));
  ASSERT_TRUE(told) << to_string(told.error());
  EXPECT_TRUE(told->recommendation.starts_with("Stay as you are: as played, jobs wait "));
  EXPECT_TRUE(told->cautions.front().starts_with("the log does not say when jobs started"));
}

TEST(Advise, SaysWhereThePlayIsOnlyRoughlyLikeTheTruth) {
  const auto played = advise(crowded_mornings(30), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(played) << to_string(played.error());
  for (const double factor : {1.0, 1.3}) {
    trace::Trace log = crowded_mornings(30);
    const auto wait_ms = static_cast<std::int64_t>(played->stock.avg_wait_s * factor * 1e3);
    for (trace::Job& job : log.jobs) {
      job.outcome.start = job.request.submit + Duration{wait_ms};
      job.outcome.end = job.outcome.start + job.outcome.run;
    }
    const auto advice = advise(std::move(log), cluster::uniform(1, 8), question("qssf"));
    ASSERT_TRUE(advice) << to_string(advice.error());
    EXPECT_TRUE(advice->reproduces);
    const bool says = !advice->cautions.empty() &&
                      advice->cautions.front().starts_with("the model is not exact: ");
    EXPECT_EQ(says, factor > 1) << factor;
  }
}

TEST(Advise, SaysWhatItAssumes) {
  cluster::Cluster guessed = cluster::uniform(1, 8);
  guessed.inferred = true;
  const auto of_guess = advise(crowded_mornings(3), guessed, question("fifo"));
  const auto of_told = advise(crowded_mornings(3), cluster::uniform(1, 8), question("fifo"));
  ASSERT_TRUE(of_guess && of_told);
  EXPECT_NE(of_guess->assumptions.front().find("inferred from the log, 1 node and 8 GPUs"),
            std::string::npos)
      << of_guess->assumptions.front();
  EXPECT_EQ(of_told->assumptions.size() + 1, of_guess->assumptions.size());
}

TEST(Advise, LeavesOutWhatCannotRunAndWhatNeverRan) {
  trace::Trace log = crowded_mornings(3);
  log.jobs.back().request.gpus = 64;
  log.jobs[log.jobs.size() - 2].outcome.run = Duration::zero();
  const std::int64_t all = 28 * 5;
  const auto advice = advise(std::move(log), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_EQ(advice->never, 1);
  EXPECT_LE(advice->jobs, all);
  trace::Trace none;
  EXPECT_EQ(advise(std::move(none), cluster::uniform(1, 8), question("qssf")).error().code,
            Code::unavailable);
}

TEST(Advise, TakesAllNodesForOneWhereNoJobNamesAVirtualCluster) {
  cluster::Cluster parted;
  for (const char* const vc : {"p", "q"}) {
    parted.add_vc(vc);
    parted.add_nodes({.gpus = 4}, 1);
  }
  trace::Trace log = crowded_mornings(3);
  for (trace::Job& job : log.jobs) job.request.gpus = std::min(job.request.gpus, 4);
  const auto advice = advise(std::move(log), parted, question("fifo"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_EQ(advice->never, 0);
}

TEST(Candidates, AreThoseThatSlurmCanRun) {
  std::vector<std::string> names;
  for (const policy::Composition& each : candidates()) {
    names.push_back(each.name);
    EXPECT_FALSE(policy::registry().traits(each).has(policy::Trait::stops_jobs)) << each.name;
    EXPECT_NE(each.estimate, "oracle") << each.name;
  }
  EXPECT_NE(std::find(names.begin(), names.end(), "qssf"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "qssf+easy:1"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "srtf"), names.end());
  EXPECT_EQ(candidates("synergy_tune").error().code, Code::unsupported);
  EXPECT_EQ(candidates("qsfs").error().code, Code::usage);
}

TEST(Losers, AreThoseWhoWaitMuchLonger) {
  Names names;
  trace::Request ann;
  ann.user = names.intern("ann");
  ann.gpus = 8;
  trace::Request eve;
  eve.user = names.intern("eve");
  eve.gpus = 1;
  std::vector<Waited> jobs;
  for (int each = 0; each < 20; ++each) {
    jobs.push_back({&ann, 1000, 5000});
    jobs.push_back({&eve, 1000, 1100});
  }
  const auto losers = losers_of(jobs, names);
  ASSERT_EQ(losers.size(), 2U);
  EXPECT_EQ(losers[0].who, "user ann");
  EXPECT_EQ(losers[0].after_s, 5000);
  EXPECT_EQ(losers[1].who, "jobs of 5 to 8 GPUs");
  EXPECT_TRUE(losers_of(std::span(jobs).first(8), names).empty()) << "too few to say";
}

TEST(SiteOfSlurm, HasAVirtualClusterForEachPartitionUnlessTheyShareNodes) {
  slurm::News news;
  news.nodes = {
      {.name = "a", .gpus = 8, .cpus = 48}, {.name = "b", .gpus = 4}, {.name = "login", .gpus = 0}};
  news.partitions = std::vector<slurm::Partition>{{.name = "p", .nodes = {"a", "login"}},
                                                  {.name = "q", .nodes = {"b"}}};
  const auto apart = cluster_of(news);
  ASSERT_TRUE(apart) << to_string(apart.error());
  EXPECT_EQ(apart->vcs.size(), 2U);
  EXPECT_EQ(apart->gpus(), 12);
  news.partitions->push_back({.name = "every", .nodes = {"a", "b"}});
  const auto together = cluster_of(news);
  EXPECT_EQ(together->vcs.size(), 1U);
  EXPECT_TRUE(together->takes_every_job);
  EXPECT_EQ(cluster_of(slurm::News{}).error().code, Code::unavailable);
}

}  // namespace
}  // namespace almanac::advice
