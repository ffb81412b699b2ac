// SPDX-License-Identifier: Apache-2.0

/// \file
/// Node whose free resources align least with the request, which spares large nodes.
///
/// Source   The baseline DotProd of Weng et al., ATC'23 (FGD), section 6, and the program published
///          with it.
#include "policy/kit/scored_placement.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class DotProd final : public fragment::Rule {
  fragment::Choice choose(const fragment::NodeImage& node, const fragment::Request& request,
                          const fragment::Outlook&) const override {
    using namespace fragment;
    const double cores = static_cast<double>(node.cpu_milli) / kLargestCpuMilli *
                         (static_cast<double>(request.cpu_milli) / kLargestCpuMilli);
    const double gpus =
        node.total_free() / kLargestGpuMilli * (request.total_milli() / kLargestGpuMilli);
    return {static_cast<std::int32_t>(100 * (1 - (cores + gpus) / 2)), tightest(node, request)};
  }
};

}  // namespace

void register_dot_prod(Registry& registry) {
  registry.placements.add({"dot_prod", "node whose free resources align least with the request",
                           "Weng et al. ATC'23 §6"},
                          [](const Parameters&, const Host& host) {
                            return make_scored_placement(std::make_unique<DotProd>(), host);
                          });
}

}  // namespace almanac::policy::placement
