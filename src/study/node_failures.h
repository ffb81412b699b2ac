// SPDX-License-Identifier: Apache-2.0

/// \file
/// Finds nodes on which more jobs fail than chance explains.
///
/// A user who tries the same broken job ten times on a node is no evidence against the node. So all
/// runs of a user's jobs of one name on a node count as one observation: whether any failed. Each
/// node is compared with the rate of all others by the exact binomial test, one-sided, with Holm's
/// correction for the number of nodes.
///
/// The test assumes that jobs are assigned to nodes independently of their kind. If one virtual
/// cluster, or one user, has a node alone, its failures may be theirs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace almanac::study {

/// A run on a node, as evidence about the node.
struct NodeRun {
  std::string node{};
  /// User and name: equal for runs that are not independent.
  std::string kind{};
  bool failed = false;
};

struct NodeRecord {
  std::string node{};
  int kinds = 0;
  int failed = 0;       ///< Failed ones.
  double expected = 0;  ///< Expected failures at the rate of the other nodes.
  double p_value = 1;   ///< Probability of at least as many failures by chance, corrected.
  /// One in a hundred such reports would name a node by chance.
  bool is_suspicious() const { return p_value < 0.01; }
};

/// Returns every node on which at least five kinds ran, the least likely first.
std::vector<NodeRecord> node_records(const std::vector<NodeRun>& runs);

/// "gpu7: 12 of 20 failed, 3.1 expected (p = 0.0002)".
std::string in_words(const NodeRecord& record);

}  // namespace almanac::study
