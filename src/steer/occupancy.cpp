// SPDX-License-Identifier: Apache-2.0
#include "steer/occupancy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "steer/record.h"

namespace almanac::steer {
namespace {

/// What is still free of each node.
class Room {
 public:
  explicit Room(const cluster::Cluster& cluster) : cluster_(cluster) {
    for (const cluster::Node& node : cluster.nodes) {
      const cluster::NodeClass& make = cluster.classes[node.node_class];
      nodes_.push_back({.gpu_milli = std::vector<std::int32_t>(static_cast<std::size_t>(make.gpus),
                                                               cluster::kWholeGpu),
                        .cpu_milli = cluster::cpu_milli(make.cpus),
                        .memory_mb = cluster::memory_mb(make.memory_gb)});
    }
  }

  /// Takes those of `wanted` of which `milli` is free.
  cluster::GpuMask take(NodeId node, cluster::GpuMask wanted, std::int32_t milli) {
    cluster::GpuMask taken = 0;
    std::vector<std::int32_t>& gpus = nodes_[index(node)].gpu_milli;
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      const cluster::GpuMask bit = cluster::GpuMask{1} << gpu;
      if ((wanted & bit) == 0 || gpus[gpu] < milli) continue;
      gpus[gpu] -= milli;
      taken |= bit;
    }
    return taken;
  }

  /// Takes parts of any `count` GPUs: those with the least free part, the lowest numbers first.
  cluster::GpuMask take_any(NodeId node, int count, std::int32_t milli) {
    cluster::GpuMask taken = 0;
    const std::vector<std::int32_t>& gpus = nodes_[index(node)].gpu_milli;
    while (std::popcount(taken) < count) {
      std::size_t best = gpus.size();
      for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
        if ((taken >> gpu & 1U) != 0 || gpus[gpu] < milli) continue;
        if (best == gpus.size() || gpus[gpu] < gpus[best]) best = gpu;
      }
      if (best == gpus.size()) break;
      taken |= take(node, cluster::GpuMask{1} << best, milli);
    }
    return taken;
  }

  std::int32_t take_cpus(NodeId node, double cpus) {
    std::int32_t& left = nodes_[index(node)].cpu_milli;
    const std::int32_t taken = std::min(left, cluster::cpu_milli(cpus));
    left -= taken;
    return taken;
  }
  std::int32_t take_memory(NodeId node, double gb) {
    std::int32_t& left = nodes_[index(node)].memory_mb;
    const std::int32_t taken = std::min(left, cluster::memory_mb(gb));
    left -= taken;
    return taken;
  }
  int gpus(NodeId node) const { return cluster_.gpus(node); }

 private:
  struct Node {
    std::vector<std::int32_t> gpu_milli{};
    std::int32_t cpu_milli = 0;  // 0 where it is not said: cores are not counted then
    std::int32_t memory_mb = 0;
  };
  const cluster::Cluster& cluster_;
  std::vector<Node> nodes_;
};

/// What a job has of one node in all.
struct Share {
  cluster::GpuMask known = 0;
  int unknown = 0;
  std::int32_t milli = cluster::kWholeGpu;
  double cpus = 0;
  double memory_gb = 0;
  cluster::GpuMask taken = 0;  ///< Of the known ones, those that were free.
};

/// What a job has, in order of node. Most jobs have one.
class Shares {
 public:
  Share& on(NodeId node) {
    const auto found =
        std::lower_bound(nodes_.begin(), nodes_.end(), node,
                         [](const auto& each, NodeId wanted) { return each.first < wanted; });
    if (found != nodes_.end() && found->first == node) return found->second;
    return nodes_.insert(found, {node, {}})->second;
  }
  auto begin() { return nodes_.begin(); }
  auto end() { return nodes_.end(); }

  VcId vc = kNoVc;  ///< That of its first node; kNoVc if no node is known.

 private:
  std::vector<std::pair<NodeId, Share>> nodes_;
};

/// On a node, jobs of shards that have a GPU; at least 1.
using Crowd = std::map<std::pair<std::string, cluster::GpuMask>, int>;

Crowd crowd_of(const std::vector<const slurm::Job*>& jobs) {
  Crowd made;
  for (const slurm::Job* const job : jobs) {
    for (const slurm::Held& held : job->holds) {
      if (held.gpu_count == 0 && held.shards > 0) ++made[{held.node, held.gpus}];
    }
  }
  return made;
}

/// The part of a GPU that shards or a percentage of MPS are; at most 1.
double part_of(const slurm::Job& job, const slurm::Held& held, const World& world) {
  const auto& shares = held.shards > 0 ? world.share_of_shard : world.share_of_mps;
  const auto found = shares.find(split_names(job.partition).front());
  const int count = held.shards > 0 ? held.shards : held.mps;
  return found == shares.end() ? 1 : count * found->second;
}

/// Adds the allocation on a node whose GPUs are of several types. The job's GPUs are of the types
/// that it requests, and its cores and memory count on each part of the node.
void share_by_type(const slurm::Job& job, const slurm::Held& held, const World& world,
                   Shares& made) {
  int left = std::max(held.gpu_count, std::popcount(held.gpus));
  for (const NodeId part : world.parts(held.node)) {
    const cluster::NodeClass& make =
        world.cluster.classes[world.cluster.nodes[index(part)].node_class];
    const int here =
        cluster::is_one_of(make.gpu_type, job.gpu_type) ? std::min(left, make.gpus) : 0;
    if (here == 0 && held.cpus == 0 && held.memory_gb == 0) continue;
    Share& share = made.on(part);
    share.cpus += held.cpus;
    share.memory_gb += held.memory_gb;
    share.unknown += here;
    left -= here;
  }
}

Shares shares_of(const slurm::Job& job, const World& world, const Crowd* crowd) {
  Shares made;
  for (const slurm::Held& held : job.holds) {
    const auto [first, last] = world.nodes.equal_range(held.node);
    if (first == last) continue;
    const bool has_parts = std::next(first) != last;
    const NodeId node = has_parts ? world.node(held.node) : first->second;
    if (made.vc == kNoVc) made.vc = world.cluster.nodes[index(node)].vc;
    if (has_parts && held.shards == 0 && held.mps == 0) {
      share_by_type(job, held, world, made);
      continue;
    }
    Share& share = made.on(node);
    share.known |= held.gpus;
    share.unknown += std::max(0, held.gpu_count - std::popcount(held.gpus));
    share.cpus += held.cpus;
    share.memory_gb += held.memory_gb;
    if ((held.shards == 0 && held.mps == 0) || held.gpu_count > 0) continue;
    if (crowd != nullptr && held.shards > 0) {
      if (share.known != 0) share.milli = cluster::kWholeGpu / crowd->at({held.node, held.gpus});
      if (share.known == 0) share.unknown = 1;
      continue;
    }
    const double part = part_of(job, held, world);
    if (part < 1) share.milli = std::max(1, static_cast<int>(std::lround(part * 1000)));
    if (share.known == 0) share.unknown = std::max(1, static_cast<int>(std::ceil(part)));
  }
  return made;
}

}  // namespace

std::vector<Occupied> count_out(const World& world, const std::vector<const slurm::Job*>& jobs,
                                bool evenly) {
  std::vector<Occupied> made(jobs.size());
  Room room(world.cluster);
  std::vector<Shares> shares;
  shares.reserve(jobs.size());
  const Crowd crowd = crowd_of(jobs);
  for (const slurm::Job* const job : jobs) {
    shares.push_back(shares_of(*job, world, evenly ? &crowd : nullptr));
  }
  for (Shares& each : shares) {
    for (auto& [node, share] : each) share.taken = room.take(node, share.known, share.milli);
  }
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    for (const auto& [node, share] : shares[at]) {
      cluster::GpuMask mask = share.taken;
      if (share.unknown > 0) mask |= room.take_any(node, share.unknown, share.milli);
      const cluster::Grant grant{.node = node,
                                 .gpu_milli = mask == 0 ? cluster::kWholeGpu : share.milli,
                                 .gpus = mask,
                                 .cpu_milli = room.take_cpus(node, share.cpus),
                                 .memory_mb = room.take_memory(node, share.memory_gb)};
      const bool own = world.cluster.nodes[index(node)].vc == shares[at].vc;
      (own ? made[at].held : made[at].stray).push_back(grant);
    }
  }
  return made;
}

}  // namespace almanac::steer
