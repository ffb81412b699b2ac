// SPDX-License-Identifier: Apache-2.0

/// \file
/// Maintenance windows that operators announce, and their effects on the queue.
#pragma once

#include <cstdint>

#include "machine/maintenance.h"
#include "machine/queue.h"
#include "machine/requests.h"
#include "machine/state.h"

namespace almanac::machine {

class MaintenanceWindows {
 public:
  MaintenanceWindows(State& state, Queue& queue, Requests& requests, Maintenance& maintenance)
      : state_(state), queue_(queue), requests_(requests), maintenance_(maintenance) {}

  /// See service::Service. Any thread.
  Result<std::int64_t> announce(const service::Window& window, const service::Caller& caller);
  Result<void> call_off(std::int64_t number, const service::Caller& caller);

  Result<void> read();
  /// Removes jobs from the queue that would not end before maintenance starts, and forgets windows
  /// that are over.
  void withdraw_jobs();

 private:
  State& state_;
  Queue& queue_;
  Requests& requests_;
  Maintenance& maintenance_;
};

}  // namespace almanac::machine
