// SPDX-License-Identifier: Apache-2.0
#include "steer/placement_lever.h"

#include <fmt/format.h>

#include "steer/chosen_nodes.h"
#include "steer/holding_lever.h"
#include "steer/shards.h"
#include "text/host_list.h"

namespace almanac::steer {
namespace {

class PlacementLever final : public HoldingLever {
 public:
  std::string_view name() const override { return "placement"; }

 private:
  bool is_for(const slurm::Job& job, const Scene& scene) const override {
    return !scene.shares || !asks_shards(job);
  }

  std::variant<Release, NotYet> release(const slurm::Job& job, const Decision::Start& start,
                                        bool anywhere, const Scene& scene) override {
    slurm::JobChange change{.job = job.number};
    const bool may_choose = !anywhere && job.tasks.empty();
    const auto nodes = may_choose ? chosen_nodes(job, start, scene) : std::nullopt;
    if (!nodes) {
      if (!job.required_nodes.empty()) change.required_nodes = "";
      return Release{change, "starts where Slurm likes"};
    }
    change.required_nodes = text::join_hosts(*nodes);
    return Release{change, fmt::format("starts on {}", *change.required_nodes)};
  }
};

}  // namespace

std::unique_ptr<Lever> make_placement_lever() { return std::make_unique<PlacementLever>(); }

}  // namespace almanac::steer
