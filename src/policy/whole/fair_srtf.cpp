// SPDX-License-Identifier: Apache-2.0

/// \file
/// The least left first, those sooner that end late beside a part of the cluster of their own, each
/// on the type of GPUs where that is worth most.
///
/// At each lease it raises the sum over jobs of rho^`power` / time left
/// (timeshare::shortest_first), rho being the time from submission to the believed end over that on
/// 1/n of the GPUs, as Themis has it. Rho grows with each job that waits, so that none waits for
/// ever. In a lease whatever becomes free is handed out at once, and no job is stopped; nor is one
/// at its end that has gained less than a lease of work over what a stop costs it.
///
/// How fast a job is on a type Allocator::rate_on_type() says.
///
/// Source   ours; the parts are those of rules/timeshare/shortest_first.h and of Mahajan et al.,
/// NSDI'20
///          (Themis), section 3.
/// Cost     a sort at each decision; a linear program of jobs x types where types differ.
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
