// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rules/timeshare/levels.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {

Fractions min_total_duration(const Problem& problem) {
  std::vector<double> needs;
  for (const Job& job : problem.jobs) needs.push_back(job.steps_left);
  const double ends_a_second = Levels(problem, needs).raise_all();
  for (double& need : needs) need *= ends_a_second;
  return raise_from(problem, needs);
}

double total_duration_s(const Problem& problem, const Fractions& fractions) {
  double longest = 0;
  for (std::size_t at = 0; at < problem.jobs.size(); ++at) {
    const Job& job = problem.jobs[at];
    if (job.steps_left <= 0 || *std::max_element(job.rates.begin(), job.rates.end()) <= 0) continue;
    longest = std::max(longest, job.steps_left / effective_rate(job, fractions[at]));
  }
  return longest;
}

}  // namespace almanac::timeshare
