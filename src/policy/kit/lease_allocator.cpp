// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/lease_allocator.h"

#include <algorithm>

#include "policy/kit/gain.h"

namespace almanac::policy {

void LeaseAllocator::allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                              std::vector<Wish>& wishes) {
  if (vcs_.size() < view.cluster.vcs.size()) vcs_.resize(view.cluster.vcs.size());
  Vc& vc = vcs_[index(id)];
  Deal made{
      .vc = id, .jobs = jobs, .begins = view.now >= vc.lease_ends, .left = stock(id, plan.ledger)};
  if (made.begins) vc.lease_ends = view.now + lease_;
  vc.jobs.assign(jobs.begin(), jobs.end());
  deal(made, view, plan, wishes);
  const auto waits = [&](JobId job) { return view.progress(job).phase == Phase::waiting; };
  const auto names_more = [&](const Wish& wish) {
    return waits(wish.job) || std::any_of(wish.beside.begin(), wish.beside.end(), waits);
  };
  // At the start of a lease, running jobs may be passed over for others; within a lease they come
  // first.
  const bool any_named = made.begins ? std::any_of(jobs.begin(), jobs.end(), waits)
                                     : std::any_of(wishes.begin(), wishes.end(), names_more);
  vc.stands_until = any_named ? Time::min() : std::min(vc.lease_ends, stands_in_lease(made, view));
  if (!groups_jobs()) return;
  vc.groups.resize(wishes.size());
  for (std::size_t at = 0; at < wishes.size(); ++at) {
    std::vector<JobId>& group = vc.groups[at];
    group.assign(1, wishes[at].job);
    group.insert(group.end(), wishes[at].beside.begin(), wishes[at].beside.end());
  }
}

Time LeaseAllocator::stands_until(VcId id, const View&) const {
  return vcs_[index(id)].stands_until;
}

bool LeaseAllocator::stays(JobId job, const Deal& deal, const View& view) const {
  return view.progress(job).phase == Phase::running &&
         (!deal.begins || !(deal.guests.contains(job) || has_gained(job, lease_, view)));
}

void LeaseAllocator::make_room(const cluster::Demand& first, const std::set<JobId>& guests,
                               Deal& deal, const View& view) const {
  const auto fits = [&] {
    std::vector<Stock> left = deal.left;
    const auto is_kept = [&](JobId job) { return stays(job, deal, view); };
    if (groups_jobs()) {
      for (const std::vector<JobId>& group : vcs_[index(deal.vc)].groups) {
        const auto kept = std::find_if(group.begin(), group.end(), is_kept);
        if (kept != group.end()) take(left, *kept, view);
      }
    } else {
      for (const JobId job : deal.jobs) {
        if (is_kept(job)) take(left, job, view);
      }
    }
    return take(left, first);
  };
  if (fits()) return;
  deal.guests = guests;
  if (!fits()) deal.guests.clear();
}

std::vector<JobId> LeaseAllocator::keep(std::span<const JobId> jobs, Deal& deal, const View& view,
                                        std::vector<Wish>& wishes) const {
  std::vector<JobId> open;
  open.reserve(jobs.size());
  keep(jobs, deal, view, wishes, open);
  return open;
}

void LeaseAllocator::keep(std::span<const JobId> jobs, Deal& deal, const View& view,
                          std::vector<Wish>& wishes, std::vector<JobId>& open) const {
  open.clear();
  for (const JobId job : jobs) {
    const bool is_kept = stays(job, deal, view);
    if (!is_kept && !asked(job, view).is_cpu_job()) {
      open.push_back(job);
      continue;
    }
    if (is_kept) take(deal.left, job, view);
    wishes.emplace_back().job = job;
  }
}

std::vector<JobId> LeaseAllocator::keep_groups(Deal& deal, const View& view,
                                               std::vector<Wish>& wishes) {
  there_.clear();
  named_.clear();
  for (const JobId job : deal.jobs) there_.add(job);
  for (std::vector<JobId>& group : vcs_[index(deal.vc)].groups) {
    std::erase_if(group, [&](JobId job) {
      return !there_.has(job) || view.progress(job).phase != Phase::running;
    });
    const bool is_kept =
        std::any_of(group.begin(), group.end(), [&](JobId job) { return stays(job, deal, view); });
    if (!is_kept || !take(deal.left, group.front(), view)) continue;
    for (const JobId job : group) named_.add(job);
    wishes.push_back({.job = group.front(), .beside = {group.begin() + 1, group.end()}});
  }
  std::vector<JobId> open;
  open.reserve(deal.jobs.size());
  for (const JobId job : deal.jobs) {
    if (named_.has(job)) continue;
    if (asked(job, view).is_cpu_job()) {
      wishes.push_back({job});
    } else {
      open.push_back(job);
    }
  }
  return open;
}

LeaseAllocator::Division LeaseAllocator::division_of(const Deal& deal, const View& view) {
  Division made{.at = view.now, .jobs = {deal.jobs.begin(), deal.jobs.end()}};
  std::sort(made.jobs.begin(), made.jobs.end());
  return made;
}

bool LeaseAllocator::any_came(const Division& last, const Deal& deal, const View& view) {
  return std::any_of(deal.jobs.begin(), deal.jobs.end(), [&](JobId job) {
    return !std::binary_search(last.jobs.begin(), last.jobs.end(), job) &&
           !asked(job, view).is_cpu_job();
  });
}

bool LeaseAllocator::is_outdated(const Division& last, const Deal& deal, Duration reset,
                                 const View& view) {
  if (last.at == kNoTime) return true;
  if (view.now - last.at >= reset) {
    return deal.jobs.size() != last.jobs.size() || any_came(last, deal, view);
  }
  const auto waits = [&](JobId job) { return view.progress(job).phase == Phase::waiting; };
  return deal.begins && std::any_of(deal.jobs.begin(), deal.jobs.end(), waits) &&
         any_came(last, deal, view);
}

void LeaseAllocator::settled(VcId id, const View& view, Plan& plan) {
  const Vc& vc = vcs_[index(id)];
  const auto runs = [&](JobId job) { return will_run(job, view, plan); };
  const bool shares = std::any_of(vc.groups.begin(), vc.groups.end(),
                                  [](const auto& group) { return group.size() > 1; });
  const bool all_run = std::all_of(vc.jobs.begin(), vc.jobs.end(), runs);
  if (all_run && !shares && !renews(id)) return;
  if (std::any_of(vc.jobs.begin(), vc.jobs.end(), runs)) plan.wake(vc.lease_ends);
}

}  // namespace almanac::policy
