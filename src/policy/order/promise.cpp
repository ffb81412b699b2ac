// SPDX-License-Identifier: Apache-2.0

/// \file
/// First jobs whose deadline is at or before submission; then jobs whose deadlines can still be
/// met, smallest GPU time first; then jobs that are late or have no deadline, in the same way.
///
/// All deadlines count equally, so the cheapest are met first. No GPU goes to a missed deadline
/// while another deadline can be met. Least slack first, in contrast, spends most on the deadlines
/// that are about to be missed.
///
/// Source   Our own. That the cheap deadlines should be met if not all can be: Moore, Management
///          Science 1968.
#include "policy/order/promise.h"

#include "policy/order/deadline.h"
#include "policy/registry.h"

namespace almanac::policy::order {
namespace {

class Promise final : public Order {
 public:
  double rank(const Candidate& job) const override {
    const Time deadline = job.request.deadline;
    const double gpu_time = static_cast<double>(job.expected.count()) * job.gpus;
    if (deadline == kNoTime) return kLate + gpu_time;
    if (deadline <= job.request.submit) return deadline_rank(job.request);
    return job.now + job.expected <= deadline ? gpu_time : kLate + gpu_time;
  }
  Standing standing(const Candidate& job) const override {
    const double place = rank(job);
    if (place >= kLate) return no_deadline();
    return job.request.deadline <= job.request.submit ? Standing{}
                                                      : Standing{Term::gpu_time, place / 1e3};
  }
  Time stands_until(const Candidate& job) const override {
    const Time deadline = job.request.deadline;
    if (deadline == kNoTime || job.now + job.expected > deadline) return Time::max();
    return deadline - job.expected + Duration{1};
  }
  bool needs_estimate() const override { return true; }
};

}  // namespace

void register_promise(Registry& registry) {
  registry.orders.add(
      {"promise",
       "jobs whose deadlines can be met first, then the others; each by GPU time",
       "Moore, Manag. Sci. 1968; ours",
       {.has = {Trait::reads_run_times, Trait::reads_deadlines, Trait::ranks_late_apart},
        .bars = {Trait::splits_queue}}},
      [](const Parameters&) { return std::make_unique<Promise>(); });
}

}  // namespace almanac::policy::order
