// SPDX-License-Identifier: Apache-2.0

/// \file
/// HyperDrive (POP): ranks the trials of a sweep by their chance to reach a target. Every
/// `boundary` steps of a trial, its curve is extrapolated from its reports
/// (rules/elastic/sweep/promise.h) to its last step, or to where it gets by the deadline of its
/// group. Poor trials end. Promising ones keep their GPUs and get GPUs before others. The rest
/// share the free GPUs: at its boundary, such a trial gives way to waiting jobs, and trials with
/// fewer turns come first. A trial with too few reports belongs to the rest.
///
/// The target is `target`, or else the best metric that the group has reported. Once a trial has
/// reached a given target, the others end, and it runs to its end. At the deadline of a group all
/// its trials end. The number of slots is the number of running trials.
///
/// Source   Rasley et al., Middleware'17 (HyperDrive), section 3 (POP).
/// Differs  The curves (rules/elastic/sweep/promise.h). The paper always has a target, and ends all
///          trials once it is reached.
/// Cost     a curve per boundary (0.1 ms or more), O(n log n) with n trials of the group
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "policy/kit/sweep_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/sweep/promise.h"

namespace almanac::policy::whole {
namespace {

constexpr double kNoTarget = 1e15;
constexpr std::size_t kMostPoints = 200;  // of a curve; the oldest are forgotten

class HyperDrive final : public SweepAllocator {
 public:
  HyperDrive(std::unique_ptr<Placement> placement, const Host& host, const Parameters& told)
      : SweepAllocator(std::move(placement), host),
        target_(told.number("target")),
        boundary_(told.number("boundary")),
        poor_below_(told.number("poor")) {}

 private:
  struct Trial {
    std::vector<elastic::LossPoint> losses{};
    std::optional<double> chance{};
    int turns = 0;             // boundaries that it has reached
    Time looked_at = kNoTime;  // when it reached the last one
  };
  struct Sweep {
    double best = -std::numeric_limits<double>::infinity();
    double promising_from = 1;
  };
  /// What heard() has found out about a trial; it receives each report first.
  class Verdicts final : public elastic::Rungs {
   public:
    explicit Verdicts(const std::set<JobId>& poor) : poor_(poor) {}
    elastic::Verdict report(elastic::TrialId trial, double, double) override {
      const JobId job{static_cast<std::uint32_t>(trial)};
      return poor_.contains(job) ? elastic::Verdict::stop : elastic::Verdict::go_on;
    }

   private:
    const std::set<JobId>& poor_;
  };

  std::unique_ptr<elastic::Rungs> make_rungs(double) const override {
    return std::make_unique<Verdicts>(poor_);
  }
  Time ends_at(NameId group, const View& view) const override { return deadline_of(group, view); }

  void heard(JobId job, const Training& told, double metric, const View& view) override {
    const NameId group = view.request(job).group;
    if (group == kNoName || std::isnan(metric)) return;
    Trial& trial = trials_[job];
    Sweep& sweep = sweeps_[group];
    sweep.best = std::max(sweep.best, metric);
    if (target_ < kNoTarget && metric >= target_) end_others(group, job, view);
    if (!trial.losses.empty() && told.metric_at <= trial.losses.back().step) return;
    trial.losses.push_back({.step = told.metric_at, .loss = -metric});
    if (trial.losses.size() > kMostPoints) trial.losses.erase(trial.losses.begin());
    const int turns = static_cast<int>(std::min(1e9, told.metric_at / boundary_));
    if (turns <= trial.turns) return;
    trial.turns = turns;
    trial.looked_at = view.now;
    if (trial.losses.size() < elastic::LossCurve::kLeastPoints) return;
    const double target = target_ < kNoTarget ? target_ : sweep.best;
    trial.chance = elastic::chance_of(trial.losses, last_step(job, told, view), target);
    if (*trial.chance < poor_below_) poor_.insert(job);
    rate(group, sweep, view);
  }

  /// Returns the last step that the trial makes, by its deadline at its speed so far.
  static double last_step(JobId job, const Training& told, const View& view) {
    const Time end = deadline_of(view.request(job).group, view);
    const double worked_s = seconds(view.worked(job));
    if (end == kNever || worked_s <= 0) return std::max(told.total, told.metric_at);
    const double more = std::max(0.0, seconds(end - view.now)) * told.progress / worked_s;
    return std::max(told.metric_at, std::min(told.total, told.progress + more));
  }

  void rate(NameId group, Sweep& sweep, const View& view) {
    std::vector<double> chances;
    int slots = 0;
    for (const JobId job : view.group(group)) {
      if (view.progress(job).phase == Phase::running) ++slots;
      const auto trial = trials_.find(job);
      if (trial == trials_.end() || !trial->second.chance || poor_.contains(job)) continue;
      chances.push_back(*trial->second.chance);
    }
    sweep.promising_from = elastic::promising_from(chances, slots);
  }

  void end_others(NameId group, JobId winner, const View& view) {
    for (const JobId job : view.group(group)) {
      if (job != winner) end(job);
    }
  }

  int rank(JobId job, const View& view) const override {
    const bool runs = view.progress(job).phase == Phase::running;
    const auto found = trials_.find(job);
    if (found == trials_.end()) return runs ? 0 : 2;
    const Trial& trial = found->second;
    const bool is_promising =
        trial.chance && *trial.chance >= sweeps_.at(view.request(job).group).promising_from;
    if (runs && (is_promising || trial.looked_at != view.now)) return 0;
    return is_promising ? 1 : 2 + trial.turns;
  }

  void gone(JobId job) override {
    trials_.erase(job);
    poor_.erase(job);
  }

  double target_;
  double boundary_;
  double poor_below_;
  std::map<JobId, Trial> trials_;
  std::map<NameId, Sweep> sweeps_;
  std::set<JobId> poor_;
};

}  // namespace

void register_hyperdrive(Registry& registry) {
  registry.wholes.add(
      {.name = "hyperdrive",
       .summary = "ranks the trials of a sweep by their chance to reach a target: poor ones end, "
                  "promising ones keep GPUs, the rest take turns",
       .source = "Rasley et al. Middleware'17",
       .traits = {.has = {Trait::reads_groups, Trait::stops_jobs, Trait::ends_trials}},
       .parameters = {number("boundary", "steps between two evaluations of a trial", 10, 1e-9,
                             1e15),
                      number("target",
                             "metric that a trial should reach; 1e15: the best reported so far",
                             kNoTarget, -kNoTarget, kNoTarget),
                      number("poor", "chance below which a trial is ended", 0.05, 0, 1)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<HyperDrive>(
            almanac::policy::registry().placements.make(composition.placement, host), host, told);
      });
}

}  // namespace almanac::policy::whole
