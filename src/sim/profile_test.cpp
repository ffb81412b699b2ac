// SPDX-License-Identifier: Apache-2.0
#include "sim/profile.h"

#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::sim {
namespace {

policy::Composition named(const std::string& text) { return *policy::registry().compose(text); }

TEST(Profile, ChangesNothingWithoutAName) {
  policy::Composition composition = named("srtf");
  schedule::RestartCost restart{.one_gpu = 1s};
  ASSERT_TRUE(apply_profile("", composition, restart));
  EXPECT_EQ(composition.preempt, policy::Preempt::by_rank);
  EXPECT_EQ(restart.one_gpu, 1s);
}

TEST(Profile, MakesSrtfCountGpusAndQssfRankLate) {
  policy::Composition srtf = named("srtf");
  policy::Composition qssf = named("qssf");
  schedule::RestartCost srtf_cost;
  schedule::RestartCost qssf_cost;
  ASSERT_TRUE(apply_profile("helios", srtf, srtf_cost));
  ASSERT_TRUE(apply_profile("helios", qssf, qssf_cost));
  EXPECT_EQ(srtf.preempt, policy::Preempt::quota);
  EXPECT_EQ(srtf_cost.launch, 1s);
  EXPECT_EQ(qssf.rank_delay, 1s);
  EXPECT_EQ(qssf_cost.launch, 0s);
}

TEST(Profile, NamesTheKnownOnes) {
  policy::Composition composition = named("fifo");
  schedule::RestartCost restart;
  const auto set = apply_profile("lucid", composition, restart);
  ASSERT_FALSE(set);
  EXPECT_EQ(to_string(set.error()), "no profile is called lucid (known: helios, synergy, slurm)");
}

TEST(Profile, SlurmIsForPoliciesThatNeitherPreemptNorReserve) {
  schedule::RestartCost restart;
  policy::Composition ces = named("fifo+ces_venus");
  ASSERT_TRUE(apply_profile("slurm", ces, restart));
  EXPECT_TRUE(ces.binds);
  EXPECT_TRUE(fit_profile(ces, {}, false));
  EXPECT_FALSE(fit_profile(ces, {}, true));
  for (const char* const other : {"srtf", "easy+oracle", "fifo+lease", "drf"}) {
    policy::Composition composition = named(other);
    EXPECT_FALSE(apply_profile("slurm", composition, restart)) << other;
  }
}

TEST(Profile, SynergyIsForItsOwnPolicies) {
  policy::Composition tune = named("synergy_tune+srtf");
  schedule::RestartCost restart;
  ASSERT_TRUE(apply_profile("synergy", tune, restart));
  EXPECT_TRUE(tune.as_published);
  EXPECT_EQ(restart.of(16), 0s);
  EXPECT_FALSE(fit_profile(tune, {}, false));
  trace::Trace at_once;
  at_once.jobs.resize(2);
  at_once.jobs[1].request.submit = Time{99ms};
  ASSERT_TRUE(fit_profile(tune, at_once, true));
  EXPECT_EQ(whole_steps_of(tune).lease, 300s);
  EXPECT_EQ(whole_steps_of(tune).phase, 1s);

  policy::Composition other = named("fifo");
  const auto set = apply_profile("synergy", other, restart);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message,
            "profile synergy knows no policy fifo: order fifo, size asked, no leases");
}

TEST(MakePolicy, NeedsAPredictionForEveryGpuJob) {
  trace::Trace trace;
  trace.path = "jobs.csv";
  trace.jobs.resize(3);
  trace.jobs[0].request.gpus = 1;
  trace.jobs[1].request.gpus = 2;
  trace.jobs[1].request.predicted = 5s;
  const auto made = make_policy(named("qssf+given"), trace);
  ASSERT_FALSE(made);
  EXPECT_EQ(to_string(made.error()),
            "jobs.csv: policy qssf+given: 1 jobs of the trace have no predicted_s "
            "(estimate given needs that column for every job)");
}

}  // namespace
}  // namespace almanac::sim
