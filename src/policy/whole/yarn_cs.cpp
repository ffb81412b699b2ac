// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tenants with guarantees: each may borrow what the others leave idle, and each gets its own back
/// when it needs it.
///
/// A job starts if its tenant and all tenants above it stay below their limits, and within their
/// guarantees or may borrow. The tenant that uses least of its guarantee is served first, its jobs
/// in the order in which they came; a job that does not fit lets others pass. Where a job within
/// its tenant's guarantee finds no GPUs and `reclaim_at` of all GPUs are in use, jobs of tenants
/// that use more than their guarantees stop, those that began last first.
///
/// Tenants are those of the cluster file ([[tenant]]); a job's is named by its virtual cluster,
/// else its user. A job of none has no guarantee and may borrow.
///
/// Source   Jeon et al., ATC'19 (Philly), section 2: a quota for each virtual cluster, spare GPUs
///          for all, preemption by fair share when 90 % of the GPUs are in use; YARN's capacity
///          and fair schedulers.
/// Differs  A job is stopped only for one that starts, and no tenant is brought below its guarantee
///          but by the last of its jobs that reaches above it.
/// Cost     O(n log n + n t) a decision with n jobs and t tenants.
#include <algorithm>
#include <limits>

#include "policy/kit/allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class YarnCs final : public Allocator {
 public:
  YarnCs(std::unique_ptr<Placement> placement, double reclaim_at)
      : Allocator(std::move(placement)), reclaim_at_(reclaim_at) {}

 private:
  struct Tenant {
    double in_use = 0;  // GPUs, those of the tenants below it included
    std::vector<JobId> waiting{};
    std::size_t next = 0;  // of waiting
  };

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    tenants_.assign(view.cluster.tenants.size() + 1, {});
    left_ = stock(vc, plan.ledger);
    total_ = free();
    running_.clear();
    for (const JobId job : jobs) {
      if (view.progress(job).phase == Phase::waiting) {
        tenants_[tenant_of(job, view)].waiting.push_back(job);
      } else if (take(left_, job, view)) {
        use(job, view, +1);
        running_.push_back(job);
      }
    }
    std::vector<JobId> started;
    for (std::size_t at = first(view); at < tenants_.size(); at = first(view)) {
      const JobId job = tenants_[at].waiting[tenants_[at].next++];
      if (!may_start(job, view)) continue;
      if (!take(left_, job, view) && !reclaim(job, view)) continue;
      use(job, view, +1);
      started.push_back(job);
    }
    for (const JobId job : running_) wishes.push_back({job});
    for (const JobId job : started) wishes.push_back({job});
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

  /// Calls `act` with a job's tenant and those above it; the one that stands for no tenant has
  /// none.
  template <typename Act>
  void each_above(JobId job, const View& view, Act&& act) {
    const auto& known = view.cluster.tenants;
    for (std::size_t at = tenant_of(job, view);;) {
      act(at);
      if (at == known.size() || known[at].parent < 0) return;
      at = static_cast<std::size_t>(known[at].parent);
    }
  }
  void use(JobId job, const View& view, int sign) {
    each_above(job, view,
               [&](std::size_t at) { tenants_[at].in_use += sign * gpus_of(job, view); });
  }
  static const cluster::Tenant& terms(std::size_t tenant, const View& view) {
    static const cluster::Tenant kNobody{};
    return tenant == view.cluster.tenants.size() ? kNobody : view.cluster.tenants[tenant];
  }
  bool is_within_guarantee(JobId job, const View& view) {
    bool within = true;
    each_above(job, view, [&](std::size_t at) {
      within = within && tenants_[at].in_use + gpus_of(job, view) <= terms(at, view).guarantee;
    });
    return within;
  }
  bool may_start(JobId job, const View& view) {
    bool may = true;
    each_above(job, view, [&](std::size_t at) {
      const cluster::Tenant& tenant = terms(at, view);
      const double then = tenants_[at].in_use + gpus_of(job, view);
      may = may && then <= tenant.limit && (then <= tenant.guarantee || tenant.may_borrow);
    });
    return may;
  }

  /// The tenant that uses least of its guarantee of those with a job to try; else past the last.
  std::size_t first(const View& view) const {
    std::size_t best = tenants_.size();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t at = 0; at < tenants_.size(); ++at) {
      const Tenant& tenant = tenants_[at];
      if (tenant.next == tenant.waiting.size()) continue;
      const double guarantee = terms(at, view).guarantee;
      // Tenants without a guarantee come after all that have one.
      constexpr double kAfterAll = 1e12;
      const double used = guarantee > 0 ? tenant.in_use / guarantee : kAfterAll + tenant.in_use;
      if (best < tenants_.size() && used >= least) continue;
      best = at;
      least = used;
    }
    return best;
  }

  /// Takes GPUs for `job` from tenants that borrow; false = changed nothing.
  bool reclaim(JobId job, const View& view) {
    if (!is_within_guarantee(job, view) || total_ - free() < reclaim_at_ * total_) return false;
    std::vector<JobId> victims;
    const std::vector<Stock> before = left_;
    std::vector<JobId> latest_first = running_;
    std::stable_sort(latest_first.begin(), latest_first.end(), [&](JobId a, JobId b) {
      return view.progress(a).since > view.progress(b).since;
    });
    bool fits = false;
    for (const JobId victim : latest_first) {
      const std::size_t owner = tenant_of(victim, view);
      if (tenants_[owner].in_use <= terms(owner, view).guarantee) continue;
      give(victim, view);
      use(victim, view, -1);
      victims.push_back(victim);
      fits = take(left_, job, view);
      if (fits) break;
    }
    if (!fits) {
      for (const JobId victim : victims) use(victim, view, +1);
      left_ = before;
      return false;
    }
    for (const JobId victim : victims) std::erase(running_, victim);
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
  double total_ = 0;             // GPUs
  std::vector<Tenant> tenants_;  // the last: jobs of none
  std::vector<Stock> left_;
  std::vector<JobId> running_;
};

}  // namespace

void register_yarn_cs(Registry& registry) {
  registry.wholes.add(
      {.name = "yarn_cs",
       .summary = "tenants with guarantees that lend each other what is idle, and take it back",
       .source = "Jeon et al. ATC'19 §2",
       .traits = {.has = {Trait::stops_jobs, Trait::reads_tenants}},
       .parameters = {number("reclaim_at",
                             "the part of all GPUs that must be in use before a "
                             "tenant takes back what others borrow",
                             0.9, 0, 1)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<YarnCs>(
            almanac::policy::registry().placements.make(composition.placement, host),
            told.number("reclaim_at"));
      });
}

}  // namespace almanac::policy::whole
