// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/contract.h"

#include <algorithm>
#include <utility>

namespace almanac::policy {
namespace {

/// What a job that is given other GPUs than it asks claims of quotas is what it is given.
void count(Quotas& quotas, const View& view, JobId job, bool ran, const Target& target) {
  ClaimId claim = view.demand(view.progress(job).demand).claim;
  const bool may_differ = view.request(job).max_gpus > 0 || !view.acceptable(job).empty();
  if (may_differ && !target.grants.empty()) {
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
    return one.is_place_of(other);
  };
  if (!std::equal(held.begin(), held.end(), target.grants.begin(), target.grants.end(),
                  on_same_gpus)) {
    return Action::move;
  }
  const bool same = std::equal(held.begin(), held.end(), target.grants.begin()) &&
                    view_.config(job) == target.config;
  return same ? Action::none : Action::resize;
}

const Plan::Change* Plan::find_among_many(JobId job) const {
  if (index(job) >= position_.size()) return nullptr;
  const std::uint32_t position = position_[index(job)];
  if (position >= changes_.size() || changes_[position].job != job) return nullptr;
  return &changes_[position];
}

void Plan::set(JobId job, const Target& target) {
  Change change{.job = job,
                .action = action(job, target),
                .first_grant = static_cast<std::uint32_t>(grants_.size()),
                .num_grants = static_cast<std::uint32_t>(target.grants.size()),
                .config = target.config};
  for (const cluster::Grant& grant : target.grants) grants_.push_back(grant);
  const auto stops = [](const Change& each) {
    return each.action == Action::stop || each.action == Action::move;
  };
  const Change* const before = find(job);
  if (before != nullptr && stops(*before)) --num_stops_;
  if (stops(change)) ++num_stops_;
  if (quotas != nullptr) {
    const bool runs = view_.progress(job).phase == Phase::running;
    count(*quotas, view_, job, before != nullptr ? before->num_grants > 0 : runs, target);
  }
  if (before != nullptr) {
    changes_[static_cast<std::size_t>(before - changes_.data())] = change;
    return;
  }
  changes_.push_back(change);
  if (changes_.size() > kFew) file_changes();
}

void Plan::file_changes() {
  if (position_.size() < view_.num_jobs()) position_.resize(view_.num_jobs());
  // The first ones are filed with the one too many.
  std::size_t at = changes_.size() == kFew + 1 ? 0 : changes_.size() - 1;
  for (; at < changes_.size(); ++at) {
    position_[index(changes_[at].job)] = static_cast<std::uint32_t>(at);
  }
}

void Plan::clear_verbs() {
  has_verbs_ = false;
  holds.clear();
  declined.clear();
  ended.clear();
  scales.clear();
  sleeps.clear();
  boots.clear();
  held_back.clear();
}

}  // namespace almanac::policy
