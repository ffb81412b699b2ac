// SPDX-License-Identifier: Apache-2.0

/// \file
/// What nodes weigh that are not on.
///
/// To Slurm a node that boots is as good as one that is on. Of nodes of equal weight it takes the
/// fewest in a row that do, and a node that boots is often alone between others that sleep: a job
/// then waits for it beside GPUs that are free. So nodes that sleep or boot weigh more, by a bit
/// that no site sets; by it they are known, and by it what they weighed before.
///
/// Source   Slurm 22.05, select/cons_tres and what was seen of it (docs/slurm.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slurm/node.h"

namespace almanac::steer {

inline constexpr std::uint32_t kNotOn = 1U << 30U;

inline std::uint32_t usual_weight(const slurm::Node& node) { return node.weight & ~kNotOn; }

/// Of nodes that weigh more by us: which are to have which weight again.
inline std::map<std::uint32_t, std::vector<std::string>> usual_weights(
    const std::map<std::string, slurm::Node>& nodes) {
  std::map<std::uint32_t, std::vector<std::string>> made;
  for (const auto& [name, node] : nodes) {
    if (usual_weight(node) != node.weight) made[usual_weight(node)].push_back(name);
  }
  return made;
}

}  // namespace almanac::steer
