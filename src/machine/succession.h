// SPDX-License-Identifier: Apache-2.0

/// \file
/// One policy after the other: another one that an operator wants, or the same again without the
/// jobs that have ended. What it learns from the store takes long, so another thread makes it; it
/// takes over between two rounds.
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
  /// What a policy that begins has to do with.
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

  /// As service::Service has them. Any thread.
  Result<void> set_policy(const std::string& policy, const service::Caller& caller);
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller);

  /// Begins the first policy, which has not learned yet.
  Result<void> begin();
  /// Makes the policy that learns, in another thread.
  void prepare_next();
  /// Takes over a policy that is ready; prepares one if another is wanted, or most jobs that the
  /// present one knows have ended.
  void renew();
  /// Reads the policy's file again.
  void read_policy_file();
  /// Whether the policy has not learned yet from the jobs that have ended.
  bool is_learning() const { return is_learning_; }

 private:
  /// Takes long; any thread.
  Result<Successor> prepare(policy::Composition composition, Time now) const;
  /// Returns a policy that has learned nothing.
  Successor untaught() const;
  /// Teaches it the jobs that ended while it was made.
  void catch_up(Successor& next) const;
  /// Gives all jobs that the policy knows to a new one, and lets go of those that have ended.
  void begin_policy(Successor next);

  Parts parts_;
  bool is_learning_ = false;
  std::optional<policy::Composition> wanted_;  // of a file that was read since
  service::Renewal<Successor> renewal_{parts_.state.bell};
};

}  // namespace almanac::machine
