// SPDX-License-Identifier: Apache-2.0

/// \file
/// The arrays of one virtual cluster: whose the cores of each node are, which jobs hold cores on
/// loan, which wait.
///
/// Cost     file() is O(1), look_at() a step for each CPU job of the node; roomiest() looks at a
///          bound for each 64 nodes.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "cluster/room_set.h"
#include "policy/kit/desk.h"
#include "policy/kit/user_queues.h"

namespace almanac::policy {

class ArrayBook {
 public:
  /// A job on a node.
  struct Tenant {
    JobId job{};
    std::int32_t cpu_milli = 0;
    int gpus = 0;
  };
  struct NodeState {
    std::int32_t array = 0;  ///< cores/1000 of the CPU array.
    std::int32_t used = 0;   ///< Of CPU jobs.
    bool has_gpus = false;
    /// CPU jobs, oldest first. The youngest are on loan as far as all hold more than the array.
    std::vector<Tenant> cpu_jobs{};
    /// GPU jobs that lie on this node alone, oldest first.
    std::vector<Tenant> gpu_jobs{};

    bool lends() const { return used > array; }
  };

  /// `reserve_milli` cores/1000 of each GPU are the GPU array's.
  ArrayBook(const Desk& desk, VcId vc, std::int32_t reserve_milli);

  UserQueues& queue(bool of_cpu_jobs) { return of_cpu_jobs ? cpu_jobs_ : gpu_jobs_; }
  const UserQueues& queue(bool of_cpu_jobs) const { return of_cpu_jobs ? cpu_jobs_ : gpu_jobs_; }
  const NodeState& node(NodeId id) const { return nodes_[member_of(id)]; }
  /// Nodes whose CPU jobs hold more than their array, in order of number.
  std::vector<NodeId> lending() const;

  /// A job holds `grants`, or no more.
  void enter(JobId job, std::span<const cluster::Grant> grants, const cluster::Ledger& ledger);
  void leave(JobId job, std::span<const cluster::Grant> grants, const cluster::Ledger& ledger);
  /// The ledger has changed on a node.
  void file(NodeId id, const cluster::Ledger& ledger) { file(member_of(id), ledger); }
  void file_all(const cluster::Ledger& ledger);
  /// Something has changed on a node: recounts it, and wakes the jobs that might start there.
  void look_at(NodeId id, Desk& desk);

  /// The node where a task of a CPU job has most room: on a node without GPUs; in its own array;
  /// among all that is idle; by right, whatever job holds it. kNoNode = nowhere.
  NodeId roomiest_plain(const cluster::Amount& task) const { return find(plain_, task); }
  NodeId roomiest_own(const cluster::Amount& task) const { return find(own_, task); }
  NodeId roomiest_idle(const cluster::Amount& task) const { return find(idle_, task); }
  NodeId roomiest_right(const cluster::Amount& task) const { return find(right_, task); }
  /// Cores of CPU jobs that start have been taken, or given back with a sign of -1.
  void use(NodeId id, std::int32_t cpu_milli, const cluster::Ledger& ledger) {
    nodes_[member_of(id)].used += cpu_milli;
    file(id, ledger);
  }

 private:
  std::uint32_t member_of(NodeId id) const {
    return static_cast<std::uint32_t>(index(id)) - first_;
  }
  NodeId node_of(std::uint32_t member) const { return NodeId{first_ + member}; }
  NodeId find(const cluster::RoomSet& rooms, const cluster::Amount& task) const {
    const std::uint32_t member = rooms.roomiest({task.cpu_milli, task.memory_mb});
    return member == cluster::RoomSet::kNone ? kNoNode : node_of(member);
  }
  void file(std::uint32_t member, const cluster::Ledger& ledger);

  std::uint32_t first_;
  std::vector<NodeState> nodes_;
  UserQueues gpu_jobs_;
  UserQueues cpu_jobs_;
  cluster::RoomSet plain_;  // cores idle on nodes without GPUs
  cluster::RoomSet own_;    // cores idle in the CPU array of the others
  cluster::RoomSet idle_;   // cores idle
  cluster::RoomSet right_;  // cores of the CPU array that no CPU job has
  std::set<std::uint32_t> lending_;
};

}  // namespace almanac::policy
