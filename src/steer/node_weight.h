// SPDX-License-Identifier: Apache-2.0

/// \file
/// The weights of nodes that are not on.
///
/// To Slurm a node that boots is as good as one that is on. Of nodes of equal weight it takes the
/// fewest in a row that do, and a node that boots is often alone between others that sleep: a job
/// then waits for it beside GPUs that are free. So nodes that boot weigh more, and those that sleep
/// most. A bit that no site sets says that it was us, and from it what a node weighed before.
///
/// Source   Slurm 22.05, select/cons_tres and what was seen of it (docs/guide/slurm.md): of a
/// weight only
/// the lower 16 bits count when nodes are chosen, so one of these is set too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slurm/node.h"

namespace almanac::steer {

inline constexpr std::uint32_t kBoots = 1U << 29U | 1U << 14U;
inline constexpr std::uint32_t kSleeps = 1U << 30U | 1U << 15U;
/// Nodes that weigh as much by themselves are left as they are.
inline constexpr std::uint32_t kTooHeavy = 1U << 14U;

inline std::uint32_t usual_weight(const slurm::Node& node) {
  for (const std::uint32_t burden : {kSleeps, kBoots}) {
    if ((node.weight & burden) == burden) return node.weight & ~burden;
  }
  return node.weight;
}

/// Which of the nodes that weigh more by us are to have which weight again.
inline std::map<std::uint32_t, std::vector<std::string>> usual_weights(
    const std::map<std::string, slurm::Node>& nodes) {
  std::map<std::uint32_t, std::vector<std::string>> made;
  for (const auto& [name, node] : nodes) {
    if (usual_weight(node) != node.weight) made[usual_weight(node)].push_back(name);
  }
  return made;
}

}  // namespace almanac::steer
