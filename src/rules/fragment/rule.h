// SPDX-License-Identifier: Apache-2.0

/// \file
/// A rule that chooses the node, and its GPUs, for a request that fits on several nodes.
///
/// Source   Weng et al., ATC'23 (FGD), section 4, and the program published with it. Scores are
///          whole numbers there, truncated from the formula; a rank of nodes breaks ties.
#pragma once

#include <cstdint>

#include "rules/fragment/mix.h"
#include "rules/fragment/node.h"

namespace almanac::fragment {

/// Capacity of the largest node of the published cluster; scales all scores, whatever the node.
inline constexpr double kLargestCpuMilli = 128'000;
inline constexpr double kLargestGpuMilli = 8'000;

/// The score of a node for a request, and the GPUs to use there. The largest score wins.
struct Choice {
  std::int32_t score = 0;
  Gpus gpus = 0;
};

/// Expected pods.
struct Outlook {
  const Mix& mix;
  double unusable = 0;  ///< What the mix reports for the node before the request.
  /// Of the pods that accept only some models, the fraction that accept this node's model, per GPU
  /// of that model, scaled so that the most requested model has 1. 0 to 1.
  double wanted = 0;
};

class Rule {
 public:
  virtual ~Rule() = default;
  /// Returns the choice for a request that fits.
  virtual Choice choose(const NodeImage& node, const Request& request,
                        const Outlook& outlook) const = 0;
  /// Whether choose() reads the outlook; if not, its mix is empty.
  virtual bool reads_outlook() const { return false; }
  /// Whether nodes and GPUs are drawn at random instead of chosen by score.
  virtual bool draws() const { return false; }
};

}  // namespace almanac::fragment
