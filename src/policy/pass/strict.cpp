// SPDX-License-Identifier: Apache-2.0

/// \file
/// The first job that can neither be placed nor join another blocks all jobs behind it.
///
/// Source   Hu et al., SC'21, section 4.2, Algorithm 1 (the `break`).
#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy {
namespace {

class StrictPass final : public Pass {
 public:
  explicit StrictPass(Desk& desk) : desk_(desk) {}

  void run(VcState& vc) override {
    const JobId known = vc.blocked;
    desk_.start_in_order(vc);
    while (vc.blocked != known && !vc.waiting.empty()) {
      const JobId head = vc.blocked;
      const auto grants = desk_.join(vc.vc, head);
      if (grants.empty()) return;
      desk_.start(vc, head, grants);
      desk_.start_in_order(vc);
    }
  }

  Reason blocker(const VcState& vc, JobId) const override {
    return {.kind = ReasonKind::behind, .other = vc.waiting.first().jobs.front().job};
  }

 private:
  Desk& desk_;
};

}  // namespace

namespace pass {

void register_strict(Registry& registry) {
  registry.passes.add(
      {.name = "strict",
       .summary = "the first job that does not fit blocks all others",
       .source = "Hu et al. SC'21 §2.1",
       .traits = {.has = {Trait::keeps_line, Trait::lets_join}}},
      [](const Parameters&, Desk& desk) { return std::make_unique<StrictPass>(desk); });
}

}  // namespace pass
}  // namespace almanac::policy
