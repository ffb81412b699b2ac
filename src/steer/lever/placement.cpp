// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever `placement`: holds waiting jobs until the policy starts them (holding_lever.h), and
/// then releases them to the nodes that the policy chose. The manager's own queue is short: jobs
/// about to start, and jobs left to it.
///
/// If the lever `sharing` acts, jobs of shards belong to that lever.
#include <fmt/format.h>

#include "steer/chosen_nodes.h"
#include "steer/holding_lever.h"
#include "steer/lever_registry.h"
#include "steer/shards.h"
#include "text/host_list.h"

namespace almanac::steer::lever {
namespace {

class PlacementLever final : public HoldingLever {
 public:
  bool decides_queue() const override { return true; }

 private:
  bool is_for(const manager::Job& job, const Scene& scene) const override {
    return !scene.shares || !asks_shards(job);
  }

  std::variant<Release, NotYet> release(const manager::Job& job, const Decision::Start& start,
                                        bool anywhere, const Scene& scene) override {
    manager::JobChange change{.job = job.number};
    const bool may_choose = !anywhere && job.tasks.empty();
    const auto nodes = may_choose ? chosen_nodes(job, start, scene) : std::nullopt;
    if (!nodes) {
      if (!job.required_nodes.empty()) change.required_nodes = "";
      return Release{change, "starts on nodes that Slurm chooses"};
    }
    change.required_nodes = text::join_hosts(*nodes);
    return Release{change, fmt::format("starts on {}", *change.required_nodes)};
  }
};

}  // namespace

void register_placement(LeverRegistry& registry) {
  registry.add({.name = "placement", .priority = 20, .make = [](const LeverParts&) {
                  return std::make_unique<PlacementLever>();
                }});
}

}  // namespace almanac::steer::lever
