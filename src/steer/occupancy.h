// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the running jobs of a managed cluster hold, as grants for a ledger.
///
/// A ledger aborts if something is taken twice. Slurm may allocate it twice (OverSubscribe, jobs on
/// a node that was made smaller), or report only how many GPUs a job has. So everything is counted
/// here first: known GPUs take precedence, counts get what is left, and the excess is cut off.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ledger.h"
#include "steer/world.h"

namespace almanac::steer {

struct Occupied {
  std::vector<cluster::Grant> held{};   ///< On nodes of one virtual cluster.
  std::vector<cluster::Grant> stray{};  ///< GPUs on nodes of others.
};

/// Returns the grants of each of `jobs`, in order. A job of shards holds its shards' part of a GPU.
std::vector<Occupied> count_out(const World& world, const std::vector<const manager::Job*>& jobs);

/// What a job has of one node in all, as the manager reports it.
struct NodeShare {
  NodeId node{};
  cluster::GpuMask known = 0;
  int unknown = 0;                          ///< GPUs of which only the count is known.
  std::int32_t milli = cluster::kWholeGpu;  ///< Of each GPU.
  std::int32_t cpu_milli = 0;
  std::int32_t memory_mb = 0;
};

/// What a job has, in order of node. Stays the same while neither the job nor the world changes.
struct Holding {
  VcId vc = kNoVc;  ///< That of its first node; kNoVc if no node is known.
  std::vector<NodeShare> nodes{};
};
Holding holding_of(const manager::Job& job, const World& world);
/// Does the same for each of `jobs`, but a job of shards holds an equal part of a GPU: all of it if
/// the job is alone.
std::vector<Holding> even_holdings(const std::vector<const manager::Job*>& jobs,
                                   const World& world);

/// The grants of many jobs, by their position.
class Occupation {
 public:
  /// Counts out in the order of `jobs`. Cost: one allocation for all.
  Occupation(const World& world, std::span<const Holding* const> jobs);

  std::span<const cluster::Grant> held(std::size_t job) const {
    return std::span(grants_).subspan(parts_[job].begin, parts_[job].num_held);
  }
  std::span<const cluster::Grant> stray(std::size_t job) const {
    const std::size_t begin = parts_[job].begin + parts_[job].num_held;
    return std::span(grants_).subspan(begin, parts_[job].end - begin);
  }

 private:
  struct Part {
    std::size_t begin = 0;
    std::size_t num_held = 0;
    std::size_t end = 0;
  };
  std::vector<cluster::Grant> grants_;  // of each job first those it holds, then the stray ones
  std::vector<Part> parts_;
};

}  // namespace almanac::steer
