// SPDX-License-Identifier: Apache-2.0
#include "sim/sample_interval.h"

#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "policy/registry.h"
#include "sim/simulation.h"

namespace almanac::sim {
namespace {

TEST(SampleInterval, ThinningKeepsEveryOtherSample) {
  std::vector<int> samples{0, 1, 2, 3, 4};
  thin_out(samples);
  EXPECT_EQ(samples, (std::vector<int>{0, 2, 4}));
  thin_out(samples);
  EXPECT_EQ(samples, (std::vector<int>{0, 4}));
}

// A run time in the wrong unit: 3,170 years of samples a minute would take 100 GB.
TEST(SampleInterval, ARunFarLongerThanTheLogNeedsNoMoreSamples) {
  trace::Trace trace;
  trace.jobs.resize(2);
  trace.jobs[0].request.gpus = 1;
  trace.jobs[0].outcome.run = Duration(std::int64_t{100'000'000'000'000});
  trace.jobs[1].request.submit = Time{5s};
  trace.jobs[1].request.gpus = 1;
  trace.jobs[1].outcome.run = 60s;
  const cluster::Cluster cluster = cluster::uniform(1, 8);
  const auto composition = policy::registry().compose("fifo");
  ASSERT_TRUE(composition);
  const auto fifo = policy::registry().make(*composition, {});
  const Schedule made = simulate(trace, cluster, *fifo, {});
  ASSERT_GT(made.timeline.size(), kMostSamples / 2);
  EXPECT_LE(made.timeline.size(), kMostSamples);
  const Duration interval = made.timeline[1].at - made.timeline[0].at;
  EXPECT_EQ(made.timeline.back().at,
            made.timeline[0].at + interval * static_cast<int>(made.timeline.size() - 1));
}

}  // namespace
}  // namespace almanac::sim
