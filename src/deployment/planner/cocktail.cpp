// SPDX-License-Identifier: Apache-2.0

/// \file
/// The smallest ensemble of variants whose majority vote is accurate enough.
#include <algorithm>

#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

std::vector<double> accuracies(const PlanningCase& asked, const std::vector<std::size_t>& members) {
  std::vector<double> made;
  for (const std::size_t each : members) made.push_back(asked.variants[each].accuracy);
  return made;
}

/// Source   Gunasekaran et al., NSDI'22 (Cocktail): adds models within the latency, the most
///          accurate first, until the majority vote reaches the accuracy; then drops members while
///          it still does.
/// Differs  Assumes that members err independently; the released estimate averages their
///          accuracies, so a less accurate member lowers it. The chooser of the same name
///          weighs votes by class; there are no spot instances. Each member of an ensemble has
///          copies for the whole rate.
Result<Deployment> plan_cocktail(const PlanningCase& asked) {
  Deployment made;
  made.votes.resize(asked.services.size());
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    std::vector<std::size_t> candidates = eligible(asked, service, 0);
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
      return asked.variants[a].accuracy > asked.variants[b].accuracy;
    });
    std::vector<std::size_t> members;
    const auto does = [&](const std::vector<std::size_t>& some) {
      return !some.empty() && vote_accuracy(accuracies(asked, some)) >= service.accuracy - 1e-12;
    };
    for (const std::size_t each : candidates) {
      if (does(members)) break;
      members.push_back(each);
    }
    if (!does(members)) return tl::unexpected(no_variant(asked, service));
    // The slowest first: it needs most copies.
    for (bool is_smaller = true; is_smaller;) {
      is_smaller = false;
      std::vector<std::size_t> slowest = members;
      std::stable_sort(slowest.begin(), slowest.end(), [&](std::size_t a, std::size_t b) {
        return asked.variants[a].item_ms > asked.variants[b].item_ms;
      });
      for (const std::size_t each : slowest) {
        std::vector<std::size_t> rest = members;
        std::erase(rest, each);
        if (!does(rest)) continue;
        members = std::move(rest);
        is_smaller = true;
        break;
      }
    }
    made.votes[number] = members.size() > 1;
    for (const std::size_t each : members) {
      const Variant& it = asked.variants[each];
      const Instance instance{
          .share = it.knee,
          .service = number,
          .variant = each,
          .batch = batch_in_time(it, it.knee, service.slo_ms, asked.fleet.beside)};
      if (!add_by_best_fit(asked, instance, copies_for(asked, instance, service.rate), made)) {
        return tl::unexpected(too_few_gpus(asked, service));
      }
    }
  }
  return made;
}

}  // namespace

void register_cocktail(Registry& registry) {
  registry.planners.add({.name = "cocktail",
                         .summary = "the smallest ensemble whose vote is right often enough",
                         .source = "Gunasekaran et al. NSDI'22",
                         .make = {plan_cocktail, false, line_of_five}});
}

}  // namespace almanac::deployment::planner
