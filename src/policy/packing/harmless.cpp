// SPDX-License-Identifier: Apache-2.0

/// \file
/// Lets a job that would have to wait run on the GPUs of a running job, where that harms neither.
///
/// The guest asks whole GPUs, as many as the host holds, and lies on just those; each then holds
/// half. Both must be predicted, with the cores and memory that the host holds and the guest would,
/// at `harmless_rate` of their speed alone or more. Of several hosts the one is taken where both
/// together lose least. A pair stays until one of the two ends or is stopped; the other then has
/// the GPUs to itself again. Three never share.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), which measured pairs of jobs on a GPU and let a
///          policy choose among them; 0.9 is the design texts'.
/// Differs  Gavel runs pairs in rounds. Here a guest only fills in for waiting, so that it moves
///          no job. Whether two fit into a GPU's memory is not known and not asked.
/// Cost     Where a job finds no place: two rates, twice, for each running job of as many GPUs.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policy/kit/desk.h"
#include "policy/registry.h"

namespace almanac::policy::packing {
namespace {

constexpr std::int32_t kHalf = cluster::kWholeGpu / 2;

class Harmless final : public Packing {
 public:
  /// `may_share` empty = all jobs may.
  Harmless(Desk& desk, double harmless_rate, MayShare may_share)
      : desk_(desk), harmless_rate_(harmless_rate), may_share_(std::move(may_share)) {}

  std::span<const cluster::Grant> join(VcId vc, JobId guest) override;
  bool is_paired(JobId job) const override { return partner_.contains(job); }
  void started(JobId job) override;
  void ended(JobId job) override;

 private:
  using Key = std::pair<VcId, int>;  // virtual cluster, GPUs held
  /// A host, and what the guest would hold there.
  struct Match {
    JobId host{};
    double speeds = 0;  // of both, relative to alone
    std::vector<cluster::Grant> grants{};
  };

  Key key(JobId job, std::span<const cluster::Grant> held) const;
  std::optional<Match> best_match(VcId vc, JobId guest, const cluster::Demand& demand) const;
  std::optional<Match> match(JobId host, JobId guest, const cluster::Demand& demand) const;
  /// What is like what the host holds, with the cores and memory of `demand`; none = no room.
  std::vector<cluster::Grant> beside(std::span<const cluster::Grant> host,
                                     const cluster::Demand& demand) const;
  double relative_speed(JobId job, std::span<const cluster::Grant> held, JobId neighbour) const;

  Desk& desk_;
  double harmless_rate_;
  MayShare may_share_;
  std::map<Key, std::set<JobId>> alone_;  // jobs that hold whole GPUs, and run before this plan
  std::unordered_map<JobId, JobId> partner_;
  std::vector<cluster::Grant> taken_;
};

std::span<const cluster::Grant> Harmless::join(VcId vc, JobId guest) {
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

std::optional<Harmless::Match> Harmless::best_match(VcId vc, JobId guest,
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
      const Plan::Change* const change = plan.find(host);
      if (change == nullptr || change->action == Plan::Action::resize) consider(host);
    }
  }
  for (const Plan::Change& each : plan.changes()) {
    if (!desk_.starts(each.job)) continue;
    if (key(each.job, desk_.grants(each.job)) == Key{vc, demand.gpus}) consider(each.job);
  }
  return best;
}

std::optional<Harmless::Match> Harmless::match(JobId host, JobId guest,
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

std::vector<cluster::Grant> Harmless::beside(std::span<const cluster::Grant> host,
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

double Harmless::relative_speed(JobId job, std::span<const cluster::Grant> held,
                                JobId neighbour) const {
  const SpeedBook& speeds = *desk_.view().speeds;
  return speeds.pace(job, held, {&neighbour, 1}).rate / speeds.rate(job, held);
}

Harmless::Key Harmless::key(JobId job, std::span<const cluster::Grant> held) const {
  int gpus = 0;
  for (const cluster::Grant& grant : held) gpus += grant.count();
  return {desk_.view().progress(job).vc, gpus};
}

void Harmless::started(JobId job) {
  const Key own = key(job, desk_.grants(job));
  if (own.second > 0 && !is_paired(job)) alone_[own].insert(job);
}

void Harmless::ended(JobId job) {
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
  // Not on a node that is drained, nor where a job that asks a part was faster.
  const std::span<const cluster::Grant> held = desk_.grants(other);
  const bool free = std::all_of(held.begin(), held.end(), [&](const cluster::Grant& grant) {
    return desk_.ledger().can_take({.node = grant.node, .gpu_milli = kHalf, .gpus = grant.gpus});
  });
  if (free) desk_.hold_part(other, cluster::kWholeGpu);
  started(other);
}

}  // namespace

void register_harmless(Registry& registry) {
  registry.packings.add(
      {.name = "harmless",
       .summary =
           "a job that would wait joins a running one where both keep nearly all their speed",
       .source = "Narayanan et al. OSDI'20 (Gavel)",
       .traits = {.has = {Trait::reads_speeds, Trait::shares_gpus},
                  .needs = {Trait::lets_join},
                  .bars = {Trait::chooses_gpus}},
       .parameters = {number("harmless_rate", "what both keep of their speed alone", 0.9, 1e-9,
                             1)}},
      [](const Parameters& told, Desk& desk, MayShare may_share) {
        return std::make_unique<Harmless>(desk, told.number("harmless_rate"), std::move(may_share));
      });
}

}  // namespace almanac::policy::packing
