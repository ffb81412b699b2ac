// SPDX-License-Identifier: Apache-2.0

/// \file
/// Smallest dominant share first: the largest fraction that a job could use of the GPUs, cores or
/// memory of its virtual cluster.
///
/// Source   Mohan et al., OSDI'22 (Synergy), DRF; after Ghodsi et al., NSDI'11.
/// Differs  From Ghodsi et al.: each job counts by itself, as in Synergy; users have no shares.
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class DominantShare final : public Order {
 public:
  double rank(const Candidate& job) const override { return job.largest_share; }
  double tie(const Candidate& job) const override {
    return static_cast<double>(job.request.submit.time_since_epoch().count());
  }
  bool needs_shares() const override { return true; }
};

}  // namespace

void register_drf(Registry& registry) {
  registry.orders.add({"drf", "smallest dominant share of GPUs, cores and memory first",
                       "Mohan et al. OSDI'22; Ghodsi et al. NSDI'11"},
                      [](const Parameters&) { return std::make_unique<DominantShare>(); });
}

}  // namespace almanac::policy::order
