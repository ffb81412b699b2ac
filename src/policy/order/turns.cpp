// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs take turns: the one that has run for the shortest time is next. With leases, jobs of equal
/// size run in turn for a lease each.
///
/// With a packing and short leases, as in `fifo+turns+lease:60+gandiva`, this is Gandiva: time
/// slices, in which pairs that run well together share their GPUs.
///
/// Source   Xiao et al., OSDI'18 (Gandiva), section 3.2: round robin in time slices of a minute.
/// Differs  A job that comes late catches up on the others before it takes turns with them. So a
///          job that has run for long waits while new ones keep coming, without a bound. The GPUs
///          that a job leaves when it ends may be idle until the slice ends.
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Turns final : public Order {
 public:
  double rank(const Candidate& job) const override { return seconds(job.attained); }
  double tie(const Candidate& job) const override {
    return static_cast<double>(job.request.submit.time_since_epoch().count());
  }
};

}  // namespace

void register_turns(Registry& registry) {
  registry.orders.add({.name = "turns",
                       .summary = "the job that has run for the shortest time first",
                       .source = "Xiao et al. OSDI'18 (Gandiva) §3.2",
                       .traits = {.needs = {Trait::leases}}},
                      [](const Parameters&) { return std::make_unique<Turns>(); });
}

}  // namespace almanac::policy::order
