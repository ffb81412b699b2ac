// SPDX-License-Identifier: Apache-2.0

/// \file
/// What ran on each named node at once, which shows the size of the node. Each figure is a lower
/// bound; how often and how long it was reached says how reliable it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/held_nodes.h"

namespace almanac::trace {

/// A node, or of a node with GPUs of several types those of one.
struct NodeUse {
  std::uint32_t node = 0;     ///< Position in HeldNodes::names().
  std::string gpu_type{};     ///< "" if no job there gives it.
  std::vector<NameId> vcs{};  ///< Of the jobs that ran there, without duplicates.
  std::int64_t jobs = 0;      ///< Jobs that ran there.
  int gpus = 0;               ///< Held at once, at most.
  std::int64_t reached = 0;   ///< How often this number was reached.
  /// Fraction of the node's busy time with this number held.
  double share_of_time = 0;
  std::int64_t cpu_milli = 0;  ///< Most held at once; 0 if no job gives it.
  std::int64_t memory_mb = 0;  ///< In MiB.
};

/// The use of every node by the jobs for which `counts`, in order of nodes, then of types. Jobs
/// that were suspended count alone. Times that overlap by a second or less count as following each
/// other.
///
/// Cost: O(stays x nodes log jobs at once on a node).
std::vector<NodeUse> use_of_nodes(const Trace& trace, const HeldNodes& held,
                                  const std::vector<bool>& counts);

/// Same for all jobs.
std::vector<NodeUse> use_of_nodes(const Trace& trace, const HeldNodes& held);

}  // namespace almanac::trace
