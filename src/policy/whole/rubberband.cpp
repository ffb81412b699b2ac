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
/// they can be used; the plan then has the least paid GPU time.
///
/// If GPU types have prices (kit/prices.h), each stage is planned on each type that the trials
/// accept, and takes the one whose plan costs least in time.
///
/// Source   Misra et al., EuroSys'21 (RubberBand), section 4.
/// Differs  The plan includes the time until instances have booted, but the host decides when nodes
///          boot. The paper also charges for the transfer of data. Types count as equally fast, a
///          plan has the later stages on the same type, and all trials of a stage are on one.
/// Cost     a plan for each trial that begins a stage and each type with a price, some ms, and a
///          fit per new report
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "policy/kit/prices.h"
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
    std::uint64_t gpu_types = 0;  // 0 = any
  };

  /// GPUs that have one price.
  struct Offer {
    std::uint64_t gpu_types = 0;  // 0 = any
    int held = 0;                 // by the trials of the sweep
    int all = 0;                  // that the sweep could have at a time
    double price = 1;
  };

  /// GPUs planned for the trials of a group in its current stage, and in the one before. The
  /// instances of that are there as a stage begins, though trials that have ended hold none. Later
  /// in the stage, only those are there that trials hold.
  struct Paid {
    std::size_t stage = 0;
    Time since = kNoTime;         // when the stage was first planned
    std::uint64_t gpu_types = 0;  // of the stage; 0 = any, or not settled
    std::uint64_t types_before = 0;
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
    const int gpus = plan(job, *told, rungs, room, view);
    known->second = {.group = request.group,
                     .stage = stage,
                     .gpus = gpus,
                     .gpu_types = paid_[request.group].gpu_types};
    return gpus;
  }

  std::uint64_t types_of(JobId job) const override {
    const auto found = planned_.find(job);
    return found == planned_.end() ? 0 : found->second.gpu_types;
  }

  /// Returns the GPUs of a trial in the stage that it begins.
  int plan(JobId job, const Training& told, const elastic::Halving* rungs, const Room& room,
           const View& view) {
    const trace::Request& request = view.request(job);
    speeds_.hear(job, told, view);
    const std::size_t stage = rungs == nullptr ? 0 : rungs->stage();
    Paid& paid = paid_[request.group];
    if (paid.stage != stage) {
      paid = {.stage = stage,
              .since = view.now,
              .types_before = paid.gpu_types,
              .before = std::exchange(paid.now, {})};
    }
    paid.now[job] = request.gpus;
    if (!speeds_.knows(job)) return request.gpus;
    int alive = 0;
    for (const JobId each : view.group(request.group)) {
      const Phase phase = view.progress(each).phase;
      if (phase == Phase::running || phase == Phase::waiting) ++alive;
    }
    const elastic::Halving none({.reduction = reduction_, .grace = grace_, .most = told.total});
    const std::vector<elastic::Stage> stages = (rungs == nullptr ? none : *rungs).ahead(alive);
    const Time end = deadline_of(request.group, view);
    const double left_s =
        end == kNever ? std::numeric_limits<double>::infinity() : seconds(end - view.now);
    const std::vector<double> step_s = steps_of(job, told.batches, room, view);
    elastic::StagePlan best;
    double price = 1;
    std::uint64_t gpu_types = 0;
    for (const Offer& offer : offers_to(job, paid, room, view)) {
      elastic::StagePlan made = elastic::plan_stages(
          stages, step_s,
          {.gpus = offer.all,
           .restart_s = std::isnan(request.restart_s) ? seconds(view.restart.of(request.gpus))
                                                      : double{request.restart_s},
           .left_s = left_s,
           .instance_gpus = instance_gpus_,
           .boot_s = boot_s_,
           .booted = booted(offer, paid, view)});
      const auto is_better = [&] {
        if (best.gpus.empty()) return true;
        const bool in_time = made.seconds <= left_s;
        if (in_time != (best.seconds <= left_s)) return in_time;
        if (!in_time) return made.seconds < best.seconds;
        return made.gpu_seconds * offer.price < best.gpu_seconds * price;
      };
      if (made.gpus.empty() || !is_better()) continue;
      best = std::move(made);
      price = offer.price;
      gpu_types = offer.gpu_types;
    }
    if (!best.gpus.empty()) {
      const trace::Sizes sizes = trace::sizes_of(request);
      paid.now[job] = std::max(sizes.least, sizes.at_most(best.gpus.front()));
      paid.gpu_types = gpu_types;
    }
    return paid.now[job];
  }

  /// Returns the GPUs on which the trials of a stage can be planned: those of each type that has a
  /// price, or of the type on which the first trial of the stage was planned; without prices, the
  /// most of any one type.
  static std::vector<Offer> offers_to(JobId job, const Paid& paid, const Room& room,
                                      const View& view) {
    std::map<std::uint64_t, int> held;
    Offer any;
    for (const JobId each : view.group(view.request(job).group)) {
      if (view.progress(each).phase != Phase::running) continue;
      for (const cluster::Grant& grant : view.grants(each)) {
        held[type_held(each, view)] += grant.count();
        any.held += grant.count();
      }
    }
    std::vector<Offer> made;
    int most_free = 0;
    for (std::size_t at = 0; at < room.left.size(); ++at) {
      const std::uint64_t type = room.left[at].gpu_type;
      const std::int64_t milli = std::min(room.left[at].milli, room.free[at].milli);
      const int free = static_cast<int>(milli / cluster::kWholeGpu);
      most_free = std::max(most_free, free);
      const bool is_other = paid.gpu_types != 0 && paid.gpu_types != type;
      if (is_other || (asked(job, view).gpu_types & type) == 0) continue;
      made.push_back({.gpu_types = type,
                      .held = held[type],
                      .all = held[type] + free,
                      .price = price_of(type, view)});
    }
    if (std::any_of(view.signals.begin(), view.signals.end(), is_price)) return made;
    any.all = any.held + most_free;
    return {any};
  }

  /// Returns the instances of an offer that the sweep has as its trial begins a stage.
  int booted(const Offer& offer, const Paid& paid, const View& view) const {
    const bool is_same = paid.types_before == 0 || paid.types_before == offer.gpu_types;
    const int before = paid.since == view.now && is_same ? gpus_of_all(paid.before) : 0;
    return instances_of(std::max(offer.held, std::min(offer.all, before)));
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
       .summary = "halves a sweep stage by stage; GPUs of each stage for the least GPU time, or "
                  "money, by the deadline",
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
