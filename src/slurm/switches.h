// SPDX-License-Identifier: Apache-2.0

/// \file
/// The tree of switches of topology/tree.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace almanac::slurm {

struct Switch {
  std::string name{};
  /// Level 0: nodes are attached to it.
  bool is_leaf = false;
  std::vector<std::string> nodes{};  ///< Higher switches list the nodes of all switches below them.
  std::vector<std::string> switches{};  ///< Right below it.
};

/// The switches above each node, from the top on: "core/pod1/s2". A node of several switches, and a
/// switch of several, is the first's that names it. Cost: O(nodes x levels).
std::map<std::string, std::string> paths_of_nodes(std::span<const Switch> switches);

}  // namespace almanac::slurm
