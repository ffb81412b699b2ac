// SPDX-License-Identifier: Apache-2.0
#include "carbon/scaling.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace almanac::carbon {

std::optional<std::vector<int>> scale(const ElasticTask& task, std::span<const double> intensity) {
  struct Step {
    double value;
    std::size_t hour;
    int nodes;
  };
  std::vector<Step> steps;
  for (std::size_t hour = 0; hour < intensity.size(); ++hour) {
    for (int nodes = task.least; nodes <= task.most; ++nodes) {
      const auto at = static_cast<std::size_t>(nodes);
      const double more_work = task.on[at].throughput - task.on[at - 1].throughput;
      const double more_power = task.on[at].power_w - task.on[at - 1].power_w;
      steps.push_back({more_work / (more_power * intensity[hour]), hour, nodes});
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tuple(-a.value, a.hour, a.nodes) < std::tuple(-b.value, b.hour, b.nodes);
  });
  std::vector<int> held(intensity.size());
  double done = 0;
  while (done < task.work) {
    // A node beyond one that is not there yet waits for it, however much it is worth.
    const auto next = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.nodes == task.least || step.nodes == held[step.hour] + 1;
    });
    if (next == steps.end()) return std::nullopt;
    held[next->hour] = next->nodes;
    steps.erase(next);
    done = 0;
    for (const int nodes : held) done += task.on[static_cast<std::size_t>(nodes)].throughput;
  }
  return held;
}

double grams(const ElasticTask& task, std::span<const double> intensity,
             std::span<const int> nodes) {
  double sum = 0;
  for (std::size_t hour = 0; hour < nodes.size(); ++hour) {
    sum += task.on[static_cast<std::size_t>(nodes[hour])].power_w / 1000 * intensity[hour];
  }
  return sum;
}

}  // namespace almanac::carbon
