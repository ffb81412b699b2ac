// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs run while power is cheap or clean, and otherwise wait as long as they can. A signal of the
/// host gives its price or carbon intensity. Power is cheap while the signal is below the value
/// that it stayed under for a fraction `part` of the last `day_s`. Until that much history exists,
/// power is always cheap.
///
/// A job can wait until it must run to meet its deadline, by its estimated run time and its restart
/// cost. A job without a deadline can wait for `wait_s` in total, for whatever reason. Jobs that
/// may run get GPUs in order of arrival, and none passes another; no job is stopped for another.
/// Without a signal all jobs may run.
///
/// Source   The threshold is that of Ecovisor (Souza et al., ASPLOS'23), with the waiting time of
///          GAIA (Hanafy et al., ASPLOS'24, section 4).
/// Differs  GAIA looks one day ahead from a job's arrival. A policy gets no forecast, so this one
///          uses the past day. If all days are equal, both decide the same.
/// Cost     O(n) per decision with n jobs, O(h log h) per change of the signal with h changes in a
///          day
#include <algorithm>
#include <set>

#include "policy/kit/allocator.h"
#include "policy/kit/past_signal.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class StopAndGo final : public Allocator {
 public:
  StopAndGo(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
            const Parameters& told)
      : Allocator(std::move(placement), std::move(estimator)),
        part_(told.number("part")),
        day_(told.duration("day_s")),
        wait_(told.duration("wait_s")),
        signal_(static_cast<std::uint32_t>(told.whole("signal") - 1)),
        past_(day_) {}

 private:
  void signalled(const Event& event, const View& view) override {
    if (event.subject != signal_) return;
    past_.hear(view.now, event.value);
    if (!past_.knows_day(view.now)) return;
    auto day = past_.pieces(view.now - day_, view.now);
    std::sort(day.begin(), day.end());
    Duration below{0};
    double threshold = event.value;
    for (const auto& [value, lasted] : day) {
      threshold = value;
      below += lasted;
      if (seconds(below) > part_ * seconds(day_)) break;
    }
    is_cheap_ = event.value < threshold;
  }

  bool rests(JobId job) const override { return resting_.contains(job); }
  ReasonKind rests_for() const override { return ReasonKind::awaits_signal; }
  void left(JobId job, const View& view) override {
    if (view.progress(job).phase != Phase::running) resting_.erase(job);
  }

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    Time next = kNever;
    std::vector<JobId> line;
    for (const JobId job : jobs) {
      const Time latest = latest_start(job, view);
      const bool may_run = is_cheap_ || view.now >= latest;
      may_run ? static_cast<void>(resting_.erase(job)) : static_cast<void>(resting_.insert(job));
      if (may_run) line.push_back(job);
      if (!may_run) next = std::min(next, latest);
    }
    if (next != kNever) plan.wake(next);
    const auto waits = [&](JobId job) { return view.progress(job).phase == Phase::waiting; };
    std::stable_partition(line.begin(), line.end(), [&](JobId job) { return !waits(job); });
    std::vector<Stock> left = stock(vc, plan.ledger);
    for (const JobId job : line) {
      if (!take(left, job, view) && waits(job)) break;
      wishes.push_back({.job = job});
    }
  }

  /// Returns the latest time until which a job can wait from now on.
  Time latest_start(JobId job, const View& view) const {
    const Time deadline = view.request(job).deadline;
    if (deadline != kNoTime) return deadline - work_left(job, view) - stop_cost(job, view);
    const Duration waited = view.now - view.request(job).submit - view.attained(job);
    return view.now + std::max(Duration{0}, wait_ - waited);
  }
  static Duration stop_cost(JobId job, const View& view) {
    return view.progress(job).phase == Phase::running ? view.cost(job, {}) : Duration{0};
  }

  double part_;
  Duration day_;
  Duration wait_;
  std::uint32_t signal_;
  PastSignal past_;
  bool is_cheap_ = true;
  std::set<JobId> resting_;
};

}  // namespace

void register_stop_and_go(Registry& registry) {
  registry.wholes.add(
      {.name = "stop_and_go",
       .summary = "jobs run while power is cheap or clean, and otherwise pause as long as they can",
       .source = "Souza et al. ASPLOS'23 (Ecovisor), Hanafy et al. ASPLOS'24 (GAIA)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_signals, Trait::stops_jobs,
                          Trait::keeps_line}},
       .parameters =
           {number("part", "fraction of the period in which power counts as cheap", 0.3, 0, 1),
            number("day_s", "length of the period that is compared", 86'400, 1, 1e9),
            number("wait_s", "longest total wait of a job without a deadline", 86'400, 0, 1e9),
            whole_number("signal", "number of the signal, in the order of the input", 1, 1, 1000)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<StopAndGo>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
