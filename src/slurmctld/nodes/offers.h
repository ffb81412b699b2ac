// SPDX-License-Identifier: Apache-2.0

/// \file
/// What each node offers to one job.
///
/// Source   Slurm 22.05, select/cons_tres/job_test.c (can_job_run_on_node), gres_select_filter.c.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "slurmctld/nodes/room.h"

namespace almanac::slurmctld {

/// How many nodes and CPUs a job needs, once its options and its partition are combined.
struct Bounds {
  int least_nodes = 1;
  int most_nodes = 1;
  int wanted_nodes = 1;  ///< Upper end of a range, otherwise least_nodes.
  int tasks = 1;
  int cpus = 1;

  /// Whether `count` nodes are enough while `left` of the wanted ones are missing.
  bool is_enough(int count, int left) const {
    return count >= (wanted_nodes > least_nodes ? left + least_nodes - wanted_nodes : left);
  }
};

Bounds bounds_of(const NodeRequest& request, const PartitionRules& partition, std::size_t nodes);

struct Offer {
  NodeAt node = 0;
  int cpus = 0;
  int gpus = 0;             ///< Free GPUs that the job can use; 0 for a CPU job.
  std::int64_t weight = 0;  ///< Lighter offers are used first.
  bool taken = false;

  /// The resource by which nodes that have little of it are dropped.
  int resources() const { return cpus + gpus; }
};

/// Near GPUs that the last will-run test left in the weights of nodes, by node (Slurm 22.05 and
/// 23.02: the byte is reset only by a start or a main pass).
using StaleWeights = std::vector<std::uint8_t>;
/// Some of them, by node, in ascending order.
using LeftWeights = std::vector<std::pair<NodeAt, std::uint8_t>>;

/// The request of a job, its partition and row, and the nodes it may use.
struct Question {
  const NodeRequest& request;
  const PartitionRules& partition;
  const NodeBits& candidates;
  StaleWeights* stale = nullptr;  ///< Read by CPU jobs, written by others; null: not modelled.
  int row = -1;                   ///< Row of shared cores; -1 = only cores that no job uses.
  TypeId feature = -1;            ///< The feature of NodeRequest::one_of that is tried; -1 = none.

  bool is_exclusive() const { return request.exclusive || partition.exclusive; }
};

/// Writes the weights that a test leaves which takes all jobs as gone: whether a job could ever
/// start. Returns on how many of `nodes` it could. Does nothing for a CPU job, or without stale
/// weights.
int leave_weights_of_empty_nodes(const NodeTable& table, const Question& question,
                                 const NodeBits& nodes);

/// Returns the weights that a test leaves of what is free in `room`; none for a CPU job. They do
/// not depend on CPUs and memory.
LeftWeights weights_of_test(const Room& room, const Question& question);

/// Returns the nodes that can hold a part of the job, in the order of the node table.
/// Cost: O(candidates), of a job with GPUs O(those with as many free GPUs as it needs there).
void make_offers(const Room& room, const Question& question, const Bounds& bounds,
                 std::vector<Offer>& offers);

}  // namespace almanac::slurmctld
