// SPDX-License-Identifier: Apache-2.0

/// \file
/// Like `fgd`. If fragments grow equally, prefers GPUs that no job requests by model, then the node
/// whose cores and GPUs come closest to the ratio in which jobs request them.
///
/// FGD breaks these ties by a rank of nodes. But a GPU whose node has no core left is lost to all
/// jobs, and a GPU of a rare model is lost to jobs that name it if any other GPU would have been
/// enough.
///
/// Source   Our own. docs/guide/fragmentation.md compares it with Weng et al., ATC'23 (FGD).
#include <algorithm>
#include <cmath>

#include "policy/kit/scored_placement.h"
#include "policy/placement/gradient.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class Balanced final : public Gradient {
  std::int32_t score(const Growth& growth, const fragment::Outlook& outlook) const override {
    constexpr std::int32_t kPercent = 10'000'000;
    constexpr double kWanted = 4e6;
    constexpr double kGpu = 100;  // per GPU of balance; far less than the step between models
    const double cores = outlook.mix.cpu_milli_of_a_gpu();
    const auto off_balance = [&](const fragment::NodeImage& node) {
      const double gpus = node.total_free() / double{fragment::kWhole};
      return cores > 0 ? std::abs(static_cast<double>(node.cpu_milli) / cores - gpus) : 0;
    };
    const double better = off_balance(growth.before) - off_balance(growth.after);
    const bool takes_gpus = growth.after.total_free() < growth.before.total_free();
    const double wanted = takes_gpus ? outlook.wanted : 0;
    return kPercent * percent(growth.milli) +
           static_cast<std::int32_t>(
               std::lround(kWanted * (1 - wanted) + kGpu * std::clamp(better, -1e3, 1e3)));
  }
};

}  // namespace

void register_balanced(Registry& registry) {
  registry.placements.add(
      {"balanced",
       "like fgd, then spares GPU models that jobs request by name, and cores next to GPUs",
       "ours, after Weng et al. ATC'23"},
      [](const Parameters&, const Host& host) {
        return make_scored_placement(std::make_unique<Balanced>(), host);
      });
}

}  // namespace almanac::policy::placement
