// SPDX-License-Identifier: Apache-2.0

/// \file
/// Sweeps by successive halving that end by their deadline with the least GPU time. As each stage
/// begins, it plans how many GPUs each trial has in each stage (rules/elastic/sweep/stage_plan.h).
/// All trials of a group reach a rung, then the best of them continue
/// (rules/elastic/sweep/halving.h).
///
/// The deadline of a group is the earliest of its trials; without one, the plan only minimizes GPU
/// time. Step times are estimated for all trials of a model together from their reports. Until
/// there is one, a trial has the GPUs it requests, as trials that are not elastic always do. A
/// trial's batch stays the same, because the sweep may be about it.
///
/// With `instance_gpus`, GPUs are paid for by whole instances, and further ones take `boot_s` until
/// they can be used; the plan then has the least paid GPU time. Instances have one price.
///
/// Source   Misra et al., EuroSys'21 (RubberBand), section 4.
/// Differs  The plan includes the time until instances have booted, but the host decides when nodes
///          boot. The paper also charges for the transfer of data.
/// Cost     a plan for each trial that begins a stage, some ms, and a fit per new report
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "policy/kit/reported_speeds.h"
#include "policy/kit/sweep_allocator.h"
#include "policy/registry.h"
#include "rules/elastic/sweep/halving.h"
#include "trace/sizes.h"

namespace almanac::policy::whole {
namespace {

class RubberBand final : public SweepAllocator {
 public:
  RubberBand(std::unique_ptr<Placement> placement, const Host& host, const Parameters& told)
      : SweepAllocator(std::move(placement), host),
        reduction_(told.number("reduction")),
        grace_(told.number("grace")),
        instance_gpus_(told.whole("instance_gpus")),
        boot_s_(told.number("boot_s")) {}

 private:
  /// GPUs of a trial, and the stage for which they were planned.
  struct Planned {
    NameId group = kNoName;
    std::size_t stage = 0;
    int gpus = 0;
  };

  /// GPUs planned for the trials of a group in its current stage, and in the one before. The
  /// instances of that are there as a stage begins, though trials that have ended hold none. Later
  /// in the stage, only those are there that trials hold.
  struct Paid {
    std::size_t stage = 0;
    Time since = kNoTime;  // when the stage was first planned
    std::map<JobId, int> before{};
    std::map<JobId, int> now{};
  };

  std::unique_ptr<elastic::Rungs> make_rungs(double most) const override {
    return std::make_unique<elastic::Halving>(elastic::RungOptions{
        .reduction = reduction_, .grace = grace_, .most = std::max(most, grace_)});
  }

  void heard(JobId job, const Training& told, double, const View& view) override {
    if (told.batches.initial_batch > 0) speeds_.hear(job, told, view);
  }

  void gone(JobId job) override {
    speeds_.forget(job);
    const auto found = planned_.find(job);
    if (found == planned_.end()) return;
    const NameId group = found->second.group;
    planned_.erase(found);
    const auto is_of_group = [&](const auto& each) { return each.second.group == group; };
    if (std::none_of(planned_.begin(), planned_.end(), is_of_group)) paid_.erase(group);
  }

  int gpus_of(JobId job, const Room& room, const View& view) override {
    const trace::Request& request = view.request(job);
    const auto told = view.training(job);
    if (request.group == kNoName || request.max_gpus == 0) return 0;
    if (!told || told->batches.initial_batch == 0) return 0;
    const auto* const rungs = static_cast<const elastic::Halving*>(rungs_of(request.group));
    const std::size_t stage = rungs == nullptr ? 0 : rungs->stage();
    const bool runs = view.progress(job).phase == Phase::running;
    const auto [known, is_new] = planned_.try_emplace(job);
    if (!is_new && runs && known->second.stage == stage) return known->second.gpus;
    known->second = {
        .group = request.group, .stage = stage, .gpus = plan(job, *told, rungs, room, view)};
    return known->second.gpus;
  }

  /// Returns the GPUs of a trial in the stage that it begins.
  int plan(JobId job, const Training& told, const elastic::Halving* rungs, const Room& room,
           const View& view) {
    const trace::Request& request = view.request(job);
    speeds_.hear(job, told, view);
    const std::size_t stage = rungs == nullptr ? 0 : rungs->stage();
    Paid& paid = paid_[request.group];
    if (paid.stage != stage) {
      paid = {.stage = stage, .since = view.now, .before = std::exchange(paid.now, {})};
    }
    const int before = paid.since == view.now ? gpus_of_all(paid.before) : 0;
    paid.now[job] = request.gpus;
    if (!speeds_.knows(job)) return request.gpus;
    int alive = 0;
    int held = 0;
    for (const JobId each : view.group(request.group)) {
      const Phase phase = view.progress(each).phase;
      if (phase != Phase::running && phase != Phase::waiting) continue;
      ++alive;
      if (phase == Phase::waiting) continue;
      for (const cluster::Grant& grant : view.grants(each)) held += grant.count();
    }
    std::int64_t free = 0;
    for (const Stock& each : room.left) free = std::max(free, each.milli / cluster::kWholeGpu);
    const int all = held + static_cast<int>(free);
    const elastic::Halving none({.reduction = reduction_, .grace = grace_, .most = told.total});
    const std::vector<elastic::Stage> stages = (rungs == nullptr ? none : *rungs).ahead(alive);
    const Time end = deadline_of(request.group, view);
    const elastic::StagePlan made = elastic::plan_stages(
        stages, steps_of(job, told.batches, room, view),
        {.gpus = all,
         .restart_s = std::isnan(request.restart_s) ? seconds(view.restart.of(request.gpus))
                                                    : double{request.restart_s},
         .left_s =
             end == kNever ? std::numeric_limits<double>::infinity() : seconds(end - view.now),
         .instance_gpus = instance_gpus_,
         .boot_s = boot_s_,
         .booted = instances_of(std::max(held, std::min(all, before)))});
    if (!made.gpus.empty()) {
      const trace::Sizes sizes = trace::sizes_of(request);
      paid.now[job] = std::max(sizes.least, sizes.at_most(made.gpus.front()));
    }
    return paid.now[job];
  }

  static int gpus_of_all(const std::map<JobId, int>& trials) {
    int sum = 0;
    for (const auto& [trial, gpus] : trials) sum += gpus;
    return sum;
  }
  int instances_of(int gpus) const {
    return instance_gpus_ == 0 ? 0 : (gpus + instance_gpus_ - 1) / instance_gpus_;
  }

  /// Returns the seconds of a step on 0, 1, 2 ... GPUs.
  std::vector<double> steps_of(JobId job, const elastic::BatchLimits& batches, const Room& room,
                               const View& view) const {
    const trace::Request& request = view.request(job);
    const int batch = request.batch > 0 ? request.batch : batches.initial_batch;
    const int most = std::clamp(batch / batches.min_local_batch, 1, request.max_gpus);
    std::vector<double> made{0};
    for (int gpus = 1; gpus <= most; ++gpus) {
      made.push_back(speeds_.batch_step_s(job, room.nodes_of(gpus), gpus, batch));
    }
    return made;
  }

  double reduction_;
  double grace_;
  int instance_gpus_;  // 0 = each trial pays for its own GPUs only
  double boot_s_;
  ReportedSpeeds speeds_{ReportedSpeeds::Pool::of_model};
  std::map<JobId, Planned> planned_;
  std::map<NameId, Paid> paid_;
};

}  // namespace

void register_rubberband(Registry& registry) {
  registry.wholes.add(
      {.name = "rubberband",
       .summary = "halves a sweep stage by stage; GPUs of each stage for the least GPU time by the "
                  "deadline",
       .source = "Misra et al. EuroSys'21",
       .traits = {.has = {Trait::reads_groups, Trait::stops_jobs, Trait::moves_jobs,
                          Trait::resizes_jobs, Trait::chooses_gpus, Trait::ends_trials}},
       .parameters = {number("reduction",
                             "reduction factor: one trial in this many continues from each stage",
                             3, 1.0001, 1e6),
                      number("grace", "steps of the first stage", 1, 1e-9, 1e15),
                      whole_number("instance_gpus",
                                   "GPUs of an instance, if they are paid for by whole instances; "
                                   "0: each trial pays for its own GPUs",
                                   0, 0, 1'024),
                      number("boot_s", "time until a further instance can be used", 0, 0, 1e6)}},
      [](const Parameters& told, const Composition& composition, const Host& host) {
        return std::make_unique<RubberBand>(
            almanac::policy::registry().placements.make(composition.placement, host), host, told);
      });
}

}  // namespace almanac::policy::whole
