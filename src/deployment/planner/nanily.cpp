// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each service has machines of its own, as many as its rate needs.
#include <algorithm>
#include <cmath>

#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

constexpr double kAlmost = 1e-9;

/// Source   Tang et al., HPCC'19 (Nanily), by the account of Ye et al.'s survey: a batch takes the
///          time that remains of the objective after the wait for a machine, and the number of
///          machines follows the rate.
/// Differs  A machine is a whole GPU. A request waits for at most one batch, so the batch takes at
///          most half of the objective. The service has its most accurate variant.
Result<Deployment> plan_nanily(const PlanningCase& asked) {
  Deployment made;
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    const auto variant = most_accurate(asked, service);
    if (!variant) return tl::unexpected(variant.error());
    const Variant& it = asked.variants[*variant];
    const Instance machine{
        .service = number, .variant = *variant, .batch = batch_in_time(it, 1, service.slo_ms)};
    const double machines = std::ceil(service.rate / throughput(it, 1, machine.batch) - kAlmost);
    if (!add_by_best_fit(asked, machine, std::max(1, static_cast<int>(machines)), made)) {
      return tl::unexpected(too_few_gpus(asked, service));
    }
  }
  return made;
}

}  // namespace

void register_nanily(Registry& registry) {
  registry.planners.add({.name = "nanily",
                         .summary = "whole GPUs for each service, in batches that take the time "
                                    "left after a wait",
                         .source = "Tang et al. HPCC'19",
                         .make = {plan_nanily, false}});
}

}  // namespace almanac::deployment::planner
