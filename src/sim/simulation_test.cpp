// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <gtest/gtest.h>

namespace almanac::sim {
namespace {

/// Starts no job.
class IdlePolicy final : public policy::Policy {
 public:
  void decide(std::span<const policy::Event>, const policy::View&, policy::Plan&) override {}
  policy::Reason why_waiting(JobId, const policy::View&, cluster::Ledger&) const override {
    return {};
  }
  void line_up(std::vector<JobId>&) const override {}
};

Schedule simulate_submissions(std::initializer_list<Duration> submissions) {
  trace::Trace trace;
  for (const Duration submit : submissions) {
    trace::Job job;
    job.request.gpus = 1;
    job.request.submit = Time{submit};
    trace.jobs.push_back(job);
  }
  IdlePolicy policy;
  return simulate(trace, cluster::uniform(1, 1), policy, {});
}

TEST(Simulation, TakesJobsInOrderOfSubmission) {
  EXPECT_EQ(simulate_submissions({5s, 5s, 10s}).jobs.size(), 3U);
}

// Such a job would never arrive, and the simulation would not end.
TEST(Simulation, AbortsIfAJobWasSubmittedBeforeTheOneAheadOfIt) {
  EXPECT_DEATH(simulate_submissions({5s, 10s, 7s}),
               "not in order of submission: job 1 at 10000 ms, then job 2 at 7000 ms");
}

}  // namespace
}  // namespace almanac::sim
