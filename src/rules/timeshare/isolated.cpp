// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "rules/timeshare/programs.h"

namespace almanac::timeshare {

Fractions isolated(const Problem& problem) {
  const double jobs = number_of_jobs(problem);
  Fractions fractions;
  for (const Job& job : problem.jobs) {
    std::vector<double>& row = fractions.emplace_back(problem.gpus);
    for (double& part : row) part /= jobs * job.gpus;
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum <= 1) continue;
    for (double& part : row) part /= sum;
  }
  return fractions;
}

}  // namespace almanac::timeshare
