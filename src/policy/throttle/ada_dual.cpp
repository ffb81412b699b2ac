// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs take turns on shared links: a transfer begins if no other is in progress, or next to one
/// that has more than twice as much left.
///
/// With the order `gpu_time` (smallest GPU time first), as in `qssf+scan+ada_dual`, this is
/// Ada-SRSF for jobs that do not share GPUs.
///
/// Source   Wang et al., Ada-SRSF, the rule AdaDUAL; see rules/links/turns.h.
/// Differs  Lacks the paper's placement LWF-kappa, which puts jobs on the GPUs with the least
///          queued work: here a free GPU has none.
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
