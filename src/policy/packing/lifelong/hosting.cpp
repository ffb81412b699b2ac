// SPDX-License-Identifier: Apache-2.0
#include "policy/packing/lifelong/hosting.h"

#include <algorithm>
#include <array>

#include "policy/kit/gpu_memory.h"

namespace almanac::policy {
namespace {

bool holds_whole_gpus(std::span<const cluster::Grant> held) {
  return std::all_of(held.begin(), held.end(), [](const cluster::Grant& grant) {
    return grant.gpus != 0 && grant.gpu_milli == cluster::kWholeGpu;
  });
}

}  // namespace

int num_gpus(std::span<const cluster::Grant> held) {
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  return gpus;
}

bool Hosting::will_run(JobId job) const {
  const Plan::Change* const change = desk_.plan().find(job);
  if (change != nullptr) return change->num_grants > 0;
  return desk_.view().progress(job).phase == Phase::running;
}

std::span<const cluster::Grant> Hosting::join(VcId vc, JobId guest) {
  const cluster::Demand demand = desk_.demand(guest);
  if (!is_informed() || demand.is_cpu_job() || demand.is_part()) return {};
  Hosts hosts = candidates(vc, guest, demand);
  while (!hosts.empty()) {
    std::size_t used = 0;
    taken_ = place_among(vc, demand, hosts, used);
    if (taken_.empty()) return {};
    Hosts beside(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(used));
    JobId misfit = keep_those_beside(beside, taken_);
    if (misfit == kNoJob && !merit({beside, guest, taken_})) misfit = hosts[used - 1];
    if (misfit == kNoJob) {
      take(guest, beside);
      return taken_;
    }
    std::erase(hosts, misfit);
  }
  return {};
}

Hosting::Hosts Hosting::candidates(VcId vc, JobId guest, const cluster::Demand& demand) const {
  const View& view = desk_.view();
  std::vector<std::pair<double, JobId>> found;
  int gpus = desk_.ledger().free_gpus(vc);
  const auto consider = [&](JobId host) {
    const std::span<const cluster::Grant> held = desk_.grants(host);
    if (num_gpus(held) > demand.gpus || is_paired(host) || desk_.apart.contains(host)) return;
    if (!holds_whole_gpus(held) || (may_share_ && !may_share_(host, guest))) return;
    if (!fits_gpu_memory(held, std::array{host, guest}, view, desk_.ledger())) return;
    const auto worth = merit({.hosts = {&host, 1}, .guest = guest, .grants = held});
    if (!worth) return;
    found.emplace_back(-*worth, host);
    gpus += num_gpus(held);
  };
  if (const auto running = open_.find(vc); running != open_.end()) {
    for (const JobId host : running->second) {
      const Plan::Change* const change = desk_.plan().find(host);
      if (change == nullptr || change->action == Plan::Action::resize) consider(host);
    }
  }
  for (const Plan::Change& each : desk_.plan().changes()) {
    // One that moves is told to have ended and started once the plan is made.
    if (each.action == Plan::Action::start && view.progress(each.job).vc == vc) consider(each.job);
  }
  if (gpus < demand.gpus) return {};
  std::sort(found.begin(), found.end());
  Hosts hosts;
  for (const auto& [worth, host] : found) hosts.push_back(host);
  return hosts;
}

std::vector<cluster::Grant> Hosting::place_among(VcId vc, const cluster::Demand& demand,
                                                 const Hosts& hosts, std::size_t& used) {
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  std::vector<cluster::Grant> placed;
  for (used = 0; used < hosts.size() && placed.empty(); ++used) {
    for (const cluster::Grant& grant : desk_.grants(hosts[used])) {
      ledger.give_back({.node = grant.node, .gpu_milli = grant.gpu_milli, .gpus = grant.gpus});
    }
    if (ledger.free_gpus(vc, demand) < demand.gpus) continue;
    const std::span<const cluster::Grant> found = desk_.place(vc, demand);
    placed.assign(found.begin(), found.end());
  }
  ledger.undo(before);
  return placed;
}

JobId Hosting::keep_those_beside(Hosts& hosts, std::span<const cluster::Grant> grants) const {
  const auto on = [&](NodeId node) {
    return std::find_if(grants.begin(), grants.end(),
                        [&](const cluster::Grant& grant) { return grant.node == node; });
  };
  JobId misfit = kNoJob;
  std::erase_if(hosts, [&](JobId host) {
    std::size_t same = 0;
    bool any = false;
    const std::span<const cluster::Grant> held = desk_.grants(host);
    for (const cluster::Grant& grant : held) {
      const auto at = on(grant.node);
      if (at == grants.end()) continue;
      same += at->gpus == grant.gpus ? 1 : 0;
      any = any || (at->gpus & grant.gpus) != 0;
    }
    if (any && same < held.size()) misfit = host;
    return !any;
  });
  return misfit;
}

void Hosting::take(JobId guest, const Hosts& hosts) {
  for (const JobId host : hosts) {
    for (const cluster::Grant& grant : desk_.grants(host)) {
      for (cluster::Grant& own : taken_) {
        if (own.node == grant.node) own.gpu_milli = cluster::kHalfGpu;
      }
    }
    desk_.hold_part(host, cluster::kHalfGpu);
    guest_of_[host] = guest;
    open_[desk_.view().progress(guest).vc].erase(host);
  }
  for (const cluster::Grant& grant : taken_) desk_.ledger().take(grant);
  hosts_[guest] = hosts;
  joined({hosts_[guest], guest, taken_});
}

void Hosting::started(JobId job) {
  if (!is_paired(job) && holds_whole_gpus(desk_.grants(job))) {
    open_[desk_.view().progress(job).vc].insert(job);
  }
}

void Hosting::split_off(VcState& vc, JobId guest) {
  desk_.give_back(guest);
  desk_.stop(vc, guest);
  ended(guest);
}

void Hosting::ended(JobId job) {
  open_[desk_.view().progress(job).vc].erase(job);
  if (const auto own = hosts_.find(job); own != hosts_.end()) {
    parting(job);
    const Hosts left = std::move(own->second);
    hosts_.erase(own);
    for (const JobId host : left) guest_of_.erase(host);
    for (const JobId host : left) make_whole(host, desk_.grants(host));
    return;
  }
  const auto beside = guest_of_.find(job);
  if (beside == guest_of_.end()) return;
  const JobId guest = beside->second;
  parting(guest);
  guest_of_.erase(beside);
  Hosts& left = hosts_.at(guest);
  std::erase(left, job);
  const bool stays =
      !left.empty() && will_run(guest) &&
      std::all_of(left.begin(), left.end(), [&](JobId each) { return will_run(each); });
  if (left.empty()) hosts_.erase(guest);
  make_whole(guest, desk_.view().grants(job));
  if (stays) parted(visit(guest));
}

void Hosting::make_whole(JobId job, std::span<const cluster::Grant> where) {
  if (!desk_.runs(job) || !will_run(job)) return;  // it has ended or is stopped too, or moves
  // Not on a node that is drained, nor where a job that asks a part was faster.
  const bool free = std::all_of(where.begin(), where.end(), [&](const cluster::Grant& grant) {
    return desk_.ledger().can_take({.node = grant.node,
                                    .gpu_milli = cluster::kWholeGpu - cluster::kHalfGpu,
                                    .gpus = grant.gpus});
  });
  if (free) desk_.hold_part(job, cluster::kWholeGpu, where);
  started(job);
}

void Hosting::move_apart(VcState& vc) {
  if (hosts_.empty() || desk_.ledger().free_gpus(vc.vc) == 0) return;
  std::vector<JobId> guests;
  for (const auto& [guest, hosts] : hosts_) {
    if (desk_.view().progress(guest).vc == vc.vc && desk_.runs(guest) && will_run(guest)) {
      guests.push_back(guest);
    }
  }
  if (guests.empty()) return;
  const auto& waiting = vc.waiting.classes();
  const auto could_start = [&](const WaitingQueue::Class& each) {
    return !each.jobs.empty() && desk_.fits(vc.vc, each.demand);
  };
  if (std::any_of(waiting.begin(), waiting.end(), could_start)) return;
  for (const JobId guest : guests) {
    if (!vc.waiting.empty()) {
      const double rank = desk_.order().rank(desk_.candidate(guest));
      const QueueKey& next = vc.waiting.first().front;
      const std::int32_t tier = desk_.view().tier(guest);
      if (next.tier != tier ? next.tier > tier : next.rank < rank) continue;
    }
    if (!desk_.fits(vc.vc, desk_.demand(guest))) continue;
    desk_.give_back(guest);
    desk_.move(guest, desk_.place(vc.vc, desk_.demand(guest)));
    ended(guest);
  }
}

}  // namespace almanac::policy
