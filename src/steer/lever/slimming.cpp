// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `slimming`: limits running jobs to the cores that the policy leaves them (slimmer.h),
/// by the agents on their nodes (agents.h). The manager does not know about the limits, so no other
/// job gets the freed cores.
#include <algorithm>
#include <set>
#include <utility>

#include "steer/claims.h"
#include "steer/lever_registry.h"
#include "steer/slimmer.h"

namespace almanac::steer::lever {
namespace {

using manager::JobNumber;

class SlimmingLever final : public Lever {
 public:
  SlimmingLever(const Slimmer& slimmer, Present present)
      : slimmer_(slimmer), present_(std::move(present)) {}

  std::optional<std::string> obstacle(const manager::Site&,
                                      const manager::Abilities&) const override {
    if (!slimmer_.slims()) return "the policy does not change the cores of running jobs";
    if (!present_)
      return "the service does not listen for agents: start it with almanac serve --agents "
             "HOST:PORT";
    if (present_().empty()) return "no node agent reports";
    return std::nullopt;
  }

  std::vector<Action> want(const Scene& scene) override {
    const std::set<std::string> present = present_();
    std::vector<Action> made;
    for (const auto& [job, cores] : slimmer_.wanted()) {
      const manager::Job* const found = scene.mirror.find(job);
      if (found == nullptr) continue;
      const Cores* const stands = claims(scene).find(*found);
      if (stands != nullptr && *stands == cores) continue;
      // On all of its nodes or on none: the slowest decides how fast it is.
      const bool all_hear = std::all_of(cores.begin(), cores.end(), [&](const auto& each) {
        return present.contains(each.first);
      });
      if (all_hear) made.push_back({CoresChange{job, cores}, slimmer_.why(job)});
    }
    for (const auto& [job, claim] : claims(scene)) {
      if (slimmer_.wanted().contains(job)) continue;
      made.push_back({CoresChange{job, {}}, slimmer_.why(job)});
    }
    return made;
  }

  std::vector<Action> let_go(const Scene& scene) override {
    std::vector<Action> made;
    for (const auto& [job, claim] : claims(scene)) {
      made.push_back({CoresChange{job, {}}, "slimming is not on"});
    }
    return made;
  }

  std::vector<std::string> warnings() const override { return slimmer_.troubles(); }

 private:
  static const JobClaims<Cores>& claims(const Scene& scene) {
    return scene.claims->of<CoresChange>().jobs();
  }

  const Slimmer& slimmer_;
  Present present_;
};

}  // namespace

void register_slimming(LeverRegistry& registry) {
  registry.add({.name = "slimming", .priority = 50, .make = [](const LeverParts& parts) {
                  return std::make_unique<SlimmingLever>(parts.slimmer, parts.present);
                }});
}

}  // namespace almanac::steer::lever
