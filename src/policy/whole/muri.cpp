// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs that request the same number of GPUs take turns on them, in groups of up to four that are
/// matched again in each round.
///
/// Chooses jobs by rank, as many as fit if groups of four shared the GPUs that each requests. If
/// the GPUs are too few for the jobs alone, merges jobs by maximum-weight matchings until they fit
/// (interleave::group). The weight of a group is its work relative to four jobs that never wait for
/// each other. A group that does less work than its jobs one after another is dissolved. Groups
/// start in the order of their first jobs, where the placement chooses. A round is a lease
/// (kit/lease_allocator.h): within it, groups only lose jobs that end, and GPUs that become free go
/// to waiting jobs in the same way.
///
///   muri_l   rank: attained GPU time
///   muri_s   rank: estimated remaining GPU time
///
/// Speeds of jobs that share are predicted, by stages if their models have them (perf/beside.h).
/// Without View::speeds no jobs share.
///
/// Source   Zhao et al., SIGCOMM'22 (Muri), sections 4 and 5; rounds of 6 minutes are of section 6.
/// Differs  The published simulator plans at every event, charges no job for a move, and weighs by
///          the time in which stages are in use. Among matchings of equal weight, this policy takes
///          the one that separates the fewest jobs. It matches more than 64 groups of one GPU count
///          in blocks of 64 by rank.
/// Cost     Each round, if GPUs are short: matchings of 64 groups, some ms each, until up to four
///          times the jobs that the GPUs hold are merged.
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

  /// Returns the jobs to run if up to four share what one of them requests.
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

  /// Groups `jobs`, which are in order of rank. Groups are in the order of their first jobs.
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

  /// Returns the work rate of a group relative to one of its jobs alone; 0 if the jobs do not fit
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
