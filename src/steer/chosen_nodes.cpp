// SPDX-License-Identifier: Apache-2.0
#include "steer/chosen_nodes.h"

#include <algorithm>

#include "steer/suitable.h"

namespace almanac::steer {
namespace {

bool may_run(const manager::Job& job, const manager::Node& node) {
  if (node.drained || node.reserved || node.power != manager::Power::on) return false;
  if (has_features(node.features, job.features) != true) return false;
  const auto& own = node.partitions;
  const auto asked = split_names(job.partition);
  return std::all_of(asked.begin(), asked.end(), [&](const std::string& each) {
    return std::find(own.begin(), own.end(), each) != own.end();
  });
}

}  // namespace

std::optional<std::vector<std::string>> chosen_nodes(const manager::Job& job,
                                                     const Decision::Start& start,
                                                     const Scene& scene) {
  if (start.held.empty()) return std::nullopt;
  const cluster::Cluster& cluster = scene.decision.world->cluster;
  std::vector<std::string> made;
  for (const cluster::Grant& grant : start.held) {
    const std::string& name = cluster.nodes[index(grant.node)].name;
    const auto found = scene.mirror.nodes().find(name);
    if (found == scene.mirror.nodes().end() || !may_run(job, found->second)) return std::nullopt;
    if (job.gpus_per_node > 0 && grant.count() != job.gpus_per_node) return std::nullopt;
    made.push_back(name);
  }
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  if (static_cast<int>(made.size()) < job.nodes) return std::nullopt;
  return made;
}

}  // namespace almanac::steer
