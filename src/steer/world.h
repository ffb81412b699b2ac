// SPDX-License-Identifier: Apache-2.0

/// \file
/// The machines of a Slurm cluster as a cluster::Cluster: what policies know. Made anew when nodes
/// come or go; code that uses the old one keeps it for as long as it needs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "cluster/cluster.h"
#include "steer/mirror.h"
#include "steer/settings.h"
#include "steer/tenants.h"

namespace almanac::steer {

struct World {
  cluster::Cluster cluster{};
  /// For jobs of the past, of which only what they were called by is known.
  cluster::Cluster of_the_past{};
  Grouping grouping = Grouping::partitions;
  std::unordered_map<std::string, NodeId> nodes{};  ///< By Slurm's name.
  std::map<std::string, VcId> vcs{};                ///< By partition.
  std::map<std::string, double> share_of_shard{};   ///< Of a GPU, by partition; none without.
  TenantsByOwner tenants{};                         ///< Of Cluster::tenants; none without accounts.

  NodeId node(const std::string& name) const {
    const auto found = nodes.find(name);
    return found == nodes.end() ? kNoNode : found->second;
  }
  /// The first of "a,b" that is known; kNoVc = none is.
  VcId vc_of(const std::string& partitions) const;
};

/// Partitions that share a node are one virtual cluster, called "a+b". Nodes of no partition are
/// left out. A node's rack is the switch that it is plugged into, below those above it. By accounts
/// or QOS it is the same but that one that has all nodes takes every job, whatever it is called by.
std::shared_ptr<const World> make_world(const Mirror& mirror, Grouping grouping);

/// "a,b" as words.
std::vector<std::string> split_names(const std::string& list);

}  // namespace almanac::steer
