// SPDX-License-Identifier: Apache-2.0

/// \file
/// Least slack first: the job that must start soonest to end in time, in its chosen shape. Jobs
/// that can no longer end in time come first.
///
/// Source   Chen et al., TPDS'20 (GENIE), section 6, Eq 13 ("shortest waiting allowance"), without
///          the current time, which is the same for all jobs.
#include "policy/order/deadline.h"
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Allowance final : public Order {
 public:
  double rank(const Candidate& job) const override {
    return deadline_rank(job.request) - static_cast<double>(job.expected.count());
  }
  Standing standing(const Candidate& job) const override {
    return job.request.deadline == kNoTime ? no_deadline() : Standing{};
  }
  bool needs_estimate() const override { return true; }
};

}  // namespace

void register_allowance(Registry& registry) {
  registry.orders.add({"allowance",
                       "least slack first: the job that must start soonest to meet its deadline",
                       "Chen et al. TPDS'20 (GENIE) §6",
                       {.has = {Trait::reads_run_times, Trait::reads_deadlines}}},
                      [](const Parameters&) { return std::make_unique<Allowance>(); });
}

}  // namespace almanac::policy::order
