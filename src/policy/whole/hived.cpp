// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tenants own cells (racks, nodes, sockets, halves of these, GPUs), and no tenant makes another
/// wait for its own cells (HiveD). The published scheduler (cluster/cells/scheduler.h) chooses the
/// GPUs of a job.
///
/// A tenant's cells follow from the cluster file or from its guarantee (whole/hived/cell_owners.h).
/// What a job holds on a node is within one cell. A job goes into its tenant's cells if they have
/// room, and guests there give way. A job of higher priority also goes where jobs of lower priority
/// are; these continue as guests where they run (lazy preemption). Any other job is a guest: it
/// runs on free GPUs, and is stopped for an owner. Jobs are tried by priority, then in order of
/// arrival, owners before guests. A job that does not fit lets others pass.
///
/// While all nodes are in service, a job that fits into the free part of its tenant's cells starts
/// at once. Cells know only GPUs: if cores, memory or an account's quota are short, a job waits
/// whatever its tenant owns.
///
/// Source   Zhao et al., OSDI'20 (HiveD), and the program published with it.
/// Differs  Not the user but the tenant, which may own nothing, decides whether a job is a guest:
///          it is one if its tenant's cells have no room when it starts, until it is stopped. A job
///          that requests a part of a GPU gets a whole one. After a restart of the policy, a
///          running job counts as an owner's if that tenant's cells can be bound to it, and as a
///          guest otherwise.
/// Cost     O(n) per decision with n waiting jobs, and a search of all nodes for each of their
///          demands. Suits some thousand nodes.
#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/contract/may_stop.h"
#include "policy/kit/line_policy.h"
#include "policy/kit/nvlink_placement.h"
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
  /// Which cells are free or doomed may change with attempts, even failed ones.
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
    CellSite& site = sites_[index(vc)];
    const auto take = [&](const CellSite::Offer& offer) {
      return carry_out(job, offer, view, plan);
    };
    return site.place(job, owner, demand, take) ||
           (demand.nvlink_gpus > 0 && start_in_groups(vc, job, owner, demand, plan));
  }

  /// Starts a job whose NVLink groups the offered cells would break on other free GPUs.
  bool start_in_groups(VcId vc, JobId job, const CellOwner& owner, const cluster::Demand& demand,
                       Plan& plan) {
    CellSite& site = sites_[index(vc)];
    std::vector<cluster::Grant> grants;
    const std::size_t before = plan.ledger.mark();
    if (!place_groups(plan.ledger, vc, demand, grants)) return false;
    if (!site.is_one_chain(grants)) {
      plan.ledger.undo(before);
      return false;
    }
    site.adopt(job, owner, grants);
    plan.set(job, {.grants = grants});
    return true;
  }

  /// Carries out an offer. Returns kNoNode, or the node where it is impossible.
  NodeId carry_out(JobId job, const CellSite::Offer& offer, const View& view, Plan& plan) {
    if (!plan.ledger.in_domains(offer.grants, asked(job, view).nvlink_gpus)) {
      return offer.grants.back().node;
    }
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
