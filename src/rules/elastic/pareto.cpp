// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/pareto.h"

#include <algorithm>
#include <numeric>

namespace almanac::elastic {

std::vector<Standing> rank_and_crowd(std::span<const std::array<double, 2>> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  // Each front in this order; its last point has the least second number of it.
  std::vector<std::vector<std::size_t>> fronts;
  std::vector<Standing> made(points.size());
  for (const std::size_t at : order) {
    const auto beaten_by = [&](const std::vector<std::size_t>& front) {
      const auto& last = points[front.back()];
      return last[1] <= points[at][1] && last != points[at];
    };
    const auto front = std::partition_point(fronts.begin(), fronts.end(), beaten_by);
    made[at].rank = static_cast<int>(front - fronts.begin());
    if (front == fronts.end()) {
      fronts.push_back({at});
    } else {
      front->push_back(at);
    }
  }
  for (std::vector<std::size_t>& front : fronts) {
    std::vector<std::size_t> different;
    for (const std::size_t at : front) {
      if (!different.empty() && points[different.back()] == points[at]) {
        made[at].room = 0;
      } else {
        different.push_back(at);
      }
    }
    const auto& first = points[different.front()];
    const auto& last = points[different.back()];
    for (std::size_t at = 1; at + 1 < different.size(); ++at) {
      const auto& before = points[different[at - 1]];
      const auto& behind = points[different[at + 1]];
      made[different[at]].room = (behind[0] - before[0]) / (last[0] - first[0]) +
                                 (before[1] - behind[1]) / (first[1] - last[1]);
    }
  }
  return made;
}

}  // namespace almanac::elastic
