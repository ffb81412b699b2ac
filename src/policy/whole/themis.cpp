// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs bid for GPUs by how much later they would end than on a cluster of their own, and those
/// that are worst off bid first.
///
/// A job's rho is the time from its submission to its believed end, over that on 1/n of the GPUs
/// (fairness::finish_time_ratio). At each lease the part 1 - `kept` of the jobs that have the
/// greatest rho may bid; the product of 1 / rho over them is made as large as it can, by the gain
/// for each GPU. What they leave the others have, the worst off first.
///
/// Source   Mahajan et al., NSDI'20 (Themis), sections 3 to 5.
/// Differs  A job gets what it asks or nothing, so the payments that keep bids honest there, parts
///          of what was won, have no counterpart: rho is worked out here and not told by jobs,
///          which have nothing to lie about but their estimates. An app is a job.
/// Cost     O(n log n) a decision with n jobs.
#include <algorithm>
#include <cmath>
#include <map>

#include "fairness/shares.h"
#include "policy/kit/allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Themis final : public Allocator {
 public:
  Themis(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
         const Parameters& told)
      : Allocator(std::move(placement), std::move(estimator)),
        lease_(told.duration("lease_s")),
        kept_(told.number("kept")) {}

 private:
  struct Vc {
    std::vector<JobId> jobs;
    Time lease_ends{};
  };
  struct Bid {
    JobId job{};
    double rho = 0;
    double gain = 0;  // of log(1 / rho) for each GPU, by this lease
  };

  void allocate(VcId id, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    Vc& vc = vcs_[id];
    vc.jobs.assign(jobs.begin(), jobs.end());
    const bool lease_goes_on = view.now < vc.lease_ends;
    if (!lease_goes_on) vc.lease_ends = view.now + lease_;
    std::vector<Stock> left = stock(id, plan.ledger);
    double gpus = 0;
    for (const Stock& each : left) gpus += static_cast<double>(each.milli) / cluster::kWholeGpu;
    std::vector<Bid> bids;
    for (const JobId job : jobs) {
      const bool runs = view.progress(job).phase == Phase::running;
      const bool stays = runs && (lease_goes_on || !has_gained(job, lease_, view));
      if (stays || asked(job, view).is_cpu_job()) {
        if (runs) take(left, job, view);
        wishes.push_back({job});
      } else {
        bids.push_back(bid(job, static_cast<double>(jobs.size()), gpus, view));
      }
    }
    std::stable_sort(bids.begin(), bids.end(),
                     [](const Bid& one, const Bid& other) { return one.rho > other.rho; });
    const auto bidders =
        static_cast<std::ptrdiff_t>(std::ceil((1 - kept_) * static_cast<double>(bids.size())));
    std::stable_sort(bids.begin(), bids.begin() + bidders,
                     [](const Bid& one, const Bid& other) { return one.gain > other.gain; });
    for (const Bid& each : bids) {
      if (take(left, each.job, view)) wishes.push_back({each.job});
    }
  }

  Bid bid(JobId job, double jobs, double gpus, const View& view) const {
    const double age_s = seconds(view.now - view.request(job).submit);
    const double left_s = std::max(1e-3, seconds(work_left(job, view)));
    const double alone_s = std::max(1e-3, seconds(view.worked(job)) + left_s);
    const double now = fairness::finish_time_ratio(age_s + left_s, alone_s, jobs, gpus);
    const double later =
        fairness::finish_time_ratio(age_s + seconds(lease_) + left_s, alone_s, jobs, gpus);
    return {job, now, std::log(later / now) / std::max(1, static_cast<int>(asked(job, view).gpus))};
  }

  /// Wakes at the end of the lease where a job waits and another runs.
  void settled(VcId id, const View& view, Plan& plan) override {
    const Vc& vc = vcs_[id];
    const auto runs = [&](JobId job) { return will_run(job, view, plan); };
    if (std::all_of(vc.jobs.begin(), vc.jobs.end(), runs)) return;
    if (std::any_of(vc.jobs.begin(), vc.jobs.end(), runs)) plan.wake(vc.lease_ends);
  }

  Duration lease_;
  double kept_;
  std::map<VcId, Vc> vcs_;
};

}  // namespace

void register_themis(Registry& registry) {
  registry.wholes.add(
      {.name = "themis",
       .summary = "jobs that will end latest beside a cluster of their own bid for GPUs first",
       .source = "Mahajan et al. NSDI'20 (Themis)",
       .traits = {.has = {Trait::reads_run_times, Trait::stops_jobs, Trait::leases}},
       .parameters = {number("lease_s", "after which all is dealt out anew", 1'200, 1, 1e6),
                      number("kept", "the part of the jobs, those best off, that may not bid", 0.8,
                             0, 1)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Themis>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
