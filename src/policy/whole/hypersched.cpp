// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sweeps with a deadline: the best trial of a group when its time is up counts. Trials are
/// compared at rungs (rules/elastic/sweep/hyper_rungs.h), and those below the cut-off pause. GPUs
/// that the running trials leave free go to the best of them. Once a new trial could not get far
/// enough in the remaining time, none begins or continues; at the deadline all trials end.
///
/// The deadline of a group is the earliest of its trials; a group without one is compared and
/// widened in the same way. A unit of GPUs is what a trial requests. An elastic trial may have
/// several units; its batch stays the same, because the sweep may be about it. Its units change
/// after more than `settle` reports since the last change, and grow only if it is expected to make
/// a tenth more steps until the deadline, including its restart.
///
/// Source   Liaw et al., SoCC'19 (HyperSched), and the public program.
/// Differs  The gain from more units is estimated from reported steps (kit/reported_speeds.h); the
///          program reads a table. The cost of a start is the job's restart; the program takes the
///          90th percentile of those it saw. A trial that may continue keeps its place in line
///          although others pass it meanwhile.
/// Cost     O(n log n) per report and per decision with n trials of a group
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "policy/kit/reported_speeds.h"
#include "policy/kit/sweep_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/sweep/hyper_rungs.h"
#include "stats/quantile.h"

namespace almanac::policy::whole {
namespace {

constexpr double kLeastGain = 1.1;  // of steps until the deadline, for which units are added

class HyperSched final : public SweepAllocator {
 public:
  HyperSched(std::unique_ptr<Placement> placement, const Host& host, const Parameters& told)
      : SweepAllocator(std::move(placement), host),
        reduction_(told.number("reduction")),
        grace_(told.number("grace")),
        settle_(told.whole("settle")) {
    const std::string& word = told.word("leftovers");
    leftovers_ = word == "uniform"   ? elastic::Leftovers::uniform
                 : word == "top"     ? elastic::Leftovers::top
                 : word == "softmax" ? elastic::Leftovers::softmax
                                     : elastic::Leftovers::none;
  }

 private:
  struct Trial {
    std::optional<double> score{};
    int gpus = 0;     // GPUs that it holds
    int reports = 0;  // since that number changed
    elastic::BatchLimits batches{};
    double s_a_step = 0;  // seconds of work per step on its requested GPUs; 0 if unknown
    double most = 0;      // steps
  };

  std::unique_ptr<elastic::Rungs> make_rungs(double most) const override {
    return std::make_unique<elastic::HyperRungs>(elastic::RungOptions{
        .reduction = reduction_, .grace = grace_, .most = std::max(most, grace_)});
  }

  void heard(JobId job, const Training& told, double metric, const View& view) override {
    if (view.request(job).group == kNoName) return;
    if (told.batches.initial_batch > 0) speeds_.hear(job, told, view);
    Trial& trial = trials_[job];
    trial.batches = told.batches;
    trial.most = told.total;
    if (told.progress > 0) trial.s_a_step = seconds(view.worked(job)) / told.progress;
    if (std::isnan(metric)) return;
    trial.score = metric;
    count_from_resize(trial, held_by(job, view));
    ++trial.reports;
  }

  void gone(JobId job) override {
    speeds_.forget(job);
    trials_.erase(job);
  }

  Time ends_at(NameId group, const View& view) const override { return deadline_of(group, view); }

  bool admits(NameId group, const View& view) const override {
    const Time end = deadline_of(group, view);
    if (end == kNever) return true;
    double longest_s = 0;
    double most = 0;
    std::vector<double> s_a_step;
    for (const JobId job : view.group(group)) {
      longest_s = std::max(longest_s, seconds(view.attained(job)) - start_s(job, view));
      const auto trial = trials_.find(job);
      if (trial == trials_.end()) continue;
      most = std::max(most, trial->second.most);
      if (trial->second.s_a_step > 0) s_a_step.push_back(trial->second.s_a_step);
    }
    if (s_a_step.empty()) return true;
    const double whole_s = most * stats::quantile(s_a_step, 0.5);
    return seconds(end - view.now) >= std::min(longest_s * reduction_, whole_s);
  }

  static double start_s(JobId job, const View& view) {
    const trace::Request& request = view.request(job);
    return std::isnan(request.restart_s) ? seconds(view.restart.of(std::max(1, request.gpus)))
                                         : double{request.restart_s};
  }

  /// A trial with few reports since its GPUs changed keeps what it holds.
  int gpus_of(JobId job, const Room&, const View& view) override {
    const auto trial = trials_.find(job);
    if (trial == trials_.end() || view.progress(job).phase != Phase::running) return 0;
    const int held = held_by(job, view);
    count_from_resize(trial->second, held);
    return trial->second.reports > settle_ ? 0 : held;
  }

  static void count_from_resize(Trial& trial, int held) {
    if (trial.gpus == held) return;
    trial.gpus = held;
    trial.reports = 0;
  }

  static int held_by(JobId job, const View& view) {
    int gpus = 0;
    for (const cluster::Grant& grant : view.grants(job)) gpus += grant.count();
    return gpus;
  }

  void widen(Room& room, const View& view, std::vector<Wish>& wishes) override {
    std::map<NameId, std::vector<Wish*>> sweeps;
    for (Wish& wish : wishes) {
      const auto trial = trials_.find(wish.job);
      const bool is_open = view.progress(wish.job).phase == Phase::running &&
                           trial != trials_.end() && trial->second.score &&
                           trial->second.reports > settle_ && most_units(wish.job, view) > 1;
      if (is_open) sweeps[view.request(wish.job).group].push_back(&wish);
    }
    for (auto& [group, open] : sweeps) deal(open, room, view);
  }

  int most_units(JobId job, const View& view) const {
    const trace::Request& request = view.request(job);
    const elastic::BatchLimits& batches = trials_.at(job).batches;
    if (request.max_gpus == 0 || batches.initial_batch == 0 || !speeds_.knows(job)) return 1;
    const int batch = request.batch > 0 ? request.batch : batches.initial_batch;
    return std::min(request.max_gpus, std::max(1, batch / batches.min_local_batch)) / request.gpus;
  }

  void deal(const std::vector<Wish*>& open, Room& room, const View& view) {
    std::vector<double> scores;
    int unit = 1;
    int most = 1;
    for (const Wish* wish : open) {
      scores.push_back(*trials_.at(wish->job).score);
      unit = std::max(unit, view.request(wish->job).gpus);
      most = std::max(most, most_units(wish->job, view));
    }
    const int free = room.gpus_left(type_held(open.front()->job, view));
    const int units = static_cast<int>(open.size()) + free / unit;
    const std::vector<int> dealt = elastic::deal_units(scores, units, leftovers_, most);
    // First the jobs that keep their size or shrink, so that those that grow see what is free.
    for (const bool grows : {false, true}) {
      for (std::size_t at = 0; at < open.size(); ++at) {
        const JobId job = open[at]->job;
        const int asked_gpus = view.request(job).gpus;
        const int held = held_by(job, view);
        int gpus = asked_gpus * std::clamp(dealt[at], 1, most_units(job, view));
        if ((gpus > held) != grows) continue;
        if (grows && !is_worth(job, held, gpus, room, view)) gpus = held;
        cluster::Demand more = asked(job, view);
        more.gpus = gpus - asked_gpus;
        more.gpu_types = type_held(job, view);
        if (more.gpus > 0 && take(room.left, more)) open[at]->gpus = gpus;
      }
    }
  }

  /// Whether a trial makes enough more steps until the deadline to be worth its restart.
  bool is_worth(JobId job, int from, int to, const Room& room, const View& view) const {
    const trace::Request& request = view.request(job);
    const int batch = request.batch > 0 ? request.batch : trials_.at(job).batches.initial_batch;
    const auto step_s = [&](int gpus) {
      return speeds_.batch_step_s(job, room.nodes_of(gpus), gpus, batch);
    };
    const double faster = step_s(from) / step_s(to);
    const Time end = deadline_of(request.group, view);
    if (end == kNever) return faster > kLeastGain;
    const double left_s = seconds(end - view.now);
    return faster * (left_s - start_s(job, view)) > kLeastGain * left_s;
  }

  double reduction_;
  double grace_;
  int settle_;
  elastic::Leftovers leftovers_;
  ReportedSpeeds speeds_{ReportedSpeeds::Pool::of_job};
  std::map<JobId, Trial> trials_;
};

}  // namespace

void register_hypersched(Registry& registry) {
  registry.wholes.add(
      {.name = "hypersched",
       .summary = "finds the best trial of a sweep by its deadline: rungs, more GPUs for the best, "
                  "no new trial too late",
       .source = "Liaw et al. SoCC'19",
       .traits = {.has = {Trait::reads_groups, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus, Trait::ends_trials}},
       .parameters = {number("reduction",
                             "reduction factor: one trial in this many continues from each rung", 4,
                             1.0001, 1e6),
                      number("grace", "steps up to the first rung", 1, 1e-9, 1e15),
                      word("leftovers", "trials that get the spare GPUs",
                           {"uniform", "top", "softmax", "none"}),
                      whole_number("settle", "reports of a trial before its GPUs change", 5, 0,
                                   1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<HyperSched>(
            almanac::policy::registry().placements.make(composition.placement, host), host, told);
      });
}

}  // namespace almanac::policy::whole
