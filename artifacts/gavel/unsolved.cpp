// SPDX-License-Identifier: Apache-2.0
#include "gavel/unsolved.h"

#include <numeric>
#include <optional>
#include <vector>

namespace almanac::gavel {

using timeshare::Fractions;
using timeshare::Problem;

Fractions equal_time(const Problem& problem) {
  double tickets = 0;
  for (const timeshare::Job& job : problem.jobs) tickets += job.weight * job.count;
  Fractions fractions;
  for (const timeshare::Job& job : problem.jobs) {
    std::vector<double>& row = fractions.emplace_back(problem.gpus);
    for (double& part : row) part *= job.weight / tickets;
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum <= 1) continue;
    for (double& part : row) part /= sum;
  }
  return fractions;
}

Fractions first_come(const Problem& problem) {
  Fractions fractions(problem.jobs.size(), std::vector<double>(problem.types(), 0.0));
  std::vector<double> free = problem.gpus;
  for (std::size_t at = 0; at < problem.jobs.size(); ++at) {
    const timeshare::Job& job = problem.jobs[at];
    std::optional<std::size_t> best;
    for (std::size_t type = 0; type < free.size(); ++type) {
      if (free[type] <= 0 || free[type] < job.gpus) continue;
      if (!best || job.rates[type] > job.rates[*best]) best = type;
    }
    if (!best) break;
    if (job.rates[*best] <= 0) continue;
    free[*best] -= job.gpus;
    fractions[at][*best] = 1;
  }
  return fractions;
}

}  // namespace almanac::gavel
