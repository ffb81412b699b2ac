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
/// A round is a lease (kit/lease_allocator.h): within one groups lose the jobs that end, and what
/// becomes free goes to the jobs that wait in the same way.
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
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "policy/kit/lease_allocator.h"
#include "policy/kit/sharers.h"
#include "policy/registry.h"
#include "rules/interleave/groups.h"

namespace almanac::policy::whole {
namespace {

class Muri final : public LeaseAllocator {
 public:
  Muri(std::unique_ptr<Placement> placement, Host host, Duration round, bool by_remaining)
      : LeaseAllocator(std::move(placement), round, std::move(host.estimator)),
        may_share_(std::move(host.may_share)),
        by_remaining_(by_remaining) {}

 private:
  using Jobs = std::vector<JobId>;

  bool groups_jobs() const override { return true; }
  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    Jobs open = keep_groups(deal, view, wishes);
    std::erase_if(open, [&](JobId job) { return !is_in(deal.left, asked(job, view)); });
    sort_by_rank(open, view);
    for (const Jobs& group : grouped(choose(open, deal.left, view), deal, view, plan.ledger)) {
      if (!take(deal.left, asked(group.front(), view))) continue;
      wishes.push_back({.job = group.front(), .beside = {group.begin() + 1, group.end()}});
    }
  }

  static constexpr std::size_t kMostMatched = 64;

  double rank(JobId job, const View& view) const {
    return seconds(by_remaining_ ? work_left(job, view) : view.attained(job)) *
           asked(job, view).gpus;
  }

  void sort_by_rank(Jobs& jobs, const View& view) const {
    struct Ranked {
      double rank;
      std::size_t at;
      JobId job;
    };
    std::vector<Ranked> ranked;
    ranked.reserve(jobs.size());
    for (const JobId job : jobs) ranked.push_back({rank(job, view), ranked.size(), job});
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& one, const Ranked& other) {
      return one.rank != other.rank ? one.rank < other.rank : one.at < other.at;
    });
    std::transform(ranked.begin(), ranked.end(), jobs.begin(),
                   [](const Ranked& each) { return each.job; });
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
  std::vector<Jobs> grouped(const Jobs& jobs, const Deal& deal, const View& view,
                            const cluster::Ledger& ledger) {
    if (view.speeds == nullptr) {  // none may share
      std::vector<Jobs> alone;
      alone.reserve(jobs.size());
      for (const JobId job : jobs) alone.push_back({job});
      return alone;
    }
    std::vector<int> gpus_of;
    for (const JobId job : jobs) gpus_of.push_back(asked(job, view).gpus);
    std::int64_t milli = 0;
    for (const Stock& each : deal.left) milli += each.milli;
    const auto named = [&](const interleave::Group& group) {
      Jobs made;
      for (const std::size_t at : group) made.push_back(jobs[at]);
      return made;
    };
    // There are few models, and many groups of jobs of them.
    std::map<std::vector<SharerKind>, double> known;
    const auto weight = [&](const interleave::Group& group) {
      constexpr double kTogether = 1e-6;  // far less than weights differ
      const Jobs here = named(group);
      if (!may_share(here, view)) return 0.0;
      std::vector<SharerKind> kinds;
      for (const JobId job : here) kinds.push_back(kinds_.of(job, view));
      const auto [at, is_new] = known.try_emplace(std::move(kinds), 0);
      if (is_new) at->second = work_together(here, deal, view, ledger) / interleave::kMaxGroup;
      if (at->second <= 0) return 0.0;
      return at->second + kTogether * static_cast<double>(pairs_that_share(here, view));
    };
    std::vector<interleave::Group> groups;
    for (const interleave::Group& each : interleave::group(
             gpus_of, static_cast<int>(milli / cluster::kWholeGpu), weight, kMostMatched)) {
      if (each.size() == 1 || work_together(named(each), deal, view, ledger) >= 1) {
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
  static double work_together(const Jobs& group, const Deal& deal, const View& view,
                              const cluster::Ledger& ledger) {
    const cluster::Demand& demand = asked(group.front(), view);
    for (const Stock& each : deal.left) {
      if ((each.gpu_type & demand.gpu_types) == 0) continue;
      const std::vector<SharerRate> rates =
          rates_together(group, demand.gpus, each.gpu_type, deal.vc, view, ledger);
      double work = 0;
      for (const SharerRate& rate : rates) work += rate.alone > 0 ? rate.beside / rate.alone : 0;
      if (!rates.empty()) return work;
    }
    return 0;
  }

  MayShare may_share_;
  bool by_remaining_;
  SharerKinds kinds_;
};

void add(Registry& registry, const char* name, const char* summary, TraitSet has) {
  const bool by_remaining = has.has(Trait::reads_run_times);
  registry.wholes.add(
      {.name = name,
       .summary = summary,
       .source = "Zhao et al. SIGCOMM'22 (Muri)",
       .traits = {.has = has},
       .parameters = {number("lease_s", "time between two regroupings", 360, 1, 1e6)}},
      [by_remaining](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Muri>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told.duration("lease_s"), by_remaining);
      });
}

}  // namespace

void register_muri(Registry& registry) {
  add(registry, "muri_l",
      "groups of interleaved jobs, matched in rounds; least attained GPU time first",
      {Trait::reads_speeds, Trait::shares_gpus, Trait::stops_jobs, Trait::moves_jobs,
       Trait::leases});
  add(registry, "muri_s",
      "groups of interleaved jobs, matched in rounds; least remaining GPU time first",
      {Trait::reads_speeds, Trait::reads_run_times, Trait::shares_gpus, Trait::stops_jobs,
       Trait::moves_jobs, Trait::leases});
}

}  // namespace almanac::policy::whole
