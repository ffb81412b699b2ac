// SPDX-License-Identifier: Apache-2.0

/// \file
/// Most unfairly treated first: the job with the longest wait plus remaining time, relative to its
/// time alone.
///
/// Source   Mahajan et al., NSDI'20 (Themis): finish-time fairness rho. "Alone" means with all GPUs
///          that it requests, as in Synergy (Mohan et al., OSDI'22), not with a share of the
///          cluster.
/// Differs  Synergy's artifact sorts in the opposite order, least unfair first (--profile synergy).
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
