// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tenants with guarantees: each may borrow what others leave idle, and each gets its own back when
/// it needs it.
///
/// A job starts if its tenant and all tenants above it stay below their limits, and stay within
/// their guarantees or may borrow. The tenant that uses the smallest fraction of its guarantee is
/// served first, from the top of the tree down, its jobs in order of arrival. A job that does not
/// fit lets others pass.
///
/// If a job may not start or finds no GPUs, and `reclaim_at` of all GPUs are in use, it reclaims
/// GPUs from borrowers. For two jobs, consider the tenants just below their lowest common ancestor.
/// The first job may take from the second if, with it, all tenants on its side stay within their
/// guarantees, and the top tenant on the other side exceeds its own. So siblings reclaim from each
/// other whatever their parent borrows, and no tenant takes what another one lends within itself.
/// The borrowers' jobs of the lowest tier stop first; among these the one that loses least GPU time
/// (kit/least_loss.h).
///
/// With `relax_s`, a job that may start but finds no place that its placement prefers spreads over
/// any free GPUs, from the emptiest node down, once it has waited for that long.
///
/// Tenants are those of the cluster file ([[tenant]]). A job's virtual cluster names its tenant, or
/// else its user does. A job without a tenant has no guarantee and may borrow.
///
/// Source   Jeon et al., ATC'19 (Philly), section 2: a quota per virtual cluster, spare GPUs for
///          all, preemption by fair share when 90 % of the GPUs are in use, and locality that is
///          relaxed after a while (2.3); YARN's capacity and fair schedulers. Trees: Kueue's
///          cohorts, which lend within themselves first.
/// Differs  The paper does not say which job of a borrower stops; YARN stops those that started
///          last. A job is stopped only for one that starts. No tenant falls below its guarantee,
///          except by the last of its jobs that reaches above it.
/// Cost     O(n log n + n t) per decision with n jobs and t tenants
#include <algorithm>
#include <utility>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/least_loss.h"
#include "policy/placement/scatter.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class YarnCs final : public Allocator {
 public:
  YarnCs(std::unique_ptr<Placement> placement, const Parameters& told)
      : Allocator(std::move(placement)),
        reclaim_at_(told.number("reclaim_at")),
        relax_(told.duration("relax_s")) {}

 private:
  struct Tenant {
    double in_use = 0;  // GPUs, those of the tenants below it included
    std::vector<JobId> waiting{};
    std::size_t next = 0;  // of waiting
  };

  bool keeps_quotas() const override { return true; }

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    tenants_.assign(view.cluster.tenants.size() + 1, {});
    if (paths_.empty()) paths_ = paths_of(view.cluster);
    left_ = stock(vc, plan.ledger);
    total_ = free();
    running_.clear();
    are_sorted_ = false;
    for (const JobId job : jobs) {
      if (view.progress(job).phase == Phase::waiting) {
        tenants_[tenant_of(job, view)].waiting.push_back(job);
      } else if (take(left_, job, view)) {
        use(job, view, +1);
        running_.push_back(job);
      }
    }
    started_.clear();
    reclaimed_.clear();
    for (std::size_t at = first(view); at < tenants_.size(); at = first(view)) {
      const JobId job = tenants_[at].waiting[tenants_[at].next++];
      if (!(may_start(job, view) && take(left_, job, view)) && !reclaim(job, view)) continue;
      use(job, view, +1);
      started_.push_back(job);
    }
    for (const JobId job : running_) wishes.push_back({job});
    places_ = spread(vc, view, plan);
    for (std::size_t at = 0; at < started_.size(); ++at) {
      wishes.push_back({.job = started_[at], .on = places_[at]});
    }
  }

  /// Returns the nodes over which each job of `started_` spreads, once the reclaimed jobs have
  /// left; none for a job that must not spread yet.
  std::vector<std::vector<NodeGpus>> spread(VcId vc, const View& view, Plan& plan) const {
    std::vector<std::vector<NodeGpus>> places(started_.size());
    const std::size_t before = plan.ledger.mark();
    for (const JobId job : reclaimed_) {
      for (const cluster::Grant& grant : view.grants(job)) plan.ledger.give_back(grant);
    }
    std::vector<cluster::Grant> grants;
    for (std::size_t at = 0; at < started_.size(); ++at) {
      const cluster::Demand& demand = asked(started_[at], view);
      if (!may_spread(demand) || spreads_at(started_[at], view) > view.now) continue;
      grants.clear();
      placement::scatter(plan.ledger, vc, demand, grants, placement::emptiest);
      for (const cluster::Grant& grant : grants) places[at].push_back({grant.node, grant.count()});
    }
    plan.ledger.undo(before);
    return places;
  }
  bool may_spread(const cluster::Demand& demand) const {
    return relax_ > Duration{0} && demand.gpus > 1 && demand.nodes == 0 && demand.nvlink_gpus == 0;
  }
  Time spreads_at(JobId job, const View& view) const { return view.progress(job).since + relax_; }

  void settled(VcId, const View& view, Plan& plan) override {
    const auto starts = [&](JobId job) { return will_run(job, view, plan); };
    const bool any_starts = std::any_of(started_.begin(), started_.end(), starts);
    for (const JobId job : started_) {
      if (!may_spread(asked(job, view)) || starts(job)) continue;
      if (spreads_at(job, view) > view.now) {
        plan.wake(spreads_at(job, view));
      } else if (any_starts) {
        plan.wake(view.now);  // another took its place; it may spread elsewhere
      }
    }
  }

  static std::size_t tenant_of(JobId job, const View& view) {
    const TenantId tenant = view.progress(job).tenant;
    return tenant == kNoTenant ? view.cluster.tenants.size() : index(tenant);
  }
  static double gpus_of(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    return demand.gpus * demand.gpu_milli / double{cluster::kWholeGpu};
  }
  double free() const {
    double gpus = 0;
    for (const Stock& each : left_) gpus += static_cast<double>(each.milli) / cluster::kWholeGpu;
    return gpus;
  }

  /// Returns the path of each tenant: itself and those above it, from the bottom up. Jobs without a
  /// tenant have a path of their own.
  static std::vector<std::vector<std::size_t>> paths_of(const cluster::Cluster& cluster) {
    std::vector<std::vector<std::size_t>> paths;
    for (std::size_t at = 0; at < cluster.tenants.size(); ++at) {
      paths.push_back({at});
      if (cluster.tenants[at].parent < 0) continue;
      const auto& above = paths[static_cast<std::size_t>(cluster.tenants[at].parent)];
      paths.back().insert(paths.back().end(), above.begin(), above.end());
    }
    paths.push_back({cluster.tenants.size()});
    return paths;
  }
  const std::vector<std::size_t>& path_of(JobId job, const View& view) const {
    return paths_[tenant_of(job, view)];
  }
  void use(JobId job, const View& view, int sign) {
    for (const std::size_t at : path_of(job, view)) {
      tenants_[at].in_use += sign * gpus_of(job, view);
    }
  }
  static const cluster::Tenant& terms(std::size_t tenant, const View& view) {
    static const cluster::Tenant kNobody{};
    return tenant == view.cluster.tenants.size() ? kNobody : view.cluster.tenants[tenant];
  }
  bool may_start(JobId job, const View& view) const {
    const std::vector<std::size_t> path = path_of(job, view);
    return std::all_of(path.begin(), path.end(), [&](std::size_t at) {
      const cluster::Tenant& tenant = terms(at, view);
      const double then = tenants_[at].in_use + gpus_of(job, view);
      return then <= tenant.limit && (then <= tenant.guarantee || tenant.may_borrow);
    });
  }
  bool may_take_from(JobId job, JobId victim, const View& view) const {
    const std::vector<std::size_t>& own = path_of(job, view);
    const std::vector<std::size_t>& other = path_of(victim, view);
    const auto [side, opposite] =
        std::mismatch(own.rbegin(), own.rend(), other.rbegin(), other.rend());
    if (side == own.rend() || opposite == other.rend()) return false;
    return tenants_[*opposite].in_use > terms(*opposite, view).guarantee &&
           std::all_of(side, own.rend(), [&](std::size_t at) {
             return tenants_[at].in_use + gpus_of(job, view) <= terms(at, view).guarantee;
           });
  }

  /// Returns the tenant with a job to try that uses the smallest fraction of its guarantee, or the
  /// number of tenants if there is none.
  std::size_t first(const View& view) {
    std::size_t best = tenants_.size();
    for (std::size_t at = 0; at < tenants_.size(); ++at) {
      const Tenant& tenant = tenants_[at];
      if (tenant.next == tenant.waiting.size()) continue;
      const std::vector<std::size_t>& path = paths_[at];
      used_.clear();
      for (auto above = path.rbegin(); above != path.rend(); ++above) {
        const double guarantee = terms(*above, view).guarantee;
        const double in_use = tenants_[*above].in_use;
        // Tenants without a guarantee come after all that have one.
        constexpr double kAfterAll = 1e12;
        used_.push_back(guarantee > 0 ? in_use / guarantee : kAfterAll + in_use);
      }
      if (best < tenants_.size() && used_ >= least_) continue;
      best = at;
      least_ = used_;
    }
    return best;
  }

  /// Takes GPUs for `job` from tenants that borrow. Returns false if it changed nothing.
  bool reclaim(JobId job, const View& view) {
    if (total_ - free() < reclaim_at_ * total_) return false;
    std::vector<JobId> victims;
    const std::vector<Stock> before = left_;
    if (!std::exchange(are_sorted_, true)) sort_by_loss(running_, view);
    bool fits = false;
    for (const JobId victim : running_) {
      if (!may_take_from(job, victim, view)) continue;
      give(victim, view);
      use(victim, view, -1);
      victims.push_back(victim);
      fits = may_start(job, view) && take(left_, job, view);
      if (fits) break;
    }
    if (!fits) {
      for (const JobId victim : victims) use(victim, view, +1);
      left_ = before;
      return false;
    }
    for (const JobId victim : victims) std::erase(running_, victim);
    reclaimed_.insert(reclaimed_.end(), victims.begin(), victims.end());
    return true;
  }

  void give(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    const std::uint64_t type = type_held(job, view);
    for (Stock& each : left_) {
      if (each.gpu_type == type) each.milli += std::int64_t{demand.gpus} * demand.gpu_milli;
    }
  }

  double reclaim_at_;
  Duration relax_;               // 0 = never
  double total_ = 0;             // GPUs
  std::vector<Tenant> tenants_;  // the last: jobs of none
  std::vector<Stock> left_;
  std::vector<JobId> running_;
  std::vector<JobId> started_;                   // jobs that the last allocation named to start
  std::vector<JobId> reclaimed_;                 // jobs that it did not name, to make room for them
  std::vector<std::vector<NodeGpus>> places_;    // of `started_`, where they spread
  bool are_sorted_ = false;                      // `running_`, as of sort_by_loss()
  std::vector<std::vector<std::size_t>> paths_;  // by tenant
  std::vector<double> used_, least_;             // by first(): parts of guarantees, top down
};

}  // namespace

void register_yarn_cs(Registry& registry) {
  registry.wholes.add(
      {.name = "yarn_cs",
       .summary = "tenants' guarantees are lent while idle and reclaimed when needed",
       .source = "Jeon et al. ATC'19 §2",
       .traits = {.has = {Trait::stops_jobs, Trait::reads_tenants}},
       .parameters = {number("reclaim_at",
                             "utilization above which a tenant reclaims what others borrow", 0.9, 0,
                             1),
                      number("relax_s",
                             "how long a job waits for its preferred placement before it spreads "
                             "over more nodes; 0: as long as it takes",
                             0, 0, 1e9)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<YarnCs>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
