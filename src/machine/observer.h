// SPDX-License-Identifier: Apache-2.0

/// \file
/// Distributes measurements of running jobs: to the policy, to job records, and to the site's rule
/// for idle GPUs.
#pragma once

#include <vector>

#include "machine/cluster_views.h"
#include "machine/meter.h"
#include "machine/mover.h"
#include "machine/processes.h"
#include "machine/queue.h"
#include "machine/requests.h"
#include "machine/state.h"
#include "machine/vitals.h"
#include "process/bell.h"
#include "service/idle.h"

namespace almanac::machine {

class Observer {
 public:
  struct Parts {
    State& state;
    Queue& queue;
    Meter& meter;
    Mover& mover;
    Processes& processes;
    Requests& requests;
    const ClusterViews& views;
  };
  explicit Observer(Parts parts) : parts_(parts), state_(parts.state) {}

  /// Takes over a measurement. Takes the lock.
  void take(const Sight& sight);
  /// Sends the letters that take() found due; takes as long as the site's hook.
  void send_letters();
  /// Stops sending letters, because the service ends.
  void close() { ends_.ring(); }

 private:
  /// Passes job reports on to the policy; returns whether there were any.
  bool pass_on(const std::vector<Report>& reported);
  /// Applies the site's rule to jobs with idle GPUs.
  void watch_idle(const Sight& sight);
  void apply_idle_step(const Entry& entry, service::IdleStep step);
  /// Returns the sample that charts show.
  store::Moment sample(Time now) const;

  Parts parts_;
  State& state_;
  service::IdleWatch idle_{state_.config.idle};
  std::vector<service::IdleLetter> letters_;  // not sent yet
  Time next_sample_{};
  process::Bell ends_;
};

}  // namespace almanac::machine
