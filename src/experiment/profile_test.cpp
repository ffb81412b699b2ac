// SPDX-License-Identifier: Apache-2.0
#include "experiment/profile.h"

#include <gtest/gtest.h>

#include "policy/registry.h"

namespace almanac::experiment {
namespace {

PolicyRun named(const std::string& text) { return {*policy::registry().compose(text)}; }

TEST(Profile, ChangesNothingWithoutAName) {
  PolicyRun run = named("srtf");
  run.restart.one_gpu = 1s;
  ASSERT_TRUE(apply_profile("", run));
  EXPECT_EQ(run.composition.pass, "by_rank");
  EXPECT_EQ(run.restart.one_gpu, 1s);
}

TEST(Profile, NamesTheKnownOnes) {
  PolicyRun run = named("fifo");
  const auto set = apply_profile("lucid", run);
  ASSERT_FALSE(set);
  EXPECT_EQ(to_string(set.error()), "no profile is named lucid (known: slurm)");
}

TEST(Profile, SlurmIsForPoliciesThatNeitherPreemptNorReserve) {
  PolicyRun ces = named("fifo+ces_venus");
  ASSERT_TRUE(apply_profile("slurm", ces));
  EXPECT_TRUE(ces.binds);
  EXPECT_TRUE(fit_profile(ces, false));
  EXPECT_FALSE(fit_profile(ces, true));
  for (const char* const other : {"srtf", "easy+oracle", "fifo+lease", "drf"}) {
    PolicyRun run = named(other);
    EXPECT_FALSE(apply_profile("slurm", run)) << other;
  }
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
}  // namespace almanac::experiment
