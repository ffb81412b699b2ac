// SPDX-License-Identifier: Apache-2.0

/// \file
/// Services take turns on whole GPUs (squishy bin packing).
///
/// Source   Shen et al., SOSP'19 (Nexus), section 4.1, Algorithm 1: a service gets as many whole
///          GPUs as it fills, with the largest batch of which two are in time. The rests of all
///          services follow in order of occupancy, the highest first, each to the GPU that is
///          fullest with it.
/// Differs  A service has the most accurate variant that is in time. The released scheduler, which
///          adds sessions one by one, is in artifacts/serving/nexus.h.
#include <algorithm>
#include <optional>

#include "deployment/planner/turns.h"
#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

Result<Deployment> plan_nexus(const PlanningCase& asked) {
  std::vector<Turns> gpus, rest;
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    const auto variant = most_accurate(asked, service);
    if (!variant) return tl::unexpected(variant.error());
    const Variant& it = asked.variants[*variant];
    const int batch = batch_in_time(it, 1, service.slo_ms);
    const double full = throughput(it, 1, batch);
    double left = service.rate;
    for (; left >= full; left -= full) {
      gpus.push_back({.all = {{number, *variant, full, batch}},
                      .duty_ms = it.batch_ms(batch, 1),
                      .busy_ms = it.batch_ms(batch, 1)});
      if (static_cast<int>(gpus.size()) > asked.fleet.gpus) {
        return tl::unexpected(too_few_gpus(asked, service));
      }
    }
    constexpr double kNothing = 1e-6;
    if (left <= kNothing) continue;
    auto alone = in_turns(asked, 1, 1, {{number, *variant, left}});
    if (!alone) return tl::unexpected(no_variant(asked, service));
    rest.push_back(*std::move(alone));
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const Turns& a, const Turns& b) { return a.occupancy() > b.occupancy(); });
  const std::size_t first_shared = gpus.size();
  for (const Turns& each : rest) {
    std::size_t chosen = gpus.size();
    std::optional<Turns> best;
    for (std::size_t gpu = first_shared; gpu < gpus.size(); ++gpu) {
      std::vector<Turn> all = gpus[gpu].all;
      all.push_back(each.all.front());
      if (memory_of(asked, all) > asked.fleet.memory_gib) continue;
      auto merged = in_turns(asked, 1, 1, std::move(all));
      if (!merged || (best && merged->occupancy() <= best->occupancy())) continue;
      best = std::move(merged);
      chosen = gpu;
    }
    if (best) {
      gpus[chosen] = *std::move(best);
    } else if (static_cast<int>(gpus.size()) < asked.fleet.gpus) {
      gpus.push_back(each);
    } else {
      return tl::unexpected(too_few_gpus(asked, asked.services[each.all.front().service]));
    }
  }
  Deployment made;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    add_turns(gpus[gpu], static_cast<int>(gpu), 0, made);
  }
  return made;
}

}  // namespace

void register_nexus(Registry& registry) {
  registry.planners.add({.name = "nexus",
                         .summary = "services take turns on whole GPUs",
                         .source = "Shen et al. SOSP'19 §4.1",
                         .make = {plan_nexus, false}});
}

}  // namespace almanac::deployment::planner
