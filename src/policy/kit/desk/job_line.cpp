// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk/job_line.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace almanac::policy {

JobLine::JobLine(std::unique_ptr<Order> order, std::unique_ptr<Shape> shape,
                 std::unique_ptr<Size> size, std::unique_ptr<predict::Estimator> estimator)
    : JobDemands(std::move(shape), std::move(size), std::move(estimator)),
      order_(std::move(order)),
      tells_shares_(order_->needs_shares()) {
  if (order_->needs_estimate() || shape_ != nullptr) beliefs_.ask();
  if (order_->needs_distribution()) beliefs_.ask_distributions();
}

void JobLine::put_oldest_first(Duration cap) {
  cap_ = cap;
  order_ = oldest_first(std::move(order_), cap);
}

Candidate JobLine::candidate(JobId job) const {
  const Duration believed = beliefs_.run(job) + view_->progress(job).charged;
  Candidate seen{.job = job,
                 .request = view_->request(job),
                 .attained = view_->attained(job),
                 .worked = view_->worked(job),
                 .believed = believed,
                 .gpus = demand(job).gpus,
                 .expected = time_for(believed, job),
                 .now = view_->now,
                 .likely = beliefs_.likely(job),
                 .may_stop = may_stop(view_->request(job), stops_),
                 .tier = view_->tier(job)};
  if (cap_ != kNoDuration && is_beyond(cap_, seen)) seen.tier = kBeforeAllTiers;
  if (shares_) {
    const Progress& state = view_->progress(job);
    const cluster::Demand& asked = view_->demand(state.demand);
    shares_->tell(seen, state.vc, size_ ? size_->wish(job, asked, *view_) : asked);
  }
  return seen;
}

Precedence JobLine::precedence(JobId first, JobId job) const {
  const Candidate other = candidate(first);
  const Candidate own = candidate(job);
  const Standing its = order_->standing(other);
  const Standing mine = order_->standing(own);
  const auto said = [&](Term term, double own_value, double its_value) {
    return Precedence{term, static_cast<float>(own_value), static_cast<float>(its_value)};
  };
  // An age cap puts jobs above all tiers.
  if (its.term == Term::overdue && other.tier >= own.tier) {
    return said(Term::overdue, 0, its.value);
  }
  if (other.tier != own.tier) {
    return other.tier > own.tier ? said(Term::tier, own.tier, other.tier) : Precedence{};
  }
  if (its.term == Term::due && mine.term != Term::due) return said(Term::due, 0, its.value);
  const auto has_no_deadline = [](const Standing& standing) {
    return standing.term == Term::deadline && std::isinf(standing.value);
  };
  if (has_no_deadline(mine)) {
    const Duration left = other.request.deadline - other.now;
    if (has_no_deadline(its) || other.request.deadline <= other.now) return {};
    return said(Term::deadline, 0, seconds(left));
  }
  if (!(its.value < mine.value)) return {};
  if (its.term == mine.term) return said(its.term, mine.value, its.value);
  // The index of a job that runs to its end once it has started is its expected
  // GPU time.
  const auto is_gpu_time = [](Term term) {
    return term == Term::gpu_time || term == Term::gittins_index;
  };
  const bool same_unit = is_gpu_time(its.term) && is_gpu_time(mine.term);
  return same_unit ? said(Term::gittins_index, mine.value, its.value) : Precedence{};
}

void JobLine::reshape(VcState& vc, JobId job, const Shaped& shape) {
  const cluster::Demand made = shaped(demand(job), shape.gpus, shape.nodes);
  const bool waits = view_->progress(job).phase == Phase::waiting;
  if (waits) vc.waiting.erase(demand_id(job), key(job));
  choose(job, made);
  choices_[index(job)].rate = static_cast<float>(shape.rate);
  if (waits) vc.waiting.insert(demand_id(job), demand(job), {key(job), job, remaining(job)});
}

std::span<const JobId> JobLine::refile(std::span<VcState> vcs) {
  refiled_.clear();
  while (!stale_.empty() && stale_.begin()->first <= now()) {
    const JobId job = stale_.begin()->second;
    stale_.erase(stale_.begin());
    const Progress& state = view_->progress(job);
    if (state.phase != Phase::waiting || slots_[index(job)].sequence == kNotFiled) continue;
    rank_again(vcs[index(state.vc)], job);
    refiled_.push_back(job);
  }
  return refiled_;
}

void JobLine::rank_again(VcState& vc, JobId job) {
  vc.waiting.erase(demand_id(job), key(job));
  file(vc, job, slots_[index(job)].sequence);
  vc.blocked = kNoJob;
}

void JobLine::ask_again(JobId job, Time at) {
  const Progress& state = view_->progress(job);
  if (state.phase != Phase::waiting || slots_[index(job)].sequence == kNotFiled) return;
  stale_.emplace(at, job);
}

void JobLine::file_again(VcState& vc, JobId job) {
  std::erase_if(stale_, [&](const auto& each) { return each.second == job; });
  file(vc, job, slots_[index(job)].sequence);
}

void JobLine::withdraw(VcState& vc, JobId job) {
  vc.waiting.erase(demand_id(job), key(job));
  slots_[index(job)].sequence = kNotFiled;
  asked_.forget(job);
  vc.blocked = kNoJob;
  beliefs_.forget(job);
}

void JobLine::enqueue(VcState& vc, JobId job) { file(vc, job, sequence_++); }

void JobLine::enqueue_at(VcState& vc, JobId job, double rank, double tie) {
  choose_demand(job);
  file(vc, job, {.rank = rank, .tie = tie, .sequence = sequence_++, .tier = view_->tier(job)});
}

void JobLine::file(VcState& vc, JobId job, std::uint32_t sequence) {
  const Time suits_until = choose_demand(job);
  const Candidate seen = candidate(job);
  const Time until = std::min(suits_until, order_->stands_until(seen));
  if (until != Time::max()) stale_.emplace(until, job);
  file(vc, job,
       {.rank = order_->rank(seen),
        .tie = order_->tie(seen),
        .sequence = sequence,
        .tier = seen.tier});
}

void JobLine::file(VcState& vc, JobId job, const Slot& slot) {
  slots_[index(job)] = slot;
  vc.waiting.insert(demand_id(job), demand(job), {key(job), job, remaining(job)});
}

void JobLine::add_started(VcState& vc, JobId job, std::span<const cluster::Grant> grants) {
  if (running_rank_ == RunningRank::none) return;
  Slot& slot = slots_[index(job)];
  const bool by_end = running_rank_ == RunningRank::believed_end;
  slot = {.rank = by_end ? end_rank(job, grants) : slot.rank + fallen(),
          .tie = 0,
          .sequence = sequence_++,
          .tier = by_end ? 0 : slot.tier};
  vc.running.insert({slot.key(), job, Duration{0}});
}

void JobLine::add_adopted(VcState& vc, JobId job, std::span<const cluster::Grant> held) {
  Slot& slot = slots_[index(job)];
  slot.tie = 0;
  slot.sequence = sequence_++;
  if (running_rank_ == RunningRank::none) return;
  const bool by_end = running_rank_ == RunningRank::believed_end;
  slot.rank = by_end ? end_rank(job, held) : order_->rank(candidate(job)) + fallen();
  slot.tier = by_end ? 0 : view_->tier(job);
  vc.running.insert({slot.key(), job, Duration{0}});
}

double JobLine::end_rank(JobId job, std::span<const cluster::Grant> grants) const {
  // A job without run time ends in a later round of this instant: its GPUs are
  // in use until then, however fast it is.
  const auto work = static_cast<double>(work_left(job).count());
  const double rate =
      view_->speeds == nullptr ? double{believed_rate(job)} : view_->speeds->rate(job, grants);
  return static_cast<double>(now().time_since_epoch().count()) + std::max(1.0, work / rate);
}

void JobLine::refile_running(VcState& vc, JobId job, double rank) {
  Slot& slot = slots_[index(job)];
  vc.running.erase(slot.key());
  slot.rank = rank;
  vc.running.insert({slot.key(), job, Duration{0}});
}

double JobLine::fallen() const {
  if (falls_with_work()) return 0;
  return order_->drift() * static_cast<double>(now().time_since_epoch().count());
}

QueueKey JobLine::running_key(JobId job) const {
  QueueKey now = key(job);
  if (falls_with_work()) now.rank = order_->rank(candidate(job));
  return now;
}

void JobLine::refile_running(VcState& vc) {
  if (!falls_with_work()) return;
  std::vector<QueueEntry> all;
  for (RankedQueue::Cursor each(vc.running); each.get() != nullptr; each.advance()) {
    all.push_back(*each.get());
  }
  for (const QueueEntry& each : all) {
    if (runs(each.job)) refile_running(vc, each.job, running_key(each.job).rank);
  }
}

Time JobLine::believed_end(JobId job) const {
  return Time{Duration{static_cast<Duration::rep>(key(job).rank)}};
}

}  // namespace almanac::policy
