// SPDX-License-Identifier: Apache-2.0

/// \file
/// A rule that says which node, and which GPUs of it, a request is to get where several would do.
///
/// Source   Weng et al., ATC'23 (FGD), section 4, and the program published with it: the scores are
/// whole numbers there, cut off from the formula, and equal ones are told apart by a rank of nodes.
#pragma once

#include <cstdint>

#include "rules/fragment/mix.h"
#include "rules/fragment/node.h"

namespace almanac::fragment {

/// The largest node of the published cluster, by which scores are scaled whatever the node.
inline constexpr double kLargestCpuMilli = 128'000;
inline constexpr double kLargestGpuMilli = 8'000;

/// How good a node is for a request, and on which GPUs of it. The largest score wins.
struct Choice {
  std::int32_t score = 0;
  Gpus gpus = 0;
};

/// What is expected of pods to come.
struct Outlook {
  const Mix& mix;
  double unusable = 0;  ///< What the mix says of the node as it is.
  /// How many of the pods that accept only some models want the node's, for each GPU that these
  /// have: 0 to 1, the most wanted model's.
  double wanted = 0;
};

class Rule {
 public:
  virtual ~Rule() = default;
  /// For a request that fits.
  virtual Choice choose(const NodeImage& node, const Request& request,
                        const Outlook& outlook) const = 0;
  /// Whether choose() heeds the outlook; else it is of an empty mix.
  virtual bool reads_outlook() const { return false; }
  /// Nodes and GPUs are drawn instead of chosen by score.
  virtual bool draws() const { return false; }
};

}  // namespace almanac::fragment
