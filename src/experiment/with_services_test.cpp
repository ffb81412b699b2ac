// SPDX-License-Identifier: Apache-2.0
#include "experiment/with_services.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "inference/profile/model.h"
#include "policy/kit/keeping.h"
#include "policy/registry.h"
#include "support/temporary_folder.h"

namespace almanac::experiment {
namespace {

constexpr double kSecond = 1e6;

trace::Job job(Duration submit, int gpus, Duration run) {
  trace::Job made;
  made.request.submit = Time{submit};
  made.request.gpus = gpus;
  made.outcome.run = run;
  return made;
}

class ServicesTest : public testing::Test {
 protected:
  void SetUp() override {
    told_.service.model = *inference::find_model("llama-3.1-8b");
    told_.service.board = *inference::find_board("h100");
    told_.scaler = "steady";
    told_.cold_start = 10s;
    told_.reclaims = false;
  }
  void requests(int count, double first_s, double apart_s) {
    for (int each = 0; each < count; ++each) {
      told_.requests.all.push_back(
          {.arrival = (first_s + apart_s * each) * kSecond, .prompt = 1000, .output = 100});
    }
  }
  /// What becomes of jobs and service on so many nodes.
  sim::Schedule play(std::vector<trace::Job> jobs, const std::string& policy, int nodes) {
    trace::Trace log;
    log.jobs = std::move(jobs);
    Experiment experiment;
    experiment.policies = {policy};
    experiment.restart = {};
    experiment.speed = speed_;
    experiment.incidents = incidents_;
    auto prepared = prepare(experiment, std::move(log), cluster::uniform(nodes, gpus_per_node_));
    EXPECT_TRUE(prepared) << prepared.error().message;
    auto services = sim::Services::make(prepared->trace, prepared->cluster, {told_});
    EXPECT_TRUE(services) << services.error().message;
    auto schedule = simulate_with(*prepared, 0, *services);
    EXPECT_TRUE(schedule) << policy << ": " << schedule.error().message;
    seen_ = services->outcomes().front();
    return std::move(*schedule);
  }
  int finished() const {
    return static_cast<int>(
        std::count_if(seen_.requests.begin(), seen_.requests.end(),
                      [](const auto& each) { return each.finish != inference::kNever; }));
  }

  /// Share of the requests that met the SLO.
  double attainment() const {
    return inference::summarize(told_.requests, seen_.requests, told_.objective).attainment();
  }

  int gpus_per_node_ = 1;
  std::string speed_;      // of jobs; "" = each as recorded
  std::string incidents_;  // "" = nothing happens
  sim::ServiceCase told_;
  sim::ServiceOutcome seen_;
};

TEST_F(ServicesTest, TakesGpusFromTrainingAndGivesThemBack) {
  requests(150, 0, 1);
  const sim::Schedule made = play({job(1s, 4, 100s), job(2s, 8, 100s)}, "fifo", 8);
  ASSERT_EQ(made.jobs.size(), 2u);
  EXPECT_EQ(made.jobs[0].start, Time{1s});
  EXPECT_GT(made.jobs[1].start, Time{101s}) << "all 8 GPUs, and one is the replica's";
  EXPECT_NE(made.jobs[1].end, kNoTime);
  EXPECT_EQ(finished(), 150);
  EXPECT_EQ(seen_.replicas_started, 1u);
  EXPECT_EQ(seen_.replicas_stopped, 0u);
}

TEST_F(ServicesTest, BeginsWithTheMinimumReady) {
  requests(1, 0, 1);
  play({job(0s, 1, 1s)}, "fifo", 2);
  ASSERT_EQ(finished(), 1);
  EXPECT_LT(seen_.requests[0].first_token, 1 * kSecond);
}

TEST_F(ServicesTest, LetsARequestWaitForTheColdStart) {
  requests(1, 0, 1);
  told_.least = 0;
  play({job(0s, 1, 1s)}, "fifo", 2);
  ASSERT_EQ(finished(), 1);
  EXPECT_GT(seen_.requests[0].first_token, 10 * kSecond);
  EXPECT_LT(seen_.requests[0].first_token, 11 * kSecond);
}

TEST_F(ServicesTest, LosesNoRequestWhenAPolicyStopsAReplica) {
  requests(200, 0, 0.5);
  told_.least = 0;  // none is kept
  // Shortest remaining time first: a job without end yields to every other.
  const sim::Schedule made = play({job(0s, 1, 1s), job(30s, 1, 20s)}, "srtf", 1);
  EXPECT_EQ(made.jobs[1].start, Time{30s});
  EXPECT_EQ(seen_.replicas_stopped, 1u);
  EXPECT_EQ(seen_.replicas_started, 2u);
  EXPECT_EQ(finished(), 200);
  for (const auto& each : seen_.requests) {
    const bool in_between = each.first_token > 30 * kSecond && each.first_token < 60 * kSecond;
    EXPECT_FALSE(in_between) << "no replica ran from 30 to 60 s";
  }
}

TEST_F(ServicesTest, StopsNoneOfTheLeastReplicasUnderAnyPolicy) {
  told_.least = told_.most = 2;
  const std::vector<trace::Job> jobs{job(0s, 1, 1s), job(20s, 2, 30s), job(30s, 1, 20s),
                                     job(40s, 4, 5s), job(50s, 3, 60s)};
  const auto& registry = policy::registry();
  int kept_apart = 0;
  for (const policy::Composition& each : registry.policies()) {
    SCOPED_TRACE(each.name);
    told_.requests.all.clear();
    requests(200, 0, 0.5);
    const sim::Schedule made = play(jobs, each.name, 4);
    EXPECT_EQ(finished(), 200);
    EXPECT_EQ(seen_.replicas_stopped, 0u);
    EXPECT_EQ(seen_.replicas_started, 2u);
    kept_apart += policy::keeps_apart(each);
    // The one that asks all GPUs waits until the requests are over.
    EXPECT_GT(made.jobs[3].start, Time{99s});
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      EXPECT_EQ(made.jobs[at].phase, policy::Phase::ended) << at;
    }
  }
  EXPECT_GT(kept_apart, 20);
}

TEST_F(ServicesTest, ReclaimsAGpuFromTrainingAndGivesItBack) {
  // One node of 4 GPUs. A trains on all of them from 0 s on, for 4 h, with a checkpoint each hour.
  // Requests come from 5000 s to 5060 s; the scaler decides every 15 s and requests a replica.
  gpus_per_node_ = 4;
  told_.reclaims = true;
  told_.scaler = "reactive";
  told_.least = 0;
  requests(60, 5000, 1);
  trace::Job training = job(0s, 4, 4h);
  training.request.checkpoint_s = 3600;
  for (const char* const policy : {"fifo", "easy", "srtf", "las"}) {
    SCOPED_TRACE(policy);
    const sim::Schedule made = play({training}, policy, 1);
    EXPECT_EQ(finished(), 60);
    EXPECT_LT(seen_.requests[0].first_token, (5000 + 15 + 10 + 1) * kSecond)
        << "a look of the scaler and a cold start";
    EXPECT_EQ(seen_.replicas_started, 1u);
    EXPECT_EQ(seen_.replicas_stopped, 0u);
    // A resumes from its checkpoint at 3600 s: it repeats 1400 s or a little more, and a restart of
    // 30 s.
    EXPECT_EQ(made.jobs[0].phase, policy::Phase::ended);
    EXPECT_EQ(made.jobs[0].preemptions, 1u);
    const double again_s = seconds(made.jobs[0].ran - 4h);
    EXPECT_GE(again_s, 1400 + 30);
    EXPECT_LE(again_s, 1400 + 30 + 15);
    // It waits while the replica is there: 60 s of requests and 300 s of calm.
    const double waited_s = seconds(made.jobs[0].end - Time{0s}) - seconds(made.jobs[0].ran);
    EXPECT_NEAR(waited_s, seen_.gpu_s, 1);
    EXPECT_LT(waited_s, 60 + 300 + 60);
  }
}

TEST_F(ServicesTest, MeetsTheSloOfASteadyFleetWhereTrainingFillsTheCluster) {
  // 4 GPUs with 4 training jobs on them and 8 that wait; 600 requests from 100 s on.
  gpus_per_node_ = 4;
  told_.objective = {.first_token = 0.5 * kSecond, .per_token = 0.05 * kSecond};
  std::vector<trace::Job> jobs;
  for (int each = 0; each < 4; ++each) jobs.push_back(job(0s, 1, 2000s));
  for (int each = 0; each < 8; ++each) jobs.push_back(job(1s, 1, 300s));
  for (const char* const policy : {"easy", "srtf", "las"}) {
    SCOPED_TRACE(policy);
    told_.requests.all.clear();
    requests(600, 100, 1);
    told_.scaler = "reactive";
    told_.least = 0;
    told_.reclaims = false;
    play(jobs, policy, 1);
    EXPECT_LT(attainment(), 0.1) << "its replica waits as a job does";
    told_.reclaims = true;
    const sim::Schedule made = play(jobs, policy, 1);
    EXPECT_GT(attainment(), 0.95) << "all but those of the first look and of the cold start";
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      EXPECT_EQ(made.jobs[at].phase, policy::Phase::ended) << at;
    }
    // The fleet that has a node of its own.
    told_.scaler = "steady";
    told_.nodes = 1;
    play(jobs, policy, 2);
    EXPECT_GT(attainment(), 0.95);
    told_.nodes = 0;
  }
}

TEST_F(ServicesTest, StartsEveryReplicaAtOnceUnderEveryPolicyAndEndsEveryJob) {
  // Jobs fill 2 nodes of 4 GPUs. Three bursts of requests come, each long after the last replica of
  // the burst before it has gone.
  gpus_per_node_ = 4;
  told_.reclaims = true;
  told_.scaler = "reactive";
  told_.least = 0;
  told_.most = 2;
  std::vector<trace::Job> jobs;
  for (int each = 0; each < 12; ++each) {
    jobs.push_back(job(10s * each, 1 + each % 4, 400s + 100s * each));
  }
  for (const policy::Composition& each : policy::registry().policies()) {
    SCOPED_TRACE(each.name);
    told_.requests.all.clear();
    for (const double burst_s : {60, 800, 1600}) requests(40, burst_s, 1);
    const sim::Schedule made = play(jobs, each.name, 2);
    EXPECT_EQ(finished(), 120);
    EXPECT_EQ(seen_.replicas_stopped, 0u);
    EXPECT_LE(seen_.replicas_started, 6u) << "two a burst: the scaler alone decides";
    for (std::size_t first = 0; first < 120; first += 40) {
      const double waited = seen_.requests[first].first_token - told_.requests.all[first].arrival;
      EXPECT_LT(waited, (15 + 10 + 1) * kSecond) << "a look of the scaler and a cold start";
    }
    std::uint64_t stops = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      EXPECT_EQ(made.jobs[at].phase, policy::Phase::ended) << at;
      EXPECT_GE(made.jobs[at].ran, jobs[at].outcome.run) << "nothing is lost: " << at;
      stops += made.jobs[at].preemptions;
    }
    if (!policy::keeps_apart(each)) {
      EXPECT_LE(stops, 6u) << "one GPU a replica, and one job stops for it";
    }
  }
}

TEST_F(ServicesTest, EmptiesWholeNodesWithTheFewestStops) {
  // 3 nodes of 4 GPUs. A trains on two of them from 0 s on, B on the third from 1000 s on. Two
  // replicas of 4 GPUs are requested at about 2000 s. B has lost least, so it stops for the first
  // replica, and A for the second. By nodes, A costs half a stop on each of its nodes and B one on
  // its own: A stops for the first replica, and the second finds A's other node free.
  gpus_per_node_ = 4;
  told_.service.gpus = 4;
  told_.reclaims = true;
  told_.scaler = "reactive";
  told_.least = 0;
  told_.most = 2;
  for (const bool nodes : {false, true}) {
    told_.empties_nodes = nodes;
    for (const char* const policy : {"fifo", "easy"}) {
      SCOPED_TRACE(policy);
      told_.requests.all.clear();
      requests(60, 2000, 1);
      const sim::Schedule made = play({job(0s, 8, 4h), job(1000s, 4, 4h)}, policy, 3);
      EXPECT_EQ(finished(), 60);
      EXPECT_EQ(seen_.replicas_started, 2u);
      EXPECT_EQ(made.jobs[0].preemptions, 1u);
      EXPECT_EQ(made.jobs[1].preemptions, nodes ? 0u : 1u);
    }
  }
}

TEST_F(ServicesTest, WaitsForJobsThatMayNotBeStoppedUnlessItHasAReserve) {
  // A job of all 4 GPUs, submitted with --no-requeue, runs until 2000 s. Requests come from 500 s.
  gpus_per_node_ = 4;
  told_.reclaims = true;
  told_.scaler = "reactive";
  told_.least = 0;
  trace::Job training = job(0s, 4, 2000s);
  training.request.requeue = trace::Requeue::no;
  for (const char* const policy : {"easy", "srtf", "las"}) {
    SCOPED_TRACE(policy);
    told_.requests.all.clear();
    requests(60, 500, 1);
    const sim::Schedule made = play({training}, policy, 1);
    EXPECT_EQ(made.jobs[0].preemptions, 0u);
    EXPECT_EQ(finished(), 60);
    EXPECT_GT(seen_.longest_wait, 1480s);
    EXPECT_LE(seen_.longest_wait, 1500s);
    told_.nodes = 1;
    play({training}, policy, 2);
    EXPECT_EQ(seen_.longest_wait, 0s) << "nodes of its own are a reserve";
    EXPECT_EQ(finished(), 60);
    told_.nodes = 0;
  }
}

TEST_F(ServicesTest, StartsReplicasAtOnceWhereJobsThatMayBeStoppedHoldEnough) {
  // The bound of reclaim: no replica waits while jobs that may be stopped hold the GPUs that it
  // needs. Two replicas of one GPU, and at most 6 of 8 GPUs in jobs with --no-requeue.
  gpus_per_node_ = 4;
  told_.reclaims = true;
  told_.scaler = "reactive";
  told_.least = 0;
  told_.most = 2;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rng rng(seed);
    std::vector<trace::Job> jobs;
    int fixed_gpus = 0;
    for (int each = 0; each < 20; ++each) {
      trace::Job made = job(Duration{rng.below(600'000)}, 1 + static_cast<int>(rng.below(4)),
                            100s + Duration{rng.below(900'000)});
      if (fixed_gpus + made.request.gpus <= 6 && rng.below(2) == 0) {
        fixed_gpus += made.request.gpus;
        made.request.requeue = trace::Requeue::no;
      }
      if (rng.below(2) == 0) made.request.checkpoint_s = 300;
      jobs.push_back(made);
    }
    std::stable_sort(jobs.begin(), jobs.end(), [](const trace::Job& a, const trace::Job& b) {
      return a.request.submit < b.request.submit;
    });
    for (const policy::Composition& each : policy::registry().policies()) {
      SCOPED_TRACE(each.name + " " + std::to_string(seed));
      told_.requests.all.clear();
      for (const double burst_s : {60, 700, 1300}) requests(30, burst_s, 1);
      const sim::Schedule made = play(jobs, each.name, 2);
      EXPECT_EQ(seen_.longest_wait, 0s);
      EXPECT_EQ(seen_.replicas_stopped, 0u);
      EXPECT_EQ(finished(), 90);
    }
  }
}

TEST_F(ServicesTest, LendsItsGpusAtNightAndReportsGainsAndLosses) {
  // Requests come in the first and the last of three stretches of 1000 s. Two jobs of 2500 s have a
  // GPU each when the service needs none. The first starts at once, the second after 300 s of calm,
  // at about 1290 s.
  gpus_per_node_ = 2;
  told_.reclaims = true;
  told_.scaler = "reactive";
  told_.least = 0;
  requests(100, 0, 10);
  requests(100, 2000, 10);
  trace::Trace log;
  log.jobs = {job(0s, 1, 2500s), job(100s, 1, 2500s)};
  for (trace::Job& each : log.jobs) each.request.checkpoint_s = 600;
  Experiment experiment;
  experiment.policies = {"easy"};
  auto prepared = prepare(experiment, std::move(log), cluster::uniform(1, gpus_per_node_));
  ASSERT_TRUE(prepared) << prepared.error().message;
  const std::atomic<bool> stop = false;
  const auto made = compare_with_service(*prepared, 0, told_, stop);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->seen.finished, 200u);
  // A steady replica would hold its GPU for 2990 s. This one holds it for both stretches and the
  // calm after the first.
  EXPECT_NEAR(made->service.gpu_s, 2300, 60);
  EXPECT_NEAR(3600 * made->loaned_gpu_hours, 2990 - 2300, 60);
  // At 2000 s the second job has run 710 s, 110 s of them after a checkpoint; the first would lose
  // 200 s. The second does them again, and restarts in 7 s.
  EXPECT_EQ(made->with.preemptions, 1u);
  EXPECT_NEAR(3600 * made->redone_gpu_hours, 110 + 7, 40);
  EXPECT_EQ(made->service.longest_wait, 0s);
}

TEST_F(ServicesTest, LendsAtMostWhatTheClusterHas) {
  // 4 GPUs for the 100 s or so until the last answer, less what the replicas held.
  gpus_per_node_ = 4;
  told_.scaler = "reactive";
  requests(100, 0, 1);
  trace::Trace log;
  log.jobs = {job(0s, 1, 50s)};
  Experiment experiment;
  experiment.policies = {"fifo"};
  auto prepared = prepare(experiment, std::move(log), cluster::uniform(1, gpus_per_node_));
  ASSERT_TRUE(prepared) << prepared.error().message;
  const std::atomic<bool> stop = false;
  const auto loaned_gpu_s = [&](int most, int nodes) {
    told_.most = most;
    told_.nodes = nodes;
    const auto made = compare_with_service(*prepared, 0, told_, stop);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_FALSE(std::signbit(made->redone_gpu_hours)) << "0, not -0";
    return 3600 * made->loaned_gpu_hours;
  };
  EXPECT_NEAR(loaned_gpu_s(4, 0), 3 * 100, 20);
  EXPECT_EQ(loaned_gpu_s(100'000, 0), loaned_gpu_s(4, 0));
  EXPECT_EQ(loaned_gpu_s(2, 1), 0) << "its own node is the whole cluster";
  told_.least = 5;
  told_.most = 6;
  told_.nodes = 0;
  const auto few = compare_with_service(*prepared, 0, told_, stop);
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().message, "the cluster has 4 GPUs, too few for 5 replicas of 1 GPU");
}

TEST_F(ServicesTest, KeepsReplicasWhereNodesSleepAndWakesOneForThem) {
  // Node 1, the replica's, fails after half an hour, when all others have gone to sleep; short jobs
  // come and would each take what it holds.
  const TemporaryFolder folder;
  incidents_ = folder.write("incidents.csv", "time,event,subject,value\n1800,down,1,\n");
  requests(2000, 0, 2);
  const std::vector<trace::Job> jobs{job(0s, 1, 1s), job(3000s, 1, 30s), job(3500s, 2, 20s)};
  const sim::Schedule made = play(jobs, "srtf+follow_load", 3);
  EXPECT_TRUE(policy::keeps_apart(*policy::registry().compose("srtf+follow_load")));
  EXPECT_EQ(seen_.replicas_stopped, 1u) << "by its node alone";
  EXPECT_EQ(seen_.replicas_started, 2u);
  EXPECT_EQ(finished(), 2000);
  for (std::size_t each = 1500; each < 2000; ++each) {
    const double came_s = 2.0 * static_cast<double>(each);
    EXPECT_LT(seen_.requests[each].first_token, (came_s + 1) * kSecond)
        << "a node was woken by then";
  }
  EXPECT_EQ(made.jobs[1].phase, policy::Phase::ended);
  EXPECT_EQ(made.jobs[2].phase, policy::Phase::ended);
}

TEST_F(ServicesTest, SetsAsideGpusForAReplicaOfSeveral) {
  // Jobs of one GPU wait all the time and would take each that becomes free.
  told_.service.gpus = 4;
  told_.least = told_.most = 1;
  requests(50, 0, 1);
  std::vector<trace::Job> jobs;
  for (int each = 0; each < 4; ++each) jobs.push_back(job(0s, 1, Duration{10'000 * (each + 1)}));
  for (int each = 0; each < 40; ++each) jobs.push_back(job(1s, 1, 100s));
  const sim::Schedule made = play(jobs, "srtf", 4);
  EXPECT_EQ(seen_.replicas_stopped, 0u);
  EXPECT_EQ(finished(), 50);
  EXPECT_LT(seen_.requests.front().first_token, 60 * kSecond) << "40 s, and the cold start";
  for (int each = 4; each < 44; ++each) EXPECT_GT(made.jobs[each].start, Time{40s}) << each;
  // Where a node has them all, and where it takes two.
  for (const int gpus_per_node : {4, 2}) {
    SCOPED_TRACE(gpus_per_node);
    gpus_per_node_ = gpus_per_node;
    EXPECT_GT(play(jobs, "las", 4 / gpus_per_node).jobs[43].start, Time{40s});
    EXPECT_LT(seen_.requests.front().first_token, 60 * kSecond);
  }
}

TEST_F(ServicesTest, FollowsItsRequests) {
  told_.scaler = "reactive";
  told_.least = 0;
  told_.most = 4;
  requests(1, 600, 1);
  const sim::Schedule made = play({job(0s, 1, 2000s), job(700s, 4, 10s)}, "fifo", 4);
  EXPECT_EQ(finished(), 1);
  EXPECT_GE(seen_.requests[0].first_token, 610 * kSecond);
  EXPECT_LT(seen_.gpu_s, 400) << "a few looks and 300 s of calm";
  EXPECT_EQ(made.jobs[1].phase, policy::Phase::ended);
}

TEST_F(ServicesTest, EndsWhereNoReplicaCanBe) {
  told_.service.gpus = 16;
  requests(5, 0, 1);
  const sim::Schedule made = play({job(0s, 1, 60s)}, "fifo", 8);
  EXPECT_EQ(made.jobs[0].phase, policy::Phase::ended);
  EXPECT_EQ(finished(), 0);
  EXPECT_FALSE(seen_.refused.empty());
}

TEST_F(ServicesTest, RefusesAScalerThatIsNone) {
  told_.scaler = "reactiv";
  trace::Trace log;
  const auto made = sim::Services::make(log, cluster::uniform(1, 8), {told_});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "no scaler is named \"reactiv\"");
}

TEST_F(ServicesTest, RefusesAVirtualClusterThatIsNotThere) {
  const trace::Trace log;
  cluster::Cluster cluster = cluster::uniform(2, 1);
  const auto refusal = [&](const std::string& vc) {
    told_.vc = vc;
    const auto made = sim::Services::make(log, cluster, {told_});
    return made ? "" : to_string(made.error());
  };
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("research"),
            "no virtual cluster is named \"research\" (the cluster has none: leave out vc)");
  cluster.takes_every_job = false;
  cluster.vcs.front().name = "research";
  cluster.vcs.push_back(cluster.vcs.front());
  cluster.vcs.back().name = "teaching";
  EXPECT_EQ(refusal("research"), "");
  EXPECT_EQ(refusal("sales"), "no virtual cluster is named \"sales\"");
  EXPECT_EQ(refusal(""),
            "a service must name one of the 2 virtual clusters of the cluster (add vc=NAME)");
}

TEST_F(ServicesTest, KeepsNodesOfItsOwnFromEveryPolicyUntilItsRequestsAreOver) {
  // Shortest remaining time first stops a job without end for any other: not on the service's node.
  told_.nodes = 1;
  for (const char* const policy : {"srtf", "fifo", "easy", "tiresias", "gavel"}) {
    told_.requests.all.clear();
    requests(200, 0, 0.5);
    std::vector<trace::Job> jobs{job(0s, 1, 1s), job(30s, 1, 20s), job(40s, 2, 5s)};
    const sim::Schedule made = play(jobs, policy, 2);
    EXPECT_EQ(seen_.replicas_stopped, 0u) << policy;
    EXPECT_EQ(finished(), 200) << policy;
    EXPECT_EQ(made.jobs[1].start, Time{30s}) << policy;
    // Both nodes: not before the last request, at 99.5 s, is answered and the service looks.
    EXPECT_GT(made.jobs[2].start, Time{99s}) << policy;
    EXPECT_EQ(made.jobs[2].phase, policy::Phase::ended) << policy;
    EXPECT_NEAR(seen_.gpu_s, seconds(made.jobs[2].start - Time{0s}), 61) << policy;
  }
}

TEST_F(ServicesTest, AsksForMoreReplicasAmongJobsBesideItsOwnNode) {
  told_.nodes = 1;
  told_.scaler = "steady";
  told_.least = told_.most = 2;
  requests(100, 0, 1);
  const sim::Schedule made = play({job(0s, 1, 500s)}, "fifo", 2);
  EXPECT_EQ(seen_.replicas_started, 1u) << "the other waits for the job's GPU";
  EXPECT_EQ(finished(), 100);
  EXPECT_EQ(made.jobs[0].start, Time{0s});
}

TEST_F(ServicesTest, TakesBackAReplicaThatStillWaits) {
  // It waits behind a job that ends long after the requests are over, and must not start then.
  requests(20, 0, 1);
  told_.least = told_.most = 2;
  play({job(0s, 1, 1000s), job(900s, 1, 10s)}, "fifo", 2);
  EXPECT_EQ(finished(), 20);
  EXPECT_EQ(seen_.replicas_started, 1u);
  EXPECT_LT(seen_.gpu_s, 100);
}

TEST_F(ServicesTest, RefusesNodesThatAreNotThere) {
  told_.nodes = 2;
  trace::Trace log;
  const auto made = sim::Services::make(log, cluster::uniform(1, 8), {told_});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "virtual cluster all has fewer than 2 nodes for services");
  told_.nodes = 1;
  told_.service.gpus = 16;
  const auto large = sim::Services::make(log, cluster::uniform(1, 8), {told_});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "a replica of 16 GPUs does not fit on a node of 8");
}

TEST_F(ServicesTest, LetsJobsRunAtTheSpeedThatCoresAllow) {
  speed_ = "public";
  told_.scaler = "reactive";
  told_.least = 0;
  told_.most = 3;
  requests(100, 0, 1);
  const auto slow = [](trace::Job job) {
    job.outcome.reference_cpus = 8;
    return job;
  };
  const std::vector<trace::Job> jobs{slow(job(0s, 1, 100s)), slow(job(5s, 2, 60s)),
                                     slow(job(50s, 4, 30s))};
  const auto& registry = policy::registry();
  int played = 0;
  for (const policy::Composition& each : registry.policies()) {
    const policy::TraitSet traits = registry.traits(each);
    if (!traits.has(policy::Trait::reads_speeds) || traits.has(policy::Trait::shares_gpus))
      continue;
    SCOPED_TRACE(each.name);
    const sim::Schedule made = play(jobs, each.name, 8);
    EXPECT_EQ(finished(), 100);
    for (std::size_t at = 0; at < made.jobs.size(); ++at) {
      EXPECT_EQ(made.jobs[at].phase, policy::Phase::ended);
    }
    ++played;
  }
  EXPECT_GT(played, 5);
}

TEST_F(ServicesTest, RefusesPoliciesThatLetAJobShareAReplicasGpu) {
  requests(1, 0, 1);
  trace::Trace log;
  log.jobs = {job(0s, 1, 1s)};
  Experiment experiment;
  experiment.policies = {"fifo+harmless"};
  experiment.speed = "public";
  const auto prepared = prepare(experiment, std::move(log), cluster::uniform(1, 8));
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  auto services = sim::Services::make(prepared->trace, prepared->cluster, {told_});
  ASSERT_TRUE(services);
  const auto made = simulate_with(*prepared, 0, *services);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::unsupported);
  EXPECT_NE(made.error().message.find("fifo+harmless lets jobs share GPUs"), std::string::npos);
}

/// Two runs with no request and none of a service schedule jobs alike.
TEST_F(ServicesTest, CostsTrainingNothingWhereThereIsRoom) {
  requests(50, 0, 10);
  std::vector<trace::Job> jobs;
  for (int each = 0; each < 50; ++each) jobs.push_back(job(7s * each, 1 + each % 3, 60s));
  const sim::Schedule made = play(jobs, "easy", 64);
  for (std::size_t each = 0; each < jobs.size(); ++each) {
    EXPECT_EQ(made.jobs[each].start, jobs[each].request.submit);
  }
}

}  // namespace
}  // namespace almanac::experiment
