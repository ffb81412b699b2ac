// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs take turns on shared links: a transfer begins if no other is in progress, or next to one
/// that has more than twice as much left.
///
/// With the order `gpu_time` (smallest GPU time first) and the packing `least_work` (the paper's
/// placement, LWF-kappa), as in `qssf+scan+least_work+ada_dual`, this is Ada-SRSF.
///
/// Source   Wang et al., Ada-SRSF, the rule AdaDUAL; see rules/links/turns.h.
/// Cost     a speed for each job that starts on several nodes
#include <vector>

#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy::throttle {
namespace {

class AdaDual final : public Throttle {
 public:
  void started(JobId job, const Desk& desk) override {
    const Speeds* const speeds = desk.view().speeds;
    if (speeds == nullptr || !speeds->flow(job, desk.grants(job))) return;
    started_.push_back(job);
  }
  void follow(Desk& desk) override {
    for (const JobId job : started_) {
      const auto held = desk.grants(job);
      const std::vector<cluster::Grant> grants(held.begin(), held.end());
      Config config = desk.starts(job) ? Config{} : desk.view().config(job);
      config.sending = Sending::in_turn;
      desk.plan().set(job, {.grants = grants, .config = config});
    }
    started_.clear();
  }

 private:
  std::vector<JobId> started_;
};

}  // namespace

void register_ada_dual(Registry& registry) {
  registry.throttles.add(
      {"ada_dual",
       "jobs take turns on shared links; short transfers may run next to long ones",
       "Wang et al. (Ada-SRSF)",
       {.has = {Trait::reads_speeds, Trait::paces_traffic}}},
      [](const Parameters&) { return std::make_unique<AdaDual>(); });
}

}  // namespace almanac::policy::throttle
