// SPDX-License-Identifier: Apache-2.0

/// \file
/// The weights of nodes that are not on.
///
/// To Slurm, a booting node is as good as one that is on. Of nodes with equal weight it prefers the
/// fewest consecutive ones, and a booting node is often alone between sleeping ones. A job then
/// waits for it although other GPUs are free. Booting nodes therefore get a higher weight, and
/// sleeping ones the highest. A bit that no site uses marks our weights, and lets us restore the
/// original.
///
/// Source   Slurm 22.05, select/cons_tres as observed (docs/guide/slurm_levers.md): only the lower
/// 16 bits
///          of a weight count when nodes are chosen, so one of these is set too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "manager/node.h"

namespace almanac::steer {

inline constexpr std::uint32_t kBoots = 1U << 29U | 1U << 14U;
inline constexpr std::uint32_t kSleeps = 1U << 30U | 1U << 15U;
/// Nodes that weigh as much by themselves are left as they are.
inline constexpr std::uint32_t kTooHeavy = 1U << 14U;

inline std::uint32_t usual_weight(const manager::Node& node) {
  for (const std::uint32_t burden : {kSleeps, kBoots}) {
    if ((node.weight & burden) == burden) return node.weight & ~burden;
  }
  return node.weight;
}

/// Returns the nodes with our weights and the weights to restore.
inline std::map<std::uint32_t, std::vector<std::string>> usual_weights(
    const std::map<std::string, manager::Node>& nodes) {
  std::map<std::uint32_t, std::vector<std::string>> made;
  for (const auto& [name, node] : nodes) {
    if (usual_weight(node) != node.weight) made[usual_weight(node)].push_back(name);
  }
  return made;
}

}  // namespace almanac::steer
