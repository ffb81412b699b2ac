// SPDX-License-Identifier: Apache-2.0

#include "serving/mark.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace almanac::serving {
namespace {

constexpr std::ptrdiff_t kAhead = 6;  // minutes that must be covered
constexpr double kMinute = 60;

/// Cost of a request on one more instance, over the minutes from `first` to `last`.
double unit_cost(const MarkInstance& instance, double launch, std::vector<double>::iterator first,
                 std::vector<double>::iterator last) {
  double served = 0;
  for (auto each = first; each != last; ++each) served += std::min(instance.capacity, *each);
  return (instance.price * static_cast<double>(last - first) * kMinute + launch) / served;
}

}  // namespace

MarkPlan plan_mark(const std::vector<MarkInstance>& instances, const std::vector<int>& current,
                   const std::vector<double>& forecast) {
  const std::size_t types = instances.size();
  MarkPlan plan{std::vector<int>(types), std::vector<int>(types), current};
  std::vector<double> residual = forecast;
  while (!residual.empty()) {
    const auto ahead = residual.begin() + std::min<std::ptrdiff_t>(kAhead, std::ssize(residual));
    const auto first = std::max_element(residual.begin(), ahead);
    if (*first <= 0) break;
    const auto last = std::find_if(first, residual.end(), [](double each) { return each < 0; });
    std::size_t best = types;
    bool best_runs = false;
    double cheapest = std::numeric_limits<double>::infinity();
    // Those that run already come second, so that they win ties.
    for (const bool runs : {false, true}) {
      for (std::size_t type = 0; type < types; ++type) {
        if (instances[type].capacity <= 0 || (runs && plan.destroy[type] == 0)) continue;
        const double cost =
            unit_cost(instances[type], runs ? 0 : instances[type].launch, first, last);
        if (cost > cheapest) continue;
        cheapest = cost;
        best = type;
        best_runs = runs;
      }
    }
    if (best == types) break;
    ++plan.target[best];
    --(best_runs ? plan.destroy : plan.launch)[best];
    for (double& each : residual) each -= instances[best].capacity;
  }
  for (int& each : plan.launch) each = -each;
  return plan;
}

}  // namespace almanac::serving
