// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rules that say which node, and which GPUs of it, a request is to get where several would do.
///
/// Source   Weng et al., ATC'23 (FGD), section 4, and the program published with it: the scores are
/// whole numbers there, cut off from the formula, and equal ones are told apart by a rank of nodes
/// that is drawn once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "fragment/mix.h"
#include "fragment/node.h"

namespace almanac::fragment {

/// How good a node is for a request, and on which GPUs of it. The largest score wins.
struct Choice {
  std::int32_t score = 0;
  Gpus gpus = 0;
};

class Rule {
 public:
  virtual ~Rule() = default;
  /// For a request that fits. `unusable` is the mix's answer for `node` as it is.
  virtual Choice choose(const Node& node, const Request& request, double unusable) const = 0;
  /// Whether choose() heeds `unusable`.
  virtual bool reads_unusable() const { return false; }
  /// Nodes and GPUs are drawn instead of chosen by score.
  virtual bool draws() const { return false; }
};

struct RuleEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Rule> (*make)(const Mix& mix);  ///< `mix` outlives the rule.
};

/// All rules. Names are as published: "Random", "DotProd", "GpuClustering", "GpuPacking",
/// "BestFit", "FGD"; those of ours begin with a small letter.
std::span<const RuleEntry> rules();
/// Null = there is no rule of that name.
const RuleEntry* find_rule(std::string_view name);

}  // namespace almanac::fragment
