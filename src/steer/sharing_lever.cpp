// SPDX-License-Identifier: Apache-2.0
#include "steer/sharing_lever.h"

#include "steer/world.h"

namespace almanac::steer {
namespace {

class SharingLever final : public Lever {
 public:
  std::string_view name() const override { return "sharing"; }

  std::optional<std::string> obstacle(const slurm::Site& site,
                                      const slurm::Abilities&) const override {
    const auto types = site.parameters.find("GresTypes");
    bool has_shards = false;
    if (types != site.parameters.end()) {
      for (const std::string& each : split_names(types->second)) {
        has_shards = has_shards || each == "shard";
      }
    }
    if (!has_shards) return "GresTypes names no shard: Slurm lets no two jobs share a GPU";
    return "Slurm itself chooses the GPU of a job of shards, and no job can be told which other to "
           "share it with";
  }

  std::vector<Action> want(const Scene&) override { return {}; }
};

}  // namespace

std::unique_ptr<Lever> make_sharing_lever() { return std::make_unique<SharingLever>(); }

}  // namespace almanac::steer
