// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/contract.h"

namespace almanac::policy {
namespace {

/// What a job that is given other GPUs than it asks claims of quotas is what it is given.
void count(Quotas& quotas, const View& view, JobId job, bool ran, const Target& target) {
  ClaimId claim = view.demand(view.progress(job).demand).claim;
  if (view.request(job).max_gpus > 0 && !target.grants.empty()) {
    int gpus = 0;
    for (const cluster::Grant& grant : target.grants) gpus += grant.count();
    claim = quotas.sized(claim, gpus);
  }
  if (ran && !target.grants.empty()) return quotas.change(job, claim);
  if (ran) quotas.give_back(quotas.of(job));
  quotas.put(job, claim);
  if (!target.grants.empty()) quotas.take(claim);
}

}  // namespace

Plan::Action Plan::action(JobId job, const Target& target) const {
  const bool runs = view_.progress(job).phase == Phase::running;
  if (target.grants.empty()) return runs ? Action::stop : Action::none;
  if (!runs) return Action::start;
  const std::span<const cluster::Grant> held = view_.grants(job);
  const auto on_same_gpus = [](const cluster::Grant& one, const cluster::Grant& other) {
    return one.node == other.node && one.gpus == other.gpus;
  };
  if (!std::equal(held.begin(), held.end(), target.grants.begin(), target.grants.end(),
                  on_same_gpus)) {
    return Action::move;
  }
  const bool same = std::equal(held.begin(), held.end(), target.grants.begin()) &&
                    view_.config(job) == target.config;
  return same ? Action::none : Action::resize;
}

void Plan::set(JobId job, const Target& target) {
  if (position_.size() <= index(job)) position_.resize(view_.num_jobs());
  std::uint32_t& position = position_[index(job)];
  const bool again = position < changes_.size() && changes_[position].job == job;
  const auto stops = [](Action action) { return action == Action::stop || action == Action::move; };
  const bool runs = view_.progress(job).phase == Phase::running;
  const bool ran = again ? changes_[position].num_grants > 0 : runs;
  Change change{.job = job,
                .action = action(job, target),
                .first_grant = static_cast<std::uint32_t>(grants_.size()),
                .num_grants = static_cast<std::uint32_t>(target.grants.size()),
                .config = target.config};
  grants_.insert(grants_.end(), target.grants.begin(), target.grants.end());
  if (again && stops(changes_[position].action)) --num_stops_;
  if (stops(change.action)) ++num_stops_;
  if (quotas != nullptr) count(*quotas, view_, job, ran, target);
  if (again) {
    changes_[position] = change;
  } else {
    position = static_cast<std::uint32_t>(changes_.size());
    changes_.push_back(change);
  }
}

void Plan::clear() {
  changes_.clear();
  grants_.clear();
  num_stops_ = 0;
  holds.clear();
  declined.clear();
  ended.clear();
  sleeps.clear();
  boots.clear();
  held_back.clear();
  wakes.clear();
}

}  // namespace almanac::policy
