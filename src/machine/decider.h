// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs the rounds of the policy and applies its decisions to jobs. Processes change later, once
/// the decisions are on disk (deeds.h).
#pragma once

#include "machine/lifecycle.h"
#include "machine/mover.h"
#include "machine/queue.h"
#include "machine/state.h"
#include "schedule/round.h"

namespace almanac::machine {

/// Requires the lock of `State`. The round calls the overrides.
class Decider final : public schedule::Actuator {
 public:
  Decider(State& state, Queue& queue, Lifecycle& lifecycle, Mover& mover)
      : state_(state), queue_(queue), lifecycle_(lifecycle), mover_(mover) {}

  /// Runs rounds until no decision is left to make now.
  void decide();

  void start(JobId job) override;
  void stop(JobId job) override;
  void vacate(JobId job) override;
  void end(JobId job, bool runs) override;
  void decline(JobId job) override;
  void resize(JobId job) override;
  void sleep(NodeId node) override;
  void boot(NodeId node) override;

 private:
  /// Ends a job that the policy no longer wants.
  void dismiss(JobId id, const char* why);

  State& state_;
  Queue& queue_;
  Lifecycle& lifecycle_;
  Mover& mover_;
};

}  // namespace almanac::machine
