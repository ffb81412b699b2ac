// SPDX-License-Identifier: Apache-2.0

/// \file
/// Shortest remaining time first, earlier for jobs that end late compared with their own share of
/// the cluster, each on the GPU type where that is worth most.
///
/// Each lease maximizes the sum over jobs of rho^`power` / remaining time
/// (timeshare::shortest_first). As in Themis, rho is the time from submission to the expected end,
/// divided by the time on 1/n of the GPUs. Rho grows while a job waits. A wide job can still wait
/// without bound while narrow jobs keep coming, because no GPUs are kept free for it.
/// GPUs that become free within a lease are given out at once, and no job is stopped. At the end of
/// a lease, a job is not stopped either if the work of the lease does not exceed the cost of
/// stopping it.
///
/// Speeds by type come from Allocator::rate_on_type().
///
/// Source   Our own; its parts come from rules/timeshare/shortest_first.h and from Mahajan et al.,
///          NSDI'20 (Themis), section 3.
/// Cost     a sort per decision; a linear program of jobs x types if types differ
#include <algorithm>
#include <map>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"
#include "rules/fairness/shares.h"
#include "rules/timeshare/shortest_first.h"

namespace almanac::policy::whole {
namespace {

class FairSrtf final : public LeaseAllocator {
 public:
  FairSrtf(std::unique_ptr<Placement> placement, Host host, const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(host.estimator),
                       std::move(host.type_speeds)),
        power_(told.number("power")) {}

 private:
  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    std::vector<Stock>& left = deal.left;
    double gpus = 0;
    for (const Stock& each : left) gpus += each.gpus();
    const std::vector<JobId> open = keep(deal.jobs, deal, view, wishes);
    timeshare::Problem problem;
    for (const Stock& each : left) problem.gpus.push_back(std::max(0.0, each.gpus()));
    for (const JobId job : open) {
      timeshare::Job& claim = problem.jobs.emplace_back();
      claim.rates = rates_on(left, job, deal.vc, view, plan.ledger);
      weigh(claim, job, gpus, static_cast<double>(deal.jobs.size()), view);
    }
    for (const auto [at, type] : timeshare::shortest_first(problem)) {
      cluster::Demand demand = asked(open[at], view);
      demand.gpu_types &= left[type].gpu_type;
      if (demand.gpu_types != 0 && take(left, demand)) {
        wishes.push_back({open[at], 0, demand.gpu_types});
      } else if (take(left, asked(open[at], view))) {
        wishes.push_back({open[at]});
      }
    }
  }

  void weigh(timeshare::Job& claim, JobId job, double gpus, double jobs, const View& view) const {
    claim.gpus = std::max(1, static_cast<int>(asked(job, view).gpus));
    const double left_s = std::max(1e-3, seconds(work_left(job, view)));
    const double alone_s = seconds(view.worked(job)) + left_s;
    const double age_s = seconds(view.now - view.request(job).submit);
    claim.steps_left = left_s;
    claim.weight = fairness::lateness_weight(
        fairness::finish_time_ratio(age_s + left_s, alone_s, jobs, gpus), power_);
  }

  double power_;
};

}  // namespace

void register_fair_srtf(Registry& registry) {
  registry.wholes.add(
      {.name = "fair_srtf",
       .summary = "shortest remaining time first, earlier for jobs that an equal share would have "
                  "served better; each on the GPU type that speeds it up most",
       .source = "ours",
       .traits = {.has = {Trait::reads_run_times, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 360, 1, 1e6),
                      number("power",
                             "weight of the finish-time ratio; 0: only remaining time counts",
                             fairness::kLatenessPower, 0, 20)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<FairSrtf>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host), told);
      });
}

}  // namespace almanac::policy::whole
