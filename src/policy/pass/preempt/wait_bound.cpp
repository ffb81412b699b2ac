// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/wait_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "policy/kit/order_around.h"

namespace almanac::policy {
namespace {

/// Below all ranks of orders: these are times, shares, or products of GPUs and times.
constexpr double kBeforeAll = -1e15;

class OverdueFirst final : public OrderAround {
 public:
  OverdueFirst(std::unique_ptr<Order> order, const WaitBound& bound)
      : OrderAround(std::move(order)), bound_(bound) {}

  double rank(const Candidate& job) const override {
    const Time at = bound_.overdue_at(job);
    if (job.now < at) return OrderAround::rank(job);
    return kBeforeAll + static_cast<double>((at - job.attained).time_since_epoch().count());
  }
  Standing standing(const Candidate& job) const override {
    if (job.now < bound_.overdue_at(job)) return OrderAround::standing(job);
    return {Term::overdue, seconds(job.now - job.request.submit - job.attained)};
  }
  Time stands_until(const Candidate& job) const override {
    const Time at = bound_.overdue_at(job);
    if (at == kNever || job.now >= at) return OrderAround::stands_until(job);
    return std::min(OrderAround::stands_until(job), at);
  }

 private:
  const WaitBound& bound_;
};

}  // namespace

ShadowEasy& WaitBound::easy(Desk& desk) {
  if (!easy_) easy_.emplace(desk.view());
  if (waited_enough_.size() < desk.view().num_jobs()) {
    waited_enough_.resize(desk.view().num_jobs(), kNever);
    waited_.resize(desk.view().num_jobs(), Duration{0});
  }
  return *easy_;
}

/// The prediction, or what a reservation assumes of a job that has outlived its prediction.
Duration WaitBound::expected_left(const Desk& desk, JobId job) const {
  const Candidate seen = desk.candidate(job);
  return seen.believed > seen.worked ? seen.believed - seen.worked : desk.work_left(job);
}

void WaitBound::arrived(Desk& desk, JobId job) {
  // One that lost its nodes comes again.
  const bool is_new = desk.view().progress(job).start == kNoTime;
  const Time came = is_new ? desk.view().request(job).submit : desk.now();
  const ShadowEasy::Length length{expected_left(desk, job), desk.work_left(job)};
  easy(desk).arrive(job, length, came, desk.view());
}

void WaitBound::adopted(Desk& desk, JobId job) {
  easy(desk).adopt(job, {expected_left(desk, job), desk.work_left(job)}, desk.view());
}

void WaitBound::started(Desk& desk, JobId job) {
  const trace::Request& request = desk.view().request(job);
  if (request.user == kNoName) return;
  const Duration wait = desk.now() - request.submit - desk.view().attained(job);
  if (waited_enough_[index(job)] != kNever) {
    users_.waited(request.user, wait - waited_[index(job)]);
  }
  waited_[index(job)] = wait;
}

void WaitBound::ended(Desk& desk, JobId job) { easy(desk).end(job, desk.view()); }

void WaitBound::withdrawn(Desk& desk, JobId job) { easy(desk).withdraw(job, desk.view()); }

void WaitBound::capacity_changed(Desk& desk) {
  easy(desk).follow_nodes(desk.view(), desk.ledger());
}

void WaitBound::advance(Desk& desk, const std::function<void(JobId, Time)>& known) {
  for (const auto& [job, waited] : easy(desk).take_started(desk.view())) {
    const trace::Request& request = desk.view().request(job);
    const auto allowed = static_cast<double>(waited.count()) * factor_;
    const Duration most{static_cast<Duration::rep>(std::ceil(std::min(allowed, 1e15)))};
    waited_enough_[index(job)] = request.submit + most + grace_;
    if (request.user != kNoName) {
      users_.would_have_waited(request.user, waited);
      users_.waited(request.user, waited_[index(job)]);
    }
    known(job, std::max(desk.now(), overdue_at(desk.candidate(job))));
  }
}

Time WaitBound::overdue_at(const Candidate& job) const {
  if (index(job.job) >= waited_enough_.size()) return kNever;
  Time enough = waited_enough_[index(job.job)];
  if (enough == kNever) return kNever;
  if (job.request.user != kNoName) {
    const Duration left = users_.left(job.request.user) + waited_[index(job.job)];
    enough = std::min(enough, job.request.submit + std::max(left, Duration{0}));
  }
  return enough + job.attained;
}

std::unique_ptr<Order> overdue_first(std::unique_ptr<Order> order, const WaitBound& bound) {
  return std::make_unique<OverdueFirst>(std::move(order), bound);
}

}  // namespace almanac::policy
