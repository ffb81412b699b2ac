// SPDX-License-Identifier: Apache-2.0
#include "rules/carbon/scaling.h"

#include <cstddef>
#include <queue>
#include <tuple>

namespace almanac::carbon {

std::optional<std::vector<int>> scale(const ElasticTask& task, std::span<const double> intensity,
                                      std::span<const double> parts) {
  struct Step {
    double value;
    std::size_t hour;
    int nodes;
  };
  const auto comes_later = [](const Step& a, const Step& b) {
    return std::tuple(-a.value, a.hour, a.nodes) > std::tuple(-b.value, b.hour, b.nodes);
  };
  // A node beyond one that is not there yet waits for it, however much it is worth: so each hour
  // has one step that can be taken.
  std::priority_queue<Step, std::vector<Step>, decltype(comes_later)> steps(comes_later);
  const auto add_work = [&](int nodes) {
    const auto at = static_cast<std::size_t>(nodes);
    return task.on[at].throughput - task.on[at - 1].throughput;
  };
  const auto offer = [&](std::size_t hour, int nodes) {
    if (nodes > task.most) return;
    const auto at = static_cast<std::size_t>(nodes);
    const double more_power = task.on[at].power_w - task.on[at - 1].power_w;
    steps.push({add_work(nodes) / (more_power * intensity[hour]), hour, nodes});
  };
  for (std::size_t hour = 0; hour < intensity.size(); ++hour) offer(hour, task.least);
  std::vector<int> held(intensity.size());
  double done = 0;
  while (done < task.work) {
    if (steps.empty()) return std::nullopt;
    const Step next = steps.top();
    steps.pop();
    held[next.hour] = next.nodes;
    const double more = next.nodes == task.least
                            ? task.on[static_cast<std::size_t>(next.nodes)].throughput
                            : add_work(next.nodes);
    done += more * (parts.empty() ? 1 : parts[next.hour]);
    offer(next.hour, next.nodes + 1);
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
