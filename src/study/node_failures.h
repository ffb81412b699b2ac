// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes on which more fails than chance explains.
///
/// A user who tries the same broken job ten times on a node makes no bad node: what is counted is
/// whether a user's jobs of one name, all their runs on a node taken as one, failed there. Each
/// node is held against the rate of all the others by the exact binomial test, one-sided, with
/// Holm's correction for so many nodes.
///
/// What the test takes for granted: that such jobs are handed out to nodes whatever they are. Where
/// one virtual cluster, or one user, has a node alone, its failures may be theirs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace almanac::study {

/// A run on a node, as far as it says something about the node.
struct NodeRun {
  std::string node{};
  std::string kind{};  ///< Whose, and what: alike for runs that are no evidence beside each other.
  bool failed = false;
};

struct NodeRecord {
  std::string node{};
  int kinds = 0;
  int failed = 0;       ///< Of them.
  double expected = 0;  ///< As many as would fail at the rate of the other nodes.
  double p_value = 1;   ///< That as many fail by chance, corrected.
  /// One in a hundred such reports would name a node by chance.
  bool is_suspicious() const { return p_value < 0.01; }
};

/// Of every node on which five kinds ran or more; the least likely first.
std::vector<NodeRecord> node_records(const std::vector<NodeRun>& runs);

/// "gpu7: 12 of 20 failed, 3.1 expected (p = 0.0002)".
std::string in_words(const NodeRecord& record);

}  // namespace almanac::study
