// SPDX-License-Identifier: Apache-2.0

/// \file
/// GPUs are divided into MIG instances with the fewest GPUs that serve all requests.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/rng.h"
#include "deployment/planner/mig_serving/mig_case.h"
#include "deployment/planner/mig_serving/tree_search.h"
#include "deployment/registry.h"

namespace almanac::deployment::planner {
namespace {

/// Source   Tan et al., 2021 (Serving DNN models with multi-instance GPUs), two phases: a greedy
///          plan (MigCase), then a genetic algorithm. In each round a plan loses random GPUs, and
///          tree_search() completes it (crossover); instances of the same size on two GPUs exchange
///          their services (mutation). The best plans survive. Ends after ten rounds without a
///          better plan.
/// Differs  A plan loses each GPU with a probability of one third. Four plans survive. Ends at once
///          at a number of GPUs that no plan undercuts. Instances are not moved from an older
///          deployment: transition() does that.
class MigServing {
 public:
  explicit MigServing(const PlanningCase& told) : told_(told), asked_(told), rng_(told.seed) {}

  Result<Deployment> plan() {
    if (auto possible = asked_.check(); !possible) return tl::unexpected(possible.error());
    const std::size_t least = asked_.least_gpus(asked_.lacking({}));
    const auto most = static_cast<std::size_t>(told_.fleet.gpus);
    if (least > most) return tl::unexpected(too_few_gpus(told_));
    std::vector<Plan> plans{asked_.greedy({})};
    constexpr int kRoundsWithoutGain = 10;
    for (int idle = 0; idle < kRoundsWithoutGain && plans.front().size() > least; ++idle) {
      const std::size_t before = plans.front().size();
      evolve(plans);
      if (plans.front().size() < before) idle = -1;
    }
    if (plans.front().size() > most) return tl::unexpected(too_few_gpus(told_));
    return asked_.deployment_of(plans.front());
  }

 private:
  using Plan = std::vector<ServedGpu>;

  /// Adds a child of each plan, and keeps the best.
  void evolve(std::vector<Plan>& plans) {
    constexpr std::size_t kSurvivors = 4;
    constexpr int kTries = 16;  // of a tree search
    const std::size_t parents = plans.size();
    for (std::size_t each = 0; each < parents; ++each) {
      Plan kept = plans[each];
      mutate(kept);
      std::erase_if(kept, [&](const ServedGpu&) { return rng_.below(3) == 0; });
      const auto added = tree_search(asked_, kept, plans[each].size() + 1, kTries, rng_);
      if (!added) continue;
      kept.insert(kept.end(), added->begin(), added->end());
      plans.push_back(std::move(kept));
    }
    std::stable_sort(plans.begin(), plans.end(),
                     [](const Plan& a, const Plan& b) { return a.size() < b.size(); });
    plans.resize(std::min(plans.size(), kSurvivors));
  }

  /// Exchanges the services of two instances of the same size, on two GPUs.
  void mutate(Plan& plan) {
    if (plan.size() < 2) return;
    ServedGpu& one = plan[rng_.below(plan.size())];
    ServedGpu& other = plan[rng_.below(plan.size())];
    if (&one == &other || one.slices.empty()) return;
    const std::size_t at = rng_.below(one.slices.size());
    const auto same = std::find(other.slices.begin(), other.slices.end(), one.slices[at]);
    if (same == other.slices.end()) return;
    std::swap(one.services[at],
              other.services[static_cast<std::size_t>(same - other.slices.begin())]);
  }

  const PlanningCase& told_;
  MigCase asked_;
  Rng rng_;
};

}  // namespace

void register_mig_serving(Registry& registry) {
  registry.planners.add(
      {.name = "mig_serving",
       .summary = "MIG partitions that serve all requests with the fewest GPUs",
       .source = "Tan et al. 2021 (MIG-Serving)",
       .make = {[](const PlanningCase& asked) { return MigServing(asked).plan(); }, true}});
}

}  // namespace almanac::deployment::planner
