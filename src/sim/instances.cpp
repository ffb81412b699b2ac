// SPDX-License-Identifier: Apache-2.0
#include "sim/instances.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace almanac::sim {

Instances::Instances(const cluster::Cluster& cluster)
    : cluster_(cluster),
      any_(std::any_of(cluster.classes.begin(), cluster.classes.end(),
                       [](const auto& make) { return make.board != nullptr; })) {}

Duration Instances::make(std::span<const cluster::Grant> held) {
  double seconds = 0;
  for (const cluster::Grant& grant : held) {
    const cluster::NodeClass& make = cluster_.classes[cluster_.nodes[index(grant.node)].node_class];
    if (make.board == nullptr) continue;
    int operations = 0;
    for (cluster::GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
      const std::pair gpu(grant.node, std::countr_zero(rest));
      if (grant.profile != slices::kNoProfile) {
        slices::Layout& layout = layouts_.try_emplace(gpu, *make.board).first->second;
        const slices::Instance own{slices::position(*make.board, grant.profile), grant.slice};
        operations += layout.make(own).operations();
      } else if (const auto cut = layouts_.find(gpu); cut != layouts_.end()) {
        operations += static_cast<int>(cut->second.instances().size());
        layouts_.erase(cut);
      }
    }
    operations_ += operations;
    seconds += operations * make.instance_s;
  }
  return Duration{std::llround(seconds * 1e3)};
}

}  // namespace almanac::sim
