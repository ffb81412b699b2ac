// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs are divided into two parts, and services take turns on a part.
///
/// Source   Choi et al., ATC'22 (gpulet), Algorithm 1: a service gets parts until its rate is
///          served. It takes turns on a part of others if one has room, the fullest first.
///          Otherwise it gets the smallest free part that is at least as large as the smaller of
///          two: the part with the highest throughput for its size, and the smallest that serves
///          the remaining rate.
///          As in the released scheduler, rates are planned at their 99th percentile by Poisson's
///          law, and parts are 20, 40, 50, 60, 80 or 100 % of a GPU.
/// Differs  Neighbors slow each other by --beside. Each service has the most accurate variant that
///          is in time. The released scheduler as a whole, with its faults, is in
///          artifacts/serving/gpulet.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "deployment/planner/turns.h"
#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

constexpr std::array kPartSizes{0.2, 0.4, 0.5, 0.6, 0.8, 1.0};
constexpr double kNearly = 1e-9;

/// The requests of a second that are not exceeded in 99 of 100 if they arrive at random at `rate`;
/// of more than 550 a tenth more than the mean.
double busy_rate(double rate) {
  constexpr double kMostByLaw = 550, kQuantile = 0.99;
  if (rate > kMostByLaw) return 1.1 * rate;
  double likely = std::exp(-rate), sum = likely;
  int count = 0;
  for (; sum < kQuantile; sum += likely) likely *= rate / ++count;
  return std::max<double>(count, rate);
}

/// A GPU with one part or two.
struct HalvedGpu {
  std::vector<Turns> parts{};
};

class GpuletPlan {
 public:
  explicit GpuletPlan(const PlanningCase& asked) : asked_(asked) {}

  Result<void> add(std::size_t number) {
    const TaskService& service = asked_.services[number];
    const auto variant = most_accurate(asked_, service);
    if (!variant) return tl::unexpected(variant.error());
    double left = busy_rate(service.rate);
    constexpr double kNothing = 1e-6;
    while (left > kNothing) {
      if (joined({number, *variant, left})) return {};
      const double part = wish(*variant, service, left);
      if (part == 0) return tl::unexpected(no_variant(service));
      const double served = placed({number, *variant, left}, part);
      if (served <= 0) return tl::unexpected(too_few_gpus(asked_, service));
      left -= served;
    }
    return {};
  }

  Deployment done() const {
    Deployment made;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      int part = 0;
      for (const Turns& each : gpus_[gpu].parts) {
        if (!each.all.empty()) add_turns(each, static_cast<int>(gpu), part++, made);
      }
    }
    return made;
  }

 private:
  /// Returns the highest rate of one service on a part.
  double most(std::size_t variant, const TaskService& service, double share) const {
    const int batch =
        batch_in_time(asked_.variants[variant], share, service.slo_ms, asked_.fleet.beside);
    return batch == 0 ? 0 : throughput(asked_.variants[variant], share, batch, asked_.fleet.beside);
  }

  double wish(std::size_t variant, const TaskService& service, double rate) const {
    double best = 0, for_size = 0, least = 0;
    for (const double share : kPartSizes) {
      const double serves = most(variant, service, share);
      if (serves / share > for_size * (1 + kNearly)) {
        for_size = serves / share;
        best = share;
      }
      if (least == 0 && serves >= rate * (1 - kNearly)) least = share;
    }
    return least > 0 ? std::min(best, least) : best;
  }

  double memory(const HalvedGpu& gpu) const {
    double sum = 0;
    for (const Turns& each : gpu.parts) sum += memory_of(asked_, each.all);
    return sum;
  }

  /// Gives the service a turn on a part of others, the fullest that has room.
  bool joined(const Turn& turn) {
    Turns* chosen = nullptr;
    std::optional<Turns> best;
    for (HalvedGpu& gpu : gpus_) {
      if (memory(gpu) + asked_.variants[turn.variant].memory_gib > asked_.fleet.memory_gib)
        continue;
      for (Turns& part : gpu.parts) {
        if (part.all.empty()) continue;
        std::vector<Turn> all = part.all;
        all.push_back(turn);
        auto merged = in_turns(asked_, part.share, asked_.fleet.beside, std::move(all));
        if (!merged || (best && merged->occupancy() <= best->occupancy())) continue;
        best = std::move(merged);
        chosen = &part;
      }
    }
    if (chosen == nullptr) return false;
    *chosen = *std::move(best);
    return true;
  }

  /// Puts the service on the smallest free part of at least `share`, after dividing another GPU if
  /// necessary. Returns the rate that this serves; 0 = there is no part.
  double placed(const Turn& turn, double share) {
    const double needs = asked_.variants[turn.variant].memory_gib;
    Turns* part = nullptr;
    for (HalvedGpu& gpu : gpus_) {
      if (memory(gpu) + needs > asked_.fleet.memory_gib) continue;
      for (Turns& each : gpu.parts) {
        if (!each.all.empty() || each.share < share - kNearly) continue;
        if (part == nullptr || each.share < part->share) part = &each;
      }
    }
    if (part == nullptr) {
      if (static_cast<int>(gpus_.size()) == asked_.fleet.gpus) return 0;
      HalvedGpu cut{.parts = {Turns{.share = share}}};
      if (share < 1 - kNearly) cut.parts.push_back({.share = 1 - share});
      gpus_.push_back(std::move(cut));
      part = &gpus_.back().parts.front();
    }
    const double serves = std::min(
        turn.rate, most(turn.variant, asked_.services[turn.service], part->share) * (1 - kNearly));
    Turn own = turn;
    own.rate = serves;
    auto alone = in_turns(asked_, part->share, asked_.fleet.beside, {own});
    if (!alone) return 0;
    *part = *std::move(alone);
    return serves;
  }

  const PlanningCase& asked_;
  std::vector<HalvedGpu> gpus_;
};

Result<Deployment> plan_gpulet(const PlanningCase& asked) {
  std::vector<std::size_t> order(asked.services.size());
  for (std::size_t each = 0; each < order.size(); ++each) order[each] = each;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return asked.services[a].rate > asked.services[b].rate;
  });
  GpuletPlan plan(asked);
  for (const std::size_t each : order) {
    if (auto added = plan.add(each); !added) return tl::unexpected(added.error());
  }
  return plan.done();
}

}  // namespace

void register_gpulet(Registry& registry) {
  registry.planners.add({.name = "gpulet",
                         .summary = "GPUs split into two parts, on which services take turns",
                         .source = "Choi et al. ATC'22, Algorithm 1",
                         .make = {plan_gpulet, false}});
}

}  // namespace almanac::deployment::planner
