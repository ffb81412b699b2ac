// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "passes/helios.h"
#include "passes/synergy.h"
#include "policy/registry.h"

namespace almanac::passes {
namespace {

experiment::PolicyRun named(const std::string& text) { return {*policy::registry().compose(text)}; }

TEST(Helios, MakesSrtfCountGpusAndQssfRankLate) {
  experiment::PolicyRun srtf = named("srtf");
  experiment::PolicyRun qssf = named("qssf");
  as_helios(srtf);
  as_helios(qssf);
  EXPECT_EQ(srtf.composition.pass, "helios_count");
  EXPECT_EQ(srtf.restart.launch, 1s);
  EXPECT_EQ(qssf.composition.pass, "helios_qssf");
  EXPECT_EQ(qssf.restart.launch, 0s);
}

TEST(Synergy, IsForItsOwnPolicies) {
  trace::Trace at_once;
  at_once.jobs.resize(2);
  at_once.jobs[1].request.submit = Time{99ms};
  experiment::PolicyRun tune = named("synergy_tune+srtf");
  const auto steps = as_synergy(tune, at_once);
  ASSERT_TRUE(steps) << to_string(steps.error());
  EXPECT_EQ(tune.composition.pass, "synergy_rounds");
  EXPECT_EQ(tune.restart.of(16), 0s);
  EXPECT_EQ(steps->lease(), 300s);
  EXPECT_EQ(steps->phase(), 1s);

  experiment::PolicyRun other = named("fifo");
  const auto refused = as_synergy(other, at_once);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Synergy's simulator has no policy fifo: order fifo, size asked, no leases");
}

TEST(WholeSteps, CountIterationsAndEndsByLeases) {
  const WholeSteps steps(300s, 1s);
  // 100 s an iteration at 0.9 of its speed: two whole ones in a lease of 300 s.
  EXPECT_DOUBLE_EQ(steps.rate(0.9, 100'000), 2.0 / 3);
  EXPECT_DOUBLE_EQ(steps.rate(0.9, 0), 0.9);
  EXPECT_EQ(steps.noticed(Time{200s}), Time{301s});
  EXPECT_EQ(steps.noticed(Time{302s}), Time{601s});
}

}  // namespace
}  // namespace almanac::passes
