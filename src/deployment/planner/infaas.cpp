// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each service has the variant that loads and answers soonest, or a faster variant if the copies
/// of the first take much longer to load.
#include <algorithm>

#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

struct Choice {
  Instance instance{};
  int copies = 0;
  double load_s = 0;  ///< Of all copies, one after the other.
};

/// Source   Romero et al., ATC'21 (INFaaS), and its released autoscaler: if nothing runs yet, the
///          variant with the least load plus answer time among those that are accurate and fast
///          enough; replicas = rate / throughput. It is replaced if loading its replicas takes more
///          than 1.5 times as long as the least of the ten fastest variants.
/// Differs  All variants run on GPUs, so no kind of machine is chosen. The released rule compares a
///          rate with load times in two ways, neither of which is implemented.
Result<Deployment> plan_infaas(const PlanningCase& asked) {
  constexpr double kUpgrade = 1.5;
  constexpr std::size_t kFastest = 10;
  Deployment made;
  for (std::size_t number = 0; number < asked.services.size(); ++number) {
    const TaskService& service = asked.services[number];
    std::vector<Choice> choices;
    for (const std::size_t variant : eligible(asked, service, service.accuracy)) {
      const Variant& it = asked.variants[variant];
      Choice& choice = choices.emplace_back();
      choice.instance = {.share = it.knee,
                         .service = number,
                         .variant = variant,
                         .batch = batch_in_time(it, it.knee, service.slo_ms, asked.fleet.beside)};
      choice.copies = copies_for(asked, choice.instance, service.rate);
      choice.load_s = it.load_s * choice.copies;
    }
    if (choices.empty()) return tl::unexpected(no_variant(asked, service));
    const auto answer_s = [&](const Choice& choice) {
      const Variant& it = asked.variants[choice.instance.variant];
      return it.load_s + it.batch_ms(choice.instance.batch, choice.instance.share) / 1000;
    };
    const Choice first = *std::min_element(
        choices.begin(), choices.end(),
        [&](const Choice& a, const Choice& b) { return answer_s(a) < answer_s(b); });
    std::stable_sort(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
      const auto speed = [&](const Choice& each) {
        const Instance& it = each.instance;
        return throughput(asked.variants[it.variant], it.share, it.batch);
      };
      return speed(a) > speed(b);
    });
    choices.resize(std::min(choices.size(), kFastest));
    const Choice upgrade =
        *std::min_element(choices.begin(), choices.end(),
                          [](const Choice& a, const Choice& b) { return a.load_s < b.load_s; });
    const Choice& chosen = first.load_s > kUpgrade * upgrade.load_s ? upgrade : first;
    if (!add_by_best_fit(asked, chosen.instance, chosen.copies, made)) {
      return tl::unexpected(too_few_gpus(asked, service));
    }
  }
  return made;
}

}  // namespace

void register_infaas(Registry& registry) {
  registry.planners.add(
      {.name = "infaas",
       .summary =
           "the loaded variant that answers soonest, upgraded if more copies take longer to load",
       .source = "Romero et al. ATC'21",
       .make = {plan_infaas, false, highest_of_twenty}});
}

}  // namespace almanac::deployment::planner
