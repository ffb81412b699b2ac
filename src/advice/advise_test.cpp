// SPDX-License-Identifier: Apache-2.0
#include "advice/advise.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advice/candidates.h"
#include "advice/groups.h"
#include "advice/recommend.h"
#include "advice/site.h"
#include "experiment/profile.h"
#include "policy/registry.h"
#include "service/policies.h"
#include "sim/simulation.h"
#include "support/after_use.h"

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
          .conditions = {.quotas = experiment::SiteQuotas{}, .seed = 1}};
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

TEST(Advise, RecommendsAlmanacAmongEquals) {
  const auto advice =
      advise(crowded_mornings(30), cluster::uniform(1, 8), question("qssf+easy:1,almanac"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  ASSERT_TRUE(advice->best);
  EXPECT_NEAR(advice->outcomes[0].figures.avg_wait_s, advice->outcomes[1].figures.avg_wait_s,
              0.02 * advice->outcomes[0].figures.avg_wait_s);
  EXPECT_EQ(advice->outcomes[*advice->best].policy, "almanac");
  EXPECT_TRUE(advice->recommendation.starts_with("Try almanac (least expected GPU time first"))
      << advice->recommendation;
}

TEST(Advise, CountsWhatOwnersUsedBefore) {
  Question asked = question("fair_share");
  asked.weeks = 24h * 7;
  const auto wait_after_use_of = [&](const std::string& user) {
    const auto advice = advise(log_after_use_of(user), cluster::uniform(1, 8), asked);
    EXPECT_TRUE(advice) << to_string(advice.error());
    return advice ? advice->outcomes.front().figures.avg_wait_s : 0;
  };
  EXPECT_LT(wait_after_use_of("ann"), 3 * 3600) << "eve's short jobs go first";
  EXPECT_GT(wait_after_use_of("eve"), 9 * 3600) << "ann's long job goes first";
}

TEST(Advise, CapsTheAgeOfJobsUnderAllButStockSlurm) {
  const auto waits_with = [&](Duration age_cap) {
    Question asked = question("qssf");
    asked.conditions.age_cap = age_cap;
    const auto advice = advise(crowded_mornings(30), cluster::uniform(1, 8), asked);
    EXPECT_TRUE(advice) << to_string(advice.error());
    return std::pair(advice->stock.avg_wait_s, advice->outcomes.front().figures.avg_wait_s);
  };
  const auto [stock, wait] = waits_with(kNoDuration);
  const auto [capped_stock, capped_wait] = waits_with(30min);
  EXPECT_EQ(capped_stock, stock);
  EXPECT_GT(capped_wait, wait) << "long jobs are not overtaken for as long";
}

TEST(Advise, SaysToStayWhereNobodyWaits) {
  const auto advice = advise(crowded_mornings(3), cluster::uniform(8, 8), question("fifo,qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  EXPECT_FALSE(advice->best);
  EXPECT_TRUE(advice->recommendation.starts_with("Keep your current policy: "))
      << advice->recommendation;
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
    EXPECT_TRUE(advice->recommendation.starts_with("Too early to advise: "))
        << advice->recommendation;
    EXPECT_EQ(advice->recommendation.find("Keep"), std::string::npos);
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
    if (job.request.submit < Time{24h * 10}) continue;  // nobody waits when the simulation begins
    job.outcome.start = job.request.submit + 300h;
    job.outcome.end = job.outcome.start + job.outcome.run;
  }
  const auto advice = advise(std::move(log), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(advice) << to_string(advice.error());
  ASSERT_TRUE(advice->real);
  EXPECT_NEAR(advice->real->avg_wait_s, 300 * 3600.0, 1);
  EXPECT_FALSE(advice->reproduces);
  EXPECT_TRUE(advice->recommendation.starts_with(
      "No recommendation: the simulation does not match your cluster. Under stock Slurm jobs "
      "wait "))
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
  EXPECT_TRUE(advice->recommendation.starts_with("No recommendation: the simulation does not"));
  EXPECT_EQ(advice->recommendation.find("Keep"), std::string::npos) << advice->recommendation;
  EXPECT_EQ(advice->recommendation.find("nothing to gain"), std::string::npos);
}

TEST(Advise, GivesNoneWhereNeitherStartsNorNodesAreKnown) {
  for (const int nodes : {1, 8}) {
    cluster::Cluster guessed = cluster::uniform(nodes, 8);
    guessed.inferred = true;
    const auto advice = advise(crowded_mornings(20), guessed, question("fifo,qssf"));
    ASSERT_TRUE(advice) << to_string(advice.error());
    EXPECT_FALSE(advice->reproduces);
    EXPECT_TRUE(advice->recommendation.starts_with("No recommendation: whether the simulation"));
    EXPECT_EQ(advice->recommendation.find("Keep"), std::string::npos) << advice->recommendation;
    EXPECT_EQ(advice->recommendation.find("Try"), std::string::npos) << advice->recommendation;
  }
  const auto told = advise(crowded_mornings(20), cluster::uniform(8, 8), question("fifo,qssf"));
  ASSERT_TRUE(told) << to_string(told.error());
  EXPECT_TRUE(told->recommendation.starts_with("Keep your current policy: jobs wait "));
  EXPECT_TRUE(told->cautions.front().starts_with("the log does not say when jobs started"));
}

/// The log as stock Slurm would have recorded it, each wait `mean` times as long and those of the
/// longest-waiting fiftieth `tail` times.
trace::Trace recorded_by_stock(double mean, double tail) {
  trace::Trace log = crowded_mornings(30);
  const cluster::Cluster nodes = cluster::uniform(1, 8);
  const policy::Composition slurm = slurm_today(log, false);
  auto estimator = experiment::make_estimator(slurm, log);
  EXPECT_TRUE(estimator);
  const auto policy = policy::registry().make(slurm, {.estimator = std::move(*estimator)});
  const sim::Schedule schedule = sim::simulate(
      log, nodes, *policy, {.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s}});
  std::vector<Duration> waits;
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    waits.push_back(schedule.jobs[at].start - log.jobs[at].request.submit);
  }
  std::vector<Duration> sorted = waits;
  std::sort(sorted.begin(), sorted.end());
  const Duration long_wait = sorted[sorted.size() - sorted.size() / 50];
  for (std::size_t at = 0; at < log.jobs.size(); ++at) {
    const double factor = waits[at] >= long_wait ? mean * tail : mean;
    const auto wait_ms = static_cast<std::int64_t>(static_cast<double>(waits[at].count()) * factor);
    log.jobs[at].outcome.start = log.jobs[at].request.submit + Duration{wait_ms};
    log.jobs[at].outcome.end = log.jobs[at].outcome.start + log.jobs[at].outcome.run;
  }
  return log;
}

TEST(Advise, RecommendsNothingWhereTheMeanOrTheTailIsOff) {
  const auto as_it_is = advise(recorded_by_stock(1, 1), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(as_it_is) << to_string(as_it_is.error());
  EXPECT_TRUE(as_it_is->reproduces);
  EXPECT_TRUE(as_it_is->recommendation.starts_with("Try qssf (quasi-shortest-service-first"))
      << as_it_is->recommendation;
  for (const auto& [mean, tail] : {std::pair{1.2, 1.0}, std::pair{0.8, 1.0}}) {
    const auto advice =
        advise(recorded_by_stock(mean, tail), cluster::uniform(1, 8), question("qssf"));
    ASSERT_TRUE(advice) << to_string(advice.error());
    EXPECT_FALSE(advice->reproduces) << mean;
    EXPECT_TRUE(advice->recommendation.starts_with("No recommendation: ")) << mean;
    EXPECT_EQ(advice->recommendation.find("Try "), std::string::npos) << mean;
  }
  Advice seen{.real = Figures{.avg_wait_s = 3600, .p99_wait_s = 20'000}};
  seen.stock = {.avg_wait_s = 3600, .p99_wait_s = 14'000};
  EXPECT_TRUE(is_like_real(seen));
  seen.stock.p99_wait_s = 13'000;
  EXPECT_FALSE(is_like_real(seen)) << "the p99 is more than 1.5 times off";
  seen.real = Figures{.avg_wait_s = 2, .p99_wait_s = 50};
  seen.stock = {.avg_wait_s = 40, .p99_wait_s = 10};
  EXPECT_TRUE(is_like_real(seen)) << "waits below a minute are all alike";
}

TEST(Advise, NamesTheClassThatIsHitHardestFirst) {
  const auto advice = advise(recorded_by_stock(1, 1), cluster::uniform(1, 8), question("qssf"));
  ASSERT_TRUE(advice && advice->best) << "there is a best";
  const Outcome& best = advice->outcomes[*advice->best];
  if (best.hardest_hit) {
    EXPECT_NE(advice->recommendation.find("Hardest hit: " + best.hardest_hit->who),
              std::string::npos)
        << advice->recommendation;
  } else {
    EXPECT_NE(advice->recommendation.find("no class of jobs"), std::string::npos);
  }
  EXPECT_FALSE(best.summary.empty());
}

TEST(Advise, SaysWhichPoliciesRunOnPredictions) {
  Advice seen{
      .days = 20,
      .outcomes = {{.policy = "sjf+rolling"}, {.policy = "hydra+rolling"}, {.policy = "qssf"}}};
  const std::vector<std::string> cautions = cautions_of(seen);
  EXPECT_NE(std::find(cautions.begin(), cautions.end(),
                      "simulated with predicted run times (+rolling), because no cluster knows "
                      "true ones in advance: sjf, hydra"),
            cautions.end());
}

TEST(Advise, SummarizesWhatIsSimulated) {
  const auto summary = [](const char* name) { return explain(*policy::registry().compose(name)); };
  EXPECT_EQ(
      summary("sjf+rolling"),
      "shortest job first, by predicted run times; the first job that does not fit blocks all "
      "others");
  EXPECT_EQ(summary("sjf+easy:1+rolling"),
            "shortest job first, by predicted run times, with backfill");
  EXPECT_EQ(summary("easy+gpu_time"), policy::registry().compose("easy+gpu_time")->summary)
      << "another order";
}

TEST(Advise, GivesTheReasonToKeepAPolicy) {
  Advice seen{.days = 20, .stock = {.avg_wait_s = 3600}};
  seen.outcomes.push_back({.policy = "easy",
                           .figures = {.avg_wait_s = 2700},
                           .wait = {.times = 1.34, .sure = Interval{1.08, 1.63}},
                           .jct = {.times = 1.1, .sure = Interval{1.01, 1.2}}});
  const std::string rule = recommend(seen);
  EXPECT_TRUE(
      rule.starts_with("Keep your current policy: no alternative is certain (95 %) to make "
                       "the average wait at least 1.1 times shorter"))
      << rule;
  EXPECT_NE(rule.find("1.34 times shorter (95 % CI 1.08 to 1.63). A change counts as worth it only "
                      "if the low end is above 1.10."),
            std::string::npos)
      << rule;
  seen.outcomes[0].wait.sure = Interval{1.2, 1.5};
  seen.outcomes[0].jct = {.times = 1, .sure = Interval{0.97, 1.05}};
  EXPECT_NE(recommend(seen).find("but jobs may complete later"), std::string::npos);
  seen.outcomes[0].wait = {.times = 0.9};
  EXPECT_NE(recommend(seen).find("No alternative shortens the average wait."), std::string::npos);
}

TEST(Advise, CountsNoJobThatNeverRan) {
  trace::Trace log = recorded_by_stock(1, 1);
  const auto plain = advise(recorded_by_stock(1, 1), cluster::uniform(1, 8), question("fifo"));
  std::vector<trace::Job> more = log.jobs;
  for (std::size_t at = 0; at < 40; ++at) {
    // Withdrawn within a second: it changes nothing for others.
    trace::Job job = more[more.size() - 40];
    job.id = trace::JobKey{100'000 + at};
    job.outcome = {};
    job.outcome.state = trace::JobState::cancelled;
    job.outcome.start = job.outcome.end = job.request.submit;
    more.push_back(job);
  }
  std::stable_sort(more.begin(), more.end(), [](const trace::Job& a, const trace::Job& b) {
    return a.request.submit < b.request.submit;
  });
  log.jobs = std::move(more);
  const auto advice = advise(std::move(log), cluster::uniform(1, 8), question("fifo"));
  ASSERT_TRUE(plain && advice);
  EXPECT_EQ(advice->jobs, plain->jobs);
  EXPECT_EQ(advice->never_ran, 40);
  ASSERT_TRUE(advice->real && plain->real);
  EXPECT_DOUBLE_EQ(advice->real->avg_wait_s, plain->real->avg_wait_s);
  EXPECT_DOUBLE_EQ(advice->stock.avg_wait_s, plain->stock.avg_wait_s);
}

TEST(Advise, SaysWhatItAssumes) {
  cluster::Cluster guessed = cluster::uniform(1, 8);
  guessed.inferred = true;
  const auto of_guess = advise(crowded_mornings(3), guessed, question("fifo"));
  const auto of_told = advise(crowded_mornings(3), cluster::uniform(1, 8), question("fifo"));
  ASSERT_TRUE(of_guess && of_told);
  EXPECT_NE(of_guess->assumptions.front().find("1 node with 8 GPUs, inferred from the log"),
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
  EXPECT_EQ(names.front(), "almanac") << "compared first";
  EXPECT_EQ(candidates().front().shape, "rigid") << "Slurm fixes the GPUs of a job";
  EXPECT_EQ(candidates("fifo,almanac").value().back().shape, "rigid");
  EXPECT_NE(std::find(names.begin(), names.end(), "qssf"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "qssf+easy:1"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "srtf"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "sjf"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "sjf+rolling"), names.end())
      << "named as what is simulated";
  for (const std::string& each : names) EXPECT_EQ(service::stand_in(each), std::nullopt) << each;
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
  EXPECT_TRUE(losers[0].is_user());
  EXPECT_EQ(losers[0].after_s, 5000);
  EXPECT_EQ(losers[1].who, "jobs of 5 to 8 GPUs");
  EXPECT_TRUE(losers_of(std::span(jobs).first(8), names).empty()) << "too few to say";
}

TEST(Losers, AreClassesOfUsersAndVirtualClustersToo) {
  Names names;
  std::vector<trace::Request> requests(40);
  for (std::size_t user = 0; user < requests.size(); ++user) {
    requests[user].user = names.intern("u" + std::to_string(user));
    requests[user].vc = names.intern(user < 20 ? "large" : "small");
    requests[user].gpus = 1;
  }
  std::vector<Waited> jobs;
  for (std::size_t user = 0; user < requests.size(); ++user) {
    const bool loses = user < 20;
    for (int each = 0; each < (loses ? 3 : 30); ++each) {
      jobs.push_back({&requests[user], 1000, loses ? 9000.0 : 900.0});
    }
  }
  std::vector<std::string> who;
  for (const Group& each : losers_of(jobs, names)) who.push_back(each.who);
  EXPECT_EQ(who, (std::vector<std::string>{"jobs of 1 GPU", "jobs in large",
                                           "users with fewer than 10 jobs"}))
      << "no user has ten jobs that lose";
}

TEST(SiteOfSlurm, HasAVirtualClusterForEachPartitionUnlessTheyShareNodes) {
  manager::News news;
  news.nodes = {
      {.name = "a", .gpus = 8, .cpus = 48}, {.name = "b", .gpus = 4}, {.name = "login", .gpus = 0}};
  news.partitions = std::vector<manager::Partition>{{.name = "p", .nodes = {"a", "login"}},
                                                    {.name = "q", .nodes = {"b"}}};
  const auto apart = cluster_of(news);
  ASSERT_TRUE(apart) << to_string(apart.error());
  EXPECT_EQ(apart->vcs.size(), 2U);
  EXPECT_EQ(apart->gpus(), 12);
  news.partitions->push_back({.name = "every", .nodes = {"a", "b"}});
  const auto together = cluster_of(news);
  EXPECT_EQ(together->vcs.size(), 1U);
  EXPECT_TRUE(together->takes_every_job);
  EXPECT_EQ(cluster_of(manager::News{}).error().code, Code::unavailable);
}

}  // namespace
}  // namespace almanac::advice
