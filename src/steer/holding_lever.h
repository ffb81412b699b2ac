// SPDX-License-Identifier: Apache-2.0

/// \file
/// What levers have in common that hold waiting jobs until the policy starts them, by leases that
/// end by themselves (leases.h): which jobs are held, released, taken back and left to Slurm. Where
/// a job goes is for each of them to say.
///
/// Left to Slurm: jobs that ask for nodes themselves, have a comment of an administrator's, have
/// waited for longer than the age cap, were released by somebody else, were released in vain too
/// often, or would lose by a hold what cannot be given back: age that Slurm counts. Arrays are held
/// and released as a whole, without nodes.
///
/// Nothing is remembered of jobs here: how often each was released, and when, is with the claims
/// (QueueClaims::Tries), so a service that begins anew goes on as the one before would have.
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
  std::optional<std::string> obstacle(const slurm::Site& site,
                                      const slurm::Abilities& can) const override;
  std::vector<Action> want(const Scene& scene) override;
  std::vector<Action> let_go(const Scene& scene) override;
  /// Those that were released in vain, for a while after each time; those that are left to Slurm
  /// and were to start for long.
  std::set<slurm::JobNumber> in_vain(const Scene& scene) const override;
  std::vector<std::string> warnings() const override;

 protected:
  /// How a job that is to start is released.
  struct Release {
    slurm::JobChange change{};
    std::string where{};  ///< "starts on n001".
  };
  struct NotYet {};

  /// Whether a job is this lever's to hold.
  virtual bool is_for(const slurm::Job& job, const Scene& scene) const = 0;
  /// `anywhere`: no nodes are to be chosen for it.
  virtual std::variant<Release, NotYet> release(const slurm::Job& job, const Decision::Start& start,
                                                bool anywhere, const Scene& scene) = 0;
  /// Adds to `change`, which takes a job back or leaves it to Slurm, what brings back what it
  /// asked.
  virtual void bring_back(const slurm::Job&, const Scene&, slurm::JobChange&) const {}
  /// Called before the first job is asked about.
  virtual void begin(const Scene&) {}
  /// Whether one that waits is left to Slurm.
  bool is_left(const slurm::Job& job, const Scene& scene) const {
    return !leave(job, scene).empty();
  }

 private:
  std::string leave(const slurm::Job& job, const Scene& scene) const;
  /// Nothing where it is left already.
  std::optional<Action> give_to_slurm(const slurm::Job& job, const std::string& why,
                                      const Scene& scene, bool for_good = false) const;
  /// Nothing where it is to wait, or Slurm may start it as it is.
  std::optional<Action> let_start(const slurm::Job& job, const Decision::Start& start,
                                  const Scene& scene, bool& waits_on);
  Action hold(const slurm::Job& job, bool starts, const Scene& scene) const;

  std::int64_t aged_ = 0;  // jobs that a hold would take their age, at last look
};

}  // namespace almanac::steer
