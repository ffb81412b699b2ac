// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tenants own cells - racks, nodes, sockets, halves of these, GPUs - wherever these are, and no
/// tenant makes another wait for its own (HiveD). The published scheduler
/// (cluster/cells/scheduler.h) says which GPUs a job gets.
///
/// What a tenant owns is said by its cells or its guarantee (whole/hived/cell_owners.h). What a job
/// has on a node lies in one cell. A job of a tenant goes into its cells if they have room, and
/// what guests hold there gives way; one of higher priority also where jobs of less are, which run
/// on as guests where they are (lazy preemption). Any other job is a guest: it runs on what is
/// free, and is stopped for an owner. Jobs are tried by priority and in the order in which they
/// came, owners before guests; one that does not fit is passed by others.
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
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/contract/may_stop.h"
#include "policy/kit/line_policy.h"
#include "policy/registry.h"
#include "policy/whole/hived/cell_owners.h"

namespace almanac::policy::whole {
namespace {

class Hived final : public LinePolicy {
 public:
  explicit Hived(std::unique_ptr<Placement> placement) : placement_(std::move(placement)) {}

 private:
  void open(const View& view, const cluster::Ledger& ledger) override {
    CellOwners made(view.cluster);
    owners_ = std::move(made.owners);
    sites_ = std::move(made.sites);
    nodes_changed(ledger);
  }
  void nodes_changed(const cluster::Ledger& ledger) override {
    for (CellSite& site : sites_) site.look_at_nodes(ledger);
  }
  void adopted(JobId job, const View& view) override {
    site_of(job, view).adopt(job, owner_of(job, view), view.grants(job));
  }
  void left(JobId job, const View& view) override { site_of(job, view).release(job); }
  bool serves_apart(const View&) const override { return !placement_->draws(); }
  /// What cells are free or doomed may change with attempts, also with those in vain.
  std::uint64_t changes(VcId vc) const override { return sites_[index(vc)].changes(); }
  int priority(JobId job, const View& view) const override { return owner_of(job, view).priority; }

  CellSite& site_of(JobId job, const View& view) { return sites_[index(view.progress(job).vc)]; }

  void serve(VcId vc, std::vector<JobId>& waiting, const View& view, Plan& plan) override {
    const CellOwner nobody;
    for (const bool as_owner : {true, false}) {
      std::set<std::tuple<DemandId, int, std::string_view>> in_vain;
      std::erase_if(waiting, [&](JobId job) {
        const CellOwner& owner = as_owner ? owner_of(job, view) : nobody;
        const std::tuple tried(view.progress(job).demand, owner.priority,
                               std::string_view(owner.name));
        if (as_owner == owner.is_guest() || in_vain.contains(tried) ||
            !may_start(job, view, plan)) {
          return false;
        }
        if (start(vc, job, owner, view, plan)) return true;
        in_vain.insert(tried);
        return false;
      });
    }
  }

  const CellOwner& owner_of(JobId job, const View& view) const {
    static const CellOwner kNobody;
    const TenantId tenant = view.progress(job).tenant;
    return tenant == kNoTenant ? kNobody : owners_[index(tenant)];
  }

  bool start(VcId vc, JobId job, const CellOwner& owner, const View& view, Plan& plan) {
    const cluster::Demand& demand = asked(job, view);
    if (demand.is_cpu_job()) {
      std::vector<cluster::Grant> grants;
      if (!owner.is_guest() || !placement_->place(plan.ledger, vc, demand, view.rng, grants)) {
        return false;
      }
      plan.set(job, {.grants = grants});
      return true;
    }
    return sites_[index(vc)].place(job, owner, demand, [&](const CellSite::Offer& offer) {
      return carry_out(job, offer, view, plan);
    });
  }

  /// Gives a node where it cannot be done, or kNoNode; then it is.
  NodeId carry_out(JobId job, const CellSite::Offer& offer, const View& view, Plan& plan) {
    const std::size_t before = plan.ledger.mark();
    // One that starts in this very plan is not to be stopped by it.
    const bool may = std::all_of(offer.victims.begin(), offer.victims.end(), [&](JobId other) {
      return view.progress(other).phase == Phase::running && plan.find(other) == nullptr &&
             may_stop(view.request(other), Stops::all);
    });
    if (may) {
      for (const JobId other : offer.victims) {
        for (const cluster::Grant& grant : view.grants(other)) plan.ledger.give_back(grant);
      }
    }
    for (const cluster::Grant& grant : offer.grants) {
      if (may && plan.ledger.can_take(grant)) continue;
      plan.ledger.undo(before);
      return grant.node;
    }
    for (const JobId other : offer.victims) stop(other, plan);
    for (const cluster::Grant& grant : offer.grants) plan.ledger.take(grant);
    plan.set(job, {.grants = offer.grants});
    return kNoNode;
  }

  std::unique_ptr<Placement> placement_;  // of CPU jobs
  std::vector<CellOwner> owners_;         // by tenant
  std::vector<CellSite> sites_;           // by VcId
};

}  // namespace

void register_hived(Registry& registry) {
  registry.wholes.add(
      {.name = "hived",
       .summary =
           "tenants own cells, from racks to single GPUs, and can always reclaim them from guests",
       .source = "Zhao et al. OSDI'20 (HiveD)",
       .traits = {.has = {Trait::reads_tenants, Trait::stops_jobs}}},
      [](const Parameters&, const Composition& composition, Host host) {
        return std::make_unique<Hived>(
            almanac::policy::registry().placements.make(composition.placement, host));
      });
}

}  // namespace almanac::policy::whole
