// SPDX-License-Identifier: Apache-2.0

/// \file
/// MLFS' heuristic: at each lease, jobs run in the order of a priority that is the weighted sum of
/// two parts.
///
///   learning     (1 + priority tier) x the share that the last report had in all the gain of the
///                job's metric so far / the number of the next report. Jobs whose quality still
///                rises fast go first. A job with fewer than three reports counts as if its whole
///                gain were new.
///   computation  weights x (1 / time to the deadline, 1 / remaining time, time waited so far), in
///                hours. So a job that waits for long runs at last.
///
/// Source   Wang et al., CoNEXT'20 (MLFS), the heuristic MLF-H.
/// Differs  A job is scheduled as a whole, so it has no tasks with sizes and dependencies. Reports
///          replace iterations. Units are ours. The reinforcement learning that later replaces the
///          heuristic (MLF-RL), and the end of jobs at a wanted accuracy (MLF-C), are left out.
/// Cost     O(n log n) per lease with n jobs
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

constexpr double kHour = 3600;      // seconds
constexpr double kLeastTime_s = 1;  // of which a reciprocal is taken

class Mlfs final : public LeaseAllocator {
 public:
  Mlfs(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
       const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(estimator)),
        learning_(told.number("learning")),
        deadline_(told.number("deadline")),
        left_(told.number("left")),
        waited_(told.number("waited")) {}

 private:
  struct Gains {
    int reports = 0;
    double value = 0;  // last reported metric
    double last = 0;   // gain of the last report
    double all = 0;
  };

  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void reported(JobId job, double metric, const View&) override {
    if (std::isnan(metric)) return;
    Gains& gains = gains_[job];
    if (gains.reports > 0) {
      gains.last = std::max(0.0, metric - gains.value);
      gains.all += gains.last;
    }
    gains.value = metric;
    ++gains.reports;
  }

  void left(JobId job, const View& view) override {
    const Phase phase = view.progress(job).phase;
    if (phase != Phase::running && phase != Phase::waiting) gains_.erase(job);
  }

  void deal(Deal& deal, const View& view, Plan&, std::vector<Wish>& wishes) override {
    std::vector<std::pair<double, JobId>> line;
    for (const JobId job : keep(deal.jobs, deal, view, wishes)) {
      line.emplace_back(priority(job, view), job);
    }
    std::stable_sort(line.begin(), line.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    for (const auto& [priority, job] : line) {
      if (take(deal.left, job, view)) wishes.push_back({job});
    }
  }

  double priority(JobId job, const View& view) const {
    return learning_ * (1 + view.tier(job)) * gain_share(job) +
           (1 - learning_) * urgency(job, view);
  }

  double gain_share(JobId job) const {
    const auto found = gains_.find(job);
    if (found == gains_.end()) return 1;
    const Gains& gains = found->second;
    constexpr int kFewest = 3;  // reports that have two gains
    const double share = gains.reports < kFewest ? 1 : gains.all > 0 ? gains.last / gains.all : 0;
    return share / (gains.reports + 1);
  }

  double urgency(JobId job, const View& view) const {
    const trace::Request& request = view.request(job);
    const auto per_hour = [](Duration time) {
      return kHour / std::max(kLeastTime_s, seconds(time));
    };
    const bool can_be_late = request.deadline != kNoTime && request.deadline > view.now;
    const double due = can_be_late ? per_hour(request.deadline - view.now) : 0;
    const double waited = seconds(view.now - request.submit - view.attained(job)) / kHour;
    return deadline_ * due + left_ * per_hour(work_left(job, view)) + waited_ * waited;
  }

  double learning_;
  double deadline_;
  double left_;
  double waited_;
  std::map<JobId, Gains> gains_;
};

}  // namespace

void register_mlfs(Registry& registry) {
  registry.wholes.add(
      {.name = "mlfs",
       .summary = "jobs whose quality still rises fast first, weighed against deadlines, remaining "
                  "time and waits",
       .source = "Wang et al. CoNEXT'20 (MLFS)",
       .traits = {.has = {Trait::reads_run_times, Trait::stops_jobs, Trait::leases}},
       .parameters = {number("lease_s", "time between two reallocations", 600, 1, 1e6),
                      number("learning", "weight of the learning part", 0.3, 0, 1),
                      number("deadline", "weight of 1 / hours to the deadline", 0.3, 0, 1e6),
                      number("left", "weight of 1 / remaining hours", 0.3, 0, 1e6),
                      number("waited", "weight of the hours waited", 0.35, 0, 1e6)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Mlfs>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
