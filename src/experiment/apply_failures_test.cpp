// SPDX-License-Identifier: Apache-2.0
#include "experiment/apply_failures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/checkpoint.h"
#include "faults/model_file.h"
#include "policy/registry.h"
#include "support/temporary_folder.h"

namespace almanac::experiment {
namespace {

class SimulatedFailures : public testing::Test {
 protected:
  void add(Duration submit, int gpus, Duration run) {
    trace::Job& job = jobs_.emplace_back();
    job.id = trace::JobKey{jobs_.size()};
    job.request.submit = Time{submit};
    job.request.gpus = gpus;
    job.outcome.run = run;
    job.outcome.state = trace::JobState::completed;
  }
  /// Simulates the jobs on `nodes` of 8 GPUs with the failure model `model_`.
  const sim::Schedule& play(int nodes, const std::string& policy = "fifo", int cpus = 0) {
    Experiment experiment;
    experiment.policies = {policy};
    experiment.seed = seed_;
    experiment.failures = folder_.write("model.toml", model_);
    trace::Trace log;
    log.jobs = jobs_;
    cluster::Cluster cluster = cluster::uniform(static_cast<std::uint32_t>(nodes), 8);
    for (cluster::NodeClass& each : cluster.classes) each.cpus = cpus;
    auto made = prepare(experiment, std::move(log), std::move(cluster));
    EXPECT_TRUE(made) << to_string(made.error());
    prepared_.emplace(std::move(*made));
    auto schedule = simulate_run(*prepared_, 0);
    EXPECT_TRUE(schedule);
    schedule_ = std::move(*schedule);
    return schedule_;
  }
  FailureReport report() const { return failures_of(*prepared_, schedule_); }
  /// Wall time per useful time of the only job.
  double slowdown() const {
    return seconds(schedule_.jobs[0].end - schedule_.jobs[0].start) / seconds(jobs_[0].outcome.run);
  }

  TemporaryFolder folder_;
  std::vector<trace::Job> jobs_;
  std::string model_;
  std::uint64_t seed_ = 1;
  std::optional<Prepared> prepared_;
  sim::Schedule schedule_;
};

/// A node fails once in 100 hours and returns at once.
constexpr const char* kOncein100Hours =
    "[[cause]]\nname = \"node\"\nof = \"node\"\nper_1000_days = 240\n";

TEST_F(SimulatedFailures, LoseWhatTheFirstOrderSays) {
  model_ = std::string("restart = \"5m\"\n") + kOncein100Hours +
           "[checkpoint]\nevery = \"1h\"\nwrite = \"1m\"\n";
  add(0s, 8, 3'000'000h);
  play(1);
  const double loss = 1 - 1 / slowdown();
  EXPECT_NEAR(loss / faults::first_order_loss(60, 1, 5, 6000), 1, 0.02);
}

TEST_F(SimulatedFailures, LoseWhatDalySaysBeyond) {
  // Failures also hit restarts, and checkpoints are half the time to failure apart.
  model_ = std::string("restart = \"10h\"\n") + kOncein100Hours +
           "[checkpoint]\nevery = \"50h\"\nwrite = \"5h\"\n";
  add(0s, 8, 2'000'000h);
  play(1);
  EXPECT_NEAR(slowdown() / faults::slowdown(50, 5, 10, 100), 1, 0.02);
}

TEST_F(SimulatedFailures, BestIntervalIsYoungsAndLosesLeast) {
  const auto loss = [&](const std::string& every) {
    model_ = std::string("restart = \"5m\"\n") + kOncein100Hours + "[checkpoint]\nevery = \"" +
             every + "\"\nwrite = \"1m\"\n";
    play(1);
    return slowdown();
  };
  add(0s, 8, 400'000h);
  const double best = loss("best");
  const double used_s = report().sizes.at(0).interval_s;
  EXPECT_NEAR(used_s / std::sqrt(2 * 60.0 * 360'000), 1, 0.05);
  EXPECT_LT(best, loss("55m"));
  EXPECT_LT(best, loss("220m"));
}

TEST_F(SimulatedFailures, AJobRepeatsTheWorkSinceItsLastCheckpoint) {
  model_ =
      "restart = \"5m\"\n[[cause]]\nname = \"bug\"\nof = \"user\"\nper_1000_days = 2000\n"
      "[checkpoint]\nevery = \"1h\"\nwrite = \"1m\"\n";
  add(0s, 4, 100h);
  const auto& all = play(1).failures.interruptions;
  ASSERT_GT(all.size(), 2U);
  // A cycle is an hour of work and a minute of writing.
  EXPECT_EQ(all[0].lost, (all[0].at - Time{}) % 61min);
  EXPECT_EQ(all[0].resumed, all[0].at);
  EXPECT_EQ(all[0].node, kNoNode);
  Duration added{0};
  for (const auto& each : all) added += each.lost + each.restart;
  // The log's 100 h, 99 checkpoints, and what failures added; a failure may cut a restart short.
  const Duration ran = schedule_.jobs[0].ran;
  EXPECT_LE(ran, 100h + 99min + added);
  EXPECT_GT(ran, 100h + 99min + added - 10min);
}

TEST_F(SimulatedFailures, ReportPartsAddUp) {
  model_ = std::string("restart = \"5m\"\n") + kOncein100Hours +
           "[checkpoint]\nevery = \"1h\"\nwrite = \"1m\"\n";
  add(0s, 8, 10'000h);
  add(0s, 8, 10'000h);
  play(2);
  const FailureReport made = report();
  ASSERT_EQ(made.causes.size(), 1U);
  ASSERT_EQ(made.sizes.size(), 1U);
  const FailureReport::Cause& cause = made.causes[0];
  EXPECT_EQ(made.useful_gpu_h, 160'000);
  EXPECT_NEAR(made.written_gpu_h, 160'000 / 60.0, 1);
  EXPECT_NEAR(made.useful_gpu_h + made.written_gpu_h + cause.lost_gpu_h + cause.restart_gpu_h,
              made.sizes[0].held_gpu_h, 1e-3 * made.sizes[0].held_gpu_h);
  EXPECT_NEAR(made.sizes[0].mttf_h, 100, 15);
  EXPECT_NEAR(made.sizes[0].expected_mttf_h, 100, 1e-6);
  EXPECT_NEAR(made.ettr, made.sizes[0].ettr_expected, 0.01);
  EXPECT_THAT(in_words(made), testing::HasSubstr("2 to 8 GPUs"));
}

TEST_F(SimulatedFailures, ASpareNodeReplacesAFailedOne) {
  model_ =
      "spares = 1\n[[cause]]\nname = \"node\"\nof = \"node\"\nper_1000_days = 20\n"
      "repair = \"10h\"\n";
  add(0s, 16, 5000h);
  const auto& all = play(3).failures;
  ASSERT_GT(all.interruptions.size(), 1U);
  EXPECT_EQ(all.interruptions[0].resumed, all.interruptions[0].at);
  model_.replace(0, std::string("spares = 1\n").size(), "");
  const auto without = play(2).failures.interruptions;
  EXPECT_EQ(without[0].resumed, without[0].at + 10h);
}

TEST_F(SimulatedFailures, AnnouncedFailuresLoseOnlyACheckpoint) {
  model_ =
      "[[cause]]\nname = \"maintenance\"\nof = \"node\"\nper_1000_days = 240\nnotice = \"10m\"\n"
      "[checkpoint]\nevery = \"10h\"\nwrite = \"1m\"\n";
  add(0s, 8, 2000h);
  const auto& all = play(1).failures.interruptions;
  ASSERT_GT(all.size(), 5U);
  for (const auto& each : all) EXPECT_LE(each.lost, 1min);
}

TEST_F(SimulatedFailures, ALinkStopsOnlyJobsOnSeveralNodes) {
  model_ = "[[cause]]\nname = \"link\"\nof = \"link\"\nper_1000_days = 240\nrepair = \"1h\"\n";
  add(0s, 8, 1000h);
  EXPECT_TRUE(play(1).failures.interruptions.empty());
  jobs_.clear();
  add(0s, 16, 1000h);
  EXPECT_FALSE(play(2).failures.interruptions.empty());
}

TEST_F(SimulatedFailures, AJobPausesLongerEachTimeWithoutGpusAndGivesUp) {
  // It fails each 15 minutes on average, and needs 10 hours for a checkpoint.
  model_ =
      "restart = \"1s\"\n[retry]\nwait = \"1m\"\nlongest = \"4m\"\nmost = 5\n"
      "[[cause]]\nname = \"bug\"\nof = \"user\"\nper_1000_days = 96000\n"
      "[checkpoint]\nevery = \"10h\"\nwrite = \"0s\"\n";
  add(0s, 8, 100h);
  add(0s, 8, 30s);  // waits behind it
  play(1);
  std::vector<Duration> pauses;
  Time failed = kNoTime;
  for (const auto& each : schedule_.failures.interruptions) {
    if (each.job != JobId{0}) continue;
    EXPECT_EQ(each.restart, 1s);
    if (failed == kNoTime) failed = each.at;
    if (!each.gave_up) pauses.push_back(each.resumed - each.at);
  }
  EXPECT_THAT(pauses, testing::ElementsAre(1min, 2min, 4min, 4min));
  // The other job has the GPUs in the first pause.
  EXPECT_EQ(schedule_.jobs[1].start, failed);
  EXPECT_EQ(schedule_.jobs[1].end, failed + 30s);
  EXPECT_EQ(schedule_.jobs[0].phase, policy::Phase::withdrawn);
  EXPECT_EQ(schedule_.jobs[1].phase, policy::Phase::ended);
  EXPECT_EQ(report().gave_up, 1U);
  EXPECT_EQ(schedule_.failures.jobs[0].span, schedule_.jobs[0].end - schedule_.jobs[0].start);
}

TEST_F(SimulatedFailures, AJobThatPausesKeepsItsDependentsWaiting) {
  model_ =
      "restart = \"1s\"\n[retry]\nwait = \"20h\"\nlongest = \"20h\"\n"
      "[[cause]]\nname = \"bug\"\nof = \"user\"\nper_1000_days = 2000\n"
      "[checkpoint]\nevery = \"1h\"\n";
  add(0s, 8, 30h);
  const Time failed = play(1).failures.interruptions.at(0).at;
  add(failed + 1h - Time{}, 8, 1min);
  jobs_[1].request.after = jobs_[0].id;
  play(1);
  EXPECT_EQ(schedule_.failures.interruptions.at(0).at, failed);
  EXPECT_GE(schedule_.jobs[1].start, schedule_.jobs[0].end);
}

TEST_F(SimulatedFailures, EveryPolicyLetsAJobGiveUp) {
  model_ =
      "[retry]\nwait = \"1m\"\nmost = 2\n[[cause]]\nname = \"bug\"\nof = \"user\"\nper_1000_days = "
      "96000\n"
      "[checkpoint]\nevery = \"10h\"\n";
  for (int each = 0; each < 30; ++each) add(each * 5min, 1 + each % 8, each % 3 == 0 ? 50h : 1min);
  for (const policy::Composition& each : policy::registry().policies()) {
    SCOPED_TRACE(each.name);
    play(2, each.name);
    EXPECT_GE(report().gave_up, 10U);
    EXPECT_EQ(schedule_.jobs[1].phase, policy::Phase::ended);
  }
}

TEST_F(SimulatedFailures, NodesFailAtTheSameTimesUnderEveryPolicy) {
  model_ = std::string(kOncein100Hours) + "repair = \"3h\"\nrepair_p90 = \"30h\"\n";
  for (int each = 0; each < 60; ++each) add(each * 1h, 1 + each % 16, (1 + each % 50) * 1h);
  const auto outages = [&](const char* policy) {
    std::vector<std::pair<Time, NodeId>> made;
    for (const auto& each : play(4, policy).failures.outages) {
      if (each.at < Time{60h}) made.emplace_back(each.at, each.node);
    }
    return made;
  };
  const auto first = outages("fifo");
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(outages("srtf"), first);
  EXPECT_EQ(outages("fifo"), first);
  seed_ = 2;
  EXPECT_NE(outages("fifo"), first);
}

TEST_F(SimulatedFailures, EveryPolicyEndsEveryJob) {
  model_ =
      "restart = \"2m\"\nspares = 1\n[retry]\nwait = \"5m\"\n"
      "[[cause]]\nname = \"node\"\nof = \"node\"\nper_1000_days = 500\nrepair = \"2h\"\n"
      "[[cause]]\nname = \"soon\"\nof = \"gpu\"\nper_1000_days = 60\nnotice = \"10m\"\n"
      "[[cause]]\nname = \"link\"\nof = \"link\"\nper_1000_days = 500\nrepair = \"1h\"\n"
      "[[cause]]\nname = \"hang\"\nof = \"software\"\nper_1000_days = 200\n";
  for (int each = 0; each < 80; ++each) add(each * 10min, 1 + each * 5 % 24, (1 + each % 9) * 1h);
  for (const policy::Composition& each : policy::registry().policies()) {
    SCOPED_TRACE(each.name);
    const sim::Schedule& made = play(5, each.name);
    EXPECT_GT(made.failures.interruptions.size(), 10U);
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      EXPECT_EQ(made.jobs[job].phase, policy::Phase::ended) << job;
    }
  }
}

TEST_F(SimulatedFailures, ReplaceLemonsThatTheTestFinds) {
  model_ =
      "[[cause]]\nname = \"node\"\nof = \"node\"\nper_1000_days = 10\nrepair = \"1h\"\n"
      "[lemons]\nshare = 0.02\nfactor = 100\n";
  for (int each = 0; each < 200; ++each) add(0s, 8, 2400h);
  play(200);
  const FailureReport made = report();
  EXPECT_GT(made.lemons, 0U);
  EXPECT_EQ(made.lemons_found, made.lemons);
  EXPECT_LE(made.lemons_mistaken, 2U);
}

TEST_F(SimulatedFailures, AnAssumedCheckpointIntervalMarksNoJob) {
  model_ = std::string(kOncein100Hours) + "[checkpoint]\nevery = \"1h\"\nwrite = \"0s\"\n";
  model_.replace(model_.find("240"), 3, "0");
  add(0s, 8, 1000h);
  add(10h, 8, 1min);
  EXPECT_EQ(play(1, "almanac").jobs[0].preemptions, 0U);
  EXPECT_TRUE(std::isnan(prepared_->trace.jobs[0].request.checkpoint_s));
  EXPECT_TRUE(std::isnan(prepared_->trace.jobs[0].request.restart_s));
}

TEST_F(SimulatedFailures, PartsAddUpWhereFailuresCutRestartsShort) {
  model_ = std::string("restart = \"50h\"\n") + kOncein100Hours +
           "[checkpoint]\nevery = \"50h\"\nwrite = \"5h\"\n";
  add(0s, 8, 10'000h);
  play(1);
  const FailureReport made = report();
  const FailureReport::Size& size = made.sizes.at(0);
  EXPECT_NEAR(size.useful_gpu_h + size.written_gpu_h + size.lost_gpu_h + size.restart_gpu_h,
              size.held_gpu_h, 1e-6 * size.held_gpu_h);
  EXPECT_EQ(made.causes.at(0).restart_gpu_h, size.restart_gpu_h);
}

TEST_F(SimulatedFailures, NodesDoNotFailAgainAtTheInstantOfTheirReturn) {
  // Nothing runs while one of the four nodes is under repair.
  model_ =
      "[[cause]]\nname = \"node\"\nof = \"node\"\nper_1000_days = 100\nrepair = \"5d\"\n"
      "[checkpoint]\nevery = \"1h\"\nwrite = \"0s\"\n";
  add(0s, 32, 3000h);
  const auto& outages = play(4).failures.outages;
  ASSERT_GT(outages.size(), 10U);
  for (std::size_t at = 1; at < outages.size(); ++at) {
    EXPECT_GT(outages[at].at, outages[at - 1].until);
  }
}

TEST_F(SimulatedFailures, AJobWhoseIntervalIsZeroLosesNothing) {
  model_ = std::string(kOncein100Hours) + "[checkpoint]\nevery = \"1h\"\nwrite = \"1m\"\n";
  add(0s, 8, 1000h);
  jobs_[0].request.checkpoint_s = 0;
  const auto& all = play(1).failures.interruptions;
  ASSERT_FALSE(all.empty());
  for (const auto& each : all) EXPECT_EQ(each.lost, 0s);
  EXPECT_EQ(report().written_gpu_h, 0);
}

TEST_F(SimulatedFailures, TimeStoppedByThePolicyIsNoLoss) {
  model_ = std::string(kOncein100Hours) + "[checkpoint]\nevery = \"1h\"\nwrite = \"0s\"\n";
  model_.replace(model_.find("240"), 3, "0");
  add(0s, 8, 10h);
  add(1h, 8, 2h);
  play(1, "srtf");
  const FailureReport made = report();
  EXPECT_EQ(schedule_.jobs[0].preemptions, 1U);
  EXPECT_EQ(made.ettr, 1);
  EXPECT_NEAR(made.stopped_gpu_h, 2 * 8, 0.1);
}

TEST_F(SimulatedFailures, AFailedGpuStopsNoJobWithoutGpus) {
  model_ =
      "[[cause]]\nname = \"gpu\"\nof = \"gpu\"\nper_1000_days = 30\nrepair = \"1h\"\n"
      "[[cause]]\nname = \"disk\"\nof = \"node\"\nper_1000_days = 240\nrepair = \"1h\"\n";
  add(0s, 0, 1000h);
  jobs_[0].request.cpus = 4;
  add(0s, 8, 1000h);
  jobs_[1].request.cpus = 8;
  play(1, "fifo", 48);
  std::array<std::array<int, 2>, 2> stopped{};  // by cause and job
  for (const auto& each : schedule_.failures.interruptions) ++stopped[each.cause][index(each.job)];
  EXPECT_EQ(stopped[0][0], 0) << "the GPU's failure and the job without GPUs";
  EXPECT_GT(stopped[0][1], 0);
  EXPECT_GT(stopped[1][0], 0);
  EXPECT_EQ(schedule_.jobs[0].phase, policy::Phase::ended);
  EXPECT_EQ(schedule_.jobs[1].phase, policy::Phase::ended);
}

TEST(FailureWords, EachCauseIsShownOrSummed) {
  FailureReport made;
  made.causes = {{.name = "quiet"}};
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    made.causes.push_back({.name = name, .interruptions = 1, .lost_gpu_h = 2});
  }
  const std::string said = in_words(made);
  EXPECT_THAT(said, testing::HasSubstr("  e: 1 interruption, 2.0 GPU-hours lost"));
  EXPECT_THAT(said, testing::HasSubstr("  other causes: 2 interruptions, 4.0 GPU-hours lost"));
  EXPECT_THAT(said, testing::Not(testing::HasSubstr("quiet")));
  EXPECT_THAT(said, testing::Not(testing::HasSubstr("lemon")));
}

/// 16,384 GPUs for 30 days of work, with the rates of Llama 3: 466 interruptions in 54 days.
TEST_F(SimulatedFailures, AreThoseOfThePublishedRun) {
  Experiment experiment;
  experiment.policies = {"fifo"};
  experiment.failures = "llama3";
  trace::Trace log;
  add(0s, 16384, 30 * 24h);
  log.jobs = jobs_;
  auto made = prepare(experiment, std::move(log), cluster::uniform(2112, 8));
  ASSERT_TRUE(made);
  prepared_.emplace(std::move(*made));
  auto schedule = simulate_run(*prepared_, 0);
  ASSERT_TRUE(schedule);
  schedule_ = std::move(*schedule);
  const FailureReport found = report();
  ASSERT_EQ(found.sizes.size(), 1U);
  const double days = seconds(schedule_.jobs[0].end - schedule_.jobs[0].start) / 86'400;
  const double expected = 466 * days / 54;
  EXPECT_NEAR(static_cast<double>(found.sizes[0].interruptions), expected, 3 * std::sqrt(expected));
  EXPECT_GT(found.ettr, 0.9) << "as published";
  EXPECT_LT(found.ettr, 0.95);
  EXPECT_NEAR(found.ettr, found.sizes[0].ettr_expected, 0.01);
  EXPECT_EQ(found.causes[0].name, "faulty GPU");
}

TEST_F(SimulatedFailures, AreRefusedNextToNodesThatFailByAFile) {
  Experiment experiment;
  experiment.policies = {"fifo"};
  experiment.failures = "llama3";
  experiment.incidents = folder_.write("i.csv", "time,event,subject,value\n100,down,0,\n");
  add(0s, 8, 1h);
  trace::Trace log;
  log.jobs = jobs_;
  const auto made = prepare(experiment, std::move(log), cluster::uniform(2, 8));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, testing::HasSubstr("--incidents says it too"));
}

}  // namespace
}  // namespace almanac::experiment
