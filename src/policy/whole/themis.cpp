// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs bid for GPUs by how much later they would end than on a cluster of their own; the worst off
/// bid first.
///
/// A job's rho is the time from its submission to its expected end, divided by the time on 1/n of
/// the GPUs (fairness::finish_time_ratio). At each lease, the fraction 1 - `kept` of the jobs with
/// the largest rho may bid. The product of their 1 / rho is maximized by gain per GPU. The other
/// jobs get the rest, the worst off first.
///
/// Source   Mahajan et al., NSDI'20 (Themis), sections 3 to 5.
/// Differs  A job gets all it requests or nothing, so there are no partial payments to keep bids
///          honest. The policy computes rho itself; jobs do not report it, so they can only
///          misstate their estimates. An app is a single job.
/// Cost     O(n log n) per decision with n jobs
#include <algorithm>
#include <cmath>
#include <map>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"
#include "rules/fairness/shares.h"

namespace almanac::policy::whole {
namespace {

class Themis final : public LeaseAllocator {
 public:
  Themis(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
         const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(estimator)),
        left_out_(told.number("left_out")) {}

 private:
  struct Bid {
    JobId job{};
    double rho = 0;
    double gain = 0;  // of log(1 / rho) for each GPU, by this lease
  };

  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void deal(Deal& deal, const View& view, Plan&, std::vector<Wish>& wishes) override {
    double gpus = 0;
    for (const Stock& each : deal.left) gpus += each.gpus();
    std::vector<Bid> bids;
    for (const JobId job : keep(deal.jobs, deal, view, wishes)) {
      bids.push_back(bid(job, static_cast<double>(deal.jobs.size()), gpus, view));
    }
    std::stable_sort(bids.begin(), bids.end(),
                     [](const Bid& one, const Bid& other) { return one.rho > other.rho; });
    const auto bidders =
        static_cast<std::ptrdiff_t>(std::ceil((1 - left_out_) * static_cast<double>(bids.size())));
    std::stable_sort(bids.begin(), bids.begin() + bidders,
                     [](const Bid& one, const Bid& other) { return one.gain > other.gain; });
    for (const Bid& each : bids) {
      if (take(deal.left, each.job, view)) wishes.push_back({each.job});
    }
  }

  Bid bid(JobId job, double jobs, double gpus, const View& view) const {
    const double age_s = seconds(view.now - view.request(job).submit);
    const double left_s = std::max(1e-3, seconds(work_left(job, view)));
    const double alone_s = std::max(1e-3, seconds(view.worked(job)) + left_s);
    const double now = fairness::finish_time_ratio(age_s + left_s, alone_s, jobs, gpus);
    const double later =
        fairness::finish_time_ratio(age_s + seconds(lease()) + left_s, alone_s, jobs, gpus);
    return {job, now, std::log(later / now) / std::max(1, static_cast<int>(asked(job, view).gpus))};
  }

  double left_out_;
};

}  // namespace

void register_themis(Registry& registry) {
  registry.wholes.add(
      {.name = "themis",
       .summary = "finish-time fairness: jobs furthest behind an equal share of the cluster bid "
                  "for GPUs first",
       .source = "Mahajan et al. NSDI'20 (Themis)",
       .traits = {.has = {Trait::reads_run_times, Trait::stops_jobs, Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 1'200, 1, 1e6),
                      {.name = "left_out",
                       .summary = "fraction of the jobs, the best-off, that may not bid",
                       .usual = {0.8},
                       .most = 1,
                       .formerly = "kept"}}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Themis>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
