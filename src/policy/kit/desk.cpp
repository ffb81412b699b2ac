// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/desk.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "policy/contract/may_stop.h"
#include "policy/kit/doubted_nodes.h"
#include "policy/kit/placer.h"
#include "policy/kit/quota_keeper.h"
#include "policy/kit/shaped_placement.h"

namespace almanac::policy {

Desk::Desk(std::unique_ptr<Order> order, std::unique_ptr<Placement> placement,
           std::unique_ptr<Shape> shape, std::unique_ptr<Size> size,
           std::unique_ptr<predict::Estimator> estimator)
    : JobLine(std::move(order), std::move(shape), std::move(size), std::move(estimator)),
      placement_(shape_ ? make_shaped_placement(std::move(placement)) : std::move(placement)) {}

void Desk::serve(const PassNeeds& needs) {
  rank_running_by(needs.running);
  if (needs.run_times) beliefs_.ask();
  whole_gpus_ = needs.whole_gpus;
}

void Desk::open(const View& view, Plan& plan) {
  bind({&view, &plan});
  make_room();
}

std::span<const JobId> Desk::choose_again(VcState& vc) {
  chosen_again_.clear();
  for (const JobId job : asked_.undecided()) {
    const bool is_here = view_->progress(job).vc == vc.vc;
    if (!is_here || vc.waiting.is_aside(demand_id(job))) continue;
    const Acceptable best = first_with_room(vc.vc, job);
    if (best.demand == asked_id(job)) continue;
    vc.waiting.erase(demand_id(job), key(job));
    asked_.set(job, best);
    file_again(vc, job);
    vc.blocked = kNoJob;
    chosen_again_.push_back(job);
  }
  return chosen_again_;
}

Acceptable Desk::first_with_room(VcId vc, JobId job) {
  const std::span<const Acceptable> acceptable = view_->acceptable(job);
  const auto has_room = [&](const Acceptable& each) {
    return fits(vc, view_->demand(each.demand));
  };
  const auto found = std::find_if(acceptable.begin(), acceptable.end(), has_room);
  return found == acceptable.end() ? acceptable.front() : *found;
}

bool Desk::place(cluster::Ledger& ledger, VcId vc, const cluster::Demand& demand, Rng& rng,
                 std::vector<cluster::Grant>& grants) const {
  const auto usual = [&] {
    if (!whole_gpus_ || !demand.is_part()) {
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
  stopped_for_.erase(job);
  asked_.started(job);
  plan_->set(job, {.grants = grants});
  if (quota_keeper_ != nullptr) quota_keeper_->started(demand(job).claim);
  add_started(vc, job, grants);
}

void Desk::adopt(VcState& vc, JobId job) {
  const std::span<const cluster::Grant> held = view_->grants(job);
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  // A running job keeps its allocation, whatever the policy would choose today.
  for (const Acceptable& each : view_->acceptable(job)) {
    const cluster::Demand& asked = view_->demand(each.demand);
    const bool holds = asked.gpus == gpus && plan_->ledger.suits(held.front().node, asked);
    if (!holds) continue;
    asked_.set(job, each);
    break;
  }
  choose_demand(job);
  if (shape_) {
    const cluster::Demand& chosen = demand(job);
    const int nodes = chosen.nodes > 0 ? static_cast<int>(held.size()) : 0;
    choose(job, shaped(chosen, gpus, nodes));
  }
  add_adopted(vc, job, held);
}

void Desk::give_back(JobId job) {
  for (const cluster::Grant& grant : grants(job)) {
    plan_->ledger.give_back(grant);
    touched.push_back(grant.node);
  }
}

void Desk::stop(VcState& vc, JobId job) {
  remove_running(vc, job);
  plan_->set(job, {});
  stopped.push_back(job);
}

void Desk::stop_for(VcState& vc, JobId job, JobId first) {
  stopped_for_[job] = {.reason = {.kind = ReasonKind::stopped,
                                  .other = first,
                                  .precedence = precedence(first, job),
                                  .stop_gpu_s = static_cast<float>(stop_cost_gpu_s(job))},
                       .preemptions = view_->progress(first).preemptions};
  stop(vc, job);
}

double Desk::stop_cost_gpu_s(JobId job) const {
  const trace::Request& request = view_->request(job);
  const int gpus = demand(job).gpus;
  const double restart_s =
      std::isnan(request.restart_s) ? seconds(view_->restart.of(gpus)) : request.restart_s;
  const double lost_s = std::isnan(request.checkpoint_s) ? 0 : request.checkpoint_s / 2.0;
  return gpus * (restart_s + lost_s);
}

const Reason* Desk::why_stopped(JobId job) const {
  const auto found = stopped_for_.find(job);
  if (found == stopped_for_.end()) return nullptr;
  const auto& [reason, preemptions] = found->second;
  const Progress& other = view_->progress(reason.other);
  return other.phase == Phase::running && other.preemptions == preemptions ? &reason : nullptr;
}

void Desk::move(JobId job, std::span<const cluster::Grant> grants) {
  plan_->set(job, {.grants = grants, .config = view_->config(job)});
}

std::span<const cluster::Grant> Desk::join(VcId vc, JobId job) {
  if (packing_ == nullptr || !is_within_quotas(demand(job))) return {};
  if (!may_stop(view_->request(job), Stops::all)) return {};
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
  remove_running(vc, job);
  asked_.forget(job);
  beliefs_.forget(job);
}

}  // namespace almanac::policy
