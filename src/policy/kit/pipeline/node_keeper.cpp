// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/pipeline/node_keeper.h"

#include <algorithm>
#include <utility>

#include "policy/kit/unmet.h"

namespace almanac::policy {
namespace {

using cluster::Power;

/// Nodes of `vc` that are on and run nothing, in order of number.
std::vector<NodeId> idle_nodes(const cluster::Ledger& ledger, VcId vc) {
  std::vector<NodeId> idle;
  for (const cluster::Pool& pool : ledger.pools(vc)) {
    const cluster::NodeSet& free = pool.by_free[static_cast<std::size_t>(pool.gpus_per_node)];
    const cluster::Amount all{pool.gpus_per_node, pool.cpu_milli, pool.memory_mb};
    for (auto at = free.first(); at != cluster::NodeSet::kNone; at = free.next(at)) {
      // CPU jobs may run there.
      if (ledger.room(pool.nodes[at]) == all) idle.push_back(pool.nodes[at]);
    }
  }
  std::sort(idle.begin(), idle.end());
  return idle;
}

void insert_in_order(std::vector<NodeId>& nodes, NodeId node) {
  nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), node), node);
}

}  // namespace

NodeKeeper::NodeKeeper(Desk& desk, std::unique_ptr<Capacity> capacity, bool strict, bool binds)
    : desk_(desk), capacity_(std::move(capacity)), strict_(strict), binds_(binds) {}

NodeKeeper::Off& NodeKeeper::off_of(VcId vc) {
  if (index(vc) >= off_.size()) off_.resize(index(vc) + 1);
  return off_[index(vc)];
}

bool NodeKeeper::bind(VcState& vc) {
  if (!binds_ || vc.waiting.empty()) return false;
  Off& off = off_of(vc.vc);
  forget_nodes_that_are_on(off);
  if (off.asleep.empty() && off.booting.empty()) return false;
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  for (const NodeId node : off.booting) ledger.set_power(node, Power::on);
  JobId bound = kNoJob;
  std::size_t woken = 0;
  Unmet unmet;
  const bool draws = desk_.placement().draws();
  for (WaitingQueue::Walk waiting(vc.waiting); !waiting.at_end(); waiting.leave_out()) {
    const cluster::Demand& demand = waiting.demand();
    if (unmet.rules_out(demand)) continue;
    if (desk_.is_within_quotas(demand) && place(vc, demand, off, woken)) {
      bound = waiting.job();
      break;
    }
    if (strict_) break;
    if (!draws) unmet.add(demand);
  }
  ledger.undo(before);
  if (bound == kNoJob) return false;
  std::vector<NodeId> needed;
  for (const cluster::Grant& grant : grants_) {
    if (ledger.power(grant.node) == Power::asleep) needed.push_back(grant.node);
  }
  if (!needed.empty()) boot_needed(needed, off);
  for (const cluster::Grant& grant : grants_) {
    ledger.power(grant.node) == Power::on ? ledger.take(grant) : ledger.take_ahead(grant);
  }
  desk_.start(vc, bound, grants_);
  return true;
}

void NodeKeeper::run(std::span<const VcState> vcs, std::span<const VcId> touched) {
  off_.resize(vcs.size());
  for (const VcId vc : touched) {
    if (!vcs[index(vc)].waiting.empty()) wake_for_waiting(vcs[index(vc)], off_[index(vc)]);
  }
  most_used_ = std::max(most_used_, desk_.ledger().busy_nodes());
  const Time now = desk_.now();
  if (asked_ == kNoTime || now - asked_ >= kCapacityPeriod) {
    if (asked_ != kNoTime) ask_capacity(vcs);
    // At the full ten minutes, whenever the first job came.
    asked_ = Time{now.time_since_epoch() / kCapacityPeriod * kCapacityPeriod};
    const cluster::Ledger& ledger = desk_.ledger();
    const bool moves = ledger.busy_nodes() > 0 || ledger.nodes(Power::booting) > 0;
    const bool nobody_waits =
        std::all_of(vcs.begin(), vcs.end(), [](const VcState& vc) { return vc.waiting.empty(); });
    // Jobs that wait though nothing runs wait for an event: time alone does not help them.
    if (moves || nobody_waits) desk_.plan().wake(asked_ + kCapacityPeriod);
  }
}

void NodeKeeper::forget_nodes_that_are_on(Off& off) {
  const cluster::Ledger& ledger = desk_.ledger();
  std::erase_if(off.asleep, [&](NodeId node) { return ledger.power(node) != Power::asleep; });
  std::erase_if(off.booting, [&](NodeId node) { return ledger.power(node) != Power::booting; });
}

/// Boots only the nodes of jobs that would start if every node were on.
void NodeKeeper::wake_for_waiting(const VcState& vc, Off& off) {
  forget_nodes_that_are_on(off);
  off.held_back.clear();
  if (off.asleep.empty() && off.booting.empty()) return;
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  for (const NodeId node : off.booting) ledger.set_power(node, Power::on);
  std::vector<NodeId> needed;
  std::size_t woken = 0;
  Unmet unmet;
  const bool draws = desk_.placement().draws();
  for (WaitingQueue::Walk waiting(vc.waiting); !waiting.at_end();) {
    const cluster::Demand& demand = waiting.demand();
    if (unmet.rules_out(demand) || !place(vc, demand, off, woken)) {
      if (strict_) break;
      if (!draws) unmet.add(demand);
      waiting.leave_out();
      continue;
    }
    bool waits = false;
    for (const cluster::Grant& grant : grants_) {
      const bool sleeps = std::binary_search(off.asleep.begin(), off.asleep.end(), grant.node);
      if (sleeps) needed.push_back(grant.node);
      waits =
          waits || sleeps || std::binary_search(off.booting.begin(), off.booting.end(), grant.node);
    }
    if (waits) off.held_back.push_back(waiting.job());
    waiting.advance();
  }
  ledger.undo(before);
  for (const JobId job : off.held_back) desk_.plan().hold_back(job);
  if (!needed.empty()) boot_needed(needed, off);
}

void NodeKeeper::boot_needed(std::vector<NodeId>& needed, Off& off) {
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  for (const NodeId node : needed) {
    boot(off,
         static_cast<std::size_t>(std::lower_bound(off.asleep.begin(), off.asleep.end(), node) -
                                  off.asleep.begin()));
  }
  for (int spare = capacity_->spare(); spare > 0 && !off.asleep.empty(); --spare) boot(off, 0);
  capacity_->woken();
}

/// Takes GPUs for `demand`, waking one more sleeping node after the other until it fits; `woken`
/// are on already. False = changed nothing.
bool NodeKeeper::place(const VcState& vc, const cluster::Demand& demand, Off& off,
                       std::size_t& woken) {
  cluster::Ledger& ledger = desk_.ledger();
  const std::size_t before = ledger.mark();
  for (std::size_t on = woken;; ++on) {
    grants_.clear();
    Rng rng = desk_.view().rng;  // a what-if draws no numbers of the policy's
    if (desk_.place(ledger, vc.vc, demand, rng, grants_)) {
      woken = on;
      return true;
    }
    if (on == off.asleep.size()) break;
    ledger.set_power(off.asleep[on], Power::on);
  }
  ledger.undo(before);
  return false;
}

bool NodeKeeper::holds_back(VcId vc, JobId job) const {
  if (index(vc) >= off_.size()) return false;
  const std::vector<JobId>& held_back = off_[index(vc)].held_back;
  return std::find(held_back.begin(), held_back.end(), job) != held_back.end();
}

void NodeKeeper::ask_capacity(std::span<const VcState> vcs) {
  const cluster::Ledger& ledger = desk_.ledger();
  const int on = ledger.nodes(Power::on) + ledger.nodes(Power::booting);
  const int wanted = capacity_->nodes_on({.now = desk_.now(),
                                          .used = most_used_,
                                          .on = on,
                                          .total = on + ledger.nodes(Power::asleep)});
  most_used_ = ledger.busy_nodes();
  for (Off& off : off_) forget_nodes_that_are_on(off);
  if (wanted < on) let_sleep(vcs, on - wanted);
  if (wanted > on) wake(wanted - on);
}

void NodeKeeper::let_sleep(std::span<const VcState> vcs, int count) {
  std::vector<std::vector<NodeId>> idle(vcs.size());
  for (const VcState& vc : vcs) {
    // Idle nodes stay on in virtual clusters with waiting jobs.
    if (vc.waiting.empty()) idle[index(vc.vc)] = idle_nodes(desk_.ledger(), vc.vc);
  }
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  for (; count > 0; --count) {
    const auto most = std::max_element(idle.begin(), idle.end(), by_size);
    if (most == idle.end() || most->empty()) return;
    desk_.plan().sleep(most->back());
    insert_in_order(off_[static_cast<std::size_t>(most - idle.begin())].asleep, most->back());
    most->pop_back();
  }
}

/// Boots `count` nodes, each where the fewest are idle or about to be.
void NodeKeeper::wake(int count) {
  std::vector<std::size_t> idle(off_.size());
  for (std::size_t vc = 0; vc < off_.size(); ++vc) {
    idle[vc] = idle_nodes(desk_.ledger(), VcId{static_cast<std::uint32_t>(vc)}).size() +
               off_[vc].booting.size();
  }
  for (; count > 0; --count) {
    std::size_t least = off_.size();
    for (std::size_t vc = 0; vc < off_.size(); ++vc) {
      if (off_[vc].asleep.empty()) continue;
      if (least == off_.size() || idle[vc] < idle[least]) least = vc;
    }
    if (least == off_.size()) return;
    boot(off_[least], 0);
    ++idle[least];
  }
}

void NodeKeeper::boot(Off& off, std::size_t at) {
  const NodeId node = off.asleep[at];
  off.asleep.erase(off.asleep.begin() + static_cast<std::ptrdiff_t>(at));
  insert_in_order(off.booting, node);
  desk_.plan().boot(node);
}

}  // namespace almanac::policy
