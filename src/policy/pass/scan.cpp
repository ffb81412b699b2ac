// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs start in order of rank, and all that fit pass those that do not.
///
/// No job holds a reservation, so a large job may wait as long as small ones arrive. If the packing
/// lets jobs share GPUs, jobs that still wait join others, in order of rank.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6, in the reading that gives its makespans.
#include "policy/kit/desk.h"
#include "policy/kit/let_join.h"
#include "policy/kit/start_each.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class ScanPass final : public Pass {
 public:
  explicit ScanPass(Desk& desk) : desk_(desk) {}

  void run(VcState& vc) override {
    start_each(desk_, vc, [](const RankedQueue& jobs) { return &jobs.front(); });
    let_join(desk_, vc);
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  Desk& desk_;
};

}  // namespace

namespace pass {

void register_scan(Registry& registry) {
  registry.passes.add(
      {.name = "scan",
       .summary = "any job that fits may start, whatever waits before it",
       .source = "Chen et al. TPDS'20 (GENIE) §6",
       .traits = {.has = {Trait::lets_join}}},
      [](const Parameters&, Desk& desk) { return std::make_unique<ScanPass>(desk); });
}

}  // namespace pass
}  // namespace almanac::policy
