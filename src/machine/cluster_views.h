// SPDX-License-Identifier: Apache-2.0

/// \file
/// The cluster as users, forecasts and metrics see it.
#pragma once

#include <vector>

#include "machine/forgetting.h"
#include "machine/line.h"
#include "machine/maintenance.h"
#include "machine/meter.h"
#include "machine/out_of_service.h"
#include "machine/queue.h"
#include "machine/start_trouble.h"
#include "machine/starter.h"
#include "machine/state.h"
#include "machine/succession.h"
#include "service/foresight.h"

namespace almanac::machine {

/// Thread-safe: every public function takes the lock of `State`, except as noted.
class ClusterViews {
 public:
  struct Parts {
    State& state;
    Queue& queue;
    const Line& line;
    const Meter& meter;
    const Starter& starter;
    const Accounts& accounts;
    const Maintenance& maintenance;
    const Forgetting& forgetting;
    const OutOfService& out_of_service;
    const Succession& succession;
  };
  explicit ClusterViews(Parts parts) : parts_(parts), state_(parts.state), queue_(parts.queue) {}

  /// See service::Service.
  service::Overview overview() const;
  service::Counters counters() const;
  std::vector<service::NodeView> nodes() const;
  Result<sim::Compactions> compactions() const;
  std::vector<service::Window> maintenance() const;
  /// Returns the present state for a forecast, without ended jobs.
  service::Outlook present() const;
  /// Same, for callers that hold the lock; likewise everything below.
  service::Outlook look() const;
  /// Returns the number of GPUs that jobs hold.
  int gpus_busy() const;
  int gpus_out_of_service() const;

 private:
  std::vector<std::string> warnings() const;
  std::vector<service::NodeView> nodes_now() const;

  Parts parts_;
  State& state_;
  Queue& queue_;
};

}  // namespace almanac::machine
