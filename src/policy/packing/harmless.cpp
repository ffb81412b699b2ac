// SPDX-License-Identifier: Apache-2.0
#include "policy/colocation.h"

#include <algorithm>

namespace almanac::policy {
namespace {

constexpr std::int32_t kHalf = cluster::kWholeGpu / 2;

}  // namespace

std::span<const cluster::Grant> Colocation::join(VcId vc, JobId guest) {
  const cluster::Demand demand = desk_.demand(guest);
  if (desk_.view().speeds == nullptr || demand.is_cpu_job() || demand.is_part()) return {};
  std::optional<Match> best = best_match(vc, guest, demand);
  if (const cluster::Demand least = desk_.least(guest); !best && least != demand) {
    best = best_match(vc, guest, least);
  }
  if (!best) return {};
  desk_.hold_part(best->host, kHalf);
  for (const cluster::Grant& grant : best->grants) desk_.ledger().take(grant);
  partner_[best->host] = guest;
  partner_[guest] = best->host;
  alone_[{vc, demand.gpus}].erase(best->host);
  taken_ = std::move(best->grants);
  return taken_;
}

std::optional<Colocation::Match> Colocation::best_match(VcId vc, JobId guest,
                                                        const cluster::Demand& demand) const {
  const Plan& plan = desk_.plan();
  std::optional<Match> best;
  const auto consider = [&](JobId host) {
    if (is_paired(host) || (may_share_ && !may_share_(host, guest))) return;
    std::optional<Match> found = match(host, guest, demand);
    if (found && (!best || found->speeds > best->speeds)) best = std::move(found);
  };
  const auto running = alone_.find({vc, demand.gpus});
  if (running != alone_.end()) {
    for (const JobId host : running->second) {
      const bool stops = std::find(plan.stops.begin(), plan.stops.end(), host) != plan.stops.end();
      if (!stops) consider(host);
    }
  }
  for (const Plan::Start& start : plan.starts) {
    if (key(start.job, desk_.grants(start.job)) == Key{vc, demand.gpus}) consider(start.job);
  }
  return best;
}

std::optional<Colocation::Match> Colocation::match(JobId host, JobId guest,
                                                   const cluster::Demand& demand) const {
  const std::span<const cluster::Grant> held = desk_.grants(host);
  const bool whole = std::all_of(held.begin(), held.end(), [](const cluster::Grant& grant) {
    return grant.gpu_milli == cluster::kWholeGpu;
  });
  if (!whole) return std::nullopt;  // it shares already, or asks a part
  Match made{.host = host, .grants = beside(held, demand)};
  if (made.grants.empty()) return std::nullopt;
  const double of_host = relative_speed(host, held, guest);
  if (of_host < harmless_rate_) return std::nullopt;
  const double of_guest = relative_speed(guest, made.grants, host);
  if (of_guest < harmless_rate_) return std::nullopt;
  made.speeds = of_host + of_guest;
  return made;
}

std::vector<cluster::Grant> Colocation::beside(std::span<const cluster::Grant> host,
                                               const cluster::Demand& demand) const {
  std::vector<cluster::Grant> made;
  for (const cluster::Grant& grant : host) {
    const cluster::Amount wanted = demand.of(grant.count());
    const cluster::Grant piece{.node = grant.node,
                               .gpu_milli = kHalf,
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

double Colocation::relative_speed(JobId job, std::span<const cluster::Grant> held,
                                  JobId neighbour) const {
  const SpeedBook& speeds = *desk_.view().speeds;
  return speeds.pace(job, held, {&neighbour, 1}).rate / speeds.rate(job, held);
}

Colocation::Key Colocation::key(JobId job, std::span<const cluster::Grant> held) const {
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  return {desk_.view().progress(job).vc, gpus};
}

void Colocation::started(JobId job) {
  const Key own = key(job, desk_.grants(job));
  if (own.second > 0 && !is_paired(job)) alone_[own].insert(job);
}

void Colocation::ended(JobId job) {
  const auto own = partner_.find(job);
  if (own == partner_.end()) {
    const auto alike = alone_.find(key(job, desk_.view().grants(job)));
    if (alike != alone_.end()) alike->second.erase(job);
    return;
  }
  const JobId other = own->second;
  partner_.erase(own);
  partner_.erase(other);
  if (!desk_.runs(other)) return;  // it has ended too, or moves
  // Not on a node that is drained, nor where somebody who asks a part was faster.
  const std::span<const cluster::Grant> held = desk_.grants(other);
  const bool free = std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    return desk_.ledger().can_take({.node = grant.node, .gpu_milli = kHalf, .gpus = grant.gpus});
  });
  if (free) desk_.hold_part(other, cluster::kWholeGpu);
  started(other);
}

}  // namespace almanac::policy
