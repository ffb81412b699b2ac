// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which moves free the most for the jobs that wait: compactions one after the other, each the one
/// that makes most GPUs usable for what it costs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rules/defrag/compaction.h"

namespace almanac::defrag {

/// A job that waits.
struct Newcomer {
  JobId job{};
  VcId vc{};
  cluster::Demand demand{};
};

/// One compaction, and the newcomer, by its position, that it makes room for.
struct Step {
  std::size_t newcomer = 0;
  Compaction compaction{};
  bool is_proven = false;  ///< No cheaper one makes room for it, as things then stand.
  double gpus = 0;         ///< That become usable; a part of one counts as such.

  double cost_of_a_gpu_s() const { return compaction.cost_gpu_s / gpus; }
};

struct Plan {
  std::vector<Step> steps{};  ///< In the order in which they are to be done.
  /// Newcomers, by position, the first of each demand: that fit as things are, so that something
  /// else keeps them waiting; ...
  std::vector<std::size_t> fit{};
  /// ... for which nothing was found before the search was cut off.
  std::vector<std::size_t> given_up{};
};

/// Moves each resident once at most, and none of those that a step has made room for. Of steps that
/// are equally good the one for the first newcomer comes first. `ledger` and `residents` are left
/// as they were. `limits` hold for each step. Of newcomers with one demand the first is looked at,
/// and those for which there is nothing at one look are not looked at again.
///
/// Cost: a search for each demand that waits, at each step.
Plan make_plan(cluster::Ledger& ledger, std::vector<Resident> residents,
               std::span<const Newcomer> newcomers, const Limits& limits = {});

}  // namespace almanac::defrag
