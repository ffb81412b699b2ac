// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of levers that hold waiting jobs until the policy starts them, by leases that end by
/// themselves (leases.h). It decides which jobs are held, released, held again and left to the
/// manager. Each lever decides where a job goes.
///
/// Left to the manager are jobs that request nodes, have a comment by an administrator, have waited
/// longer than the age cap, were released by somebody else, were released too often without
/// starting, or would lose the age that the manager counts. Arrays are held and released as a
/// whole, without nodes.
///
/// The lever remembers nothing about jobs. The claims know how often and when each was released
/// (QueueClaims::Tries), so a restarted service goes on as before.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "steer/lever.h"

namespace almanac::steer {

class HoldingLever : public Lever {
 public:
  std::optional<std::string> obstacle(const manager::Site& site,
                                      const manager::Abilities& can) const override;
  std::vector<Action> want(const Scene& scene) override;
  std::vector<Action> let_go(const Scene& scene) override;
  /// Jobs that were released without starting, for a while after each time, and jobs left to the
  /// manager that should have started long ago.
  std::set<manager::JobNumber> in_vain(const Scene& scene) const override;
  std::vector<std::string> warnings() const override;

 protected:
  /// How to release a job that starts.
  struct Release {
    manager::JobChange change{};
    std::string where{};  ///< "starts on n001".
  };
  struct NotYet {};

  /// Whether this lever holds a job.
  virtual bool is_for(const manager::Job& job, const Scene& scene) const = 0;
  /// `anywhere`: chooses no nodes for it.
  virtual std::variant<Release, NotYet> release(const manager::Job& job,
                                                const Decision::Start& start, bool anywhere,
                                                const Scene& scene) = 0;
  /// Adds to `change`, which holds a job again or leaves it to the manager, what restores its
  /// request.
  virtual void bring_back(const manager::Job&, const Scene&, manager::JobChange&) const {}
  /// Called before the first job is asked about.
  virtual void begin(const Scene&) {}
  /// Whether a waiting job is left to the manager.
  bool is_left(const manager::Job& job, const Scene& scene) const {
    return !leave(job, scene).empty();
  }

 private:
  std::string leave(const manager::Job& job, const Scene& scene) const;
  /// Nothing where it is left already.
  std::optional<Action> give_to_manager(const manager::Job& job, const std::string& why,
                                        const Scene& scene, bool for_good = false) const;
  /// Nothing if it must wait, or if the manager may start it as it is.
  std::optional<Action> let_start(const manager::Job& job, const Decision::Start& start,
                                  const Scene& scene, bool& waits_on);
  Action hold(const manager::Job& job, bool starts, const Scene& scene) const;

  std::int64_t aged_ = 0;  // jobs that a hold would take their age, at last look
};

}  // namespace almanac::steer
