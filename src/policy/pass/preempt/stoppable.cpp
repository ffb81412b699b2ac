// SPDX-License-Identifier: Apache-2.0
#include "policy/pass/preempt/stoppable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "policy/kit/least_loss.h"

namespace almanac::policy {

void Stoppable::enter(JobId job, std::span<const cluster::Grant> grants) {
  if (keys_.size() < desk_.view().num_jobs()) {
    keys_.resize(desk_.view().num_jobs(), {.sequence = kOut});
  }
  file(job);
  room_.enter(job, grants);
}

void Stoppable::protect(JobId job) {
  protected_[job] = desk_.order().rank(desk_.candidate(job));
  rank_again(job);
}

void Stoppable::add_guest(JobId job, JobId host) {
  host_of_[job] = host;
  guests_of_[host].push_back(job);
}

void Stoppable::add_guest_that_started_past(JobId job, const QueueEntry& host) {
  const Progress& state = desk_.view().progress(job);
  if (state.since < desk_.view().progress(host.job).since) return;
  Candidate then = desk_.candidate(job);
  then.worked = std::max(Duration{0}, then.worked - (then.attained - state.attained));
  then.attained = state.attained;
  then.now = state.since;
  const QueueKey own{.rank = desk_.order().rank(then), .tier = then.tier};
  if (would_give_way(job, own, host.key)) add_guest(job, host.job);
}

void Stoppable::release_guests(JobId host) {
  for (const JobId job : guests_of(host)) host_of_.erase(job);
  guests_of_.erase(host);
}

std::span<const JobId> Stoppable::guests_of(JobId host) {
  const auto known = guests_of_.find(host);
  if (known == guests_of_.end()) return {};
  std::erase_if(known->second, [&](JobId job) { return !is_guest_of(job, host); });
  return known->second;
}

void Stoppable::leave(JobId job, std::span<const cluster::Grant> grants) {
  protected_.erase(job);
  host_of_.erase(job);
  by_worth_.erase(keys_[index(job)]);
  keys_[index(job)].sequence = kOut;
  room_.leave(job, grants);
}

bool Stoppable::review() {
  bool any = false;
  while (!jumps_.empty() && jumps_.top().at <= desk_.now()) {
    const Jump jump = jumps_.top();
    jumps_.pop();
    const JobId job = jump.job;
    if (!holds(job) || keys_[index(job)].sequence != jump.sequence) continue;
    rank_again(job);
    any = true;
  }
  return any;
}

void Stoppable::rank_again(JobId job) {
  by_worth_.erase(keys_[index(job)]);
  file(job);
  for (const cluster::Grant& grant : desk_.grants(job)) room_.changed(grant.node);
}

void Stoppable::file(JobId job) {
  const Candidate now = desk_.candidate(job);
  if (!unit_) learn_unit(now);
  const double rank = desk_.order().rank(now);
  const auto known = protected_.find(job);
  if (known != protected_.end() && known->second < rank) protected_.erase(known);
  keys_[index(job)] = {.rank = protected_.contains(job) ? std::min(rank, 0.0) : worth(job, rank),
                       .sequence = sequence_++,
                       .tier = now.tier};
  by_worth_.insert({keys_[index(job)], job, Duration{0}});
  const Duration jump = desk_.order().jumps_after(now);
  if (jump != kNoDuration) jumps_.push({desk_.now() + jump, job, keys_[index(job)].sequence});
}

QueueKey Stoppable::bar(const QueueKey& key) const {
  const double margin = unit_ && unit_->per_s == 0 && key.rank > 0 ? 1 : margin_;
  return {.rank = key.rank > 0 ? key.rank * margin : key.rank / margin,
          .tie = kNobody.tie,
          .sequence = kNobody.sequence,
          .tier = key.tier};
}

double Stoppable::worth(JobId job, double rank) const {
  if (rank <= 0 || !unit_) return rank;  // overdue, or without a deadline
  const double cost = unit_->per_s * desk_.stop_cost_gpu_s(job);
  return rank - (unit_->is_gpu_time ? cost : cost / std::max(1, desk_.demand(job).gpus));
}

void Stoppable::learn_unit(const Candidate& job) {
  const double rank = desk_.order().rank(job);
  if (rank <= 0 || !std::isfinite(rank)) return;
  const Standing told = desk_.order().standing(job);
  const bool is_gpu_time = told.term == Term::gpu_time || told.term == Term::gittins_index;
  unit_ = Unit{.is_gpu_time = is_gpu_time};
  // Seconds or milliseconds.
  if (is_gpu_time || told.term == Term::run_time) unit_->per_s = std::round(rank / told.value);
}

bool Stoppable::knows_who_is_in_the_way(VcId vc, const cluster::Demand& demand) {
  return !desk_.placement().draws() && !desk_.ledger().knows_parts() && !desk_.packs() &&
         desk_.placement().keeps_together(demand, desk_.ledger().pools(vc));
}

std::span<const cluster::Grant> Stoppable::make_room(VcState& vc, const WaitingQueue::Class& wanted,
                                                     const QueueEntry& entry) {
  const QueueKey above = bar(entry.key);
  if (by_worth_.empty() || by_worth_.back().key < above) return {};
  if (const auto grants = make_room_of_lower_tiers(vc, wanted, entry); !grants.empty()) {
    return grants;
  }
  if (knows_who_is_in_the_way(vc.vc, wanted.demand)) {
    const auto in_the_way = room_.in_the_way(wanted.id, desk_.least(entry.job), above);
    if (in_the_way.empty()) return {};
    eviction_.begin();
    for (const JobId victim : in_the_way) eviction_.free(victim, wanted.demand);
    const auto grants = desk_.place(vc.vc, wanted.demand);
    ALMANAC_CHECK(!grants.empty(), "job {} does not fit where {} others were", index(entry.job),
                  in_the_way.size());
    eviction_.settle();
    return grants;
  }
  int gpus = desk_.ledger().free_gpus(vc.vc, wanted.demand);
  const QueueEntry* worst = &by_worth_.back();
  for (; worst != nullptr && above < worst->key && gpus < wanted.demand.gpus;
       worst = by_worth_.previous(worst->key)) {
    gpus += gpus_to_deal(desk_, worst->job);
  }
  if (gpus < wanted.demand.gpus) return {};
  worst = &by_worth_.back();
  return eviction_.make_room(vc.vc, wanted.demand, [&] {
    while (worst != nullptr && above < worst->key) {
      const JobId job = worst->job;
      worst = by_worth_.previous(worst->key);
      if (desk_.runs(job)) return job;
    }
    return kNoJob;
  });
}

std::span<const cluster::Grant> Stoppable::make_room_of_lower_tiers(
    VcState& vc, const WaitingQueue::Class& wanted, const QueueEntry& entry) {
  struct Victim {
    std::int32_t tier;
    bool goes_first;  // as it is overdue or must run to meet its deadline, or is protected
    double lost_gpu_s;
    JobId job;
  };
  std::vector<Victim> lower;
  for (const QueueEntry* worst = &by_worth_.back();
       worst != nullptr && worst->key.tier < entry.key.tier;
       worst = by_worth_.previous(worst->key)) {
    if (!desk_.runs(worst->job)) continue;
    const bool goes_first =
        protected_.contains(worst->job) || desk_.order().rank(desk_.candidate(worst->job)) < 0;
    lower.push_back(
        {worst->key.tier, goes_first, work_lost_gpu_s(worst->job, desk_.view()), worst->job});
  }
  // The order by worth, for which there is a faster search.
  const auto loses_none = [](const Victim& each) { return each.lost_gpu_s == 0; };
  if (std::all_of(lower.begin(), lower.end(), loses_none)) return {};
  std::stable_sort(lower.begin(), lower.end(), [](const Victim& a, const Victim& b) {
    return std::tuple(a.tier, a.goes_first, a.lost_gpu_s) <
           std::tuple(b.tier, b.goes_first, b.lost_gpu_s);
  });
  std::vector<JobId> jobs;
  for (const Victim& each : lower) jobs.push_back(each.job);
  return eviction_.make_room_from(vc.vc, wanted.demand, jobs);
}

std::span<const cluster::Grant> Stoppable::make_room_with_guests(VcState& vc,
                                                                 const WaitingQueue::Class& wanted,
                                                                 const QueueEntry& entry) {
  const double least = std::nextafter(bar(entry.key).rank, std::numeric_limits<double>::max());
  std::vector<std::pair<JobId, double>> own;
  for (const JobId job : guests_of(entry.job)) {
    const double rank = keys_[index(job)].rank;
    if (rank > 0 && rank < least) own.emplace_back(job, rank);
  }
  if (own.empty()) return {};
  for (const auto& [job, rank] : own) set_rank(job, least);
  const auto grants = make_room(vc, wanted, entry);
  for (const auto& [job, rank] : own) set_rank(job, rank);
  return grants;
}

void Stoppable::set_rank(JobId job, double rank) {
  QueueKey& key = keys_[index(job)];
  by_worth_.erase(key);
  key.rank = rank;
  by_worth_.insert({key, job, Duration{0}});
  for (const cluster::Grant& grant : desk_.grants(job)) room_.changed(grant.node);
}

}  // namespace almanac::policy
