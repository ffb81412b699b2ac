// SPDX-License-Identifier: Apache-2.0

/// \file
/// Feedback sets the batch and the share of a service, by the slack of its latency and its
/// throughput.
#include <algorithm>
#include <cmath>

#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

constexpr int kRounds = 5, kBatchRounds = 5;
constexpr double kClose = 0.1;  // a slack of 0 to 10 % is kept
constexpr double kStartShare = 0.3, kLeastShare = 0.01;

bool is_close(double slack) { return slack >= 0 && slack <= kClose; }

/// Source   Dhakal et al., SoCC'20 (GSLICE), in the loop of iGniter's authors: starts with a batch
///          of 1 on 30 % of a GPU. In each of up to five rounds, the slack of the latency changes
///          the batch up to five times; then the larger of both slacks changes the share.
/// Differs  If five rounds do not suffice, the share grows by 1 % until both objectives are met. A
///          service that needs more than a GPU is divided first. A batch may take half the
///          objective, because requests wait for it.
Instance tuned(const PlanningCase& asked, const Variant& variant, double slo_ms, double rate) {
  Instance made{.share = kStartShare};
  const auto latency_slack = [&] {
    const double took = 2 * asked.fleet.beside * variant.batch_ms(made.batch, made.share);
    return (slo_ms - took) / took;
  };
  const auto rate_slack = [&] {
    return (throughput(variant, made.share, made.batch, asked.fleet.beside) - rate) / rate;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (int step = 0; step < kBatchRounds && !is_close(latency_slack()); ++step) {
      const double grown = made.batch + latency_slack() * made.batch;
      made.batch =
          std::clamp(static_cast<int>(std::ceil(std::min(grown, 1e6))), 1, variant.most_batch);
    }
    const double late = latency_slack(), short_of = rate_slack();
    if (is_close(late) && is_close(short_of)) break;
    const double larger = std::abs(late) > std::abs(short_of) ? late : short_of;
    made.share = std::clamp(made.share * (1 - larger), kLeastShare, 1.0);
  }
  while (latency_slack() < 0 || rate_slack() < 0) {
    made.batch = std::max(1, batch_in_time(variant, made.share, slo_ms, asked.fleet.beside));
    if ((latency_slack() >= 0 && rate_slack() >= 0) || made.share >= 1) break;
    made.share = std::min(1.0, made.share + 0.01);
  }
  return made;
}

Result<Deployment> plan_gslice(const PlanningCase& asked) {
  Deployment made;
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    const auto variant = most_accurate(asked, service);
    if (!variant) return tl::unexpected(variant.error());
    const Variant& it = asked.variants[*variant];
    const int whole = batch_in_time(it, 1, service.slo_ms, asked.fleet.beside);
    const int copies =
        copies_for(asked, {.variant = *variant, .batch = std::max(1, whole)}, service.rate);
    Instance instance = tuned(asked, it, service.slo_ms, service.rate / copies);
    instance.service = number;
    instance.variant = *variant;
    if (!add_by_best_fit(asked, instance, copies, made)) {
      return tl::unexpected(too_few_gpus(asked, service));
    }
  }
  return made;
}

}  // namespace

void register_gslice(Registry& registry) {
  registry.planners.add(
      {.name = "gslice",
       .summary = "batch and GPU share adjusted by feedback from latency and throughput",
       .source = "Dhakal et al. SoCC'20",
       .make = {plan_gslice, false}});
}

}  // namespace almanac::deployment::planner
