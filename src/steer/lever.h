// SPDX-License-Identifier: Apache-2.0

/// \file
/// A lever: one reason for which Almanac does something to a Slurm. It says what it wants done;
/// whether that is done, how fast, and that it can be taken back, is for the driver (driver.h).
///
/// Each time it is asked anew from what is true, and wants all that is not yet so. What could not
/// be done this time it will want again.
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
  /// Why it cannot be used at this site; nothing = it can.
  virtual std::optional<std::string> obstacle(const slurm::Site& site,
                                              const slurm::Abilities& can) const = 0;
  /// Why there is nothing that it could do just now; nothing = there may be.
  virtual std::optional<std::string> lacks(const Scene&) const { return std::nullopt; }
  /// Whether Slurm's queue follows the policy while the lever acts.
  virtual bool decides_queue() const { return false; }
  /// The most urgent first. Jobs that wait, jobs that run and nodes are those of the mirror.
  virtual std::vector<Action> want(const Scene& scene) = 0;
  /// What has become of one that was done, or tried. Not called while the lever is dry.
  virtual void hear(const Change&, const Outcome&) {}
  /// Waiting jobs that Slurm has not started where there was room, for reasons that it does not
  /// tell. Nothing is planned for them, so that no other job waits for them.
  virtual std::set<slurm::JobNumber> in_vain(const Scene&) const { return {}; }
  /// What gives back to Slurm all that it took, as far as that is not so yet. Asked, and done, when
  /// it is not on any more or cannot be used.
  virtual std::vector<Action> let_go(const Scene&) { return {}; }
  /// What an operator should know; one line each.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// The same of what it was to give back and could not; said also where it is off.
  virtual std::vector<std::string> left() const { return {}; }
};

}  // namespace almanac::steer
