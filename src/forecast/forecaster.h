// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts, for some jobs of a simulation when they arrive, when they will start and end, like a
/// live service. A task of an array that has no room arrives when it waits for that. It learns run
/// times and usage only from jobs that have run by then.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "experiment/experiment.h"
#include "forecast/futures.h"
#include "forecast/job_beliefs.h"
#include "forecast/other_gpus.h"
#include "sim/simulation.h"

namespace almanac::forecast {

struct Options {
  int futures = 64;
  std::uint64_t seed = 0;
  /// Also forecasts for other numbers of GPUs.
  bool other_gpus = false;
  /// Counts the forecasts made; may be null.
  std::atomic<std::size_t>* num_told = nullptr;
};

/// A forecast given to a job, and its time.
struct Told {
  JobId job{};
  Forecast forecast;
  sim::Present present;
  std::vector<OtherGpus> other_gpus{};  ///< If requested.
};

class Forecaster final : public sim::Listener {
 public:
  /// `likely` gives the distribution of run times; `own` is another copy of what the policy
  /// believes.
  Forecaster(const Setting& setting, std::unique_ptr<predict::Estimator> likely,
             std::unique_ptr<predict::Estimator> own, std::set<JobId> asked,
             const Options& options);

  void hear(Time now, std::span<const policy::Event> events, const schedule::Round& round,
            const policy::Telemetry* telemetry) override;
  void throttled(Time now, JobId task, const schedule::Round& round,
                 const policy::Telemetry* telemetry) override;
  void paused(JobId job, Time until) override { pauses_[job] = until; }

  /// In the order in which they were made.
  const std::vector<Told>& told() const { return told_; }
  /// Becomes true when all requested forecasts are made.
  const std::atomic<bool>& done() const { return done_; }

 private:
  void tell(Time now, JobId job, const schedule::Round& round, const policy::Telemetry* telemetry);

  Setting setting_;
  JobBeliefs known_;
  std::set<JobId> asked_;
  Options options_;
  sim::Pauses pauses_;
  std::vector<Told> told_;
  std::atomic<bool> done_ = false;
};

/// Returns the setting of run number `run`, whose parts are those of `prepared`.
Setting setting_of(const experiment::Prepared& prepared, std::size_t run);
/// Returns an estimator of the distributions of run times for its jobs.
std::unique_ptr<predict::Estimator> likely_of(const experiment::Prepared& prepared);

/// Returns the forecasts that the jobs of `asked` would have got on arrival under run number `run`.
/// Simulates as far as needed.
Result<std::vector<Told>> tell(const experiment::Prepared& prepared, std::size_t run,
                               std::set<JobId> asked, const Options& options);

}  // namespace almanac::forecast
