// SPDX-License-Identifier: Apache-2.0

/// \file
/// Whoever has used least of its share is next, and use is forgotten with a half-life.
///
/// Owners are the tenants of the cluster file, by their guarantees; users that are none of them
/// have shares alike, and come behind the tenants. From the top of the tree down, the tenant that
/// has used least for its share comes first, then the one below it that has; within one, jobs come
/// in the order of submission. A job that finds no GPUs keeps those behind it from starting. As
/// `astraea` running jobs are in that line too, and stop at the end of a lease for those before
/// them: over time all owners with enough to do have GPU time by their shares. The jobs of an owner
/// divide its time too: the job that has had least of the GPU time that it deserved comes first. A
/// job deserves an equal part of its owner's GPUs, up to those that it asks, for as long as it is
/// there.
///
/// Source   Slurm's fair tree: siblings are compared by share / use. Ye et al., TPDS'22 (Astraea):
///          long-term GPU-time fairness, by leases, of tenants and of their jobs.
/// Differs  Use decays in closed form, not in steps of PriorityCalcPeriod. Astraea rounds the
///          fairness of jobs to fifths, and orders those that are equal by how likely they end in
///          the next lease; here they come in the order of submission.
/// Cost     O(n log n) a decision with n jobs.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "fairness/decayed_use.h"
#include "policy/kit/allocator.h"
#include "policy/kit/owner.h"
#include "policy/kit/tree_parts.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class FairShare final : public Allocator {
 public:
  /// `lease` zero = no job is ever stopped.
  FairShare(std::unique_ptr<Placement> placement, const Host& host, double half_life_s,
            Duration lease)
      : Allocator(std::move(placement)),
        past_use_(host.past_use),
        half_life_s_(half_life_s),
        lease_(lease) {}

 private:
  /// A job, and what its owner and those above it have used for their shares, from the top down.
  struct Next {
    std::vector<double> used;
    double had = 0;  // GPU time, for what the job deserved
    JobId job{};
  };
  struct Run {
    double gpus = 0;
    Time since{};  // until then it is counted
  };
  struct Vc {
    std::vector<JobId> jobs;
    std::vector<JobId> line;  // those that did not run on, the next one first
    Time lease_ends{};
    bool waits = false;
    std::map<JobId, double> deserved_s;  // GPU time; where there are leases
    Time counted{};                      // until then it is
  };

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    if (past_use_) take_past(view);
    for (auto& [job, run] : runs_) count(job, run, view);
    Vc& vc = vcs_[id];
    std::vector<Stock> left = stock(id, plan.ledger);
    if (lease_ > Duration{0}) count_deserved(vc, jobs, left, view);
    vc.jobs.assign(jobs.begin(), jobs.end());
    const bool deals_anew = lease_ > Duration{0} && view.now >= vc.lease_ends;
    if (deals_anew) vc.lease_ends = view.now + lease_;
    std::vector<Next> line;
    for (const JobId job : jobs) {
      const bool runs = view.progress(job).phase == Phase::running;
      if (runs && !(deals_anew && has_gained(job, lease_, view))) {
        take(left, job, view);
        wishes.push_back({job});
      } else {
        line.push_back({used(job, view), had_of_deserved(vc, job, view), job});
      }
    }
    std::stable_sort(line.begin(), line.end(), [](const Next& one, const Next& other) {
      return std::tie(one.used, one.had) < std::tie(other.used, other.had);
    });
    vc.line.clear();
    for (const Next& next : line) vc.line.push_back(next.job);
    vc.waits = false;
    for (const Next& next : line) {
      vc.waits = !take(left, next.job, view);
      if (vc.waits) break;
      wishes.push_back({next.job});
    }
  }

  static double had_s(JobId job, const View& view) {
    return seconds(view.attained(job)) * gpus_of(job, view);
  }
  static double gpus_of(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    return demand.gpus * demand.gpu_milli / double{cluster::kWholeGpu};
  }

  /// Adds what jobs that were there at the last decision have deserved since.
  void count_deserved(Vc& vc, std::span<const JobId> jobs, const std::vector<Stock>& stock,
                      const View& view) const {
    const double passed_s = seconds(view.now - std::exchange(vc.counted, view.now));
    std::map<Owner, double> of;  // so many jobs; then so many GPUs for each of them
    for (const JobId job : vc.jobs) of[owner_of(job, view)] += 1;
    std::vector<Owner> present;
    for (const auto& [owner, count] : of) present.push_back(owner);
    double gpus = 0;
    for (const Stock& each : stock) gpus += each.gpus();
    const std::vector<double> parts = parts_of_tree(present, view);
    for (std::size_t at = 0; at < present.size(); ++at) {
      of[present[at]] = gpus * parts[at] / of[present[at]];
    }
    for (auto& [job, deserved_s] : vc.deserved_s) {
      deserved_s += passed_s * std::min(gpus_of(job, view), of[owner_of(job, view)]);
    }
    std::map<JobId, double> there;
    for (const JobId job : jobs) {
      const auto before = vc.deserved_s.find(job);
      there[job] = before == vc.deserved_s.end() ? had_s(job, view) : before->second;
    }
    vc.deserved_s = std::move(there);
  }

  /// GPU time that a job has had for what it deserved; 0 without leases.
  static double had_of_deserved(const Vc& vc, JobId job, const View& view) {
    const auto deserved = vc.deserved_s.find(job);
    if (deserved == vc.deserved_s.end()) return 0;
    return had_s(job, view) / std::max(1e-3, deserved->second);
  }

  void order_rest(VcId id, std::span<JobId> waiting) const override {
    order_as(vcs_.at(id).line, waiting);
  }

  void settled(VcId id, const View& view, Plan& plan) override {
    const Vc& vc = vcs_[id];
    bool any_runs = false;
    for (const JobId job : vc.jobs) {
      if (!will_run(job, view, plan)) continue;
      any_runs = true;
      runs_.try_emplace(job, Run{gpus_of(job, view), view.now});
    }
    if (lease_ > Duration{0} && vc.waits && any_runs) plan.wake(vc.lease_ends);
  }

  void left(JobId job, const View& view) override {
    const auto run = runs_.find(job);
    if (run == runs_.end()) return;
    count(job, run->second, view);
    runs_.erase(run);
  }

  /// Adds what a job has held since it was counted last.
  void count(JobId job, Run& run, const View& view) {
    if (run.since >= view.now) return;
    for_all_above(owner_of(job, view), view, [&](fairness::DecayedUse& use) {
      use.add(run.gpus, in_s(run.since), in_s(view.now));
    });
    run.since = view.now;
  }

  /// Adds what was used before all that it has seen.
  void take_past(const View& view) {
    const auto all = std::exchange(past_use_, nullptr);
    for (const PastUse& past : *all) {
      const Owner owner = owner_of(past.tenant, past.user, view);
      for_all_above(owner, view, [&](fairness::DecayedUse& use) {
        if (past.from < past.until) {
          use.add(past.gpu_s / seconds(past.until - past.from), in_s(past.from), in_s(past.until));
        } else {
          use.add_amount(past.gpu_s, in_s(past.until));
        }
      });
    }
  }

  /// Tells `take` the use of an owner and of those above it.
  template <typename Take>
  void for_all_above(Owner owner, const View& view, Take take) {
    while (true) {
      take(use_.try_emplace(owner, half_life_s_).first->second);
      if (owner >= view.cluster.tenants.size()) return;
      const std::int32_t parent = view.cluster.tenants[owner].parent;
      if (parent < 0) return;
      owner = static_cast<Owner>(parent);
    }
  }

  static double in_s(Time at) { return seconds(at.time_since_epoch()); }

  std::vector<double> used(JobId job, const View& view) const {
    std::vector<double> path;
    const auto& tenants = view.cluster.tenants;
    Owner owner = owner_of(job, view);
    if (owner >= tenants.size()) {
      const double after_tenants = tenants.empty() ? 0 : std::numeric_limits<double>::infinity();
      return {after_tenants, use_of(owner, view)};
    }
    const auto add = [&](const cluster::Tenant& tenant) {
      // Without a share: behind all that have one.
      constexpr double kAfterAll = 1e18;
      const double had = use_of(owner, view);
      path.push_back(tenant.guarantee > 0 ? had / tenant.guarantee : kAfterAll + had);
    };
    for (;;) {
      add(tenants[owner]);
      if (tenants[owner].parent < 0) break;
      owner = static_cast<Owner>(tenants[owner].parent);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }
  double use_of(Owner owner, const View& view) const {
    const auto use = use_.find(owner);
    return use == use_.end() ? 0 : use->second.at(in_s(view.now));
  }

  std::shared_ptr<const std::vector<PastUse>> past_use_;  // null = it is taken, or there is none
  double half_life_s_;
  Duration lease_;
  std::map<VcId, Vc> vcs_;
  std::map<JobId, Run> runs_;
  std::map<Owner, fairness::DecayedUse> use_;
};

}  // namespace

void register_fair_share(Registry& registry) {
  const Parameter half_life =
      number("half_life_s", "after which use counts half", 604'800, 1, 1e12);
  registry.wholes.add(
      {.name = "fair_share",
       .summary = "whoever has used least of its share, and use is forgotten with a half-life",
       .source = "Slurm's fair tree",
       .parameters = {half_life}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<FairShare>(
            almanac::policy::registry().placements.make(composition.placement, host), host,
            told.number("half_life_s"), Duration{0});
      });
  registry.wholes.add(
      {.name = "astraea",
       .summary =
           "the same by leases: over time each has GPU time by its share, and so have its jobs",
       .source = "Ye et al. TPDS'22 (Astraea)",
       .traits = {.has = {Trait::stops_jobs, Trait::leases}},
       .parameters = {number("lease_s", "after which running jobs may stop for others", 360, 1,
                             1e7),
                      half_life}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<FairShare>(
            almanac::policy::registry().placements.make(composition.placement, host), host,
            told.number("half_life_s"), told.duration("lease_s"));
      });
}

}  // namespace almanac::policy::whole
