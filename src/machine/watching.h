// SPDX-License-Identifier: Apache-2.0

/// \file
/// Background threads of the service: forecasts, the shadow policy, measurements, and the analysis
/// of failed jobs.
#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "machine/cluster_views.h"
#include "machine/job_views.h"
#include "machine/lifecycle.h"
#include "machine/observer.h"
#include "machine/out_of_service.h"
#include "machine/processes.h"
#include "machine/state.h"
#include "machine/vitals.h"
#include "service/foresight.h"
#include "service/inquest.h"
#include "service/shadow.h"

namespace almanac::machine {

class Watching {
 public:
  struct Parts {
    State& state;
    Lifecycle& lifecycle;
    Processes& processes;
    Observer& observer;
    OutOfService& out_of_service;
    const JobViews& jobs;
    const ClusterViews& cluster;
  };
  explicit Watching(Parts parts) : parts_(parts), state_(parts.state) {}
  ~Watching();
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  /// Starts the threads, once the service has recovered.
  void begin();

  /// See service::Service.
  std::optional<service::Comparison> shadow() const { return shadow_->last(); }
  std::optional<service::Expected> expect(store::JobNumber number, Duration patience) const;
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const;
  Result<std::optional<service::ChangedForecasts>> foresee(
      const std::vector<std::string>& changes) const;
  Result<std::optional<service::StartsIf>> starts_if(store::JobNumber number) const;
  /// Adds measurements and forecasts.
  Result<std::vector<service::JobView>> add_to(Result<std::vector<service::JobView>> views) const;
  Result<service::JobView> add_to(Result<service::JobView> view) const;
  std::vector<service::NodeView> add_to(std::vector<service::NodeView> nodes) const;
  /// Makes the shadow compare again if `set`, a change of policy or shadow, succeeded.
  Result<void> watch(Result<void> set);

 private:
  void begin_forecasts();
  void begin_shadow();
  /// Looks each second which boxes report.
  void begin_boxes();
  /// Returns the present state for a forecast and the jobs that have ended since the last call;
  /// includes usage by tenant if the policy needs it.
  service::Outlook outlook();
  /// Saves the forecasts given for jobs.
  void keep(const std::vector<store::Told>& told);
  /// Records the cause of failure found in a job's log.
  void note_cause(store::JobNumber job, const std::string& why);
  void add_to(service::JobView& view) const;

  Parts parts_;
  State& state_;
  std::unique_ptr<service::Foresight> foresight_;  // null if there are no forecasts
  std::unique_ptr<service::Shadow> shadow_;
  std::unique_ptr<Vitals> vitals_;
  std::unique_ptr<service::Inquest> inquest_;
  std::jthread boxes_;  // of a head only
};

}  // namespace almanac::machine
