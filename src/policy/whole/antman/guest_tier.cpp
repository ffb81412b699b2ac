// SPDX-License-Identifier: Apache-2.0
#include "policy/whole/antman/guest_tier.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

#include "policy/kit/gpu_memory.h"

namespace almanac::policy {
namespace {

using cluster::Grant;

const cluster::Demand& asked(JobId job, const View& view) {
  return view.demand(view.progress(job).demand);
}

bool is_of_part(const cluster::Demand& demand) { return demand.is_part() || demand.is_cpu_job(); }

bool take_all(std::span<const Grant> grants, cluster::Ledger& ledger) {
  const std::size_t before = ledger.mark();
  for (const Grant& each : grants) {
    if (!ledger.can_take(each)) {
      ledger.undo(before);
      return false;
    }
    ledger.take(each);
  }
  return true;
}

/// Whether a node has the cores and memory.
bool has_beside(NodeId node, const cluster::Demand& demand, const cluster::Ledger& ledger) {
  const cluster::Amount amount = demand.of(demand.gpus);
  return ledger.can_take(
      {.node = node, .cpu_milli = amount.cpu_milli, .memory_mb = amount.memory_mb});
}

}  // namespace

void GuestTier::remove(JobId job) {
  const auto found = running_.find(job);
  if (found == running_.end()) return;
  is_mixed_ = is_mixed_ || !found->second.is_guest;
  running_.erase(found);
}

std::vector<JobId> GuestTier::owners() const {
  std::vector<JobId> jobs;
  for (const auto& [job, held] : running_) {
    if (!held.is_guest) jobs.push_back(job);
  }
  return jobs;
}

std::vector<JobId> GuestTier::guests() const {
  std::vector<JobId> jobs;
  for (const auto& [job, held] : running_) {
    if (held.is_guest && !held.is_fixed) jobs.push_back(job);
  }
  return jobs;
}

void GuestTier::lift(const View& view, cluster::Ledger& ledger) {
  forget_places();
  for (auto& [job, held] : running_) {
    const auto now = view.grants(job);
    held.grants.assign(now.begin(), now.end());
    held.is_part = is_of_part(asked(job, view));
    held.is_fixed = !std::all_of(now.begin(), now.end(),
                                 [&](const Grant& each) { return ledger.ready(each.node); });
    if (held.is_fixed) continue;
    for (const Grant& each : now) ledger.give_back(each);
    for (Grant& each : held.grants) each.gpu_milli = asked(job, view).gpu_milli;
  }
  for (auto& [job, held] : running_) {
    if (!held.is_guest && !held.is_fixed) take_all(held.grants, ledger);
  }
}

bool GuestTier::promote(JobId job, cluster::Ledger& ledger) {
  Held& held = running_.at(job);
  if (!take_all(held.grants, ledger)) return false;
  held.is_guest = false;
  is_mixed_ = true;
  return true;
}

void GuestTier::start(JobId job, bool is_guest, std::vector<Grant> grants, const View& view,
                      Plan& plan) {
  plan.set(job, {.grants = grants, .config = {.yields = is_guest}});
  Held& held = running_[job];
  held = {
      .grants = std::move(grants), .is_guest = is_guest, .is_part = is_of_part(asked(job, view))};
  is_mixed_ = is_mixed_ || !is_guest;
  note(job, held);
}

template <typename Visit>
void GuestTier::each_gpu(std::span<const Grant> grants, Visit&& visit) {
  for (const Grant& grant : grants) {
    for (cluster::GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
      visit(Gpu{grant.node, std::countr_zero(rest)});
    }
  }
}

void GuestTier::note(JobId job, const Held& held) {
  each_gpu(held.grants, [&](const Gpu& gpu) { (held.is_guest ? guests_ : hosts_)[gpu] = job; });
}

std::vector<JobId> GuestTier::lay_guests(const View& view, cluster::Ledger& ledger) {
  for (const auto& [job, held] : running_) note(job, held);
  is_mixed_ = std::any_of(running_.begin(), running_.end(),
                          [](const auto& each) { return !each.second.is_guest; });
  std::vector<JobId> homeless;
  for (const JobId job : guests()) {
    if (lay(job, running_.at(job), view, ledger)) continue;
    homeless.push_back(job);
    running_.erase(job);
  }
  return homeless;
}

/// Lets a guest hold its GPUs, half of each that is another's; false = changed nothing.
bool GuestTier::lay(JobId job, Held& guest, const View& view, cluster::Ledger& ledger) {
  std::set<JobId> hosts;
  each_gpu(guest.grants, [&](const Gpu& gpu) {
    if (const auto found = hosts_.find(gpu); found != hosts_.end()) hosts.insert(found->second);
  });
  if (hosts.empty() || guest.is_part) return take_all(guest.grants, ledger);
  const std::size_t before = ledger.mark();
  std::vector<std::pair<Held*, std::vector<Grant>>> as_they_were;
  bool fits = true;
  for (const JobId host : hosts) {
    Held& held = running_.at(host);
    fits = fits && held.may_share() &&
           fits_gpu_memory(guest.grants, std::array{host, job}, view, ledger);
    if (!fits) break;
    as_they_were.emplace_back(&held, held.grants);
    for (Grant& each : held.grants) {
      ledger.give_back(each);
      each.gpu_milli = cluster::kHalfGpu;
      ledger.take(each);
    }
  }
  for (Grant& each : guest.grants) each.gpu_milli = cluster::kHalfGpu;
  if (fits && take_all(guest.grants, ledger)) return true;
  ledger.undo(before);
  for (auto& [held, grants] : as_they_were) held->grants = std::move(grants);
  return false;
}

bool GuestTier::join(VcId vc, JobId job, double least, const View& view, Plan& plan) {
  cluster::Ledger& ledger = plan.ledger;
  const cluster::Demand& demand = asked(job, view);
  if (view.speeds == nullptr || is_of_part(demand)) return false;
  double most = 0;
  Held best{.is_guest = true};
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    if (!pool.suits(demand) || pool.gpus_per_node < demand.gpus) continue;
    Known known;
    for (const NodeId node : pool.nodes) {
      std::vector<std::pair<double, int>> gpus;  // free part of each GPU, negative for the order
      for (int gpu = 0; gpu < pool.gpus_per_node; ++gpu) {
        const double left = left_on({node, gpu}, job, known, view, ledger);
        if (left >= least) gpus.emplace_back(-left, gpu);
      }
      if (static_cast<int>(gpus.size()) < demand.gpus) continue;
      std::sort(gpus.begin(), gpus.end());
      gpus.resize(static_cast<std::size_t>(demand.gpus));
      if (-gpus.back().first <= most || !has_beside(node, demand, ledger)) continue;
      most = -gpus.back().first;
      const cluster::Amount amount = demand.of(demand.gpus);
      best.grants = {{.node = node, .cpu_milli = amount.cpu_milli, .memory_mb = amount.memory_mb}};
      for (const auto& [left, gpu] : gpus) best.grants[0].gpus |= cluster::GpuMask{1} << gpu;
    }
  }
  if (most <= 0 || !lay(job, best, view, ledger)) return false;
  start(job, /*is_guest=*/true, std::move(best.grants), view, plan);
  return true;
}

/// The part of its speed alone that a guest would have on a GPU; 0 = it may not run there.
double GuestTier::left_on(const Gpu& gpu, JobId guest, Known& known, const View& view,
                          const cluster::Ledger& ledger) const {
  if (guests_.contains(gpu)) return 0;
  if ((ledger.free_mask(gpu.node) >> gpu.number & 1) != 0) return 1;
  const auto found = hosts_.find(gpu);
  if (found == hosts_.end() || !running_.at(found->second).may_share()) return 0;
  const JobId host = found->second;
  Grant one{.node = gpu.node, .gpus = cluster::GpuMask{1} << gpu.number};
  if (!fits_gpu_memory({&one, 1}, std::array{host, guest}, view, ledger)) return 0;
  const auto [at, is_new] = known.try_emplace(view.speeds->model(host), 0);
  if (is_new) {
    const cluster::Amount amount = asked(guest, view).of(1);
    one.cpu_milli = amount.cpu_milli;
    one.memory_mb = amount.memory_mb;
    at->second = view.speeds->pace(guest, {&one, 1}, {&host, 1}, 0, true).rate /
                 view.speeds->rate(guest, {&one, 1});
  }
  return at->second;
}

void GuestTier::settle(const View& view, Plan& plan) const {
  for (const auto& [job, held] : running_) {
    const Config config{.yields = held.is_guest};
    const Plan::Change* const change = plan.find(job);
    const auto now = change == nullptr ? view.grants(job) : plan.grants(*change);
    const bool stays = std::equal(now.begin(), now.end(), held.grants.begin(), held.grants.end());
    if (stays && (change == nullptr ? view.config(job) : change->config) == config) continue;
    plan.set(job, {.grants = held.grants, .config = config});
  }
}

}  // namespace almanac::policy
