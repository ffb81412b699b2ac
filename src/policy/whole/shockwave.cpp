// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs buy rounds on a market, so that the product of all jobs' progress is large and the last job
/// ends early. Jobs that would end later than on 1/n of the GPUs must get rounds, or weigh more if
/// there are too few rounds for all of them. A job may still end later: a wide job beside narrow
/// ones that never leave it room often does.
///
/// Plans at each lease and carries out the first round of the plan. GPUs that it leaves go to the
/// jobs with the most remaining time. GPUs that become free within a lease are given out in the
/// same way, and no job is stopped. At the end of a lease, a job is not stopped either if the work
/// of the lease does not exceed the cost of stopping it.
///
/// Source   Zheng et al., NSDI'23 (Shockwave), sections 5 and 6.
/// Differs  Progress is the elapsed fraction of the estimated run time. Logs do not show how batch
///          sizes will grow; `gavel/shockwave.h` models that for the published workloads. See also
///          rules/timeshare/market.h.
/// Cost     O(n r log(n r)) per lease with n jobs and plans of r rounds, and O(n) per bound that
///          the market tries
#include <algorithm>
#include <map>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"
#include "rules/timeshare/market.h"

namespace almanac::policy::whole {
namespace {

constexpr double kLeastSeconds = 1e-3;

class Shockwave final : public LeaseAllocator {
 public:
  Shockwave(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
            const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(estimator)),
        window_{.rounds = static_cast<int>(told.number("rounds")),
                .round_s = told.number("lease_s"),
                .makespan_worth = told.number("makespan_worth"),
                .power = told.number("power")} {}

 private:
  using FairEnds = std::map<JobId, timeshare::FairEnd>;

  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan&, std::vector<Wish>& wishes) override {
    FairEnds& ends = fair_ends_[deal.vc];
    if (deal.begins) estimate(ends, deal, view);
    std::vector<JobId> open = keep(deal.jobs, deal, view, wishes);
    if (is_order_telling(open, deal.left, view)) {
      std::stable_sort(open.begin(), open.end(), [&](JobId one, JobId other) {
        return work_left(one, view) > work_left(other, view);
      });
      if (deal.begins) put_planned_first(ends, gpus_of(deal.left), open, view);
    }
    for (const JobId job : open) {
      if (take(deal.left, job, view)) wishes.push_back({job});
    }
  }

  /// Whether the order in which jobs are named matters. Running jobs have room where they are, and
  /// continue if no other job takes it; among waiting jobs the first is placed first.
  static bool is_order_telling(const std::vector<JobId>& open, const std::vector<Stock>& left,
                               const View& view) {
    const auto waits = [&](JobId job) { return view.progress(job).phase == Phase::waiting; };
    const bool any_fits = std::any_of(open.begin(), open.end(), [&](JobId job) {
      return waits(job) && is_in(left, asked(job, view));
    });
    if (!any_fits) return false;
    if (std::count_if(open.begin(), open.end(), waits) > 1 || left.size() > 1) return true;
    std::vector<Stock> all = left;
    return !std::all_of(open.begin(), open.end(), [&](JobId job) { return take(all, job, view); });
  }

  void put_planned_first(const FairEnds& ends, double gpus, std::vector<JobId>& open,
                         const View& view) const {
    if (open.empty() || gpus < 1) return;
    std::vector<timeshare::Claim> claims;
    for (const JobId job : open) {
      const double submitted_s = seconds(view.request(job).submit);
      const double now_s = seconds(view.now);
      const double left_s = seconds_left(job, view);
      const double fair_s = ends.at(job).at(now_s) - submitted_s;
      claims.push_back({.gpus = std::max(1, static_cast<int>(asked(job, view).gpus)),
                        .age_s = now_s - submitted_s,
                        .done = 1 - left_s / (seconds(view.worked(job)) + left_s),
                        .left_s = left_s,
                        .fair_jct_s = std::max(kLeastSeconds, fair_s)});
    }
    timeshare::Window window = window_;
    window.gpus = gpus;
    std::vector<JobId> ordered;
    std::vector<bool> planned(open.size(), false);
    for (const std::size_t at : timeshare::plan_next_round(window, claims)) {
      ordered.push_back(open[at]);
      planned[at] = true;
    }
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (!planned[at]) ordered.push_back(open[at]);
    }
    open = std::move(ordered);
  }

  /// Estimates the end of each job on its own share of the cluster.
  void estimate(FairEnds& known, const Deal& deal, const View& view) const {
    FairEnds ends;
    const double part = std::min(1.0, gpus_of(deal.left) / static_cast<double>(deal.jobs.size()));
    for (const JobId job : deal.jobs) {
      if (asked(job, view).is_cpu_job()) continue;
      timeshare::FairEnd& end = ends[job];
      if (const auto before = known.find(job); before != known.end()) end = before->second;
      const double run_s = seconds(view.worked(job)) + seconds_left(job, view);
      end.estimate(seconds(view.request(job).submit) + run_s / std::max(part, kLeastSeconds),
                   seconds(view.now));
    }
    known = std::move(ends);
  }

  double seconds_left(JobId job, const View& view) const {
    return std::max(kLeastSeconds, seconds(work_left(job, view)));
  }

  static double gpus_of(const std::vector<Stock>& stock) {
    double milli = 0;
    for (const Stock& each : stock) milli += static_cast<double>(each.milli);
    return std::max(0.0, milli / cluster::kWholeGpu);
  }

  timeshare::Window window_;
  std::map<VcId, FairEnds> fair_ends_;
};

}  // namespace

void register_shockwave(Registry& registry) {
  registry.wholes.add(
      {.name = "shockwave",
       .summary = "market for rounds, in which jobs that would finish later than with an equal "
                  "share of the cluster weigh more",
       .source = "Zheng et al. NSDI'23 (Shockwave)",
       .traits = {.has = {Trait::reads_run_times, Trait::stops_jobs, Trait::leases}},
       .parameters =
           {number("lease_s", "length of a round", 120, 1, 1e6),
            number("rounds", "number of rounds planned ahead", 20, 1, 1000),
            number("makespan_worth",
                   "weight of the longest remaining run time against the mean log progress", 1e-3,
                   0, 1e6),
            number(
                "power",
                "exponent of a job's lateness as its weight when not all jobs can finish in time",
                12, 0, 100)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Shockwave>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
