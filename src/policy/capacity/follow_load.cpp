// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes without jobs sleep, and wake up for waiting jobs.
///
/// Source   "Vanilla DRS" of Hu et al., SC'21, section 4.3.3.
#include "policy/registry.h"

namespace almanac::policy::capacity {
namespace {

class FollowLoad final : public Capacity {
 public:
  int nodes_on(const NodeUse& nodes) override { return nodes.used; }
};

}  // namespace

void register_follow_load(Registry& registry) {
  registry.capacities.add({"follow_load",
                           "nodes that were idle for 10 minutes are powered down",
                           "vanilla DRS of Hu et al. SC'21 §4.3",
                           {.has = {Trait::sleeps_nodes}}},
                          [](const Parameters&) { return std::make_unique<FollowLoad>(); });
}

}  // namespace almanac::policy::capacity
