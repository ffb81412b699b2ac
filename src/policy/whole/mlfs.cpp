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
///                hours. The priority of a waiting job thus grows until it is first in line.
///
/// A job that begins while one before it in line finds no room is a guest, as in whole/gavel.cpp:
/// at the start of a lease it gives way to the first in line, however short it has run. A wide job
/// is first in line once its priority exceeds that of every running job. That may take many hours,
/// because a job near its end has a high priority.
///
/// With `enough`, jobs whose metric has reached it end while a job of their virtual cluster lacks
/// free GPUs: at the report itself, or as soon as a job lacks some. Until then, they train on. A
/// job that waits although enough GPUs are free, for example because they are spread over too many
/// nodes, ends none.
///
/// Source   Wang et al., CoNEXT'20 (MLFS): the heuristic MLF-H, and MLF-C, which stops iterations
///          that the wanted accuracy no longer needs while the cluster is overloaded.
/// Differs  A job is scheduled as a whole, so it has no tasks with sizes and dependencies. Reports
///          replace iterations. Units are ours. All jobs want the same metric, and a cluster is
///          overloaded while a job lacks free GPUs. The reinforcement learning that later replaces
///          the heuristic (MLF-RL) is left out.
/// Cost     O(n log n) per lease with n jobs
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "policy/kit/lease_allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

constexpr double kHour = 3600;      // seconds
constexpr double kLeastTime_s = 1;  // of which a reciprocal is taken
constexpr double kNoMetric = 1e15;  // as a value that is enough: none is

class Mlfs final : public LeaseAllocator {
 public:
  Mlfs(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
       const Parameters& told)
      : LeaseAllocator(std::move(placement), told.duration("lease_s"), std::move(estimator)),
        learning_(told.number("learning")),
        deadline_(told.number("deadline")),
        left_(told.number("left")),
        waited_(told.number("waited")),
        enough_(told.number("enough")) {}

 private:
  struct Gains {
    int reports = 0;
    double value = 0;  // last reported metric
    double last = 0;   // gain of the last report
    double all = 0;
  };

  Time stands_in_lease(const Deal&, const View&) const override { return kNever; }

  void reported(JobId job, double metric, const View& view) override {
    if (std::isnan(metric)) return;
    Gains& gains = gains_[job];
    if (gains.reports > 0) {
      gains.last = std::max(0.0, metric - gains.value);
      gains.all += gains.last;
    }
    gains.value = metric;
    ++gains.reports;
    if (metric < enough_) return;
    crowded_.contains(view.progress(job).vc) ? end(job) : void(done_.insert(job));
  }

  void left(JobId job, const View& view) override {
    const Phase phase = view.progress(job).phase;
    if (phase == Phase::running || phase == Phase::waiting) return;
    gains_.erase(job);
    done_.erase(job);
  }

  void deal(Deal& deal, const View& view, Plan& plan, std::vector<Wish>& wishes) override {
    std::set<JobId>& guests = guests_[deal.vc];
    std::erase_if(guests, [&](JobId job) { return view.progress(job).phase != Phase::running; });
    if (deal.begins && !guests.empty()) make_room_for_first(guests, deal, view);
    const std::vector<Stock> all = deal.left;
    bool is_passed = false;
    crowded_.erase(deal.vc);
    for (const JobId job : line(keep(deal.jobs, deal, view, wishes), view)) {
      if (!take(deal.left, job, view)) {
        is_passed = is_passed || is_in(all, asked(job, view));
        crowded_.insert(deal.vc);
        continue;
      }
      wishes.push_back({job});
      if (is_passed && view.progress(job).phase == Phase::waiting) guests.insert(job);
    }
    if (crowded_.contains(deal.vc)) end_done(deal, view, plan);
  }

  /// Ends jobs of an overloaded virtual cluster that reached `enough` before it was overloaded.
  void end_done(const Deal& deal, const View& view, Plan& plan) {
    for (const JobId job : deal.jobs) {
      if (done_.erase(job) == 0) continue;
      end(job);
      plan.wake(view.now);
    }
  }

  void make_room_for_first(const std::set<JobId>& guests, Deal& deal, const View& view) const {
    std::vector<JobId> all(deal.jobs.begin(), deal.jobs.end());
    std::erase_if(all, [&](JobId job) {
      return asked(job, view).is_cpu_job() || !is_in(deal.left, asked(job, view));
    });
    const std::vector<JobId> ranked = line(all, view);
    if (ranked.empty() || view.progress(ranked.front()).phase == Phase::running) return;
    make_room(asked(ranked.front(), view), guests, deal, view);
  }

  /// Returns `jobs` by priority, the highest first.
  std::vector<JobId> line(const std::vector<JobId>& jobs, const View& view) const {
    std::vector<std::pair<double, JobId>> ranked;
    ranked.reserve(jobs.size());
    for (const JobId job : jobs) ranked.emplace_back(priority(job, view), job);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    std::vector<JobId> made;
    made.reserve(jobs.size());
    for (const auto& [priority, job] : ranked) made.push_back(job);
    return made;
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
  double enough_;
  std::map<JobId, Gains> gains_;
  std::set<JobId> done_;    // that reached `enough` while no job lacked free GPUs
  std::set<VcId> crowded_;  // virtual clusters in which a job lacks free GPUs
  std::map<VcId, std::set<JobId>> guests_;
};

}  // namespace

void register_mlfs(Registry& registry) {
  registry.wholes.add(
      {.name = "mlfs",
       .summary = "jobs whose quality still rises fast first, weighed against deadlines, remaining "
                  "time and waits",
       .source = "Wang et al. CoNEXT'20 (MLFS)",
       .traits = {.has = {Trait::reads_run_times, Trait::stops_jobs, Trait::leases}},
       .parameters =
           {number("lease_s", "time between two reallocations", 600, 1, 1e6),
            number("learning", "weight of the learning part", 0.3, 0, 1),
            number("deadline", "weight of 1 / hours to the deadline", 0.3, 0, 1e6),
            number("left", "weight of 1 / remaining hours", 0.3, 0, 1e6),
            number("waited", "weight of the hours waited", 0.35, 0, 1e6),
            number("enough",
                   "metric at which a job ends while another lacks free GPUs; by default none "
                   "does",
                   kNoMetric, -kNoMetric, kNoMetric)},
       .adjust_traits =
           [](const Parameters& told, TraitSet& traits) {
             if (told.number("enough") < kNoMetric) traits.add({Trait::ends_trials});
           }},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Mlfs>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
