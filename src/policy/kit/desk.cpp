// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "policy/kit/doubted_nodes.h"
#include "policy/kit/placer.h"
#include "policy/kit/quota_keeper.h"
#include "policy/kit/shaped_placement.h"

namespace almanac::policy {
namespace {

Duration at_rate(Duration work, float rate) {
  if (rate == 1) return work;
  return Duration{std::llround(static_cast<double>(work.count()) / rate)};
}

}  // namespace

Desk::Desk(std::unique_ptr<Order> order, std::unique_ptr<Placement> placement,
           std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
           std::unique_ptr<predict::Estimator> estimator)
    : order_(std::move(order)),
      placement_(shape ? make_shaped_placement(std::move(placement)) : std::move(placement)),
      shape_(std::move(shape)),
      size_(std::move(size)),
      beliefs_(std::move(estimator)),
      tells_shares_(order_->needs_shares()) {
  if (order_->needs_estimate() || shape_ != nullptr) beliefs_.ask();
  if (order_->needs_distribution()) beliefs_.ask_distributions();
}

void Desk::open(const View& view, Plan& plan) {
  view_ = &view;
  plan_ = &plan;
  if (slots_.size() < view.num_jobs()) slots_.resize(view.num_jobs());
  if (tells_shares_ && !shares_) shares_.emplace(view.cluster);
}

Candidate Desk::candidate(JobId job) const {
  const Duration attained = view_->attained(job);
  const Slot& slot = slots_[index(job)];
  const Duration believed = beliefs_.run(job) + view_->progress(job).charged;
  Candidate seen{.job = job,
                 .request = view_->request(job),
                 .attained = attained,
                 .worked = view_->worked(job),
                 .believed = believed,
                 .gpus = demand(job).gpus,
                 .expected = at_rate(believed, slot.rate),
                 .now = view_->now,
                 .likely = beliefs_.likely(job)};
  if (shares_) {
    const Progress& state = view_->progress(job);
    const cluster::Demand& asked = view_->demand(state.demand);
    shares_->tell(seen, state.vc, size_ ? size_->wish(job, asked, *view_) : asked);
  }
  return seen;
}

Duration Desk::remaining(JobId job) const {
  return at_rate(work_left(job), slots_[index(job)].rate);
}

Time Desk::choose_demand(JobId job) {
  const Acceptable* const choice = asked_.enter(job, *view_);
  if (choice == nullptr && !chooses()) return Time::max();
  Slot& slot = slots_[index(job)];
  slot.rate = choice == nullptr ? 1 : choice->rate;
  if (!chooses()) return Time::max();
  cluster::Demand demand = view_->demand(asked_id(job));
  Time until = Time::max();
  if (chooses_shape(job)) {
    const Shaped shaped = shape_->choose(job, work_left(job), *view_, plan_->ledger);
    demand = this->shaped(demand, shaped.gpus, shaped.nodes);
    slot.rate = static_cast<float>(shaped.rate);
    until = shaped.until;
  }
  if (size_) demand = size_->demand(job, demand, *view_);
  slot.demand = demands_.id_of(demand);
  return until;
}

cluster::Demand Desk::shaped(cluster::Demand demand, int gpus, int nodes) const {
  demand.gpus = gpus;
  demand.nodes = nodes;
  if (plan_->quotas != nullptr) demand.claim = plan_->quotas->sized(demand.claim, gpus);
  return demand;
}

void Desk::reshape(VcState& vc, JobId job, const Shaped& shape) {
  const cluster::Demand made = shaped(demand(job), shape.gpus, shape.nodes);
  Slot& slot = slots_[index(job)];
  const bool waits = view_->progress(job).phase == Phase::waiting;
  if (waits) vc.waiting.erase(demand_id(job), key(job));
  slot.demand = demands_.id_of(made);
  slot.rate = static_cast<float>(shape.rate);
  if (waits) vc.waiting.insert(demand_id(job), demand(job), {key(job), job, remaining(job)});
}

std::span<const JobId> Desk::refile(std::span<VcState> vcs) {
  refiled_.clear();
  while (!stale_.empty() && stale_.begin()->first <= now()) {
    const JobId job = stale_.begin()->second;
    stale_.erase(stale_.begin());
    const Progress& state = view_->progress(job);
    if (state.phase != Phase::waiting || slots_[index(job)].sequence == kNotFiled) continue;
    VcState& vc = vcs[index(state.vc)];
    vc.waiting.erase(demand_id(job), key(job));
    const std::uint32_t sequence = slots_[index(job)].sequence;
    file(vc, job, sequence);
    vc.blocked = kNoJob;
    refiled_.push_back(job);
  }
  return refiled_;
}

std::span<const JobId> Desk::choose_again(VcState& vc) {
  refiled_.clear();
  for (const JobId job : asked_.undecided()) {
    const bool is_here = view_->progress(job).vc == vc.vc;
    if (!is_here || vc.waiting.is_aside(demand_id(job))) continue;
    const Acceptable best = first_with_room(vc.vc, job);
    if (best.demand == asked_id(job)) continue;
    vc.waiting.erase(demand_id(job), key(job));
    asked_.set(job, best);
    std::erase_if(stale_, [&](const auto& each) { return each.second == job; });
    file(vc, job, slots_[index(job)].sequence);
    vc.blocked = kNoJob;
    refiled_.push_back(job);
  }
  return refiled_;
}

Acceptable Desk::first_with_room(VcId vc, JobId job) {
  const std::span<const Acceptable> acceptable = view_->acceptable(job);
  const auto has_room = [&](const Acceptable& each) {
    return fits(vc, view_->demand(each.demand));
  };
  const auto found = std::find_if(acceptable.begin(), acceptable.end(), has_room);
  return found == acceptable.end() ? acceptable.front() : *found;
}

void Desk::withdraw(VcState& vc, JobId job) {
  vc.waiting.erase(demand_id(job), key(job));
  slots_[index(job)].sequence = kNotFiled;
  asked_.forget(job);
  vc.blocked = kNoJob;
  beliefs_.forget(job);
}

void Desk::enqueue(VcState& vc, JobId job) { file(vc, job, sequence_++); }

void Desk::enqueue_at(VcState& vc, JobId job, double rank, double tie) {
  choose_demand(job);
  file(vc, job, rank, tie, sequence_++);
}

void Desk::file(VcState& vc, JobId job, std::uint32_t sequence) {
  const Time suits_until = choose_demand(job);
  const Candidate seen = candidate(job);
  const Time until = std::min(suits_until, order_->stands_until(seen));
  if (until != Time::max()) stale_.emplace(until, job);
  file(vc, job, order_->rank(seen), order_->tie(seen), sequence);
}

void Desk::file(VcState& vc, JobId job, double rank, double tie, std::uint32_t sequence) {
  Slot& slot = slots_[index(job)];
  slot.rank = rank;
  slot.tie = tie;
  slot.sequence = sequence;
  vc.waiting.insert(demand_id(job), demand(job), {key(job), job, remaining(job)});
}

bool Desk::place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
                 std::vector<cluster::Grant>& grants) const {
  const auto usual = [&] {
    if (!whole_gpus || !demand.is_part()) {
      return place_demand(*placement_, ledger, vc, demand, rng, grants);
    }
    cluster::Demand whole = demand;
    whole.gpu_milli = cluster::kWholeGpu;
    whole.profile = slices::kNoProfile;
    return placement_->place(ledger, vc, whole, rng, grants);
  };
  return doubted_ != nullptr ? doubted_->avoid(ledger, grants, usual) : usual();
}

std::span<const cluster::Grant> Desk::place(VcId vc, const cluster::Demand& demand) {
  grants_.clear();
  if (!is_within_quotas(demand)) return grants_;
  if (place(plan_->ledger, vc, demand, view_->rng, grants_) || !size_) return grants_;
  const cluster::Demand least = size_->least(demand);
  if (least == demand) return grants_;
  if (place(plan_->ledger, vc, least, view_->rng, grants_)) top_up(demand);
  return grants_;
}

void Desk::top_up(const cluster::Demand& demand) {
  // Whole cores, alike for each GPU: what the worst served node has.
  constexpr std::int32_t kCore = 1000;
  std::int32_t each = demand.cpu_milli;
  for (const cluster::Grant& grant : grants_) {
    const std::int32_t here = plan_->ledger.room(grant.node).cpu_milli + grant.cpu_milli;
    each = std::min(each, here / std::max(1, grant.count()) / kCore * kCore);
  }
  for (cluster::Grant& grant : grants_) {
    const std::int32_t more = each * grant.count() - grant.cpu_milli;
    if (more <= 0) continue;
    plan_->ledger.take(grant.node, {.cpu_milli = more});
    grant.cpu_milli += more;
  }
}

bool Desk::fits(VcId vc, const cluster::Demand& demand) {
  const std::size_t before = plan_->ledger.mark();
  const bool placed = !place(vc, demand).empty();
  plan_->ledger.undo(before);
  return placed;
}

bool Desk::start_in_order(VcState& vc) {
  bool any = false;
  while (!vc.waiting.empty()) {
    const WaitingQueue::Class& next = vc.waiting.first();
    const QueueEntry& head = next.jobs.front();
    if (head.job == vc.blocked) break;
    const auto grants = place(vc.vc, next.demand);
    if (grants.empty()) {
      vc.blocked = head.job;
      break;
    }
    start(vc, head, grants);
    any = true;
  }
  return any;
}

void Desk::start(VcState& vc, JobId job, std::span<const cluster::Grant> grants) {
  start(vc, QueueEntry{.key = key(job), .job = job}, grants);
}

void Desk::start(VcState& vc, QueueEntry entry, std::span<const cluster::Grant> grants) {
  const JobId job = entry.job;
  vc.waiting.erase(demand_id(job), entry.key);
  asked_.started(job);
  plan_->set(job, {.grants = grants});
  Slot& slot = slots_[index(job)];
  if (quota_keeper_ != nullptr) quota_keeper_->started(demand(job).claim);
  if (track == Track::nothing) return;
  const auto start = static_cast<double>(now().time_since_epoch().count());
  if (track == Track::believed_end) {
    slot.rank = start + time_left(job, grants);
  } else {
    slot.rank += fallen();
  }
  slot.sequence = sequence_++;
  slot.tie = 0;
  vc.running.insert({slot.key(), job, Duration{0}});
}

double Desk::time_left(JobId job, std::span<const cluster::Grant> grants) const {
  // A job without run time ends in a later round of this instant: its GPUs are in use until then,
  // however fast it is.
  const auto work = static_cast<double>(work_left(job).count());
  const double rate =
      view_->speeds == nullptr ? double{slots_[index(job)].rate} : view_->speeds->rate(job, grants);
  return std::max(1.0, work / rate);
}

void Desk::adopt(VcState& vc, JobId job) {
  const std::span<const cluster::Grant> held = view_->grants(job);
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  // It has what it has, whatever would be chosen today.
  for (const Acceptable& each : view_->acceptable(job)) {
    const cluster::Demand& asked = view_->demand(each.demand);
    const bool holds = asked.gpus == gpus && plan_->ledger.suits(held.front().node, asked);
    if (!holds) continue;
    asked_.set(job, each);
    break;
  }
  choose_demand(job);
  Slot& slot = slots_[index(job)];
  if (shape_) {
    const cluster::Demand& chosen = demands_[slot.demand];
    const int nodes = chosen.nodes > 0 ? static_cast<int>(held.size()) : 0;
    slot.demand = demands_.id_of(shaped(chosen, gpus, nodes));
  }
  slot.tie = 0;
  slot.sequence = sequence_++;
  if (track == Track::nothing) return;
  if (track == Track::believed_end) {
    slot.rank = static_cast<double>(now().time_since_epoch().count()) + time_left(job, held);
  } else {
    slot.rank = order_->rank(candidate(job)) + fallen();
  }
  vc.running.insert({slot.key(), job, Duration{0}});
}

void Desk::give_back(JobId job) {
  for (const cluster::Grant& grant : grants(job)) {
    plan_->ledger.give_back(grant);
    touched.push_back(grant.node);
  }
}

void Desk::stop(VcState& vc, JobId job) {
  if (track != Track::nothing) vc.running.erase(key(job));
  plan_->set(job, {});
  stopped.push_back(job);
}

void Desk::move(JobId job, std::span<const cluster::Grant> grants) {
  plan_->set(job, {.grants = grants, .config = view_->config(job)});
}

bool Desk::starts(JobId job) const {
  const Plan::Change* const change = plan_->find(job);
  return change != nullptr &&
         (change->action == Plan::Action::start || change->action == Plan::Action::move);
}

bool Desk::runs(JobId job) const {
  return view_->progress(job).phase == Phase::running && !starts(job);
}

std::span<const cluster::Grant> Desk::join(VcId vc, JobId job) {
  if (packing_ == nullptr || !is_within_quotas(demand(job))) return {};
  return packing_->join(vc, job);
}

bool Desk::is_paired(JobId job) const { return packing_ != nullptr && packing_->is_paired(job); }

void Desk::hold_part(JobId job, std::int32_t gpu_milli, std::span<const cluster::Grant> where) {
  const std::span<const cluster::Grant> held = grants(job);
  std::vector<cluster::Grant> made(held.begin(), held.end());
  for (cluster::Grant& grant : made) {
    const auto is_here = [&](const cluster::Grant& each) { return each.node == grant.node; };
    if (std::none_of(where.begin(), where.end(), is_here)) continue;
    const std::int32_t more = gpu_milli - grant.gpu_milli;
    const cluster::Grant moved{.node = grant.node, .gpu_milli = std::abs(more), .gpus = grant.gpus};
    more > 0 ? ledger().take(moved) : ledger().give_back(moved);
    grant.gpu_milli = gpu_milli;
  }
  plan_->set(job, {.grants = made, .config = view_->config(job)});
}

void Desk::resize(JobId job, std::span<const cluster::Grant> grants) {
  const std::span<const cluster::Grant> held = this->grants(job);
  for (std::size_t at = 0; at < grants.size(); ++at) {
    const cluster::Amount more = grants[at].amount() - held[at].amount();
    plan_->ledger.give_back({.node = grants[at].node,
                             .cpu_milli = std::max(0, -more.cpu_milli),
                             .memory_mb = std::max(0, -more.memory_mb)});
    freed = freed || more.cpu_milli < 0 || more.memory_mb < 0;
    const cluster::Amount gained = most(more, {});
    if (!gained.empty()) plan_->ledger.take(grants[at].node, gained);
    touched.push_back(grants[at].node);
  }
  plan_->set(job, {.grants = grants, .config = view_->config(job)});
}

void Desk::failed(VcState& vc, JobId job) {
  ended(vc, job);
  beliefs_.believe(job, *view_);
}

void Desk::ended(VcState& vc, JobId job) {
  vc.blocked = kNoJob;
  for (const cluster::Grant& grant : view_->grants(job)) touched.push_back(grant.node);
  if (track != Track::nothing) vc.running.erase(key(job));
  asked_.forget(job);
  beliefs_.forget(job);
}

void Desk::refile_running(VcState& vc, JobId job, double rank) {
  Slot& slot = slots_[index(job)];
  vc.running.erase(slot.key());
  slot.rank = rank;
  vc.running.insert({slot.key(), job, Duration{0}});
}

double Desk::fallen() const {
  if (falls_with_work()) return 0;
  return order_->drift() * static_cast<double>(now().time_since_epoch().count());
}

QueueKey Desk::running_key(JobId job) const {
  QueueKey now = key(job);
  if (falls_with_work()) now.rank = order_->rank(candidate(job));
  return now;
}

void Desk::refile_running(VcState& vc) {
  if (!falls_with_work()) return;
  std::vector<QueueEntry> all;
  for (RankedQueue::Cursor each(vc.running); each.get() != nullptr; each.advance()) {
    all.push_back(*each.get());
  }
  for (const QueueEntry& each : all) {
    if (runs(each.job)) refile_running(vc, each.job, running_key(each.job).rank);
  }
}

std::span<const cluster::Grant> Desk::grants(JobId job) const {
  const Plan::Change* const change = plan_->find(job);
  if (change != nullptr && change->num_grants > 0) return plan_->grants(*change);
  return view_->grants(job);
}

Time Desk::believed_end(JobId job) const {
  return Time{Duration{static_cast<Duration::rep>(key(job).rank)}};
}

}  // namespace almanac::policy
