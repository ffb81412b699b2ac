// SPDX-License-Identifier: Apache-2.0

/// \file
/// Most unfair first: the job that takes longest in all, wait and what is left together, beside
/// what it would take alone.
///
/// Source   Mahajan et al., NSDI'20 (Themis): finish-time fairness rho; alone is with all GPUs that
///          it asks, as in Synergy (Mohan et al., OSDI'22), not with a part of the cluster.
/// Differs  Synergy's artifact sorts the other way round, least unfair first (--profile synergy).
#include <algorithm>

#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class FinishTimeFairness final : public Order {
 public:
  double rank(const Candidate& job) const override {
    const double alone_s = std::max(1.0, seconds(job.believed));
    const double left_s = std::max(0.0, seconds(job.believed - job.worked));
    return -(seconds(job.now - job.request.submit) + left_s) / alone_s;
  }
  bool needs_estimate() const override { return true; }
};

}  // namespace

void register_ftf(Registry& registry) {
  registry.orders.add(
      {"ftf",
       "most unfairly treated first: waiting and remaining time relative to total work",
       "Mahajan et al. NSDI'20",
       {.has = {Trait::reads_run_times}, .needs = {Trait::leases}}},
      [](const Parameters&) { return std::make_unique<FinishTimeFairness>(); });
}

}  // namespace almanac::policy::order
