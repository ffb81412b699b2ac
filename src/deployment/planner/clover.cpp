// SPDX-License-Identifier: Apache-2.0

/// \file
/// Variants on divided GPUs (MIG) that trade accuracy for carbon while requests stay in time.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

/// A GPU: its instances, and the variant on each.
struct CutGpu {
  std::vector<int> slices{7};
  std::vector<std::optional<std::size_t>> variants{};
};

/// Source   Li et al., SC'23 (Clover): compared to a base, the most accurate variant on whole GPUs,
///          the percentage of carbon saved and the percentage of accuracy lost have equal weight;
///          only configurations whose requests are in time are allowed. Simulated annealing changes
///          the division of a GPU or a variant in each step.
/// Differs  4000 steps from temperature 1 to 0.1. The weight of carbon is proportional to its
///          intensity, relative to the usual one. Each of several services is planned by itself, on
///          as many GPUs as its base needs. Then the instances of all move to fewer GPUs, the
///          largest first, each to the first GPU on which it fits.
class Clover {
 public:
  Clover(const PlanningCase& asked, std::size_t service, int first, int gpus)
      : asked_(asked), service_(service), first_(first), rng_(asked.seed, service), gpus_(gpus) {}

  Result<Deployment> plan() {
    const TaskService& service = asked_.services[service_];
    for (std::size_t each = 0; each < asked_.variants.size(); ++each) {
      if (asked_.variants[each].task == service.task) all_.push_back(each);
    }
    const auto best = most_accurate(asked_, service);
    if (!best) return tl::unexpected(best.error());
    std::vector<CutGpu> now(static_cast<std::size_t>(gpus_), CutGpu{{7}, {*best}});
    const Judged base = judged(now);
    base_ = base;
    if (!is_enough(base)) return tl::unexpected(too_few_gpus(asked_, service));
    double value = -kFewerSlices * used_part(now);
    std::vector<CutGpu> found = now;
    double most = value;
    for (int step = 0; step < kSteps; ++step) {
      const double temperature = std::pow(kEnd, static_cast<double>(step) / kSteps);
      const std::vector<CutGpu> tried = changed(now);
      const Judged seen = judged(tried);
      if (!is_enough(seen)) continue;
      const double other = objective(seen) - kFewerSlices * used_part(tried);
      if (other < value && rng_.uniform() >= std::exp((other - value) / temperature)) continue;
      now = tried;
      value = other;
      if (value > most) {
        most = value;
        found = now;
      }
    }
    return deployment_of(found);
  }

 private:
  static constexpr int kSteps = 4000;
  static constexpr double kEnd = 0.1;
  static constexpr double kWeight = 0.5;
  /// Of plans that are alike, the one with fewer slices leaves more room for other services.
  static constexpr double kFewerSlices = 1e-3;

  /// Part of all slices that are in use.
  static double used_part(const std::vector<CutGpu>& gpus) {
    int sum = 0;
    for (const CutGpu& gpu : gpus) {
      for (std::size_t each = 0; each < gpu.slices.size(); ++each) {
        sum += gpu.variants[each] ? gpu.slices[each] : 0;
      }
    }
    return sum / (7.0 * static_cast<double>(gpus.size()));
  }

  const Served& served(const Judged& seen) const { return seen.served[service_]; }
  bool is_enough(const Judged& seen) const {
    const TaskService& service = asked_.services[service_];
    return served(seen).rate >= service.rate && served(seen).accuracy >= service.accuracy - 1e-12;
  }
  double objective(const Judged& seen) const {
    const GpuFleet& fleet = asked_.fleet;
    const double dirtier =
        fleet.usual_grams_per_kwh > 0 ? fleet.grams_per_kwh / fleet.usual_grams_per_kwh : 1;
    const double saved = base_.watts > 0 ? (base_.watts - seen.watts) / base_.watts : 0;
    const double lost = (served(base_).accuracy - served(seen).accuracy) / served(base_).accuracy;
    return 100 * ((1 - kWeight) * saved * dirtier - kWeight * lost);
  }

  bool fits(std::size_t variant, int slices) const {
    const Variant& it = asked_.variants[variant];
    return it.memory_gib <= mig_memory(slices) * asked_.fleet.memory_gib &&
           batch_in_time(it, slices / 7.0, asked_.services[service_].slo_ms) > 0;
  }
  /// Returns a random variant that fits; sometimes none, so that GPUs can become free.
  std::optional<std::size_t> drawn(int slices) {
    std::vector<std::optional<std::size_t>> can{std::nullopt};
    for (const std::size_t each : all_) {
      if (fits(each, slices)) can.emplace_back(each);
    }
    return can[rng_.below(can.size())];
  }
  std::vector<CutGpu> changed(std::vector<CutGpu> gpus) {
    CutGpu& gpu = gpus[rng_.below(gpus.size())];
    if (rng_.below(2) == 0) {
      gpu.slices = mig_splits()[rng_.below(mig_splits().size())];
      gpu.variants.clear();
      for (const int slices : gpu.slices) gpu.variants.push_back(drawn(slices));
    } else {
      const std::size_t at = rng_.below(gpu.slices.size());
      gpu.variants[at] = drawn(gpu.slices[at]);
    }
    return gpus;
  }

  Deployment deployment_of(const std::vector<CutGpu>& gpus) const {
    Deployment made;
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      for (std::size_t each = 0; each < gpus[gpu].slices.size(); ++each) {
        const auto variant = gpus[gpu].variants[each];
        if (!variant) continue;
        const double share = gpus[gpu].slices[each] / 7.0;
        const double slo = asked_.services[service_].slo_ms;
        made.instances.push_back(
            {.gpu = first_ + static_cast<int>(gpu),
             .share = share,
             .service = service_,
             .variant = *variant,
             .batch = std::max(1, batch_in_time(asked_.variants[*variant], share, slo))});
      }
    }
    return made;
  }
  Judged judged(const std::vector<CutGpu>& gpus) const {
    return judge(asked_, deployment_of(gpus));
  }

  const PlanningCase& asked_;
  std::size_t service_;
  int first_;
  Rng rng_;
  int gpus_;
  std::vector<std::size_t> all_;
  Judged base_{};
};

int used_gpus(const Deployment& deployment) {
  std::set<int> gpus;
  for (const Instance& each : deployment.instances) gpus.insert(each.gpu);
  return static_cast<int>(gpus.size());
}

/// Returns `spread` on fewer GPUs; as it is if first fit needs no fewer. O(instances x GPUs).
Deployment packed(const Deployment& spread) {
  Deployment made = spread;
  std::stable_sort(made.instances.begin(), made.instances.end(),
                   [](const Instance& a, const Instance& b) { return a.share > b.share; });
  std::vector<std::vector<int>> slices;  // by GPU
  for (Instance& each : made.instances) {
    const int own = mig_slices(each.share);
    const auto room = std::find_if(slices.begin(), slices.end(), [&](std::vector<int> gpu) {
      gpu.push_back(own);
      return fits_mig_gpu(std::move(gpu));
    });
    each.gpu = static_cast<int>(room - slices.begin());
    if (room == slices.end()) {
      slices.push_back({own});
    } else {
      room->push_back(own);
    }
  }
  return used_gpus(made) < used_gpus(spread) ? made : spread;
}

Result<Deployment> plan_clover(const PlanningCase& asked) {
  Deployment made;
  int used = 0;
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    const auto best = most_accurate(asked, service);
    if (!best) return tl::unexpected(best.error());
    const int batch = std::max(1, batch_in_time(asked.variants[*best], 1, service.slo_ms));
    const int gpus = copies_for(asked, {.variant = *best, .batch = batch}, service.rate);
    if (gpus > asked.fleet.gpus - used) return tl::unexpected(too_few_gpus(asked, service));
    auto some = Clover(asked, number, used, gpus).plan();
    if (!some) return tl::unexpected(some.error());
    made.instances.insert(made.instances.end(), some->instances.begin(), some->instances.end());
    used += gpus;
  }
  return packed(made);
}

}  // namespace

void register_clover(Registry& registry) {
  registry.planners.add({.name = "clover",
                         .summary = "MIG partitions and variants that trade accuracy for carbon",
                         .source = "Li et al. SC'23",
                         .make = {plan_clover, true}});
}

}  // namespace almanac::deployment::planner
