// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/grouping.h"

#include <algorithm>

#include "policy/kit/gpu_memory.h"
#include "policy/kit/pair_speeds.h"

namespace almanac::policy {
namespace {

std::int32_t part_of(std::size_t jobs) {
  return cluster::kWholeGpu / static_cast<std::int32_t>(jobs);
}

}  // namespace

std::span<const JobId> Grouping::group(JobId job) const {
  const auto found = groups_.find(job);
  return found == groups_.end() ? std::span<const JobId>{} : std::span<const JobId>(*found->second);
}

bool Grouping::is_open(JobId host) const {
  if (desk_.apart.contains(host)) return false;
  const std::span<const JobId> jobs = group(host);
  return jobs.empty() || (jobs.front() == host && jobs.size() < most_);
}

bool Grouping::will_run(JobId job) const {
  const Plan::Change* const change = desk_.plan().find(job);
  if (change != nullptr) return change->num_grants > 0;
  return desk_.view().progress(job).phase == Phase::running;
}

std::span<const cluster::Grant> Grouping::join(VcId vc, JobId guest) {
  const cluster::Demand demand = desk_.demand(guest);
  if (!is_informed() || demand.is_cpu_job() || demand.is_part()) return {};
  std::optional<Match> best = best_match(vc, guest, demand);
  if (const cluster::Demand least = desk_.least(guest); !best && least != demand) {
    best = best_match(vc, guest, least);
  }
  if (!best) return {};
  std::shared_ptr<Group>& group = groups_[best->host];
  if (group == nullptr) group = std::make_shared<Group>(Group{best->host});
  for (const JobId host : *group) desk_.hold_part(host, part_of(group->size() + 1));
  for (const cluster::Grant& grant : best->grants) desk_.ledger().take(grant);
  const std::size_t hosts = group->size();
  group->push_back(guest);
  groups_[guest] = group;
  if (!is_open(best->host)) hosts_[{vc, demand.gpus}].erase(best->host);
  taken_ = std::move(best->grants);
  joined({.hosts = std::span<const JobId>(*group).first(hosts), .guest = guest, .grants = taken_});
  return taken_;
}

std::optional<Grouping::Match> Grouping::best_match(VcId vc, JobId guest,
                                                    const cluster::Demand& demand) const {
  const Plan& plan = desk_.plan();
  std::optional<Match> best;
  const auto consider = [&](JobId host) {
    if (!is_open(host)) return;
    std::optional<Match> found = match(host, guest, demand);
    if (found && (!best || found->merit > best->merit)) best = std::move(found);
  };
  const auto running = hosts_.find({vc, demand.gpus});
  if (running != hosts_.end()) {
    for (const JobId host : running->second) {
      const Plan::Change* const change = plan.find(host);
      if (change == nullptr || change->action == Plan::Action::resize) consider(host);
    }
  }
  for (const Plan::Change& each : plan.changes()) {
    // Packing hears of the end and the start of a moved job only after the plan is made.
    if (each.action != Plan::Action::start) continue;
    if (key(each.job, desk_.grants(each.job)) == Key{vc, demand.gpus}) consider(each.job);
  }
  return best;
}

std::optional<Grouping::Match> Grouping::match(JobId host, JobId guest,
                                               const cluster::Demand& demand) const {
  const std::span<const JobId> jobs = group(host);
  const std::span<const JobId> hosts = jobs.empty() ? std::span<const JobId>{&host, 1} : jobs;
  // Of a group that is being stopped one may not have been taken out yet.
  const auto stays = [this](JobId each) { return will_run(each); };
  if (!std::all_of(hosts.begin(), hosts.end(), stays)) return std::nullopt;
  if (may_share_ && !std::all_of(hosts.begin(), hosts.end(),
                                 [&](JobId each) { return may_share_(each, guest); })) {
    return std::nullopt;
  }
  const std::span<const cluster::Grant> held = desk_.grants(host);
  const bool as_here = std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    return grant.gpu_milli == part_of(hosts.size());
  });
  if (!as_here) return std::nullopt;  // it asks a part, or shared before this policy was there
  if (!desk_.ledger().in_domains(held, demand.nvlink_gpus)) return std::nullopt;
  std::vector<JobId> together(hosts.begin(), hosts.end());
  together.push_back(guest);
  if (!fits_gpu_memory(held, together, desk_.view(), desk_.ledger())) return std::nullopt;
  Match made{.host = host, .grants = beside(held, part_of(hosts.size() + 1), demand)};
  if (made.grants.empty()) return std::nullopt;
  const auto worth = merit({.hosts = hosts, .guest = guest, .grants = made.grants});
  if (!worth) return std::nullopt;
  made.merit = *worth;
  return made;
}

std::vector<cluster::Grant> Grouping::beside(std::span<const cluster::Grant> host,
                                             std::int32_t gpu_milli,
                                             const cluster::Demand& demand) const {
  std::vector<cluster::Grant> made;
  for (const cluster::Grant& grant : host) {
    const cluster::Amount wanted = demand.of(grant.count());
    const cluster::Grant piece{.node = grant.node,
                               .gpu_milli = gpu_milli,
                               .gpus = grant.gpus,
                               .cpu_milli = wanted.cpu_milli,
                               .memory_mb = wanted.memory_mb};
    cluster::Grant rest = piece;
    rest.gpus = 0;
    const cluster::Ledger& ledger = desk_.ledger();
    if (!ledger.suits(grant.node, demand) || !ledger.can_take(rest)) return {};
    made.push_back(piece);
  }
  return made;
}

double Grouping::relative_speed(JobId job, std::span<const cluster::Grant> held,
                                std::span<const JobId> beside) const {
  return policy::relative_speed(desk_.view(), job, held, beside);
}

std::vector<double> Grouping::relative_speeds(const Join& join) const {
  std::vector<double> speeds;
  std::vector<JobId> beside(join.hosts.begin(), join.hosts.end());
  // Each host's neighbors are the other hosts and the guest.
  for (std::size_t at = 0; at < join.hosts.size(); ++at) {
    beside[at] = join.guest;
    speeds.push_back(relative_speed(join.hosts[at], desk_.grants(join.hosts[at]), beside));
    beside[at] = join.hosts[at];
  }
  speeds.push_back(relative_speed(join.guest, join.grants, join.hosts));
  return speeds;
}

Grouping::Key Grouping::key(JobId job, std::span<const cluster::Grant> held) const {
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  return {desk_.view().progress(job).vc, gpus};
}

void Grouping::started(JobId job) {
  const Key own = key(job, desk_.grants(job));
  if (own.second > 0 && is_open(job)) hosts_[own].insert(job);
}

void Grouping::split_off(VcState& vc, JobId guest) {
  desk_.give_back(guest);
  desk_.stop(vc, guest);
  ended(guest);
}

void Grouping::ended(JobId job) {
  const auto alike = hosts_.find(key(job, desk_.view().grants(job)));
  if (alike != hosts_.end()) alike->second.erase(job);
  const auto own = groups_.find(job);
  if (own == groups_.end()) return;
  const std::shared_ptr<Group> left = own->second;
  parting(*left);
  groups_.erase(own);
  std::erase(*left, job);
  if (left->size() == 1) groups_.erase(left->front());
  divide(*left);
}

void Grouping::divide(const Group& left) {
  const std::int32_t part = part_of(left.size());
  for (const JobId job : left) {
    if (!desk_.runs(job) || !will_run(job)) continue;  // it has ended or is stopped too, or moves
    // Not on a node that is drained, nor where a job that asks a part was faster.
    const std::span<const cluster::Grant> held = desk_.grants(job);
    const bool free = std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
      return desk_.ledger().can_take(
          {.node = grant.node, .gpu_milli = part - grant.gpu_milli, .gpus = grant.gpus});
    });
    if (free) desk_.hold_part(job, part);
    started(job);
  }
}

}  // namespace almanac::policy
