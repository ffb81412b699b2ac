// SPDX-License-Identifier: Apache-2.0
#include "steer/freedom.h"

#include <algorithm>

#include "steer/record.h"
#include "steer/suitable.h"

namespace almanac::steer {

Freedom::Freedom(const Mirror& mirror, const World& world) : world_(world) {
  for (const auto& [name, id] : world.nodes) {
    const auto found = mirror.nodes().find(name);
    if (found != mirror.nodes().end())
      nodes_[world.cluster.nodes[index(id)].vc].push_back(&found->second);
  }
}

bool Freedom::has_any_node(const manager::Job& job) {
  if (Suitable::is_choosy(job) || !job.reservation.empty() || job.het != manager::JobNumber{}) {
    return false;
  }
  const auto [at, is_new] = known_.try_emplace(job.partition, false);
  if (is_new) {
    const std::vector<std::string> partitions = split_names(job.partition);
    const auto& nodes = nodes_[world_.vc_of(job.partition)];
    at->second = std::all_of(nodes.begin(), nodes.end(), [&](const manager::Node* node) {
      return std::any_of(partitions.begin(), partitions.end(), [&](const std::string& each) {
        return std::find(node->partitions.begin(), node->partitions.end(), each) !=
               node->partitions.end();
      });
    });
  }
  return at->second;
}

bool Freedom::lies_on_few_nodes(const manager::Job& job) const {
  const auto found = nodes_.find(world_.vc_of(job.partition));
  int most = 1;
  if (found != nodes_.end()) {
    for (const manager::Node* node : found->second) most = std::max(most, node->gpus);
  }
  return job.nodes <= std::max(1, (job.gpus + most - 1) / most);
}

}  // namespace almanac::steer
