// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "rules/timeshare/levels.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {
Fractions max_min_fairness(const Problem& problem) {
  const Kinds kinds = kinds_of(problem);
  Levels levels(kinds.problem, fair_needs(kinds.problem));
  levels.fill();
  return of_jobs(kinds, levels.fractions());
}

double least_normalised_rate(const Problem& problem, const Fractions& fractions) {
  const std::vector<double> needs = fair_needs(problem);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t job = 0; job < needs.size(); ++job) {
    if (needs[job] <= 0) continue;
    least = std::min(least, effective_rate(problem.jobs[job], fractions[job]) / needs[job]);
  }
  return least;
}

}  // namespace almanac::timeshare
