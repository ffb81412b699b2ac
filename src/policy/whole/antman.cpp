// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs within their tenant's guarantee have GPUs of their own. All others are opportunistic: they
/// run on free GPUs, or next to guaranteed jobs on what these leave unused (Config::yields), so
/// that a guaranteed job runs as fast as alone.
///
/// A job is guaranteed if the GPUs of its tenant's guaranteed jobs and its own fit into the
/// guarantee. It is placed as if there were no opportunistic jobs; these continue next to it. The
/// guaranteed jobs of a tenant start in order of arrival, and none passes another. An opportunistic
/// job goes to free GPUs, or else to the node whose guaranteed jobs are predicted to leave it the
/// most, at least `least_left` of its solo speed (whole/antman/guest_tier.h). It stops only if its
/// node runs out of cores or memory. It becomes guaranteed where it runs once the guarantee has
/// room and its GPUs have no guaranteed job.
///
/// Source   Xiao et al., OSDI'20 (AntMan), sections 4 and 5, and its scheduler plug-in.
/// Differs  The tenant's guarantee decides whether a job is guaranteed; in the paper, its user
///          does. What a job leaves unused is predicted (perf/beside.h); the plug-in takes GPUs
///          with less than 80 % utilization. Opportunistic jobs may request several GPUs, which are
///          on one node if shared. A job that requests a part of a GPU shares it with no other job.
/// Cost     One step per running job and decision, and one per GPU for each opportunistic job that
///          finds no place. Suits some thousand of these.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "policy/kit/line_policy.h"
#include "policy/kit/placer.h"
#include "policy/registry.h"
#include "policy/whole/antman/guest_tier.h"

namespace almanac::policy::whole {
namespace {

class AntMan final : public LinePolicy {
 public:
  AntMan(std::unique_ptr<Placement> placement, double least_left)
      : placement_(std::move(placement)), least_left_(least_left) {}

 private:
  void open(const View& view, const cluster::Ledger&) override {
    tiers_.resize(view.cluster.vcs.size());
  }
  void came(JobId job, const View& view) override { placement_->expect(asked(job, view)); }
  void adopted(JobId job, const View& view) override {
    tiers_[index(view.progress(job).vc)].add(job, view.config(job).yields);
  }
  void left(JobId job, const View& view) override {
    tiers_[index(view.progress(job).vc)].remove(job);
  }

  /// A guarantee covers all virtual clusters together.
  bool serves_apart(const View& view) const override {
    return view.cluster.tenants.empty() && !placement_->draws();
  }
  void nodes_changed(const cluster::Ledger&) override {
    for (GuestTier& tier : tiers_) tier.look_again();
  }
  void begin(const View& view) override {
    if (view.cluster.tenants.empty()) return;
    guaranteed_.assign(view.cluster.tenants.size(), 0);
    for (const GuestTier& tier : tiers_) {
      for (const JobId job : tier.owners()) guarantee(job, view);
    }
  }

  void serve(VcId id, std::vector<JobId>& waiting, const View& view, Plan& plan) override {
    GuestTier& tier = tiers_[index(id)];
    const auto guaranteed = [&](JobId job) { return is_guaranteed(job, view); };
    const auto any_guaranteed = [&](const std::vector<JobId>& jobs) {
      return std::any_of(jobs.begin(), jobs.end(), guaranteed);
    };
    if (!tier.is_mixed() && !any_guaranteed(tier.guests()) && !any_guaranteed(waiting)) {
      tier.forget_places();
      start_guests(id, waiting, view, plan);
      return;
    }
    tier.lift(view, plan.ledger);
    for (const JobId job : tier.guests()) {
      if (guaranteed(job) && tier.promote(job, plan.ledger)) guarantee(job, view);
    }
    start_guaranteed(id, waiting, view, plan);
    for (const JobId job : tier.lay_guests(view, plan.ledger)) stop(job, plan);
    start_guests(id, waiting, view, plan);
    tier.settle(view, plan);
  }

  void start_guaranteed(VcId vc, std::vector<JobId>& waiting, const View& view, Plan& plan) {
    std::set<TenantId> in_line;  // tenants of which a job waits
    std::erase_if(waiting, [&](JobId job) {
      if (!is_guaranteed(job, view) || !may_start(job, view, plan)) return false;
      const TenantId tenant = view.progress(job).tenant;
      const bool is_cpu_job = asked(job, view).is_cpu_job();
      if (!is_cpu_job && in_line.contains(tenant)) return false;
      if (start(vc, job, /*as_guest=*/false, view, plan)) {
        guarantee(job, view);
        return true;
      }
      if (!is_cpu_job) in_line.insert(tenant);
      return false;
    });
  }

  void start_guests(VcId vc, std::vector<JobId>& waiting, const View& view, Plan& plan) {
    std::set<std::pair<DemandId, SpeedModelId>> in_vain;
    std::erase_if(waiting, [&](JobId job) {
      if (is_guaranteed(job, view) || !may_start(job, view, plan)) return false;
      const SpeedModelId model = view.speeds == nullptr ? kNoSpeedModel : view.speeds->model(job);
      const std::pair alike(view.progress(job).demand, model);
      if (in_vain.contains(alike)) return false;
      if (start(vc, job, /*as_guest=*/true, view, plan) ||
          tiers_[index(vc)].join(vc, job, least_left_, view, plan)) {
        return true;
      }
      in_vain.insert(alike);
      return false;
    });
  }

  bool start(VcId vc, JobId job, bool as_guest, const View& view, Plan& plan) {
    std::vector<cluster::Grant> grants;
    const bool fits = doubted().avoid(plan.ledger, grants, [&] {
      return place_demand(*placement_, plan.ledger, vc, asked(job, view), view.rng, grants);
    });
    if (!fits) return false;
    tiers_[index(vc)].start(job, as_guest, std::move(grants), view, plan);
    return true;
  }

  static double gpus_of(JobId job, const View& view) {
    return asked(job, view).gpus * view.request(job).gpu_part();
  }
  void guarantee(JobId job, const View& view) {
    const TenantId tenant = view.progress(job).tenant;
    if (tenant != kNoTenant) guaranteed_[index(tenant)] += gpus_of(job, view);
  }
  /// Whether one more job is guaranteed. A job without GPUs uses none of a guarantee.
  bool is_guaranteed(JobId job, const View& view) const {
    if (asked(job, view).is_cpu_job()) return true;
    const TenantId tenant = view.progress(job).tenant;
    return tenant != kNoTenant && guaranteed_[index(tenant)] + gpus_of(job, view) <=
                                      view.cluster.tenants[index(tenant)].guarantee;
  }

  std::unique_ptr<Placement> placement_;
  double least_left_;
  std::vector<GuestTier> tiers_;    // by VcId
  std::vector<double> guaranteed_;  // GPUs of guaranteed jobs, by tenant
};

}  // namespace

void register_antman(Registry& registry) {
  registry.wholes.add(
      {.name = "antman",
       .summary = "opportunistic jobs, beyond their tenant's guarantee, use what guaranteed jobs "
                  "leave of a GPU",
       .source = "Xiao et al. OSDI'20 (AntMan)",
       .traits = {.has = {Trait::reads_tenants, Trait::reads_speeds, Trait::shares_gpus,
                          Trait::stops_jobs, Trait::yields_gpus}},
       .parameters = {number(
           "least_left",
           "smallest fraction of its solo speed that an opportunistic job may be left with", 0.2,
           0.01, 1)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<AntMan>(
            almanac::policy::registry().placements.make(composition.placement, host),
            told.number("least_left"));
      });
}

}  // namespace almanac::policy::whole
