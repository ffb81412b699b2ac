// SPDX-License-Identifier: Apache-2.0

/// \file
/// Chooses the moves that free the most for waiting jobs: one compaction after another, each with
/// the lowest cost per GPU that becomes usable.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rules/defrag/compaction.h"

namespace almanac::defrag {

/// A waiting job.
struct Newcomer {
  JobId job{};
  VcId vc{};
  cluster::Demand demand{};
};

/// One compaction, and the newcomer, by position, for which it makes room.
struct Step {
  std::size_t newcomer = 0;
  Compaction compaction{};
  bool is_proven = false;  ///< No cheaper compaction exists at this point of the plan.
  double gpus = 0;         ///< GPUs that become usable; a part of a GPU counts as that fraction.

  double cost_of_a_gpu_s() const { return compaction.cost_gpu_s / gpus; }
};

struct Plan {
  std::vector<Step> steps{};  ///< In the order in which to carry them out.
  /// Newcomers, by position, that fit without moves, so something else keeps them waiting. Lists
  /// the first of each virtual cluster and demand.
  std::vector<std::size_t> fit{};
  /// The same for newcomers for which the search was cut off before it found anything.
  std::vector<std::size_t> given_up{};
};

/// Returns the plan. Moves each resident at most once, and never a job that an earlier step made
/// room for. Among equally good steps, the one for the first newcomer comes first. `limits` apply
/// to each step. Newcomers with the same virtual cluster and demand share one search; if it finds
/// nothing, later steps skip them. `ledger` is unchanged afterwards.
///
/// Cost     a search for each waiting demand at each step
Plan make_plan(cluster::Ledger& ledger, std::vector<Resident> residents,
               std::span<const Newcomer> newcomers, const Limits& limits = {});

}  // namespace almanac::defrag
