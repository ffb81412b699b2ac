// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a live service would know of the jobs of a simulation by now: the believed run times of
/// those that have not ended, and the usage of those that have. It learns from the events of the
/// simulation only.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "forecast/futures.h"
#include "policy/contract/contract.h"
#include "predict/estimator.h"
#include "schedule/round.h"
#include "sim/present.h"
#include "trace/trace.h"

namespace almanac::forecast {

class JobBeliefs {
 public:
  /// `likely` gives the distribution of run times; `own` is another copy of what the policy
  /// believes. `trace` must outlive it.
  JobBeliefs(const trace::Trace& trace, std::unique_ptr<predict::Estimator> likely,
             std::unique_ptr<predict::Estimator> own);

  /// Takes note of the events of an instant.
  void hear(std::span<const policy::Event> events, const schedule::Round& round);
  /// Predicts jobs that have not arrived yet.
  void expect(std::span<const JobId> jobs);
  /// Of jobs that have not ended.
  Beliefs& beliefs() { return beliefs_; }
  /// Returns the usage until then, including that of running and waiting jobs.
  std::shared_ptr<const std::vector<policy::PastUse>> used_by(const sim::Present& present,
                                                              const schedule::Round& round) const;

 private:
  void believe(JobId job);
  void take_note(const policy::Event& event, const schedule::Round& round);

  const trace::Trace& trace_;
  std::unique_ptr<predict::Estimator> likely_;
  std::unique_ptr<predict::Estimator> own_;
  Beliefs beliefs_;
  std::vector<policy::PastUse> used_;  // of jobs that have ended
};

}  // namespace almanac::forecast
