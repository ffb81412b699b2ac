// SPDX-License-Identifier: Apache-2.0

/// \file
/// HyperBand: brackets of trials of a sweep, from many trials that are compared early to a few that
/// are never compared. The best of a bracket continue once all its trials have reached its rung
/// (rules/elastic/sweep/hyperband.h); the others pause (kit/sweep_allocator.h). A bracket that
/// lacks trials when none of the group runs or may begin continues with those that it has.
///
/// Source   Li et al., JMLR 18, 2018 (Hyperband), Algorithm 1.
#include "rules/elastic/sweep/hyperband.h"

#include <algorithm>
#include <memory>

#include "policy/kit/sweep_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class HyperBand final : public SweepAllocator {
 public:
  HyperBand(std::unique_ptr<Placement> placement, const Host& host, const Parameters& told)
      : SweepAllocator(std::move(placement), host),
        reduction_(told.number("reduction")),
        grace_(told.number("grace")) {}

 private:
  std::unique_ptr<elastic::Rungs> make_rungs(double most) const override {
    return std::make_unique<elastic::Hyperband>(elastic::RungOptions{
        .reduction = reduction_, .grace = grace_, .most = std::max(most, grace_)});
  }

  double reduction_;
  double grace_;
};

}  // namespace

void register_hyperband(Registry& registry) {
  registry.wholes.add(
      {.name = "hyperband",
       .summary = "Hyperband: brackets of trials of a sweep; the best of a rung continue once all "
                  "have reached it",
       .source = "Li et al. JMLR'18",
       .traits = {.has = {Trait::reads_groups, Trait::stops_jobs, Trait::ends_trials}},
       .parameters = {number("reduction",
                             "reduction factor: one trial in this many continues from each rung", 3,
                             1.0001, 1e6),
                      number("grace", "fewest steps up to the earliest rung", 1, 1e-9, 1e15)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<HyperBand>(
            almanac::policy::registry().placements.make(composition.placement, host), host, told);
      });
}

}  // namespace almanac::policy::whole
