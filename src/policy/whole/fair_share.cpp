// SPDX-License-Identifier: Apache-2.0

/// \file
/// The owner with the least usage against its share comes first; past usage decays with a
/// half-life.
///
/// Owners are the tenants of the cluster file, with their guarantees as shares. Users without a
/// tenant have equal shares and come after the tenants. From the top of the tree down, the tenant
/// with the least usage for its share comes first. Within an owner, jobs run in order of
/// submission. A job that finds no GPUs holds back the jobs behind it.
///
/// `astraea` also puts running jobs in that order, and stops them at the end of a lease for those
/// before them. So all owners with enough jobs get GPU time according to their shares, and the jobs
/// of an owner divide its time as well: the job with the least GPU time relative to what it
/// deserved comes first. A job deserves an equal part of its owner's GPUs, at most what it
/// requests, while it is present.
///
/// Source   Slurm's fair tree: siblings are compared by share / usage. Ye et al., TPDS'22
///          (Astraea): long-term GPU-time fairness of tenants and of their jobs by leases.
/// Differs  Usage decays in closed form, not in steps of PriorityCalcPeriod. Astraea rounds the
///          fairness of jobs to fifths, and orders equal jobs by their chance to end in the next
///          lease; here equal jobs keep the order of submission.
/// Cost     O(n) per decision with n jobs of a virtual cluster, plus O(w log w) for w waiting jobs
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "policy/kit/allocator.h"
#include "policy/kit/gain.h"
#include "policy/kit/owner.h"
#include "policy/kit/tree_parts.h"
#include "policy/registry.h"
#include "rules/fairness/decayed_use.h"

namespace almanac::policy::whole {
namespace {

class FairShare final : public Allocator {
 public:
  /// A `lease` of zero never stops a job.
  FairShare(std::unique_ptr<Placement> placement, const Host& host, double half_life_s,
            Duration lease)
      : Allocator(std::move(placement)),
        past_use_(host.past_use),
        half_life_s_(half_life_s),
        lease_(lease) {}

 private:
  /// Usage of an owner, or of a tenant above it, and what it runs now.
  struct Account {
    explicit Account(double half_life_s) : use(half_life_s) {}
    fairness::DecayedUse use;  // until `since`
    std::int64_t milli = 0;    // of GPUs that have run since
    Time since{};
  };
  /// A job, and the usage by share of its owner and the tenants above, from the top down.
  struct Next {
    const std::vector<double>* used = nullptr;
    double had = 0;  // GPU time relative to what the job deserved
    JobId job{};
  };
  struct Vc {
    std::vector<JobId> jobs;
    std::vector<JobId> line;  // jobs that did not keep their GPUs, in order
    Time lease_ends{};
    Time stands_until = Time::min();
    bool waits = false;
    Time counted{};  // deserved_s_ is up to date until then
  };

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    if (past_use_) take_past(view);
    Vc& vc = vcs_[id];
    std::vector<Stock> left = stock(id, plan.ledger);
    if (lease_ > Duration{0}) count_deserved(vc, jobs, left, view);
    vc.jobs.assign(jobs.begin(), jobs.end());
    const bool deals_anew = lease_ > Duration{0} && view.now >= vc.lease_ends;
    if (deals_anew) vc.lease_ends = view.now + lease_;
    std::map<Owner, std::vector<double>> used_by;
    std::vector<Next> line;
    for (const JobId job : jobs) {
      const bool runs = view.progress(job).phase == Phase::running;
      if (runs && !(deals_anew && has_gained(job, lease_, view))) {
        take(left, job, view);
        wishes.push_back({job});
        continue;
      }
      const auto [used, is_new] = used_by.try_emplace(owner_of(job, view));
      if (is_new) used->second = used_of(used->first, view);
      line.push_back({&used->second, had_of_deserved(job, view), job});
    }
    std::stable_sort(line.begin(), line.end(), [](const Next& one, const Next& other) {
      if (one.used == other.used) return one.had < other.had;
      return std::tie(*one.used, one.had) < std::tie(*other.used, other.had);
    });
    vc.line.clear();
    for (const Next& next : line) vc.line.push_back(next.job);
    const std::vector<Stock> free = left;
    vc.waits = false;
    for (const Next& next : line) {
      vc.waits = !take(left, next.job, view);
      if (vc.waits) break;
      wishes.push_back({next.job});
    }
    // The order changes as jobs run, so it is valid only as long as it does not matter who is
    // first.
    const bool any_fits = std::any_of(line.begin(), line.end(), [&](const Next& next) {
      return is_in(free, asked(next.job, view));
    });
    vc.stands_until = deals_anew || any_fits ? Time::min() : vc.lease_ends;
  }

  Time stands_until(VcId id, const View&) const override { return vcs_.at(id).stands_until; }

  static double had_s(JobId job, const View& view) {
    return seconds(view.attained(job)) * gpus_of(job, view);
  }
  static std::int64_t milli_of(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    return std::int64_t{demand.gpus} * demand.gpu_milli;
  }
  static double gpus_of(JobId job, const View& view) {
    return static_cast<double>(milli_of(job, view)) / cluster::kWholeGpu;
  }

  /// Adds what the jobs of the last decision have deserved since then.
  void count_deserved(Vc& vc, std::span<const JobId> jobs, const std::vector<Stock>& stock,
                      const View& view) {
    const double passed_s = seconds(view.now - std::exchange(vc.counted, view.now));
    if (passed_s > 0) {
      const std::map<Owner, double> of = deserved_gpus(vc.jobs, stock, view);
      for (const JobId job : vc.jobs) {
        deserved_s_[index(job)] +=
            passed_s * std::min(gpus_of(job, view), of.at(owner_of(job, view)));
      }
    }
    there_.clear();
    for (const JobId job : jobs) {
      if (index(job) >= deserved_s_.size()) deserved_s_.resize(2 * index(job) + 64, kNotThere);
      double& deserved_s = deserved_s_[index(job)];
      if (deserved_s == kNotThere) deserved_s = had_s(job, view);
      there_.add(job);
    }
    for (const JobId job : vc.jobs) {
      if (!there_.has(job)) deserved_s_[index(job)] = kNotThere;
    }
  }

  /// Returns the GPUs that each job of an owner deserves while `jobs` are present.
  static std::map<Owner, double> deserved_gpus(const std::vector<JobId>& jobs,
                                               const std::vector<Stock>& stock, const View& view) {
    std::map<Owner, double> of;  // so many jobs; then so many GPUs for each of them
    for (const JobId job : jobs) of[owner_of(job, view)] += 1;
    std::vector<Owner> present;
    for (const auto& [owner, count] : of) present.push_back(owner);
    double gpus = 0;
    for (const Stock& each : stock) gpus += each.gpus();
    const std::vector<double> parts = parts_of_tree(present, view);
    for (std::size_t at = 0; at < present.size(); ++at) {
      of[present[at]] = gpus * parts[at] / of[present[at]];
    }
    return of;
  }

  /// Returns the GPU time of a job relative to what it deserved; 0 without leases.
  double had_of_deserved(JobId job, const View& view) const {
    if (lease_ == Duration{0}) return 0;
    return had_s(job, view) / std::max(1e-3, deserved_s_[index(job)]);
  }

  void order_rest(VcId id, std::span<JobId> waiting) const override {
    order_as(vcs_.at(id).line, waiting);
  }

  void settled(VcId id, const View& view, Plan& plan) override {
    const Vc& vc = vcs_[id];
    bool any_runs = false;
    for (const JobId job : vc.jobs) {
      if (running_.has(job)) {
        any_runs = true;
      } else if (will_run(job, view, plan)) {
        any_runs = true;
        running_.add(job);
        run_more(job, milli_of(job, view), view);
      }
    }
    if (lease_ > Duration{0} && vc.waits && any_runs) plan.wake(vc.lease_ends);
  }

  void left(JobId job, const View& view) override {
    if (running_.remove(job)) run_more(job, -milli_of(job, view), view);
  }

  /// Counts `milli` more thousandths of a GPU as running for the owner of a job from now on.
  void run_more(JobId job, std::int64_t milli, const View& view) {
    for_all_above(owner_of(job, view), view, [&](Account& account) {
      account.use = use_until(account, view.now);
      account.since = std::max(account.since, view.now);
      account.milli += milli;
    });
  }

  /// Returns the usage, including what has run until `now`.
  static fairness::DecayedUse use_until(const Account& account, Time now) {
    fairness::DecayedUse use = account.use;
    if (account.milli > 0 && account.since < now) {
      const double gpus = static_cast<double>(account.milli) / cluster::kWholeGpu;
      use.add(gpus, in_s(account.since), in_s(now));
    }
    return use;
  }

  /// Adds the usage from before this policy started.
  void take_past(const View& view) {
    const auto all = std::exchange(past_use_, nullptr);
    for (const PastUse& past : *all) {
      const Owner owner = owner_of(past.tenant, past.user, view);
      for_all_above(owner, view, [&](Account& account) {
        fairness::DecayedUse& use = account.use;
        if (past.from < past.until) {
          use.add(past.gpu_s / seconds(past.until - past.from), in_s(past.from), in_s(past.until));
        } else {
          use.add_amount(past.gpu_s, in_s(past.until));
        }
      });
    }
  }

  /// Calls `take` with the account of an owner and of each tenant above it.
  template <typename Take>
  void for_all_above(Owner owner, const View& view, Take take) {
    while (true) {
      take(accounts_.try_emplace(owner, half_life_s_).first->second);
      if (owner >= view.cluster.tenants.size()) return;
      const std::int32_t parent = view.cluster.tenants[owner].parent;
      if (parent < 0) return;
      owner = static_cast<Owner>(parent);
    }
  }

  static double in_s(Time at) { return seconds(at.time_since_epoch()); }

  /// Returns the usage by share of an owner and the tenants above it, from the top down.
  std::vector<double> used_of(Owner owner, const View& view) const {
    std::vector<double> path;
    const auto& tenants = view.cluster.tenants;
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
    const auto account = accounts_.find(owner);
    return account == accounts_.end() ? 0 : use_until(account->second, view.now).at(in_s(view.now));
  }

  std::shared_ptr<const std::vector<PastUse>> past_use_;  // null once added, or if there is none
  double half_life_s_;
  Duration lease_;
  std::map<VcId, Vc> vcs_;
  std::map<Owner, Account> accounts_;
  JobMarks running_;  // jobs that their owners' accounts count
  JobMarks there_;
  static constexpr double kNotThere = -1;
  std::vector<double> deserved_s_;  // GPU time, by job; where there are leases
};

}  // namespace

void register_fair_share(Registry& registry) {
  const Parameter half_life = number("half_life_s", "half-life of past usage", 604'800, 1, 1e12);
  registry.wholes.add(
      {.name = "fair_share",
       .summary =
           "user with the least usage against fair share first; past usage decays with a half-life",
       .source = "Slurm's fair tree",
       .parameters = {half_life}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<FairShare>(
            almanac::policy::registry().placements.make(composition.placement, host), host,
            told.number("half_life_s"), Duration{0});
      });
  registry.wholes.add(
      {.name = "astraea",
       .summary = "fair share by leases: over time each user, and each of the user's jobs, gets "
                  "GPU time according to share",
       .source = "Ye et al. TPDS'22 (Astraea)",
       .traits = {.has = {Trait::stops_jobs, Trait::leases}},
       .parameters = {number("lease_s", "time until running jobs may be preempted", 360, 1, 1e7),
                      half_life}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<FairShare>(
            almanac::policy::registry().placements.make(composition.placement, host), host,
            told.number("half_life_s"), told.duration("lease_s"));
      });
}

}  // namespace almanac::policy::whole
