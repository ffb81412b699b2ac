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
  explicit Room(const cluster::Cluster& cluster) {
    nodes_.reserve(cluster.nodes.size());
    for (const cluster::Node& node : cluster.nodes) {
      const cluster::NodeClass& make = cluster.classes[node.node_class];
      nodes_.push_back({.first = gpus_.size(),
                        .cpu_milli = cluster::cpu_milli(make.cpus),
                        .memory_mb = cluster::memory_mb(make.memory_gb)});
      gpus_.resize(gpus_.size() + static_cast<std::size_t>(make.gpus), cluster::kWholeGpu);
    }
  }

  /// Takes those of `wanted` of which `milli` is free.
  cluster::GpuMask take(NodeId node, cluster::GpuMask wanted, std::int32_t milli) {
    cluster::GpuMask taken = 0;
    const std::span<std::int32_t> gpus = gpus_of(node);
    for (cluster::GpuMask left = wanted; left != 0; left &= left - 1) {
      const auto gpu = static_cast<std::size_t>(std::countr_zero(left));
      if (gpu >= gpus.size() || gpus[gpu] < milli) continue;
      gpus[gpu] -= milli;
      taken |= cluster::GpuMask{1} << gpu;
    }
    return taken;
  }

  /// Takes parts of any `count` GPUs: those with the least free part, the lowest numbers first.
  cluster::GpuMask take_any(NodeId node, int count, std::int32_t milli) {
    cluster::GpuMask taken = 0;
    const std::span<const std::int32_t> gpus = gpus_of(node);
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

  std::int32_t take_cpus(NodeId node, std::int32_t milli) {
    return take_of(nodes_[index(node)].cpu_milli, milli);
  }
  std::int32_t take_memory(NodeId node, std::int32_t mb) {
    return take_of(nodes_[index(node)].memory_mb, mb);
  }

 private:
  struct Node {
    std::size_t first = 0;       // of its GPUs
    std::int32_t cpu_milli = 0;  // 0 where it is not said: cores are not counted then
    std::int32_t memory_mb = 0;
  };

  std::span<std::int32_t> gpus_of(NodeId node) {
    const std::size_t at = index(node);
    const std::size_t end = at + 1 < nodes_.size() ? nodes_[at + 1].first : gpus_.size();
    return std::span(gpus_).subspan(nodes_[at].first, end - nodes_[at].first);
  }
  static std::int32_t take_of(std::int32_t& left, std::int32_t wanted) {
    const std::int32_t taken = std::min(left, wanted);
    left -= taken;
    return taken;
  }

  std::vector<std::int32_t> gpus_;  // of all nodes: what is free of each, in thousandths
  std::vector<Node> nodes_;
};

/// What a job has of one node in all.
struct Share {
  cluster::GpuMask known = 0;
  int unknown = 0;
  std::int32_t milli = cluster::kWholeGpu;
  double cpus = 0;
  double memory_gb = 0;
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
  Holding take() const {
    Holding made{.vc = vc};
    made.nodes.reserve(nodes_.size());
    for (const auto& [node, share] : nodes_) {
      made.nodes.push_back({.node = node,
                            .known = share.known,
                            .unknown = share.unknown,
                            .milli = share.milli,
                            .cpu_milli = cluster::cpu_milli(share.cpus),
                            .memory_mb = cluster::memory_mb(share.memory_gb)});
    }
    return made;
  }

  VcId vc = kNoVc;

 private:
  std::vector<std::pair<NodeId, Share>> nodes_;
};

/// On a node, jobs of shards that have a GPU; at least 1.
using Crowd = std::map<std::pair<std::string, cluster::GpuMask>, int>;

Crowd crowd_of(const std::vector<const manager::Job*>& jobs) {
  Crowd made;
  for (const manager::Job* const job : jobs) {
    for (const manager::Held& held : job->holds) {
      if (held.gpu_count == 0 && held.shards > 0) ++made[{held.node, held.gpus}];
    }
  }
  return made;
}

/// The part of a GPU that shards or a percentage of MPS are; at most 1.
double part_of(const manager::Job& job, const manager::Held& held, const World& world) {
  const auto& shares = held.shards > 0 ? world.share_of_shard : world.share_of_mps;
  const auto found = shares.find(split_names(job.partition).front());
  const int count = held.shards > 0 ? held.shards : held.mps;
  return found == shares.end() ? 1 : count * found->second;
}

/// Adds the allocation on a node whose GPUs are of several types. The job's GPUs are of the types
/// that it requests, and its cores and memory count on each part of the node.
void share_by_type(const manager::Job& job, const manager::Held& held, const World& world,
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

Holding holding_of(const manager::Job& job, const World& world, const Crowd* crowd) {
  Shares made;
  for (const manager::Held& held : job.holds) {
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
  return made.take();
}

}  // namespace

Holding holding_of(const manager::Job& job, const World& world) {
  return holding_of(job, world, nullptr);
}

std::vector<Holding> even_holdings(const std::vector<const manager::Job*>& jobs,
                                   const World& world) {
  const Crowd crowd = crowd_of(jobs);
  std::vector<Holding> made;
  made.reserve(jobs.size());
  for (const manager::Job* const job : jobs) made.push_back(holding_of(*job, world, &crowd));
  return made;
}

Occupation::Occupation(const World& world, std::span<const Holding* const> jobs) {
  Room room(world.cluster);
  std::vector<cluster::GpuMask> taken;  // of the known GPUs of each share, those that were free
  taken.reserve(jobs.size());
  for (const Holding* const job : jobs) {
    for (const NodeShare& share : job->nodes) {
      taken.push_back(room.take(share.node, share.known, share.milli));
    }
  }
  grants_.reserve(taken.size());
  parts_.reserve(jobs.size());
  std::vector<cluster::Grant> stray;
  auto next = taken.begin();
  for (const Holding* const job : jobs) {
    Part part{.begin = grants_.size()};
    stray.clear();
    for (const NodeShare& share : job->nodes) {
      cluster::GpuMask mask = *next++;
      if (share.unknown > 0) mask |= room.take_any(share.node, share.unknown, share.milli);
      const cluster::Grant grant{.node = share.node,
                                 .gpu_milli = mask == 0 ? cluster::kWholeGpu : share.milli,
                                 .gpus = mask,
                                 .cpu_milli = room.take_cpus(share.node, share.cpu_milli),
                                 .memory_mb = room.take_memory(share.node, share.memory_mb)};
      const bool own = world.cluster.nodes[index(share.node)].vc == job->vc;
      (own ? grants_ : stray).push_back(grant);
    }
    part.num_held = grants_.size() - part.begin;
    grants_.insert(grants_.end(), stray.begin(), stray.end());
    part.end = grants_.size();
    parts_.push_back(part);
  }
}

std::vector<Occupied> count_out(const World& world, const std::vector<const manager::Job*>& jobs) {
  std::vector<Holding> holdings;
  std::vector<const Holding*> each;
  holdings.reserve(jobs.size());
  for (const manager::Job* const job : jobs) {
    holdings.push_back(holding_of(*job, world));
    each.push_back(&holdings.back());
  }
  const Occupation occupation(world, each);
  std::vector<Occupied> made;
  made.reserve(jobs.size());
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const auto held = occupation.held(at);
    const auto stray = occupation.stray(at);
    made.push_back({{held.begin(), held.end()}, {stray.begin(), stray.end()}});
  }
  return made;
}

}  // namespace almanac::steer
