// SPDX-License-Identifier: Apache-2.0

/// \file
/// Deals out the cores and memory of a node to the jobs on it, so that together they do much and
/// none does less than with its least choice.
///
/// From the least choices on, whichever step is worth most for what it takes of the node is taken
/// next, until none fits. A step may skip choices, so that what helps only in large pieces is not
/// passed over. Cost: jobs x choices^2 a step, some microseconds a node.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "cluster/amount.h"
#include "policy/kit/size_choices.h"

namespace almanac::policy {

/// A job, or the part of it, on a node.
struct NodeJob {
  const JobChoices* choices = nullptr;
  int gpus = 1;            ///< On this node; each gets what the choice says.
  std::size_t choice = 0;  ///< What it gets.

  cluster::Amount amount() const {
    const SizeChoice& each = choices->all[choice];
    return cluster::Amount{1, static_cast<std::int32_t>(each.cpu_milli),
                           static_cast<std::int32_t>(each.memory_mb)} *
           gpus;
  }
};

/// Sets the choices of `jobs`, which fit into `room` with their least ones, and gives the sum of
/// what they do.
double split_node(std::span<NodeJob> jobs, const cluster::Amount& room);

}  // namespace almanac::policy
