// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/deadlines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "policy/kit/order_around.h"

namespace almanac::policy {
namespace {

constexpr Duration kDeadlineLease = 5min;

/// A deadline can be met if half of such jobs would meet it on GPUs of their
/// own. Then as much is reserved as four in five of them need, if there is so
/// much time. Chosen among 0.1 to 0.99 on GENIE's load.
constexpr double kLikely = 0.5;
constexpr double kSafe = 0.8;
constexpr double kNearlyAll = 0.99;

/// Below the ranks of all orders, and above those of overdue jobs
/// (wait_bound.cpp).
constexpr double kDue = -1e14;

/// The remaining seconds within which `share` of the jobs end that have run for
/// `worked_s`; as long as they have run if none should run for longer.
double left_s(const predict::Distribution& likely, double worked_s, double share) {
  using predict::Distribution;
  constexpr double kNothing = 1e-6;
  const std::size_t first = Distribution::cell_of(std::log10(std::max(1.0, worked_s)));
  double left = 0;
  for (std::size_t cell = first; cell < Distribution::kCells; ++cell) {
    left += static_cast<double>(likely.mass(cell));
  }
  if (left < kNothing) return std::max(1.0, worked_s);
  double below = 0;
  for (std::size_t cell = first; cell < Distribution::kCells; ++cell) {
    below += static_cast<double>(likely.mass(cell));
    if (below >= share * left) return std::max(1.0, Distribution::middle_s(cell) - worked_s);
  }
  return std::max(1.0, Distribution::middle_s(Distribution::kCells - 1) - worked_s);
}

class DueFirst final : public OrderAround {
 public:
  DueFirst(std::unique_ptr<Order> order, const Deadlines& deadlines)
      : OrderAround(std::move(order)), deadlines_(deadlines) {}

  double rank(const Candidate& job) const override {
    if (!deadlines_.is_due(job.job)) return OrderAround::rank(job);
    return kDue + static_cast<double>(job.request.deadline.time_since_epoch().count());
  }
  Standing standing(const Candidate& job) const override {
    if (!deadlines_.is_due(job.job)) return OrderAround::standing(job);
    return {Term::due, seconds(job.request.deadline - job.now)};
  }

 private:
  const Deadlines& deadlines_;
};

}  // namespace

Deadlines::Deadlines(Desk& desk, Stops stops)
    : desk_(desk),
      pledges_(
          desk, kDeadlineLease, Duration{0}, Pledges::Whose::cheapest,
          [this](JobId job) {
            const cluster::Demand& demand = desk_.demand(job);
            level_ = {.gpus = demand.gpus, .nodes = demand.nodes, .rate = desk_.rate(job)};
            return std::span<const Level>(&level_, 1);
          },
          [this](JobId job) { return reserved_work(job); }, stops) {}

Duration Deadlines::reserved_work(JobId job) const {
  const Candidate seen = desk_.candidate(job);
  if (seen.likely == nullptr) {
    const Duration left = seen.believed - seen.worked;
    return left > Duration{0} ? left : std::max<Duration>(1s, seen.worked);
  }
  const double until_s = seconds(seen.request.deadline - desk_.now()) * desk_.rate(job);
  const double likely_s = left_s(*seen.likely, seconds(seen.worked), kLikely);
  const double safe_s = left_s(*seen.likely, seconds(seen.worked), kSafe);
  // Else a job whose deadline is close would be given up although it can be
  // met.
  const double most_s = std::max(likely_s, kNearlyAll * until_s);
  return Duration{std::llround(1e3 * std::min(safe_s, most_s))};
}

void Deadlines::came(const VcState& vc, JobId job) {
  const trace::Request& request = desk_.view().request(job);
  if (request.gpus == 0 || request.deadline == kNoTime) return;
  if (vcs_.size() <= index(vc.vc)) vcs_.resize(index(vc.vc) + 1);
  if (due_.size() < desk_.view().num_jobs()) due_.resize(desk_.view().num_jobs());
  vcs_[index(vc.vc)].is_new |= vcs_[index(vc.vc)].jobs.insert(job).second;
  pledges_.came(vc, job);
}

void Deadlines::ended(const VcState& vc, JobId job) {
  if (!watches(vc.vc) || vcs_[index(vc.vc)].jobs.erase(job) == 0) return;
  due_[index(job)] = false;
  pledges_.ended(vc, job);
}

std::span<const JobId> Deadlines::look(const VcState& vc) {
  changed_.clear();
  if (!watches(vc.vc)) return changed_;
  Watched& here = vcs_[index(vc.vc)];
  const Time lease{(desk_.now().time_since_epoch() / kDeadlineLease) * kDeadlineLease};
  const bool begins = std::exchange(here.lease, lease) != lease;
  const bool is_new = std::exchange(here.is_new, false);
  here.is_stuck = false;
  if (!begins && !is_new) return changed_;
  pledges_.look(vc, begins, Pledges::Stops::at_once);
  for (const JobId job : here.jobs) {
    const bool is_due = pledges_.now(vc.vc, job) > 0;
    if (is_due == due_[index(job)]) continue;
    due_[index(job)] = is_due;
    changed_.push_back(job);
  }
  here.is_stuck = begins && vc.running.empty() && pledges_.jobs(vc.vc).empty();
  return changed_;
}

Time Deadlines::next_look(VcId vc) const {
  const bool waits = watches(vc) && !vcs_[index(vc)].is_stuck;
  return waits ? vcs_[index(vc)].lease + kDeadlineLease : kNever;
}

std::unique_ptr<Order> due_first(std::unique_ptr<Order> order, const Deadlines& deadlines) {
  return std::make_unique<DueFirst>(std::move(order), deadlines);
}

}  // namespace almanac::policy
