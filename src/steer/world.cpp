// SPDX-License-Identifier: Apache-2.0
#include "steer/world.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace almanac::steer {
namespace {

/// Which partitions are one: those that share nodes, whether directly or through others.
class Unions {
 public:
  explicit Unions(std::size_t count) : root_(count) { std::iota(root_.begin(), root_.end(), 0U); }
  std::size_t find(std::size_t at) {
    while (root_[at] != at) at = root_[at] = root_[root_[at]];
    return at;
  }
  /// The lower number stays.
  void join(std::size_t a, std::size_t b) {
    const std::size_t one = find(a);
    const std::size_t other = find(b);
    root_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<std::size_t> root_;
};

cluster::NodeClass make_of(const manager::Node& node) {
  return {.gpus = std::clamp(node.gpus, 0, cluster::kMaxGpusPerNode),
          .gpu_type = node.gpu_type,
          .cpus = node.cpus,
          .memory_gb = node.memory_gb};
}

}  // namespace

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> made;
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    if (comma > from) made.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return made;
}

VcId World::vc_of(const std::string& partitions) const {
  for (const std::string& each : split_names(partitions)) {
    if (const auto found = vcs.find(each); found != vcs.end()) return found->second;
  }
  return kNoVc;
}

NodeId World::part_for(const manager::Job& job, const std::string& name) const {
  const auto make = [&](NodeId part) -> const cluster::NodeClass& {
    return cluster.classes[cluster.nodes[index(part)].node_class];
  };
  const std::vector<NodeId> all = parts(name);
  if (all.size() == 1) return all.front();
  NodeId made = kNoNode;
  for (const NodeId part : all) {
    if (!cluster::is_one_of(make(part).gpu_type, job.gpu_type)) continue;
    if (made == kNoNode || make(part).gpus > make(made).gpus) made = part;
  }
  return made;
}

int World::tier(const manager::Job& job) const {
  const auto part = [](const std::map<std::string, int>& tiers, const std::string& name) {
    const auto found = tiers.find(name);
    return found == tiers.end() ? 0 : found->second;
  };
  std::optional<int> highest;
  for (const std::string& each : split_names(job.partition)) {
    highest =
        std::max(highest.value_or(std::numeric_limits<int>::min()), part(partition_tiers, each));
  }
  return highest.value_or(0) + part(qos_tiers, job.qos);
}

namespace {

/// Numbers the tiers of World::tier().
void number_tiers(const Mirror& mirror, World& world) {
  constexpr int kUsualTier = 1;
  std::set<int> tiers{kUsualTier};
  for (const manager::Partition& each : mirror.partitions()) tiers.insert(each.priority_tier);
  std::set<std::uint32_t> priorities{0};
  for (const manager::QosPriority& each : mirror.limits().qos_priorities) {
    priorities.insert(each.priority);
  }
  const auto place = [](const auto& of, auto value) {
    return static_cast<int>(std::distance(of.begin(), of.find(value)));
  };
  const auto step = static_cast<int>(priorities.size());
  for (const manager::Partition& each : mirror.partitions()) {
    const int tier = place(tiers, each.priority_tier) - place(tiers, kUsualTier);
    if (tier != 0) world.partition_tiers.emplace(each.name, tier * step);
  }
  for (const manager::QosPriority& each : mirror.limits().qos_priorities) {
    world.qos_tiers.emplace(each.qos, place(priorities, each.priority));
  }
}

}  // namespace

std::shared_ptr<const World> make_world(const Mirror& mirror, Grouping grouping,
                                        bool requeues_by_default) {
  const std::vector<manager::Partition>& partitions = mirror.partitions();
  Unions unions(partitions.size());
  std::map<std::string, std::size_t> owner;  // of each node, some partition
  for (std::size_t at = 0; at < partitions.size(); ++at) {
    for (const std::string& node : partitions[at].nodes) {
      if (!mirror.nodes().contains(node)) continue;
      const auto [first, is_new] = owner.try_emplace(node, at);
      if (!is_new) unions.join(first->second, at);
    }
    if (grouping == Grouping::all) unions.join(0, at);
  }

  auto made = std::make_shared<World>();
  made->grouping = grouping;
  made->requeues_by_default = requeues_by_default;
  for (std::size_t root = 0; root < partitions.size(); ++root) {
    if (unions.find(root) != root) continue;
    std::string name;
    double shards = 0;
    double sharded = 0;  // GPUs
    double mps = 0;
    double by_mps = 0;  // GPUs
    std::vector<const manager::Node*> nodes;
    for (const auto& [node, at] : owner) {
      if (unions.find(at) == root) nodes.push_back(&mirror.nodes().at(node));
    }
    for (const manager::Node* const node : nodes) {
      shards += node->shards;
      sharded += node->shards > 0 ? node->gpus : 0;
      mps += node->mps;
      by_mps += node->mps > 0 ? node->gpus : 0;
    }
    const VcId vc{static_cast<std::uint32_t>(made->cluster.vcs.size())};
    for (std::size_t at = root; at < partitions.size(); ++at) {
      if (unions.find(at) != root) continue;
      name += (name.empty() ? "" : "+") + partitions[at].name;
      made->vcs.emplace(partitions[at].name, vc);
      if (shards > 0) made->share_of_shard.emplace(partitions[at].name, sharded / shards);
      if (mps > 0) made->share_of_mps.emplace(partitions[at].name, by_mps / mps);
    }
    made->cluster.add_vc(std::move(name));
    for (const manager::Node* const node : nodes) {
      for (const manager::Node& part : manager::by_type(*node)) {
        made->nodes.emplace(part.name,
                            NodeId{static_cast<std::uint32_t>(made->cluster.nodes.size())});
        made->cluster.add_nodes(make_of(part), 1, {part.name}, part.switches);
        if (part.gpus <= cluster::kMaxGpusPerNode) continue;
        made->cluster.notes.push_back(fmt::format("node {} has {} GPUs, of which {} are used",
                                                  part.name, part.gpus, cluster::kMaxGpusPerNode));
      }
    }
  }
  if (made->cluster.vcs.size() == 1 && grouping == Grouping::all) {
    made->cluster.vcs.front().name = "all";
  }
  std::tie(made->cluster.tenants, made->tenants) =
      tenants_of(mirror.associations(), made->cluster.gpus());
  number_tiers(mirror, *made);
  const bool by_owner = !owns_nodes(grouping);
  made->cluster.takes_every_job = by_owner && made->cluster.vcs.size() == 1;
  made->of_the_past = by_owner ? cluster::merged(made->cluster) : made->cluster;
  return made;
}

}  // namespace almanac::steer
