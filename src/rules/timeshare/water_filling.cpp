// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rules/timeshare/levels.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {
namespace {

void add_paces(const Entity& entity, const Problem& problem, const std::vector<bool>& fixed,
               std::vector<double>& paces) {
  double weights = 0;
  for (const std::size_t job : entity.jobs) {
    if (fixed[job]) continue;
    if (entity.within == Within::fifo) {
      paces[job] = entity.weight;
      return;
    }
    weights += problem.jobs[job].weight * problem.jobs[job].count;
  }
  for (const std::size_t job : entity.jobs) {
    if (!fixed[job]) paces[job] = entity.weight * problem.jobs[job].weight / weights;
  }
}

}  // namespace

Fractions water_filling(const Problem& problem, std::span<const Entity> entities) {
  std::vector<double> needs;
  for (const Job& job : problem.jobs) needs.push_back(proportional_rate(problem, job) / job.gpus);
  Levels levels(problem, needs);
  levels.fill([&](const std::vector<bool>& fixed) {
    std::vector<double> paces(needs.size(), 0.0);
    for (const Entity& entity : entities) add_paces(entity, problem, fixed, paces);
    return paces;
  });
  return levels.fractions();
}

}  // namespace almanac::timeshare
