// SPDX-License-Identifier: Apache-2.0

/// \file
/// Base of rules that look at how much of a node a job turns into a fragment.
///
/// Source   Weng et al., ATC'23 (FGD), section 4, and the program published with it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "rules/fragment/rule.h"

namespace almanac::policy::placement {

class Gradient : public fragment::Rule {
 public:
  bool reads_outlook() const final { return true; }
  fragment::Choice choose(const fragment::NodeImage& node, const fragment::Request& request,
                          const fragment::Outlook& outlook) const final {
    const auto on = [&](fragment::Gpus gpus) {
      fragment::NodeImage after = node;
      take(after, request, gpus);
      const double milli = outlook.mix.unusable(after) - outlook.unusable;
      return fragment::Choice{score({node, after, milli}, outlook), gpus};
    };
    if (!request.shares()) return on(tightest(node, request));
    fragment::Choice best;
    std::array<std::int16_t, fragment::kMaxGpus> seen{};  // GPUs with as much left are alike
    std::size_t distinct = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      const std::int16_t milli = node.free_milli[static_cast<std::size_t>(gpu)];
      const auto end = seen.begin() + static_cast<std::ptrdiff_t>(distinct);
      if (milli < request.gpu_milli || std::find(seen.begin(), end, milli) != end) continue;
      seen[distinct++] = milli;
      const fragment::Choice choice = on(fragment::Gpus{1} << gpu);
      if (distinct == 1 || choice.score > best.score) best = choice;
    }
    return best;
  }

 protected:
  /// The effect of a request on a node.
  struct Growth {
    const fragment::NodeImage& before;
    const fragment::NodeImage& after;
    double milli = 0;  ///< Growth of its fragment, in thousandths of a GPU.
  };
  /// Returns the score; larger is better.
  virtual std::int32_t score(const Growth& growth, const fragment::Outlook& outlook) const = 0;
  /// Returns 0 to 100, larger for less growth: whole percents of a sigmoid, as published.
  static std::int32_t percent(double growth_milli) {
    return static_cast<std::int32_t>(100 / (1 + std::exp(growth_milli / fragment::kWhole)));
  }
};

}  // namespace almanac::policy::placement
