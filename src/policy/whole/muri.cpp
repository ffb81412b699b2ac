// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that ask as many GPUs take turns on the same ones, in groups of up to four that are matched
/// anew in each round.
///
/// In order of rank jobs are chosen for as long as GPUs would do if four shared what each asks.
/// Where the GPUs do not suffice for them alone, they are merged by matchings of the greatest
/// weight until they do (interleave::group); the weight of a group is the work that it does, beside
/// what four jobs do that never wait for each other. A group that does less than its jobs one after
/// another is taken apart. Groups start in order of their first jobs, where the placement likes.
/// Within a round groups lose the jobs that end, and what becomes free goes to the jobs that wait
/// in the same way; none is stopped. Nor is, at its end, a group with a job that has gained less
/// than a round over what a stop costs it.
///
///   muri_l   rank: GPU time so far
///   muri_s   rank: GPU time that is believed to be left
///
/// How fast jobs are beside each other is predicted, by stages where their models tell them
/// (perf/beside.h); without View::speeds none share.
///
/// Source   Zhao et al., SIGCOMM'22 (Muri), sections 4 and 5; rounds of 6 minutes are of section 6.
/// Differs  The published simulator plans at every event, charges no job for having been moved, and
///          weighs by the time in which stages are in use. Of matchings that weigh alike the one is
///          taken here that parts the fewest jobs, and of more than 64 groups that ask as many GPUs
///          each 64 in order of rank are matched by themselves.
/// Cost     each round, where GPUs are short: matchings of 64 groups, some milliseconds each, until
///          up to four times the jobs that the GPUs hold are merged.
#include "interleave/muri.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/kit/allocator.h"
#include "policy/kit/gpu_memory.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Muri final : public Allocator {
 public:
  Muri(std::unique_ptr<Placement> placement, Host host, Duration round, bool by_remaining)
      : Allocator(std::move(placement), std::move(host.estimator)),
        may_share_(std::move(host.may_share)),
        round_(round),
        by_remaining_(by_remaining) {}

 private:
  using Jobs = std::vector<JobId>;
  struct Vc {
    std::vector<Jobs> groups;  // as last wished
    Jobs jobs;                 // at the last decision
    Time round_ends{};
  };

  bool groups_jobs() const override { return true; }

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    Vc& vc = vcs_[id];
    vc.jobs.assign(jobs.begin(), jobs.end());
    const bool round_goes_on = view.now < vc.round_ends;
    if (!round_goes_on) vc.round_ends = view.now + round_;
    std::vector<Stock> left = stock(id, plan.ledger);
    std::set<JobId> named;
    const auto wish = [&](const Jobs& group) {
      named.insert(group.begin(), group.end());
      wishes.push_back({.job = group.front(), .beside = {group.begin() + 1, group.end()}});
    };
    for (Jobs& group : vc.groups) {
      std::erase_if(group, [&](JobId job) { return !runs(job, vc, view); });
      const bool stays = round_goes_on || std::any_of(group.begin(), group.end(), [&](JobId job) {
                           return !has_gained(job, round_, view);
                         });
      if (!group.empty() && stays && take(left, group.front(), view)) wish(group);
    }
    Jobs open;
    for (const JobId job : jobs) {
      if (named.contains(job)) continue;
      asked(job, view).is_cpu_job() ? wish({job}) : open.push_back(job);
    }
    std::stable_sort(open.begin(), open.end(),
                     [&](JobId one, JobId other) { return rank(one, view) < rank(other, view); });
    for (const Jobs& group : grouped(id, choose(open, left, view), left, view, plan.ledger)) {
      if (take(left, asked(group.front(), view))) wish(group);
    }
    vc.groups.clear();
    for (const Wish& each : wishes) {
      vc.groups.push_back({each.job});
      vc.groups.back().insert(vc.groups.back().end(), each.beside.begin(), each.beside.end());
    }
  }

  static constexpr std::size_t kMostMatched = 64;

  static bool runs(JobId job, const Vc& vc, const View& view) {
    return std::binary_search(vc.jobs.begin(), vc.jobs.end(), job) &&
           view.progress(job).phase == Phase::running;
  }

  double rank(JobId job, const View& view) const {
    return seconds(by_remaining_ ? work_left(job, view) : view.attained(job)) *
           asked(job, view).gpus;
  }

  /// The jobs that are to run if up to four share what one of them asks.
  static Jobs choose(const Jobs& open, std::vector<Stock> left, const View& view) {
    std::vector<bool> is_chosen(open.size());
    for (std::size_t at = 0; at < open.size(); ++at) {
      const cluster::Demand& demand = asked(open[at], view);
      if (is_chosen[at] || !take(left, demand)) continue;
      std::size_t count = 0;
      for (std::size_t other = at; other < open.size() && count < interleave::kMaxGroup; ++other) {
        if (is_chosen[other] || !alike(demand, asked(open[other], view))) continue;
        is_chosen[other] = true;
        ++count;
      }
    }
    Jobs chosen;
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (is_chosen[at]) chosen.push_back(open[at]);
    }
    return chosen;
  }

  static bool alike(const cluster::Demand& one, const cluster::Demand& other) {
    return one.gpus == other.gpus && one.gpu_milli == other.gpu_milli &&
           one.gpu_types == other.gpu_types;
  }

  /// Groups of `jobs`, which are in order of rank, in order of their first.
  std::vector<Jobs> grouped(VcId vc, const Jobs& jobs, const std::vector<Stock>& left,
                            const View& view, const cluster::Ledger& ledger) const {
    std::vector<int> gpus_of;
    for (const JobId job : jobs) gpus_of.push_back(asked(job, view).gpus);
    std::int64_t milli = 0;
    for (const Stock& each : left) milli += each.milli;
    const auto named = [&](const interleave::Group& group) {
      Jobs made;
      for (const std::size_t at : group) made.push_back(jobs[at]);
      return made;
    };
    // There are few models, and many groups of jobs of them.
    std::map<std::vector<Kind>, double> known;
    const auto weight = [&](const interleave::Group& group) {
      constexpr double kTogether = 1e-6;  // far less than weights differ
      const Jobs here = named(group);
      if (!may_share(here, view)) return 0.0;
      std::vector<Kind> kinds;
      for (const JobId job : here) kinds.push_back(kind_of(job, view));
      const auto [at, is_new] = known.try_emplace(std::move(kinds), 0);
      if (is_new) at->second = work_together(vc, here, view, ledger) / interleave::kMaxGroup;
      if (at->second <= 0) return 0.0;
      return at->second + kTogether * static_cast<double>(pairs_that_share(here, view));
    };
    std::vector<interleave::Group> groups;
    for (const interleave::Group& each : interleave::group(
             gpus_of, static_cast<int>(milli / cluster::kWholeGpu), weight, kMostMatched)) {
      if (each.size() == 1 || work_together(vc, named(each), view, ledger) >= 1) {
        groups.push_back(each);
        continue;
      }
      for (const std::size_t job : each) groups.push_back({job});
    }
    std::vector<Jobs> made;
    for (interleave::Group& each : groups) std::sort(each.begin(), each.end());
    std::sort(groups.begin(), groups.end());
    std::transform(groups.begin(), groups.end(), std::back_inserter(made), named);
    return made;
  }

  /// Model, GPUs, types that will do, memory of each GPU in MB.
  using Kind = std::tuple<const perf::SpeedModel*, int, std::uint64_t, std::int32_t>;
  static Kind kind_of(JobId job, const View& view) {
    const cluster::Demand& demand = asked(job, view);
    return {&view.speeds->model(job), demand.gpus, demand.gpu_types,
            gpu_memory_mb(std::array{job}, view)};
  }

  bool may_share(const Jobs& jobs, const View& view) const {
    const cluster::Demand& demand = asked(jobs.front(), view);
    if (view.speeds == nullptr || demand.is_part()) return false;
    for (std::size_t at = 1; at < jobs.size(); ++at) {
      if (!alike(demand, asked(jobs[at], view))) return false;
      for (std::size_t host = 0; host < at && may_share_; ++host) {
        if (!may_share_(jobs[host], jobs[at])) return false;
      }
    }
    return true;
  }

  /// What the jobs of a group do at a time, beside what one of them does alone; 0 = they do not fit
  /// into the memory of any GPU together.
  static double work_together(VcId vc, const Jobs& group, const View& view,
                              const cluster::Ledger& ledger) {
    const cluster::Demand& demand = asked(group.front(), view);
    const std::int32_t asked_mb = gpu_memory_mb(group, view);
    for (const cluster::Pool& pool : ledger.pools(vc)) {
      if ((pool.gpu_type & demand.gpu_types) == 0 || asked_mb > pool.gpu_memory_mb) continue;
      double work = 0;
      for (const JobId job : group) {
        Jobs beside = group;
        std::erase(beside, job);
        const auto rate = [&](std::span<const JobId> others) {
          return rate_on(job, demand.gpus, pool.gpu_type, vc, view, ledger, others);
        };
        const double alone = rate({});
        work += alone > 0 ? rate(beside) / alone : 0;
      }
      return work;
    }
    return 0;
  }

  static std::size_t pairs_that_share(const Jobs& jobs, const View& view) {
    std::size_t count = 0;
    for (std::size_t one = 0; one < jobs.size(); ++one) {
      if (view.progress(jobs[one]).phase != Phase::running) continue;
      const cluster::Grant& held = view.grants(jobs[one]).front();
      for (std::size_t other = 0; other < one; ++other) {
        if (view.progress(jobs[other]).phase != Phase::running) continue;
        const cluster::Grant& its = view.grants(jobs[other]).front();
        count += held.node == its.node && held.gpus == its.gpus ? 1 : 0;
      }
    }
    return count;
  }

  /// Wakes at the end of the round where a job runs and another waits, or some share.
  void settled(VcId id, const View& view, Plan& plan) override {
    const Vc& vc = vcs_[id];
    const auto goes_on = [&](JobId job) { return will_run(job, view, plan); };
    const bool shares = std::any_of(vc.groups.begin(), vc.groups.end(),
                                    [](const Jobs& group) { return group.size() > 1; });
    if (!shares && std::all_of(vc.jobs.begin(), vc.jobs.end(), goes_on)) return;
    if (std::any_of(vc.jobs.begin(), vc.jobs.end(), goes_on)) plan.wake(vc.round_ends);
  }

  MayShare may_share_;
  Duration round_;
  bool by_remaining_;
  std::map<VcId, Vc> vcs_;
};

void add(Registry& registry, const char* name, const char* summary, TraitSet has) {
  const bool by_remaining = has.has(Trait::reads_run_times);
  registry.wholes.add(
      {.name = name,
       .summary = summary,
       .source = "Zhao et al. SIGCOMM'22 (Muri)",
       .traits = {.has = has},
       .parameters = {number("lease_s", "after which groups are matched anew", 360, 1, 1e6)}},
      [by_remaining](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Muri>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told.duration("lease_s"), by_remaining);
      });
}

}  // namespace

void register_muri(Registry& registry) {
  add(registry, "muri_l",
      "groups that take turns are matched in rounds, the least GPU time so far first",
      {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs, Trait::moves_jobs,
       Trait::leases});
  add(registry, "muri_s",
      "groups that take turns are matched in rounds, the least GPU time left first",
      {Trait::reads_speeds, Trait::reads_run_times, Trait::shares_gpus, Trait::stops_jobs,
       Trait::moves_jobs, Trait::leases});
}

}  // namespace almanac::policy::whole
