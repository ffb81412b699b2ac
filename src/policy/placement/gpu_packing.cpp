// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs that are partly used first, then free GPUs of nodes in use, then idle nodes.
///
/// Source   The baseline GpuPacking of Weng et al., ATC'23 (FGD), section 6, and the program
///          published with it.
#include <algorithm>

#include "policy/kit/scored_placement.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class GpuPacking final : public fragment::Rule {
  fragment::Choice choose(const fragment::NodeImage& node, const fragment::Request& request,
                          const fragment::Outlook&) const override {
    if (request.gpus == 0) return {};
    const fragment::Gpus gpus = tightest(node, request);
    const int free = node.wholly_free();
    if (free == node.gpus) return {std::max(33 - free, free), gpus};
    int opened = 0;
    int left = 0;
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      if ((gpus >> gpu & 1U) == 0) continue;
      const int milli = node.free_milli[static_cast<std::size_t>(gpu)];
      opened += milli == fragment::kWhole ? 1 : 0;
      left += milli * 100 / fragment::kWhole;
    }
    return {opened > 0 ? std::max(50 - opened, 33) : std::max(100 - left / 10, 50), gpus};
  }
};

}  // namespace

void register_gpu_packing(Registry& registry) {
  registry.placements.add({"gpu_packing", "shared GPUs first, then nodes in use, idle nodes last",
                           "Weng et al. ATC'23 §6"},
                          [](const Parameters&, const Host& host) {
                            return make_scored_placement(std::make_unique<GpuPacking>(), host);
                          });
}

}  // namespace almanac::policy::placement
