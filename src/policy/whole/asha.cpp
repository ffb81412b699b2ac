// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asynchronous successive halving of sweeps: of a group's trials that have reported a metric at a
/// rung, the best continue. Each report decides, without waiting for other trials. Rungs are at
/// `grace` steps, `reduction` times as many, and so on.
///
/// With `promote`, a trial that is not among the best of its rung pauses (kit/sweep_allocator.h).
/// With `stop`, a trial below the cut-off of its rung ends at once and for good.
///
/// Source   Li et al., MLSys'20 (ASHA), algorithm 2; the cut-off of `stop` is that of Liaw et al.,
///          SoCC'19 (rules/elastic/sweep/hyper_rungs.h).
#include "rules/elastic/sweep/asha.h"

#include <algorithm>
#include <memory>

#include "policy/kit/sweep_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/sweep/hyper_rungs.h"

namespace almanac::policy::whole {
namespace {

class Asha final : public SweepAllocator {
 public:
  Asha(std::unique_ptr<Placement> placement, const Host& host, const Parameters& told)
      : SweepAllocator(std::move(placement), host),
        reduction_(told.number("reduction")),
        grace_(told.number("grace")),
        promotes_(told.word("rule") == "promote") {}

 private:
  std::unique_ptr<elastic::Rungs> make_rungs(double most) const override {
    const elastic::RungOptions options{.reduction = reduction_,
                                       .grace = grace_,
                                       .most = std::max(most, grace_),
                                       .pauses = promotes_};
    if (promotes_) return std::make_unique<elastic::Asha>(options);
    return std::make_unique<elastic::HyperRungs>(options);
  }

  double reduction_;
  double grace_;
  bool promotes_;
};

}  // namespace

void register_asha(Registry& registry) {
  registry.wholes.add(
      {.name = "asha",
       .summary =
           "asynchronous successive halving: the best trials of each rung of a sweep continue",
       .source = "Li et al. MLSys'20",
       .traits = {.has = {Trait::reads_groups, Trait::stops_jobs, Trait::ends_trials}},
       .parameters = {number("reduction",
                             "reduction factor: one trial in this many continues from each rung", 4,
                             1.0001, 1e6),
                      number("grace", "steps up to the first rung", 1, 1e-9, 1e15),
                      word("rule", "whether the other trials pause or end", {"promote", "stop"})}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Asha>(
            almanac::policy::registry().placements.make(composition.placement, host), host, told);
      });
}

}  // namespace almanac::policy::whole
