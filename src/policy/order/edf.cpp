// SPDX-License-Identifier: Apache-2.0

/// \file
/// Earliest deadline first; jobs without a deadline come last, in order of
/// submission.
///
/// Source   Liu and Layland, JACM 1973; the Min-Min of Chen et al., TPDS'20
/// (GENIE), section 7.1.
#include "policy/order/deadline.h"
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Edf final : public Order {
 public:
  double rank(const Candidate& job) const override { return deadline_rank(job.request); }
  Standing standing(const Candidate& job) const override {
    const Time deadline = job.request.deadline;
    if (deadline == kNoTime) return no_deadline();
    if (deadline <= job.now) return {};
    return {Term::deadline, seconds(deadline - job.now)};
  }
};

}  // namespace

void register_edf(Registry& registry) {
  registry.orders.add({"edf",
                       "earliest deadline first",
                       "Liu & Layland JACM'73",
                       {.has = {Trait::reads_deadlines}}},
                      [](const Parameters&) { return std::make_unique<Edf>(); });
}

}  // namespace almanac::policy::order
