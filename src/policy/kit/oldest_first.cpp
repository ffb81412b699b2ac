// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/oldest_first.h"

#include <algorithm>
#include <utility>

#include "policy/kit/order_around.h"

namespace almanac::policy {
namespace {

/// Below all ranks of orders: these are times, shares, or products of GPUs and times.
constexpr double kBeforeAll = -1e15;

/// When a job has waited for `cap` if it does not run from now on.
Time beyond_at(Duration cap, const Candidate& job) {
  return job.request.submit + job.attained + cap;
}

class OldestFirst final : public OrderAround {
 public:
  OldestFirst(std::unique_ptr<Order> order, Duration cap)
      : OrderAround(std::move(order)), cap_(cap) {}

  double rank(const Candidate& job) const override {
    if (!is_beyond(cap_, job)) return OrderAround::rank(job);
    return kBeforeAll + static_cast<double>(job.request.submit.time_since_epoch().count());
  }
  Standing standing(const Candidate& job) const override {
    if (!is_beyond(cap_, job)) return OrderAround::standing(job);
    return {Term::overdue, seconds(job.now - job.request.submit - job.attained)};
  }
  Time stands_until(const Candidate& job) const override {
    if (is_beyond(cap_, job)) return Time::max();
    return std::min(OrderAround::stands_until(job), beyond_at(cap_, job));
  }

 private:
  Duration cap_;
};

}  // namespace

bool is_beyond(Duration cap, const Candidate& job) { return job.now >= beyond_at(cap, job); }

std::unique_ptr<Order> oldest_first(std::unique_ptr<Order> order, Duration cap) {
  return std::make_unique<OldestFirst>(std::move(order), cap);
}

}  // namespace almanac::policy
