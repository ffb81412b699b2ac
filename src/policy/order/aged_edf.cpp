// SPDX-License-Identifier: Apache-2.0

/// \file
/// Earliest mean of arrival and deadline first.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 7.1: Weighted Fair. The paper gives no weights;
///          equal weights are our reading.
#include "policy/order/deadline.h"
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class AgedEdf final : public Order {
 public:
  double rank(const Candidate& job) const override {
    const auto submit = static_cast<double>(job.request.submit.time_since_epoch().count());
    return (submit + deadline_rank(job.request)) / 2;
  }
};

}  // namespace

void register_aged_edf(Registry& registry) {
  registry.orders.add({"aged_edf",
                       "earliest mean of arrival and deadline first",
                       "Chen et al. TPDS'20 (GENIE) §7.1",
                       {.has = {Trait::reads_deadlines}}},
                      [](const Parameters&) { return std::make_unique<AgedEdf>(); });
}

}  // namespace almanac::policy::order
