// SPDX-License-Identifier: Apache-2.0

/// \file
/// The port between the loop of a live service (loop.h) and the cluster that it runs.
#pragma once

#include <vector>

#include "base/time.h"

namespace almanac::service {

/// A cluster that a loop runs. Only the deciding thread calls these functions, each once per step,
/// in this order.
class Cluster {
 public:
  virtual ~Cluster() = default;

  /// Takes over the next policy if it is ready, and starts preparing another one if that is due.
  /// `is_asked`: an operator wants the policy read again.
  virtual void renew(bool is_asked) = 0;
  /// Carries out requests of users and operators.
  virtual void take_requests() = 0;
  /// Finds out what has happened. False if the cluster does not answer; then the step neither
  /// decides nor acts.
  virtual bool look() = 0;
  virtual void decide() = 0;
  /// Writes to the disk what must be there before act().
  virtual void keep() = 0;
  /// Carries out the decision. True if there is more to do at once.
  virtual bool act() = 0;
  /// Ends the step, whether or not the cluster answered.
  virtual void finish() = 0;

  /// The longest sleep before the next step.
  virtual Duration rest() const = 0;
  /// Descriptors that end a sleep when they can be read.
  virtual std::vector<int> sources() const { return {}; }
  /// Refuses all requests from now on, because there is no next step.
  virtual void close() = 0;
};

}  // namespace almanac::service
