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
/// Cost     O(n) a deal with n jobs of a virtual cluster, and O(w log w) with w that wait.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "policy/kit/allocator.h"
#include "policy/kit/owner.h"
#include "policy/kit/tree_parts.h"
#include "policy/registry.h"
#include "rules/fairness/decayed_use.h"

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
  /// Use of an owner, or of a tenant above it, and what runs for it now.
  struct Account {
    explicit Account(double half_life_s) : use(half_life_s) {}
    fairness::DecayedUse use;  // until `since`
    std::int64_t milli = 0;    // of GPUs that have run since
    Time since{};
  };
  /// A job, and what its owner and those above it have used for their shares, from the top down.
  struct Next {
    const std::vector<double>* used = nullptr;
    double had = 0;  // GPU time, for what the job deserved
    JobId job{};
  };
  struct Vc {
    std::vector<JobId> jobs;
    std::vector<JobId> line;  // those that did not run on, the next one first
    Time lease_ends{};
    Time stands_until = Time::min();
    bool waits = false;
    Time counted{};  // until then deserved_s_ is
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
    // The line changes as jobs run, so it stands only as long as it does not matter who is first.
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

  /// Adds what jobs that were there at the last decision have deserved since.
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

  /// GPUs that each job of an owner deserves while `jobs` are there.
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

  /// GPU time that a job has had for what it deserved; 0 without leases.
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

  /// From now on so much more, in thousandths of a GPU, runs for the owner of a job.
  void run_more(JobId job, std::int64_t milli, const View& view) {
    for_all_above(owner_of(job, view), view, [&](Account& account) {
      account.use = use_until(account, view.now);
      account.since = std::max(account.since, view.now);
      account.milli += milli;
    });
  }

  /// Use that includes what has run until `now`.
  static fairness::DecayedUse use_until(const Account& account, Time now) {
    fairness::DecayedUse use = account.use;
    if (account.milli > 0 && account.since < now) {
      const double gpus = static_cast<double>(account.milli) / cluster::kWholeGpu;
      use.add(gpus, in_s(account.since), in_s(now));
    }
    return use;
  }

  /// Adds what was used before all that it has seen.
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

  /// Tells `take` the account of an owner and of those above it.
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

  /// What an owner and those above it have used for their shares, from the top down.
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

  std::shared_ptr<const std::vector<PastUse>> past_use_;  // null = it is taken, or there is none
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
