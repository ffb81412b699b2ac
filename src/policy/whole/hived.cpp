// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tenants own cells - racks, nodes, sockets, halves of these, GPUs - wherever these are, and no
/// tenant makes another wait for its own (HiveD). The published scheduler (cells/scheduler.h) says
/// which GPUs a job gets.
///
/// What a tenant owns is said by its cells or its guarantee (kit/cell_owners.h). What a job has on
/// a node lies in one cell. A job of a tenant goes into its cells if they have room, and what
/// guests hold there gives way; one of higher priority also where jobs of less are, which run on as
/// guests where they are (lazy preemption). Any other job is a guest: it runs on what is free, and
/// is stopped for an owner. Jobs are tried by priority and in the order in which they came, owners
/// before guests; one that does not fit is passed by others.
///
/// While all nodes are in service, a job that fits what is free of its tenant's own cells starts at
/// once. Cells know GPUs only: where cores, memory or the quota of an account are short a job
/// waits, whatever its tenant owns.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
/// Differs  Whether a job is a guest is not its user's word but its tenant's, which may own
/// nothing:
///          it is one if its tenant's cells have no room when it starts, and stays one until it is
///          stopped. A job that asks a part of a GPU gets one whole. A policy that begins anew
///          takes a job that runs for an owner's where that tenant's cells can be bound to it, else
///          for a guest.
/// Cost     O(n) a decision with n jobs that wait, and for each demand among them a search of all
///          nodes: it is for some thousand of these.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/kit/cell_owners.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Hived final : public Policy {
 public:
  explicit Hived(std::unique_ptr<Placement> placement) : placement_(std::move(placement)) {}

  void decide(std::span<const Event> events, const View& view, Plan& plan) override {
    if (sites_.empty()) open(view, plan.ledger);
    for (const Event& event : events) take_in(event, view, plan.ledger);
    for (const JobId job : stopped_) queue(job, view);
    stopped_.clear();
    for (std::uint32_t vc = 0; vc < sites_.size(); ++vc) serve(VcId{vc}, view, plan);
    look_at_quotas(view, plan);
    if (!stopped_.empty()) plan.wake(view.now);
  }

  Reason why_waiting(JobId job, const View& view, cluster::Ledger& ledger) const override {
    const Progress& state = view.progress(job);
    const cluster::Demand& demand = view.demand(state.demand);
    if (aside_.contains(job)) return {.kind = ReasonKind::at_quota, .wanted = demand.gpus};
    Reason reason{.kind = ReasonKind::short_of_gpus, .wanted = demand.gpus};
    for (const cluster::Pool& pool : ledger.pools(state.vc)) {
      if (pool.suits(demand)) reason.available += pool.free_gpus;
    }
    if (reason.available >= demand.gpus) reason.kind = ReasonKind::fragmented;
    if (demand.is_cpu_job()) reason.kind = ReasonKind::short_of_cores;
    return reason;
  }

  void line_up(std::vector<JobId>& line) const override {
    for (const Site& site : sites_) {
      std::copy_if(site.waiting.begin(), site.waiting.end(), std::back_inserter(line),
                   [&](JobId job) { return !aside_.contains(job); });
    }
  }

 private:
  /// A virtual cluster of ours, whose nodes its tenants share.
  struct Site {
    CellSite cells;
    std::vector<JobId> waiting{};  // those of the highest priority first, then as they came
  };

  void open(const View& view, const cluster::Ledger& ledger) {
    CellOwners made(view.cluster);
    owners_ = std::move(made.owners);
    for (CellSite& site : made.sites) {
      site.look_at_nodes(ledger);
      sites_.push_back({.cells = std::move(site)});
    }
  }

  void take_in(const Event& event, const View& view, const cluster::Ledger& ledger) {
    const JobId job{event.subject};
    switch (event.kind) {
      case EventKind::job_arrived:
        queue(job, view);
        break;
      case EventKind::job_adopted:
        site_of(job, view).cells.adopt(job, owner_of(job, view), view.grants(job));
        break;
      case EventKind::job_failed:
        site_of(job, view).cells.release(job);
        queue(job, view);
        break;
      case EventKind::job_ended:
        site_of(job, view).cells.release(job);
        break;
      case EventKind::job_withdrawn:
        std::erase(site_of(job, view).waiting, job);
        break;
      case EventKind::capacity_changed:
      case EventKind::node_down:
      case EventKind::node_up:
        for (Site& site : sites_) site.cells.look_at_nodes(ledger);
        break;
      case EventKind::job_released:
      case EventKind::job_reported:
      case EventKind::node_notice:
      case EventKind::signal_changed:
      case EventKind::timer:
        break;
    }
  }

  Site& site_of(JobId job, const View& view) { return sites_[index(view.progress(job).vc)]; }

  void queue(JobId job, const View& view) {
    std::vector<JobId>& waiting = site_of(job, view).waiting;
    const auto key = [&](JobId each) {
      return std::tuple(-owner_of(each, view).priority, view.request(each).submit, each);
    };
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), job,
                                    [&](JobId a, JobId b) { return key(a) < key(b); }),
                   job);
  }

  void serve(VcId vc, const View& view, Plan& plan) {
    Site& site = sites_[index(vc)];
    const CellOwner nobody;
    for (const bool as_owner : {true, false}) {
      std::set<std::tuple<std::string, int, DemandId>> in_vain;
      std::vector<JobId> left;
      for (const JobId job : std::exchange(site.waiting, {})) {
        const CellOwner& owner = as_owner ? owner_of(job, view) : nobody;
        const auto tried = std::tuple(owner.name, owner.priority, view.progress(job).demand);
        const bool may_start = as_owner != owner.is_guest() && !in_vain.contains(tried) &&
                               view.held_until(job) <= view.now && has_quota(job, view, plan);
        if (may_start && start(vc, job, owner, view, plan)) continue;
        if (may_start) in_vain.insert(tried);
        left.push_back(job);
      }
      site.waiting = std::move(left);
    }
  }

  const CellOwner& owner_of(JobId job, const View& view) const {
    static const CellOwner kNobody;
    const TenantId tenant = view.progress(job).tenant;
    return tenant == kNoTenant ? kNobody : owners_[index(tenant)];
  }

  static bool has_quota(JobId job, const View& view, const Plan& plan) {
    return plan.quotas == nullptr ||
           plan.quotas->has_room(view.demand(view.progress(job).demand).claim);
  }

  void look_at_quotas(const View& view, const Plan& plan) {
    aside_.clear();
    if (plan.quotas == nullptr) return;
    for (const Site& site : sites_) {
      for (const JobId job : site.waiting) {
        if (!has_quota(job, view, plan)) aside_.insert(job);
      }
    }
  }

  bool start(VcId vc, JobId job, const CellOwner& owner, const View& view, Plan& plan) {
    const cluster::Demand& demand = view.demand(view.progress(job).demand);
    if (demand.is_cpu_job()) {
      std::vector<cluster::Grant> grants;
      if (!owner.is_guest() || !placement_->place(plan.ledger, vc, demand, view.rng, grants)) {
        return false;
      }
      plan.set(job, {.grants = grants});
      return true;
    }
    return sites_[index(vc)].cells.place(job, owner, demand, [&](const CellSite::Offer& offer) {
      return carry_out(job, offer, view, plan);
    });
  }

  /// Gives a node where it cannot be done, or kNoNode; then it is.
  NodeId carry_out(JobId job, const CellSite::Offer& offer, const View& view, Plan& plan) {
    const std::size_t before = plan.ledger.mark();
    // One that starts in this very plan is not to be stopped by it.
    const bool may_stop = std::all_of(offer.victims.begin(), offer.victims.end(), [&](JobId other) {
      return view.progress(other).phase == Phase::running && plan.find(other) == nullptr;
    });
    if (may_stop) {
      for (const JobId other : offer.victims) {
        for (const cluster::Grant& grant : view.grants(other)) plan.ledger.give_back(grant);
      }
    }
    for (const cluster::Grant& grant : offer.grants) {
      if (may_stop && plan.ledger.can_take(grant)) continue;
      plan.ledger.undo(before);
      return grant.node;
    }
    for (const JobId other : offer.victims) {
      plan.set(other, {});
      stopped_.push_back(other);
    }
    for (const cluster::Grant& grant : offer.grants) plan.ledger.take(grant);
    plan.set(job, {.grants = offer.grants});
    return kNoNode;
  }

  std::unique_ptr<Placement> placement_;  // of CPU jobs
  std::vector<CellOwner> owners_;         // by tenant
  std::vector<Site> sites_;               // by VcId
  std::vector<JobId> stopped_;            // by the plan in the making
  std::set<JobId> aside_;                 // those for which no quota has room
};

}  // namespace

void register_hived(Registry& registry) {
  registry.wholes.add(
      {.name = "hived",
       .summary = "tenants own cells, from racks to GPUs, and have them whoever is a guest there",
       .source = "Zhao et al. OSDI'20 (HiveD)",
       .traits = {.has = {Trait::reads_tenants, Trait::stops_jobs}}},
      [](const Parameters&, const Composition& composition, Host host) {
        return std::make_unique<Hived>(
            almanac::policy::registry().placements.make(composition.placement, host));
      });
}

}  // namespace almanac::policy::whole
