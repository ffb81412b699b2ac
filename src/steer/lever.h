// SPDX-License-Identifier: Apache-2.0

/// \file
/// A lever: one reason for which Almanac changes a managed cluster. It says which changes it wants.
/// The driver (driver.h) decides whether and how fast they are made, and can undo them.
///
/// A lever looks at the present state each time and wants all that is not so yet. What could not be
/// done this time it wants again.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "steer/action/action.h"
#include "steer/outcome.h"
#include "steer/scene.h"

namespace almanac::steer {

class Lever {
 public:
  virtual ~Lever() = default;
  /// Why it cannot be used at this site; nothing if it can.
  virtual std::optional<std::string> obstacle(const manager::Site& site,
                                              const manager::Abilities& can) const = 0;
  /// Why it has nothing to do now; nothing if it may have.
  virtual std::optional<std::string> lacks(const Scene&) const { return std::nullopt; }
  /// Whether the manager's queue follows the policy while the lever acts.
  virtual bool decides_queue() const { return false; }
  /// The changes that it wants, the most urgent first. Waiting and running jobs and nodes are those
  /// of the mirror.
  virtual std::vector<Action> want(const Scene& scene) = 0;
  /// Gets the result of a change that was tried. Not called while the lever is dry.
  virtual void hear(const Change&, const Outcome&) {}
  /// Waiting jobs that the manager did not start although there was room, for unknown reasons. The
  /// policy does not plan them, so that no other job waits for them.
  virtual std::set<manager::JobNumber> in_vain(const Scene&) const { return {}; }
  /// The changes that give everything back to the manager. The driver requests and makes them when
  /// the lever is not on or cannot be used.
  virtual std::vector<Action> let_go(const Scene&) { return {}; }
  /// Warnings for the operator, one line each.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// Warnings about what it could not give back; shown even if the lever is off.
  virtual std::vector<std::string> left() const { return {}; }
};

}  // namespace almanac::steer
