// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tiresias: jobs move down through queues as they receive service. A job starts in the first queue
/// and moves down when its attained service, GPUs x run time, reaches the limit of its queue. The
/// jobs that fill the GPUs by count, from the first queue on, run; other running jobs stop.
///
/// Order within a queue: `las` is order of arrival (discretized 2D-LAS); `gittins` is by the
/// Gittins index of attained service, largest first (discretized 2D-Gittins). The index is P(S - a
/// <= delta) / E[min(S - a, delta)] over the service S of all ended jobs that had more than a. A
/// job that has waited `promote` times as long as it had run returns to the first queue, and its
/// attained service is forgotten; 0 turns this off.
///
/// Source   Gu et al., NSDI'19, sections 3.2 and 3.3; limits of 3,250 and 7,200 GPU-seconds and
///          delta of 3,250 as in its simulator, jobs.py.
/// Differs  Jobs move at the instant at which they reach a limit; the simulator moves a job of
///          several GPUs late. A job is stopped only for one that starts. The index learns from
///          jobs that ended here; the simulator reads a file of job lengths.
/// Cost     O(n) per decision with n jobs of a virtual cluster and `las`, O(n log n) with `gittins`
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "policy/kit/allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

std::vector<Duration> in_gpu_time(const Values& gpu_seconds) {
  std::vector<Duration> made;
  for (const double each : gpu_seconds) made.push_back(Duration{std::llround(each * 1e3)});
  return made;
}

/// Service of the ended jobs, in GPU-seconds.
class Services {
 public:
  void add(double service) {
    ended_.insert(std::upper_bound(ended_.begin(), ended_.end(), service), service);
  }
  /// Returns the Gittins index of a job with attained `service`; 0 if no ended job had more.
  double gittins(double service, double delta) const {
    auto at = std::upper_bound(ended_.begin(), ended_.end(), service);
    double within = 0;
    double expected = 0;
    for (; at != ended_.end() && *at - service <= delta; ++at) {
      within += 1;
      expected += *at - service;
    }
    expected += delta * static_cast<double>(ended_.end() - at);
    return expected > 0 ? within / expected : 0;
  }

 private:
  std::vector<double> ended_;  // ascending
};

class Tiresias final : public Allocator {
 public:
  Tiresias(std::unique_ptr<Placement> placement, const Parameters& told)
      : Allocator(std::move(placement)),
        limits_(in_gpu_time(told.numbers("queues_gpu_s"))),
        by_gittins_(told.word("within") == "gittins"),
        delta_(told.number("delta_gpu_s")),
        promote_(told.number("promote")) {}

 private:
  struct Candidate {
    JobId job{};
    Duration attained{};
    double index = 0;  // greatest first
  };

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    queues_.resize(limits_.size() + 1);
    for (std::vector<Candidate>& queue : queues_) queue.clear();
    for (const JobId job : jobs) {
      promote(job, view, plan);
      const Duration service = attained(job, view);
      const auto queue = std::upper_bound(limits_.begin(), limits_.end(), service);
      queues_[static_cast<std::size_t>(queue - limits_.begin())].push_back(
          {job, service, by_gittins_ ? services_.gittins(seconds(service), delta_) : 0});
    }
    std::vector<Stock> left = stock(vc, plan.ledger);
    for (std::vector<Candidate>& queue : queues_) {
      if (by_gittins_) {
        std::stable_sort(
            queue.begin(), queue.end(),
            [](const Candidate& one, const Candidate& other) { return one.index > other.index; });
      }
      for (const Candidate& each : queue) {
        if (take(left, each.job, view)) wishes.push_back({each.job});
      }
    }
  }

  /// Jobs change queues only when a requested wake-up comes; the index grows as jobs run and end.
  Time stands_until(VcId, const View&) const override { return by_gittins_ ? Time::min() : kNever; }

  /// Wakes when the first running job reaches the limit of its queue.
  void settled(VcId, const View& view, Plan& plan) override {
    Time first = kNever;
    for (std::size_t queue = 0; queue < limits_.size(); ++queue) {
      for (const Candidate& each : queues_[queue]) {
        const int gpus = asked(each.job, view).gpus;
        if (gpus == 0 || !will_run(each.job, view, plan)) continue;
        const Duration left = limits_[queue] - each.attained;
        // Whole milliseconds: a part of one more is as good as all of it.
        first =
            std::min(first, view.now + std::max(Duration{1}, (left + Duration{gpus - 1}) / gpus));
      }
    }
    if (first != kNever) plan.wake(first);
  }

  void left(JobId job, const View& view) override {
    const Progress& state = view.progress(job);
    if (state.phase == Phase::running) {
      stopped_[job] = view.now;
      return;
    }
    if (state.phase == Phase::ended) services_.add(seconds(attained(job, view)));
    forgiven_.erase(job);
    stopped_.erase(job);
  }

  /// Returns the GPU time since the job was last promoted: run time times GPUs.
  Duration attained(JobId job, const View& view) const {
    return (view.attained(job) - forgiven(job)) * asked(job, view).gpus;
  }

  Duration forgiven(JobId job) const {
    if (forgiven_.empty()) return Duration{0};
    const auto found = forgiven_.find(job);
    return found == forgiven_.end() ? Duration{0} : found->second;
  }

  void promote(JobId job, const View& view, Plan& plan) {
    if (promote_ == 0) return;
    const auto stopped = stopped_.find(job);
    if (stopped == stopped_.end()) return;
    if (view.progress(job).phase != Phase::waiting) {
      stopped_.erase(stopped);
      return;
    }
    const Duration ran = view.attained(job) - forgiven(job);
    const Time at =
        stopped->second + Duration{std::llround(promote_ * static_cast<double>(ran.count()))};
    if (at > view.now) return plan.wake(at);
    forgiven_[job] = view.attained(job);
    stopped_.erase(stopped);
  }

  std::vector<Duration> limits_;  // GPU time at which a job leaves each queue but the last
  bool by_gittins_;
  double delta_;
  double promote_;
  Services services_;
  std::unordered_map<JobId, Time> stopped_;       // since when jobs that ran wait
  std::unordered_map<JobId, Duration> forgiven_;  // time run that counts no more
  std::vector<std::vector<Candidate>> queues_;    // of the virtual cluster being allocated
};

}  // namespace

void register_tiresias(Registry& registry) {
  registry.wholes.add(
      {.name = "tiresias",
       .summary = "least attained service (GPU time) first, in several queues; with "
                  "`promote`, jobs that wait long return to the first",
       .source = "Gu et al. NSDI'19 §3",
       .traits = {.has = {Trait::stops_jobs}},
       .parameters = {numbers("queues_gpu_s", "attained GPU time at which a job leaves each queue",
                              {3250, 7200}, 0, 1e15),
                      word("within", "order of jobs within a queue", {"las", "gittins"}),
                      number("delta_gpu_s", "how far the Gittins index looks ahead", 3250, 1e-3,
                             1e15),
                      number("promote",
                             "wait, as a multiple of its run time so far, after which a job "
                             "returns to the first queue; 0: never",
                             0, 0, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Tiresias>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
