// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a policy as the simulator published with Synergy does.
#pragma once

#include "base/result.h"
#include "experiment/experiment.h"
#include "experiment/profile.h"
#include "sim/progress_rule.h"
#include "sim/simulation.h"
#include "trace/trace.h"

namespace almanac::passes {

/// Progress in whole iterations a lease; a run notices the end of a job when its lease ends.
class WholeSteps final : public sim::ProgressRule {
 public:
  /// The first lease begins at `phase`.
  WholeSteps(Duration lease, Duration phase) : lease_(lease), phase_(phase) {}

  double rate(double rate, double step_ms) const override;
  Time noticed(Time at) const override;

  Duration lease() const { return lease_; }
  Duration phase() const { return phase_; }

 private:
  Duration lease_;
  Duration phase_;
};

/// Makes `run` behave like the simulator of Mohan et al., OSDI'22, for `trace`: leases as in
/// passes/pass/synergy_rounds.cpp, and moves that cost nothing. Returns how its jobs progress.
/// Fails with usage if the policy is none of Synergy's.
Result<WholeSteps> as_synergy(experiment::PolicyRun& run, const trace::Trace& trace);

/// Simulates the first run of `prepared` as that simulator does; fails with usage also if no speeds
/// are known.
Result<sim::Schedule> simulate_as_synergy(const experiment::Prepared& prepared);

}  // namespace almanac::passes
