// SPDX-License-Identifier: Apache-2.0

/// \file
/// Next to jobs with the same number of GPUs.
///
/// Source   The baseline GpuClustering of Weng et al., ATC'23 (FGD), section 6, and the program
///          published with it.
#include <algorithm>
#include <cmath>

#include "policy/kit/scored_placement.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class GpuClustering final : public fragment::Rule {
  fragment::Choice choose(const fragment::NodeImage& node, const fragment::Request& request,
                          const fragment::Outlook&) const override {
    if (request.gpus == 0) return {};
    const auto of = static_cast<std::size_t>(request.shares() ? 0 : request.gpus);
    const auto classes = std::count_if(node.held.begin(), node.held.end(),
                                       [](std::int16_t jobs) { return jobs > 0; });
    constexpr double kAll = fragment::kLargestGpuMilli;
    int score = static_cast<int>(std::floor(25 * (kAll - node.total_free()) / kAll));
    if (node.held[of] > 0) {
      score += classes == 1 ? 75 : 50;
    } else if (classes == 0) {
      score += 25;
    }
    return {score, tightest(node, request)};
  }
};

}  // namespace

void register_gpu_clustering(Registry& registry) {
  registry.placements.add(
      {"gpu_clustering", "next to jobs with the same number of GPUs", "Weng et al. ATC'23 §6"},
      [](const Parameters&, const Host& host) {
        return make_scored_placement(std::make_unique<GpuClustering>(), host);
      });
}

}  // namespace almanac::policy::placement
