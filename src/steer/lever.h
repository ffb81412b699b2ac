// SPDX-License-Identifier: Apache-2.0

/// \file
/// A lever: one kind of thing that Almanac may do to a Slurm. It says what it wants done; whether
/// that is done, how fast, and that it can be taken back, is for the driver (driver.h).
///
/// Each time it is asked anew from what is true, and wants all that is not yet so. What could not
/// be done this time it will want again.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slurm/link.h"
#include "steer/decision.h"
#include "steer/job_use.h"
#include "steer/mirror.h"
#include "steer/settings.h"

namespace almanac::steer {

class Ours;

/// What a lever looks at.
struct Scene {
  const Settings& settings;
  const slurm::Site& site;
  slurm::Abilities can{};
  const Mirror& mirror;
  const Decision& decision;
  const Chosen& policy;
  // The driver says these.
  const Ours* ours = nullptr;  ///< What stands of what was done.
  bool places = false;         ///< The lever `placement` is on, and does not rest.
  bool shares = false;         ///< The lever `sharing`.
};

/// Another fate for a job that runs.
struct FateChange {
  slurm::JobNumber job{};
  slurm::Fate fate{};
};

/// Nodes are to be powered on, or off.
struct PowerChange {
  std::vector<std::string> nodes{};
  bool on = true;
};

/// Nodes are to weigh as much when Slurm chooses where jobs go.
struct WeightChange {
  std::vector<std::string> nodes{};
  std::uint32_t weight = 1;
};

/// A job that runs is to be held to fewer cores than Slurm gave it.
struct CoresChange {
  slurm::JobNumber job{};
  Cores cores{};  ///< On each node where that is so; none = all that Slurm gave.
};

struct Action {
  std::variant<slurm::JobChange, FateChange, PowerChange, WeightChange, CoresChange> change{};
  std::string why{};  ///< "place 3 of 120 in v100".
};

class Lever {
 public:
  virtual ~Lever() = default;
  /// "order".
  virtual std::string_view name() const = 0;
  /// Why it cannot be used at this site; nothing = it can.
  virtual std::optional<std::string> obstacle(const slurm::Site& site,
                                              const slurm::Abilities& can) const = 0;
  /// Why there is nothing that it could do just now; nothing = there may be.
  virtual std::optional<std::string> lacks(const Scene& scene) const {
    static_cast<void>(scene);
    return std::nullopt;
  }
  /// The most urgent first. Jobs that wait, jobs that run and nodes are those of the mirror.
  virtual std::vector<Action> want(const Scene& scene) = 0;
  /// What has become of one that was done, or tried. Not called while the lever is dry.
  virtual void hear(const Action& action, const Result<void>& result) {
    static_cast<void>(action);
    static_cast<void>(result);
  }
  /// Waiting jobs that Slurm has not started where there was room, for reasons that it does not
  /// tell. Nothing is planned for them, so that no other job waits for them.
  virtual std::set<slurm::JobNumber> in_vain() const { return {}; }
  /// What gives back to Slurm all that it took, as far as that is not so yet. Asked, and done, when
  /// it is not on any more or cannot be used.
  virtual std::vector<Action> let_go(const Scene& scene) {
    static_cast<void>(scene);
    return {};
  }
  /// What an operator should know; one line each.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// The same of what it was to give back and could not; said also where it is off.
  virtual std::vector<std::string> left() const { return {}; }
};

}  // namespace almanac::steer
