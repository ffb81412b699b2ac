// SPDX-License-Identifier: Apache-2.0

/// \file
/// Listens to a simulation, as a service would to its cluster, and tells some of its jobs as they
/// come when they will start and end. What it knows of run times, and of what owners have used, it
/// learns from the jobs that have run by then.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "forecast/futures.h"
#include "forecast/other_gpus.h"
#include "sim/simulation.h"

namespace almanac::forecast {

struct Options {
  int futures = 64;
  std::uint64_t seed = 0;
  bool other_gpus = false;                       ///< Also what would be with other numbers of GPUs.
  std::atomic<std::size_t>* num_told = nullptr;  ///< Counts the jobs that were told; null = none
                                                 ///< does.
};

/// What a job was told, and the instant at which it was.
struct Told {
  JobId job{};
  Forecast forecast;
  sim::Present present;
  std::vector<OtherGpus> other_gpus{};  ///< If asked for.
};

class Forecaster final : public sim::Listener {
 public:
  /// `likely` says how likely run times are, `own` is another copy of what the policy believes.
  Forecaster(const Setting& setting, std::unique_ptr<predict::Estimator> likely,
             std::unique_ptr<predict::Estimator> own, std::set<JobId> asked,
             const Options& options);

  void hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
            const policy::Telemetry* telemetry) override;

  /// In order of submission.
  const std::vector<Told>& told() const { return told_; }
  /// Becomes true when all jobs that asked were told.
  const std::atomic<bool>& done() const { return done_; }

 private:
  void take_note(const policy::Event& event, const schedule::Round& round);
  /// What was used until then, by what runs or waits now too.
  std::shared_ptr<const std::vector<policy::PastUse>> used_by(const sim::Present& present,
                                                              const schedule::Round& round) const;

  Setting setting_;
  std::unique_ptr<predict::Estimator> likely_;
  std::unique_ptr<predict::Estimator> own_;
  std::set<JobId> asked_;
  Options options_;
  Beliefs beliefs_;                    // of jobs that have not ended
  std::vector<policy::PastUse> used_;  // of those that have
  std::vector<Told> told_;
  std::atomic<bool> done_ = false;
};

/// What the jobs of `asked` would have heard under run number `run`, had they asked when they came.
/// The simulation is played as far as that takes.
Result<std::vector<Told>> tell(const experiment::Prepared& prepared, std::size_t run,
                               std::set<JobId> asked, const Options& options);

}  // namespace almanac::forecast
