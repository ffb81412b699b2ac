// SPDX-License-Identifier: Apache-2.0

/// \file
/// The nodes of a managed cluster as a cluster::Cluster, for policies. Made again when nodes come
/// or go; code may keep using the old one.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/cluster.h"
#include "steer/mirror.h"
#include "steer/settings.h"
#include "steer/tenants.h"

namespace almanac::steer {

struct World {
  cluster::Cluster cluster{};
  /// For past jobs, of which only the name of the virtual cluster is known.
  cluster::Cluster of_the_past{};
  Grouping grouping = Grouping::partitions;
  /// By the manager's name. A node whose GPUs are of several types is there once for each, each
  /// with all its cores and memory.
  std::unordered_multimap<std::string, NodeId> nodes{};
  std::map<std::string, VcId> vcs{};               ///< By partition.
  std::map<std::string, double> share_of_shard{};  ///< By partition, of a GPU; empty without
                                                   ///< shards.
  std::map<std::string, double> share_of_mps{};    ///< Same for gres/mps.
  bool requeues_by_default = true;  ///< Slurm's JobRequeue: jobs may be requeued unless they opt
                                    ///< out.
  std::map<std::string, int> partition_tiers{};  ///< What each adds to tier(); 0 for those missing.
  std::map<std::string, int> qos_tiers{};        ///< Same for each QOS.
  TenantsByOwner tenants{};                      ///< Of Cluster::tenants; empty without accounts.

  /// In order of number; more than one if its GPUs are of several types.
  std::vector<NodeId> parts(const std::string& name) const {
    const auto [first, last] = nodes.equal_range(name);
    std::vector<NodeId> made;
    for (auto at = first; at != last; ++at) made.push_back(at->second);
    std::sort(made.begin(), made.end());
    return made;
  }
  /// The first of them; kNoNode if the node is unknown.
  NodeId node(const std::string& name) const {
    const auto [first, last] = nodes.equal_range(name);
    NodeId made = kNoNode;
    for (auto at = first; at != last; ++at) made = std::min(made, at->second);
    return made;
  }
  /// Returns the part of the node whose GPUs `job` requests: with its types, or, if it names none,
  /// with the most GPUs. kNoNode if it has none such.
  NodeId part_for(const manager::Job& job, const std::string& name) const;
  /// The first known one of "a,b"; kNoVc if none is known.
  VcId vc_of(const std::string& partitions) const;
  /// Returns the priority tier of a job: by the PriorityTier of its partition, of several the
  /// highest, then by the Priority of its QOS. Tiers are numbered without gaps: 0 for PriorityTier
  /// 1 and Priority 0, which are Slurm's defaults.
  int tier(const manager::Job& job) const;
  /// Returns what its user said about being requeued. Slurm does not report whether a job that may
  /// be requeued asked for it, unless all jobs must.
  trace::Requeue requeue(const manager::Job& job) const {
    if (!job.requeueable) return trace::Requeue::no;
    return requeues_by_default ? trace::Requeue::unsaid : trace::Requeue::yes;
  }
};

/// Partitions that share a node are one virtual cluster, called "a+b". Nodes of no partition are
/// left out. A node's rack is the switch that it is plugged into, below those above it. By accounts
/// or QOS it is the same but that one that has all nodes takes every job, whatever it is called by.
std::shared_ptr<const World> make_world(const Mirror& mirror, Grouping grouping,
                                        bool requeues_by_default = true);

/// Splits "a,b".
std::vector<std::string> split_names(const std::string& list);

}  // namespace almanac::steer
