// SPDX-License-Identifier: Apache-2.0
#include "sim/profile.h"

#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::sim {
namespace {

PolicyRun named(const std::string& text) { return {*policy::registry().compose(text)}; }

TEST(Profile, ChangesNothingWithoutAName) {
  PolicyRun run = named("srtf");
  run.restart.one_gpu = 1s;
  ASSERT_TRUE(apply_profile("", run));
  EXPECT_EQ(run.composition.pass, "by_rank");
  EXPECT_EQ(run.restart.one_gpu, 1s);
}

TEST(Profile, MakesSrtfCountGpusAndQssfRankLate) {
  PolicyRun srtf = named("srtf");
  PolicyRun qssf = named("qssf");
  ASSERT_TRUE(apply_profile("helios", srtf));
  ASSERT_TRUE(apply_profile("helios", qssf));
  EXPECT_EQ(srtf.composition.pass, "helios_count");
  EXPECT_EQ(srtf.restart.launch, 1s);
  EXPECT_EQ(qssf.composition.pass, "helios_qssf");
  EXPECT_EQ(qssf.restart.launch, 0s);
}

TEST(Profile, NamesTheKnownOnes) {
  PolicyRun run = named("fifo");
  const auto set = apply_profile("lucid", run);
  ASSERT_FALSE(set);
  EXPECT_EQ(to_string(set.error()), "no profile is called lucid (known: helios, synergy, slurm)");
}

TEST(Profile, SlurmIsForPoliciesThatNeitherPreemptNorReserve) {
  PolicyRun ces = named("fifo+ces_venus");
  ASSERT_TRUE(apply_profile("slurm", ces));
  EXPECT_TRUE(ces.binds);
  EXPECT_TRUE(fit_profile(ces, {}, false));
  EXPECT_FALSE(fit_profile(ces, {}, true));
  for (const char* const other : {"srtf", "easy+oracle", "fifo+lease", "drf"}) {
    PolicyRun run = named(other);
    EXPECT_FALSE(apply_profile("slurm", run)) << other;
  }
}

TEST(Profile, SynergyIsForItsOwnPolicies) {
  PolicyRun tune = named("synergy_tune+srtf");
  ASSERT_TRUE(apply_profile("synergy", tune));
  EXPECT_EQ(tune.composition.pass, "synergy_rounds");
  EXPECT_EQ(tune.restart.of(16), 0s);
  EXPECT_FALSE(fit_profile(tune, {}, false));
  trace::Trace at_once;
  at_once.jobs.resize(2);
  at_once.jobs[1].request.submit = Time{99ms};
  ASSERT_TRUE(fit_profile(tune, at_once, true));
  EXPECT_EQ(whole_steps_of(tune.composition).lease, 300s);
  EXPECT_EQ(whole_steps_of(tune.composition).phase, 1s);

  PolicyRun other = named("fifo");
  const auto set = apply_profile("synergy", other);
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
