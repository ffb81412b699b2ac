// SPDX-License-Identifier: Apache-2.0

/// \file
/// Random node among those with room for the whole job, and a random GPU for a job that requests a
/// part of one.
///
/// Source   The baseline Random of Weng et al., ATC'23 (FGD), section 6, and the program published
///          with it.
#include "policy/kit/scored_placement.h"
#include "policy/registry.h"

namespace almanac::policy::placement {
namespace {

class RandomNode final : public fragment::Rule {
  fragment::Choice choose(const fragment::NodeImage&, const fragment::Request&,
                          const fragment::Outlook&) const override {
    return {};
  }
  bool draws() const override { return true; }
};

}  // namespace

void register_random_node(Registry& registry) {
  registry.placements.add(
      {"random_node", "random node that has room for the whole job", "Weng et al. ATC'23 §6"},
      [](const Parameters&, const Host& host) {
        return make_scored_placement(std::make_unique<RandomNode>(), host);
      });
}

}  // namespace almanac::policy::placement
