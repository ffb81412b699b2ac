// SPDX-License-Identifier: Apache-2.0

/// \file
/// Makes room for a job that fits nowhere although as much is free: which running jobs to run
/// elsewhere so that it and all of them have a place, and what that costs.
///
/// A move is a restart elsewhere. A job that moves keeps its virtual cluster, its type of GPU and
/// its shape: on as many nodes, as much on each. All moves of a compaction are one change: two jobs
/// may change places.
///
/// The search is branch and bound. The largest piece without a place goes to each node in turn,
/// where the cheapest residents whose absence makes room give way; their pieces then need a place
/// themselves. So every set of jobs that would do is found; those that cost no less than the best
/// so far are cut off. To place so is bin packing, hence a bound on the search too: an answer says
/// whether it is proven.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2, which moves jobs to defragment; and
///          volcano-sh/volcano#3948, which asks for moves when a job waits. The search is ours.
/// Differs  Racks are not looked at: a job of several nodes may come to lie behind other switches.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/ledger.h"

namespace almanac::defrag {

/// What it costs to move a job that is to stay where it is.
inline constexpr double kStays = std::numeric_limits<double>::infinity();

/// A job that runs.
struct Resident {
  JobId job{};
  std::vector<cluster::Grant> held{};
  /// What it loses where it moves, in GPU-seconds: seconds of work that a restart adds and that it
  /// does again, on each of its GPUs. A CPU job loses seconds for each node.
  double cost_gpu_s = kStays;
};

/// A resident, by its position, and what it is to hold.
struct Move {
  std::size_t resident = 0;
  std::vector<cluster::Grant> to{};
};

struct Compaction {
  std::vector<Move> moves{};            ///< In order of residents. Empty = it fits as it is.
  std::vector<cluster::Grant> place{};  ///< Of the job that room is made for, by node.
  double cost_gpu_s = 0;                ///< Of all moves.
};

struct Answer {
  std::optional<Compaction> best{};
  /// All was looked at: no set of moves costs less, or there is none at all.
  bool is_proven = false;
};

struct Limits {
  double most_gpu_s = std::numeric_limits<double>::max();  ///< The moves may cost so much in all.
  /// Nodes and sets of jobs that are looked at; a look takes about 50 ns. When they are used up,
  /// the best so far stands.
  std::int64_t looks = 2'000'000;
};

/// Whether as many GPUs of one type are free in `vc` as a GPU job of `demand` asks, wherever they
/// are: moves free none. O(GPUs held in parts).
bool is_enough_free(const cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand);

/// Whether a job that holds this may be moved at all: instances, and parts that say what GPU memory
/// they need, stay where they are.
bool may_move(const cluster::Ledger& ledger, const cluster::Grant& grant);
/// The same of a job that waits: whether room is made for it.
bool may_have_room(const cluster::Demand& demand);

/// The cheapest moves after which a GPU job of `demand` has a place in `vc`. `ledger`, in which
/// `residents` hold what they say, is left as it was. A job of several GPUs lies on as few nodes of
/// one type of GPU as their size allows. Jobs on instances, or on parts that say what GPU memory
/// they need, stay, and none of them gets room. Of equally cheap sets the first found counts; same
/// arguments, same answer.
Answer make_room(cluster::Ledger& ledger, std::span<const Resident> residents, VcId vc,
                 const cluster::Demand& demand, const Limits& limits = {});

/// Carries it out in the ledger, and in what those that move hold.
void carry_out(const Compaction& compaction, cluster::Ledger& ledger,
               std::span<Resident> residents);

}  // namespace almanac::defrag
