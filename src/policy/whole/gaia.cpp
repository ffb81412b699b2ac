// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs wait once, for a good hour to start, and then run to their end. A signal of the host gives
/// the price of power or its carbon intensity. When a job arrives, its candidates are the starts
/// each hour from then on that it can wait for. By the sum of the signal over its estimated run
/// time, `start` takes
///
///   window     the candidate with the least sum;
///   saving     the one that saves most, compared with a start at once, for each second until the
///              job ends (Carbon-Time).
///
/// A job can wait for `wait_s`, and no longer than its deadline allows. Jobs that may run get GPUs
/// in order of arrival, and none passes another. Until a day of the signal is known, and without a
/// signal, jobs start at once.
///
/// Source   Hanafy et al., ASPLOS'24 (GAIA), section 4: Lowest-Window and Carbon-Time.
/// Differs  GAIA looks one day ahead. A policy gets no forecast, so this one uses the past day. If
///          all days are equal, both decide the same. Reserved and spot capacity are left out.
/// Cost     O(n) per decision with n jobs; O(w h) for an arrival, with w hours of waiting and h
///          changes of the signal in a day
#include <algorithm>
#include <map>
#include <set>

#include "policy/kit/allocator.h"
#include "policy/kit/past_signal.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

class Gaia final : public Allocator {
 public:
  Gaia(std::unique_ptr<Placement> placement, std::unique_ptr<predict::Estimator> estimator,
       const Parameters& told)
      : Allocator(std::move(placement), std::move(estimator)),
        by_saving_(told.word("start") == "saving"),
        wait_(told.duration("wait_s")),
        signal_(static_cast<std::uint32_t>(told.whole("signal") - 1)),
        past_(told.duration("day_s")) {}

 private:
  void signalled(const Event& event, const View& view) override {
    if (event.subject == signal_) past_.hear(view.now, event.value);
  }
  bool rests(JobId job) const override { return resting_.contains(job); }
  ReasonKind rests_for() const override { return ReasonKind::awaits_signal; }
  void left(JobId job, const View& view) override {
    resting_.erase(job);
    // A job whose node failed has waited and goes on at once.
    const Phase phase = view.progress(job).phase;
    if (phase != Phase::running && phase != Phase::waiting) starts_.erase(job);
  }

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    const auto runs = [&](JobId job) { return view.progress(job).phase == Phase::running; };
    Time next = kNever;
    std::vector<JobId> line;
    for (const JobId job : jobs) {
      auto start = starts_.find(job);
      if (start == starts_.end()) start = starts_.emplace(job, best_start(job, view)).first;
      const bool may_run = runs(job) || start->second <= view.now;
      if (may_run) {
        resting_.erase(job);
        line.push_back(job);
      } else {
        resting_.insert(job);
        next = std::min(next, start->second);
      }
    }
    if (next != kNever) plan.wake(next);
    std::stable_partition(line.begin(), line.end(), runs);
    std::vector<Stock> left = stock(vc, plan.ledger);
    for (const JobId job : line) {
      if (!take(left, job, view) && !runs(job)) break;
      wishes.push_back({.job = job});
    }
  }

  Time best_start(JobId job, const View& view) const {
    if (!past_.knows_day(view.now) || view.progress(job).phase == Phase::running) return view.now;
    const Duration length = std::max(Duration{1}, work_left(job, view));
    Time latest = std::max(view.now, view.request(job).submit + wait_);
    if (const Time deadline = view.request(job).deadline; deadline != kNoTime) {
      latest = std::min(latest, deadline - length);
    }
    const auto sum = [&](Time at) {
      return past_.expect(at, at + length, view.now) * seconds(length);
    };
    const double at_once = sum(view.now);
    double best = 0;
    Time start = view.now;
    for (Time at = view.now + 1h; at <= latest; at += 1h) {
      const double saved = at_once - sum(at);
      const double score = by_saving_ ? saved / seconds(at + length - view.now) : saved;
      if (score <= best) continue;
      best = score;
      start = at;
    }
    return start;
  }

  bool by_saving_;
  Duration wait_;
  std::uint32_t signal_;
  PastSignal past_;
  std::map<JobId, Time> starts_;
  std::set<JobId> resting_;
};

}  // namespace

void register_gaia(Registry& registry) {
  registry.wholes.add(
      {.name = "gaia",
       .summary = "jobs wait for the hour in which their run costs least money or carbon",
       .source = "Hanafy et al. ASPLOS'24 (GAIA)",
       .traits = {.has = {Trait::reads_run_times, Trait::reads_signals, Trait::keeps_line}},
       .parameters = {word("start", "which hour a job waits for", {"window", "saving"}),
                      number("day_s", "length of the past that stands for the time ahead", 86'400,
                             1, 1e9),
                      number("wait_s", "longest wait for an hour", 86'400, 0, 1e9),
                      whole_number("signal", "number of the signal, in the order of the input", 1,
                                   1, 1000)}},
      [](const Parameters& told, const Composition& composition, Host host) {
        return std::make_unique<Gaia>(
            almanac::policy::registry().placements.make(composition.placement, host),
            std::move(host.estimator), told);
      });
}

}  // namespace almanac::policy::whole
