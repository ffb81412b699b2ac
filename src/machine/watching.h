// SPDX-License-Identifier: Apache-2.0

/// \file
/// What looks on from threads of its own: forecasts, the shadow, measurements, and the inquest into
/// failed jobs.
#pragma once

#include <memory>
#include <optional>
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

  /// Begins to look on, once the service has recovered.
  void begin();

  /// As service::Service has them.
  std::optional<service::Comparison> shadow() const { return shadow_->last(); }
  std::optional<service::Expected> expect(store::JobNumber number, Duration patience) const;
  Result<std::optional<service::Expected>> foresee(const store::Submission& asked) const;
  /// Adds what was measured and forecast.
  Result<std::vector<service::JobView>> add_to(Result<std::vector<service::JobView>> views) const;
  Result<service::JobView> add_to(Result<service::JobView> view) const;
  std::vector<service::NodeView> add_to(std::vector<service::NodeView> nodes) const;
  /// Has the shadow compare again if `set`, a change of the policy or the shadow, was made.
  Result<void> watch(Result<void> set);

 private:
  void begin_forecasts();
  void begin_shadow();
  /// The present for a forecast and the jobs that have ended since the last call, with what tenants
  /// have used if the policy counts that.
  service::Outlook outlook();
  /// Keeps what jobs were told to expect.
  void keep(const std::vector<store::Told>& told);
  /// Notes what the log of a job that has failed says.
  void note_cause(store::JobNumber job, const std::string& why);
  void add_to(service::JobView& view) const;

  Parts parts_;
  State& state_;
  std::unique_ptr<service::Foresight> foresight_;  // null = no forecasts
  std::unique_ptr<service::Shadow> shadow_;
  std::unique_ptr<Vitals> vitals_;
  std::unique_ptr<service::Inquest> inquest_;
};

}  // namespace almanac::machine
