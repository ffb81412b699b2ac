// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes room for a job that fits nowhere although enough GPUs are free. Chooses which running jobs
/// to move so that they and the new job all have a place, and says what the moves cost.
///
/// A move is a restart on other nodes. A moved job keeps its virtual cluster, its GPU type and its
/// shape: the number of nodes, and what it holds on each. All moves of a compaction happen
/// together, so two jobs may change places.
///
/// The search is branch and bound. It puts the largest piece without a place on each node in turn
/// and evicts the cheapest residents that make room there; their pieces then need a place
/// themselves. The search reaches every sufficient set of jobs, and cuts off the sets that cost no
/// less than the best so far. Since this is bin packing, the search also has a limit, and the
/// answer says whether it is proven.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2, moves jobs to defragment;
///          volcano-sh/volcano#3948 proposes moves when a job waits. The search is our own.
/// Differs  Ignores racks: a moved job on several nodes may end up behind different switches.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"

namespace almanac::defrag {

/// Cost of a job that must not move.
inline constexpr double kStays = std::numeric_limits<double>::infinity();

/// A running job.
struct Resident {
  JobId job{};
  std::vector<cluster::Grant> held{};
  /// Cost of moving the job, in GPU-seconds: the seconds of work that a restart adds or repeats,
  /// times its GPUs. For a CPU job, seconds times its nodes.
  double cost_gpu_s = kStays;
  int nvlink_gpus = 0;  ///< As in cluster::Demand.
};

/// A resident, by position, and what it holds after the move.
struct Move {
  std::size_t resident = 0;
  std::vector<cluster::Grant> to{};
};

struct Compaction {
  std::vector<Move> moves{};            ///< In order of residents; empty if the job fits already.
  std::vector<cluster::Grant> place{};  ///< Place of the new job, by node.
  double cost_gpu_s = 0;                ///< Sum over all moves.
};

struct Answer {
  std::optional<Compaction> best{};
  /// The search was complete: no set of moves costs less, or none exists.
  bool is_proven = false;
};

struct Limits {
  double most_gpu_s = std::numeric_limits<double>::max();  ///< Largest total cost of the moves.
  /// Nodes and sets of jobs that the search may look at, about 50 ns each. When they are used up,
  /// the best result so far counts.
  std::int64_t looks = 2'000'000;
};

/// Whether enough GPUs of one type are free in `vc` for a GPU job of `demand`, on whatever nodes.
/// Moves do not free any. O(pools^2 + pools x GPUs held in parts).
bool is_enough_free(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand);

/// Whether a job that holds `grant` may move. Instances, and parts with a GPU memory requirement,
/// stay where they are.
bool may_move(const cluster::Ledger& ledger, const cluster::Grant& grant);
/// Whether make_room() makes room for a job of `demand`, by the same rule.
bool may_have_room(const cluster::Demand& demand);

/// Returns the cheapest moves after which a GPU job of `demand` has a place in `vc`. `residents`
/// hold their grants in `ledger`, which is unchanged afterwards. A job of several GPUs uses one GPU
/// type and, unless it requests a number of nodes, as few nodes as possible. Jobs for which
/// may_move() or may_have_room() is false neither move nor get room. Among equally cheap sets, the
/// first one found counts. Jobs keep their NVLink groups; for a newcomer with groups, which could
/// also have another shape, no answer is proven. Deterministic.
Answer make_room(cluster::Ledger& ledger, std::span<const Resident> residents, VcId vc,
                 const cluster::Demand& demand, const Limits& limits = {});

/// Applies the compaction to `ledger` and to the grants of the residents.
void carry_out(const Compaction& compaction, cluster::Ledger& ledger,
               std::span<Resident> residents);

}  // namespace almanac::defrag
