// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gives out the cores and memory of a node to its jobs, so that total throughput is high and no
/// job gets less than its least choice.
///
/// Starts from the least choices. Takes the step with the most gain for what it uses of the node,
/// until none fits. A step may skip choices, so that gains that need large steps are found too.
/// Cost     jobs x choices^2 per step, some us per node
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
  int gpus = 1;            ///< On this node; the choice is per GPU.
  std::size_t choice = 0;  ///< What it gets.

  cluster::Amount amount() const {
    const SizeChoice& each = choices->all[choice];
    return cluster::Amount{1, static_cast<std::int32_t>(each.cpu_milli),
                           static_cast<std::int32_t>(each.memory_mb)} *
           gpus;
  }
};

/// Sets the choices of `jobs`, which must fit into `room` with their least ones. Returns the sum of
/// their throughput.
double split_node(std::span<NodeJob> jobs, const cluster::Amount& room);

}  // namespace almanac::policy
