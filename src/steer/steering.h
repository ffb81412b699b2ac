// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sets the levers of a managed cluster by the switches and undo requests of an operator
/// (control.h) and by the canary, and carries out what they want.
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

/// All functions take the lock unless they say otherwise.
class Steering {
 public:
  Steering(Known& known, Controller& controller, Intake& intake, Switches switches)
      : known_(known), controller_(controller), intake_(intake), switches_(std::move(switches)) {}

  /// Carries out what the operator wants. True if anything changed, so that the status must be
  /// written at once.
  bool take_controls();
  /// Lets the canary look. True if it has undone all changes.
  bool heed_canary();
  /// Carries out what levers want. True if there is more to do.
  bool turn_levers();
  /// Sends agents the limits on cores of jobs.
  void tell_agents();
  /// Sets a function to call once all changes are undone, before the undo request is removed,
  /// because its author waits for that.
  void on_undone(std::function<void()> call) { on_undone_ = std::move(call); }

  // Under the lock.
  /// Whether a lever is on, and does not rest.
  bool moves(std::string_view lever) const;
  /// Whether the manager's queue follows the policy.
  bool decides() const { return controller_.failure().empty() && known_.driver.decides_queue(); }
  Scene scene() const { return known_.scene(controller_.link().can()); }
  /// Why the canary has undone all changes; "" if it has not.
  const std::string& retreat() const { return retreat_; }
  /// Changes that the last undo could not undo, in words.
  const std::vector<std::string>& left() const { return left_; }
  /// What is wrong with the file of switches; "" if nothing is.
  const std::string& trouble() const { return trouble_; }

 private:
  /// Undoes all changes.
  Result<void> take_all_back(const Retreat& how);
  /// Writes the switches that the driver has changed by itself.
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
