// SPDX-License-Identifier: Apache-2.0

/// \file
/// Node with the least left over, weighing cores and GPUs equally.
///
/// Source   The baseline BestFit of Weng et al., ATC'23 (FGD), section 6, and the program published
///          with it.
#include "policy/kit/scored_placement.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class LeastLeft final : public fragment::Rule {
  fragment::Choice choose(const fragment::NodeImage& node, const fragment::Request& request,
                          const fragment::Outlook&) const override {
    using namespace fragment;
    const double cores = static_cast<double>(node.cpu_milli - request.cpu_milli) / kLargestCpuMilli;
    const double gpus = (node.total_free() - request.total_milli()) / kLargestGpuMilli;
    return {static_cast<std::int32_t>(100 * (1 - (0.5 * cores + 0.5 * gpus))),
            tightest(node, request)};
  }
};

}  // namespace

void register_least_left(Registry& registry) {
  registry.placements.add(
      {"least_left", "node with the least left over, weighing cores and GPUs equally",
       "Weng et al. ATC'23 §6"},
      [](const Parameters&, const Host& host) {
        return make_scored_placement(std::make_unique<LeastLeft>(), host);
      });
}

}  // namespace almanac::policy::placement
