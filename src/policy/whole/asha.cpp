// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asynchronous successive halving of sweeps: of the trials of a group that have reported a metric
/// at a rung the best part goes on, decided at each report without waiting for the others. Rungs
/// are at `grace` steps, `reduction` times as many, and so on.
///
/// With `promote` a trial that is not among the best of its rung gives its GPUs back and rests; it
/// goes on once it is, before new trials begin. When no trial of its group runs or may begin, those
/// that rest are ended. With `stop` a trial below the cut-off of its rung is ended at once, for
/// good.
///
/// Which trial is next: one that was promoted, then in the order in which they came. Jobs that are
/// no trials stand in the same line. No job is stopped for another.
///
/// Source   Li et al., MLSys'20 (ASHA), algorithm 2; the cut-off of `stop` is that of Liaw et al.,
///          SoCC'19 (elastic/sweep/hyper_rungs.h).
/// Cost     O(log n) a report, O(n) a decision with n jobs of a virtual cluster.
#include "elastic/sweep/asha.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "policy/kit/allocator.h"
#include "policy/registry.h"

namespace almanac::policy::whole {
namespace {

/// The rungs of one group.
class Sweep {
 public:
  Sweep(bool promotes, double reduction, double grace, double most) {
    const elastic::RungOptions options{
        .reduction = reduction, .grace = grace, .most = most, .pauses = promotes};
    if (promotes) {
      promoting_ = std::make_unique<elastic::Asha>(options);
    } else {
      stopping_ = std::make_unique<elastic::HyperRungs>(options);
    }
  }
  elastic::Verdict report(elastic::TrialId trial, double steps, double metric) {
    return promoting_ ? promoting_->report(trial, steps, metric)
                      : stopping_->report(trial, steps, metric);
  }
  std::optional<elastic::TrialId> promote() {
    return promoting_ ? promoting_->promote() : std::nullopt;
  }

 private:
  std::unique_ptr<elastic::Asha> promoting_;
  std::unique_ptr<elastic::HyperRungs> stopping_;
};

class Asha final : public Allocator {
 public:
  Asha(std::unique_ptr<Placement> placement, const Parameters& told)
      : Allocator(std::move(placement)),
        reduction_(told.number("reduction")),
        grace_(told.number("grace")),
        promotes_(told.word("rule") == "promote") {}

 private:
  void reported(JobId job, double metric, const View& view) override {
    const NameId group = view.request(job).group;
    const auto told = view.training(job);
    if (group == kNoName || std::isnan(metric) || !told) return;
    const auto [found, is_new] =
        sweeps_.try_emplace(group, promotes_, reduction_, grace_, std::max(told->total, grace_));
    Sweep& sweep = found->second;
    const elastic::Verdict verdict =
        sweep.report(static_cast<elastic::TrialId>(index(job)), told->metric_at, metric);
    if (verdict == elastic::Verdict::stop) end(job);
    if (verdict == elastic::Verdict::pause) resting_.insert(job);
    while (const auto promoted = sweep.promote()) {
      const JobId next{static_cast<std::uint32_t>(*promoted)};
      resting_.erase(next);
      look_at(next, view);  // which may be of another virtual cluster
    }
    end_if_over(group, verdict == elastic::Verdict::stop ? job : kNoJob, view);
  }

  void left(JobId job, const View& view) override {
    const Phase phase = view.progress(job).phase;
    if (phase == Phase::running || phase == Phase::waiting) return;  // it goes on
    resting_.erase(job);
    end_if_over(view.request(job).group, job, view);
  }

  /// Ends the trials of a group that rest once no other one is there, but for `gone`.
  void end_if_over(NameId group, JobId gone, const View& view) {
    const auto trials = view.group(group);
    const auto may_report = [&](JobId job) {
      const Phase phase = view.progress(job).phase;
      return job != gone && !resting_.contains(job) &&
             (phase == Phase::running || phase == Phase::waiting);
    };
    if (std::any_of(trials.begin(), trials.end(), may_report)) return;
    for (const JobId job : trials) {
      if (resting_.erase(job) > 0) end(job);
    }
  }

  bool rests(JobId job) const override { return resting_.contains(job); }

  void allocate(VcId vc, std::span<const JobId> jobs, const View& view, Plan& plan,
                std::vector<Wish>& wishes) override {
    std::vector<JobId> line;
    for (const JobId job : jobs) {
      if (!rests(job)) line.push_back(job);
    }
    const auto rank = [&](JobId job) {
      if (view.progress(job).phase == Phase::running) return 0;
      const bool was_promoted = promotes_ && view.request(job).group != kNoName;
      return was_promoted && view.progress(job).start != kNoTime ? 1 : 2;
    };
    std::stable_sort(line.begin(), line.end(), [&](JobId a, JobId b) { return rank(a) < rank(b); });
    std::vector<Stock> left = stock(vc, plan.ledger);
    for (const JobId job : line) {
      if (take(left, job, view)) wishes.push_back({.job = job});
    }
  }

  double reduction_;
  double grace_;
  bool promotes_;
  std::map<NameId, Sweep> sweeps_;
  std::set<JobId> resting_;
};

}  // namespace

void register_asha(Registry& registry) {
  registry.wholes.add(
      {.name = "asha",
       .summary = "of the trials of a sweep at each rung the best part goes on",
       .source = "Li et al. MLSys'20",
       .traits = {.has = {Trait::reads_groups, Trait::stops_jobs, Trait::ends_trials}},
       .parameters = {number("reduction", "of the trials of a rung one in so many goes on", 4,
                             1.0001, 1e6),
                      number("grace", "steps up to the first rung", 1, 1e-9, 1e15),
                      word("rule", "what becomes of the others: they rest, or are ended",
                           {"promote", "stop"})}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<Asha>(
            almanac::policy::registry().placements.make(composition.placement, host), told);
      });
}

}  // namespace almanac::policy::whole
