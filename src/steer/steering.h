// SPDX-License-Identifier: Apache-2.0

/// \file
/// How the levers of a Slurm cluster are turned: by an operator's switches and requests to take all
/// back (control.h), and by the canary; and how they move the cluster.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "steer/control.h"
#include "steer/controller.h"
#include "steer/intake.h"
#include "steer/known.h"

namespace almanac::steer {

/// All functions take the lock, but for those that say so.
class Steering {
 public:
  Steering(Known& known, Controller& controller, Intake& intake, Switches switches)
      : known_(known), controller_(controller), intake_(intake), switches_(std::move(switches)) {}

  /// Does what an operator wants; true = something was turned or taken back, and the status is to
  /// be written at once.
  bool take_controls();
  /// Has the canary look; true = it had all taken back, likewise.
  bool heed_canary();
  /// Does what levers want; true = there is more to do.
  bool turn_levers();
  /// Tells agents which jobs to hold to how many cores.
  void tell_agents();
  /// Called once all is taken back, before the request for that is gone: whoever asked waits.
  void on_undone(std::function<void()> call) { on_undone_ = std::move(call); }

  // Under the lock.
  /// Whether a lever is on, and does not rest.
  bool moves(std::string_view lever) const;
  /// Whether Slurm's queue follows the policy.
  bool decides() const { return controller_.failure().empty() && known_.driver.decides_queue(); }
  Scene scene() const { return known_.scene(controller_.link().can()); }
  /// What the canary died of; "" = it lives.
  const std::string& retreat() const { return retreat_; }
  /// What the last undo did not take back, in words.
  const std::vector<std::string>& left() const { return left_; }
  /// What is wrong with the file of switches; "" = nothing.
  const std::string& trouble() const { return trouble_; }

 private:
  /// Takes back all that was done, as it is asked for.
  Result<void> take_all_back(const Retreat& how);
  /// Writes the switches where the driver has turned some by itself.
  Result<void> keep_switches();

  Known& known_;
  Controller& controller_;
  Intake& intake_;
  std::function<void()> on_undone_;
  Switches switches_;
  std::string retreat_;
  std::vector<std::string> left_;
  std::string trouble_;
};

}  // namespace almanac::steer
