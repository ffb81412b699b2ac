// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/eviction.h"

#include <algorithm>

#include "policy/contract/may_stop.h"

namespace almanac::policy {

namespace {

bool may_give_way(const Desk& desk, JobId job) {
  return may_stop(desk.view().request(job), Stops::all);
}

}  // namespace

bool may_move(Desk& desk, JobId job) {
  if (!may_give_way(desk, job)) return false;
  const auto held = desk.grants(job);
  return std::all_of(held.begin(), held.end(),
                     [&](const cluster::Grant& grant) { return desk.ledger().ready(grant.node); });
}

int gpus_to_deal(Desk& desk, JobId job) {
  if (!may_give_way(desk, job)) return 0;
  int gpus = 0;
  for (const cluster::Grant& grant : desk.grants(job)) {
    if (desk.ledger().ready(grant.node)) gpus += grant.count();
  }
  return gpus;
}

std::span<const cluster::Grant> Eviction::make_room_from(VcId vc, const cluster::Demand& demand,
                                                         std::span<const JobId> jobs) {
  victims_.clear();
  int gpus = desk_.ledger().free_gpus(vc, demand);
  for (const JobId job : jobs) gpus += gpus_to_deal(desk_, job);
  if (gpus < demand.gpus) return {};
  auto next = jobs.begin();
  return make_room(vc, demand, [&] { return next == jobs.end() ? kNoJob : *next++; });
}

void Eviction::begin() {
  begun_ = desk_.ledger().mark();
  victims_.clear();
}

bool Eviction::free(JobId job, const cluster::Demand& demand) {
  if (!may_give_way(desk_, job)) return false;
  const auto held = desk_.grants(job);
  bool helps = false;
  for (const cluster::Grant& grant : held) {
    helps = helps || (desk_.ledger().ready(grant.node) && desk_.ledger().suits(grant.node, demand));
  }
  if (!helps) return false;
  give_back(held, true);
  victims_.push_back(job);
  return true;
}

void Eviction::settle() {
  for (std::size_t at = victims_.size(); at-- > 0;) {
    if (!go_on(victims_[at])) continue;
    victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (const JobId job : victims_) give_back(desk_.grants(job), false);
}

void Eviction::undo() {
  desk_.ledger().undo(begun_);
  victims_.clear();
}

void Eviction::redo(std::span<const JobId> victims, std::span<const cluster::Grant> grants,
                    const cluster::Demand& demand) {
  begin();
  for (const JobId victim : victims) free(victim, demand);
  for (const cluster::Grant& grant : grants) desk_.ledger().take(grant);
  settle();
}

/// Gives back what is held of ready nodes, or of the others: what no job could take meanwhile
/// is kept until it must go.
void Eviction::give_back(std::span<const cluster::Grant> held, bool ready) {
  for (const cluster::Grant& grant : held) {
    if (desk_.ledger().ready(grant.node) != ready) continue;
    desk_.ledger().give_back(grant);
    desk_.touched.push_back(grant.node);
  }
}

bool Eviction::go_on(JobId job) {
  const auto held = desk_.grants(job);
  const auto is_free = [&](const cluster::Grant& grant) {
    return !desk_.ledger().ready(grant.node) || desk_.ledger().can_take(grant);
  };
  if (!std::all_of(held.begin(), held.end(), is_free)) return false;
  for (const cluster::Grant& grant : held) {
    if (desk_.ledger().ready(grant.node)) desk_.ledger().take(grant);
  }
  return true;
}

}  // namespace almanac::policy
