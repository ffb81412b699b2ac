// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replaces the policy: by another one that an operator wants, or by a fresh copy without ended
/// jobs. Learning from the store takes long, so another thread prepares the new policy; it takes
/// over between two rounds.
#pragma once

#include <optional>
#include <string>

#include "machine/admitter.h"
#include "machine/decider.h"
#include "machine/lifecycle.h"
#include "machine/line.h"
#include "machine/out_of_service.h"
#include "machine/queue.h"
#include "machine/requests.h"
#include "machine/state.h"
#include "service/renewal.h"

namespace almanac::machine {

class Succession {
 public:
  /// The components that a new policy needs.
  struct Parts {
    State& state;
    Queue& queue;
    Line& line;
    Lifecycle& lifecycle;
    Admitter& admitter;
    Decider& decider;
    const OutOfService& out_of_service;
    Requests& requests;
  };
  explicit Succession(Parts parts) : parts_(parts) {}

  /// See service::Service. Any thread.
  Result<void> set_policy(const std::string& policy, const service::Caller& caller);
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller);

  /// Starts the first policy, which has not learned yet.
  Result<void> begin();
  /// Prepares the policy that learns, in another thread.
  void prepare_next();
  /// Switches to a policy that is ready. Prepares one if another is wanted, or if most jobs that
  /// the current one knows have ended.
  void renew();
  /// Reads the policy's file again.
  void read_policy_file();
  /// Whether the policy has not yet learned from ended jobs.
  bool is_learning() const { return is_learning_; }

 private:
  /// Slow; any thread.
  Result<Successor> prepare(policy::Composition composition, Time now) const;
  /// Returns a policy that has learned nothing.
  Successor untaught() const;
  /// Teaches it the jobs that ended while it was prepared.
  void catch_up(Successor& next) const;
  /// Gives all jobs that the policy knows to a new one, and drops ended jobs.
  void begin_policy(Successor next);

  Parts parts_;
  bool is_learning_ = false;
  std::optional<policy::Composition> wanted_;  // from a file that was read since
  service::Renewal<Successor> renewal_{parts_.state.bell};
};

}  // namespace almanac::machine
