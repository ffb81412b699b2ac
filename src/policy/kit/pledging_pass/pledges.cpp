// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/pledging_pass/pledges.h"

#include <algorithm>
#include <utility>

#include "policy/kit/eviction.h"

namespace almanac::policy {

Pledges::Vc& Pledges::of(VcId vc) {
  while (vcs_.size() <= index(vc)) vcs_.push_back({.book = PledgeBook(lease_, phase_)});
  return vcs_[index(vc)];
}

void Pledges::came(const VcState& vc, JobId job) {
  const trace::Request& request = desk_.view().request(job);
  if (request.gpus == 0 || request.deadline == kNoTime) return;
  if (asked_.size() < desk_.view().num_jobs()) asked_.resize(desk_.view().num_jobs());
  if (asked_[index(job)]) return;
  asked_[index(job)] = true;
  of(vc.vc).newcomers.push_back(job);
  if (whose_ == Whose::cheapest) of(vc.vc).hopeful.insert(job);
}

void Pledges::ended(const VcState& vc, JobId job) {
  Vc& here = of(vc.vc);
  std::erase(here.newcomers, job);
  here.hopeful.erase(job);
  // A job that was set aside for lack of a quota may arrive again.
  if (index(job) < asked_.size()) asked_[index(job)] = false;
  const auto found = here.promises.find(job);
  if (found == here.promises.end()) return;
  here.book.remove(found->second.pledge);
  here.promises.erase(found);
}

bool Pledges::look(const VcState& vc, bool lease_begins, Stops stops) {
  Vc& here = of(vc.vc);
  const std::span<const cluster::Pool> pools = desk_.ledger().pools(vc.vc);
  here.book.open(desk_.now(), desk_.view().restart, pools);
  if (lease_begins && whose_ == Whose::cheapest) {
    choose_jobs(vc, here);
  } else if (lease_begins) {
    review(here);
  } else if (!here.newcomers.empty()) {
    std::map<std::uint64_t, int> free;
    for (const cluster::Pool& pool : pools) free[pool.gpu_type] += pool.free_gpus;
    const std::int64_t lease = here.book.lease_at(desk_.now());
    for (const auto& [job, promise] : here.promises) {
      if (held(job) == 0) free[promise.pledge.gpu_type] -= promise.pledge.in(lease);
    }
    for (RankedQueue::Cursor at(vc.running); stops == Stops::at_once && at.get() != nullptr;
         at.advance()) {
      const JobId job = at.get()->job;
      if (desk_.demand(job).is_cpu_job() || !can_stop(job)) continue;
      if (!can_give_way(vc.vc, job)) continue;
      free[type_of(vc.vc, job)] += held(job) - now(vc.vc, job);
    }
    for (const auto& [type, gpus] : free) here.book.set_free_now(type, std::max(0, gpus));
  }
  bool at_once = false;
  for (const JobId job : std::exchange(here.newcomers, {})) {
    admit(here, job);
    at_once = at_once || now(vc.vc, job) > 0;
  }
  return at_once;
}

int Pledges::held(JobId job) const {
  if (desk_.view().progress(job).phase != Phase::running) return 0;
  int gpus = 0;
  for (const cluster::Grant& grant : desk_.view().grants(job)) gpus += grant.count();
  return gpus;
}

std::uint64_t Pledges::type_of(VcId vc, JobId job) const {
  const NodeId node = desk_.view().grants(job).front().node;
  for (const cluster::Pool& pool : desk_.ledger().pools(vc)) {
    if (desk_.ledger().suits(node, {.gpus = 1, .gpu_types = pool.gpu_type})) return pool.gpu_type;
  }
  return 0;
}

bool Pledges::can_give_way(VcId vc, JobId job) const {
  const auto found = of(vc).promises.find(job);
  if (found == of(vc).promises.end()) return true;
  const PledgeBook::Need asks = need(job, found->second.due);
  return of(vc).book.work_of(found->second.pledge, asks) >= asks.work_ms;
}

bool Pledges::may_restart(VcId vc, JobId job) const {
  const Vc& here = of(vc);
  const auto found = here.promises.find(job);
  if (found == here.promises.end()) return true;
  const PledgeBook::Need asks = need(job, found->second.due);
  const double cost_ms = here.book.restart_ms(asks.held);
  return here.book.work_of(found->second.pledge, asks) >= asks.work_ms + cost_ms;
}

PledgeBook::Need Pledges::need(JobId job, Time due) const {
  return {.work_ms = static_cast<double>(work_of_(job).count()),
          .deadline = due,
          .levels = levels_of_(job),
          .held = held(job)};
}

std::optional<Pledge> Pledges::find(const Vc& vc, JobId job, const PledgeBook::Need& need) const {
  const cluster::Demand& demand = desk_.demand(job);
  const VcId vc_id = desk_.view().progress(job).vc;
  std::uint64_t tried = 0;
  for (const cluster::Pool& pool : desk_.ledger().pools(vc_id)) {
    if (!pool.suits(demand) || pool.gpus_per_node == 0 || (tried & pool.gpu_type) != 0) continue;
    tried |= pool.gpu_type;
    // A job that runs keeps its type.
    if (need.held > 0 && type_of(vc_id, job) != pool.gpu_type) continue;
    if (auto made = vc.book.least(need, pool.gpu_type)) return made;
  }
  return std::nullopt;
}

void Pledges::admit(Vc& vc, JobId job) {
  const trace::Request& request = desk_.view().request(job);
  PledgeBook::Need asks = need(job, request.deadline);
  std::optional<Pledge> made = find(vc, job, asks);
  if (!made && request.worthless_at != kNoTime) {
    // The earliest end of a lease that will do.
    std::int64_t low = vc.book.lease_at(std::max(request.deadline, desk_.now()));
    std::int64_t high = vc.book.lease_at(request.worthless_at);
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      asks.deadline = vc.book.begin(middle + 1);
      find(vc, job, asks) ? high = middle : low = middle + 1;
    }
    asks.deadline = vc.book.begin(low + 1);
    if (asks.deadline < request.worthless_at) made = find(vc, job, asks);
  }
  if (!made) return;
  vc.book.add(*made);
  vc.promises.emplace(job, Promise{std::move(*made), asks.deadline});
}

void Pledges::review(Vc& vc) {
  std::vector<std::pair<Time, JobId>> by_due;
  for (const auto& [job, promise] : vc.promises) by_due.emplace_back(promise.due, job);
  std::sort(by_due.begin(), by_due.end());
  const std::int64_t present = vc.book.lease_at(desk_.now());
  for (const auto& [due, job] : by_due) {
    Promise& promise = vc.promises.at(job);
    const PledgeBook::Need asks = need(job, due);
    const double ahead = vc.book.work_of(promise.pledge, asks) - asks.work_ms;
    const std::int64_t first = std::max(promise.pledge.stretches.back().first, present);
    const double first_done =
        seconds(std::min(vc.book.begin(first + 1), due) - vc.book.begin(first)) * 1e3;
    // Work done is known in whole milliseconds.
    constexpr double kRounding = 2;
    const bool holds = ahead >= -kRounding;
    if (holds && ahead < first_done) continue;
    vc.book.remove(promise.pledge);
    std::optional<Pledge> made;
    if (asks.work_ms > 0) made = find(vc, job, asks);
    if (!made && !holds) {
      vc.promises.erase(job);
      continue;
    }
    if (made) promise.pledge = std::move(*made);
    vc.book.add(promise.pledge);
  }
}

bool Pledges::can_stop(JobId job) const {
  return may_stop(desk_.view().request(job), stoppable_) && may_move(desk_, job);
}

void Pledges::count_out_fixed_jobs(const VcState& vc, Vc& here) {
  for (RankedQueue::Cursor at(vc.running); at.get() != nullptr; at.advance()) {
    const JobId job = at.get()->job;
    if (held(job) == 0 || can_stop(job)) continue;
    const Time end = desk_.now() + std::max<Duration>(desk_.remaining(job), Duration{1});
    here.book.add({.gpu_type = type_of(vc.vc, job),
                   .stretches = {{.first = here.book.lease_at(desk_.now()),
                                  .last = here.book.lease_at(end - Duration{1}),
                                  .gpus = held(job)}}});
  }
}

void Pledges::choose_jobs(const VcState& state, Vc& vc) {
  vc.book.clear();
  vc.promises.clear();
  vc.newcomers.clear();
  count_out_fixed_jobs(state, vc);
  std::vector<std::pair<double, JobId>> by_cost;
  std::erase_if(vc.hopeful, [&](JobId job) {
    const trace::Request& request = desk_.view().request(job);
    const Time last = request.worthless_at != kNoTime ? request.worthless_at : request.deadline;
    return last <= desk_.now();
  });
  for (const JobId job : vc.hopeful) {
    if (held(job) > 0 && !can_stop(job)) continue;  // counted out
    const Level least = levels_of_(job).front();
    const double gpu_ms = static_cast<double>(work_of_(job).count()) * least.gpus / least.rate;
    by_cost.emplace_back(gpu_ms, job);
  }
  std::sort(by_cost.begin(), by_cost.end());
  for (const auto& [cost, job] : by_cost) admit(vc, job);
}

std::vector<JobId> Pledges::jobs(VcId vc) const {
  std::vector<JobId> made;
  for (const auto& [job, promise] : of(vc).promises) made.push_back(job);
  return made;
}

int Pledges::now(VcId vc, JobId job) const {
  const Vc& here = of(vc);
  const auto found = here.promises.find(job);
  return found == here.promises.end() ? 0
                                      : found->second.pledge.in(here.book.lease_at(desk_.now()));
}

cluster::Demand Pledges::demand(VcId vc, JobId job) const {
  cluster::Demand made = desk_.demand(job);
  const auto found = of(vc).promises.find(job);
  if (found != of(vc).promises.end()) made.gpu_types = found->second.pledge.gpu_type;
  return made;
}

double Pledges::gpus_per_rate(VcId vc, JobId job) const {
  const std::span<const Level> levels = levels_of_(job);
  const Level* later = &levels.front();
  const auto found = of(vc).promises.find(job);
  if (found != of(vc).promises.end()) {
    const int most = found->second.pledge.most();
    for (const Level& each : levels) {
      if (each.gpus == most) later = &each;
    }
  }
  return later->gpus / later->rate;
}

double Pledges::gain(VcId vc, JobId job, const Level& from, const Level& to) const {
  const Vc& here = of(vc);
  const std::int64_t lease = here.book.lease_at(desk_.now());
  const int had = held(job);
  const auto found = here.promises.find(job);
  // A job without a pledge keeps the GPUs that it gets.
  const auto change = [&](int gpus) {
    const double back = found == here.promises.end()
                            ? 0
                            : here.book.change_ms(gpus, found->second.pledge.in(lease + 1));
    return here.book.change_ms(had, gpus) + back;
  };
  const Time end = here.book.begin(lease + 1);
  double part = seconds(end - desk_.now()) * 1e3;
  // Nothing can be gained any more when it has ended.
  const auto left = static_cast<double>(work_of_(job).count());
  if (from.rate > 0) part = std::min(part, left / from.rate);
  return part * (to.rate - from.rate) - change(to.gpus) + change(from.gpus);
}

}  // namespace almanac::policy
