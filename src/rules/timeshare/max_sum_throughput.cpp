// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "rules/solver/linear_program.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {

using solver::kNoBound;
using solver::LinearProgram;

Fractions max_sum_throughput(const Problem& problem, std::span<const double> prices,
                             std::span<const double> to_deadline_s) {
  using Term = LinearProgram::Term;
  LinearProgram program;
  for (const Job& job : problem.jobs) {
    for (std::size_t type = 0; type < problem.types(); ++type) {
      const double price = prices.empty() ? 1 : prices[type];
      program.add_column(job.rates[type] * job.count / price);
    }
  }
  const auto column = [&](std::size_t job, std::size_t type) {
    return static_cast<int>(job * problem.types() + type);
  };
  for (std::size_t type = 0; type < problem.types(); ++type) {
    std::vector<Term> terms;
    for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
      const Job& each = problem.jobs[job];
      terms.push_back({column(job, type), static_cast<double>(each.gpus * each.count)});
    }
    program.add_row(terms, -kNoBound, problem.gpus[type]);
  }
  std::vector<int> deadlines;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    const Job& each = problem.jobs[job];
    std::vector<Term> time;
    std::vector<Term> rate;
    for (std::size_t type = 0; type < problem.types(); ++type) {
      time.push_back({column(job, type), 1});
      rate.push_back({column(job, type), each.rates[type]});
    }
    program.add_row(time, -kNoBound, 1);
    if (to_deadline_s.empty() || !std::isfinite(to_deadline_s[job])) continue;
    if (to_deadline_s[job] <= 0) continue;  // has passed: nothing keeps it any more
    deadlines.push_back(program.add_row(rate, each.steps_left / to_deadline_s[job], kNoBound));
  }
  if (!program.maximise()) {
    for (const int row : deadlines) program.set_row(row, 0, kNoBound);
    program.maximise();
  }
  Fractions fractions(problem.jobs.size(), std::vector<double>(problem.types()));
  for (std::size_t job = 0; job < fractions.size(); ++job) {
    for (std::size_t type = 0; type < problem.types(); ++type) {
      fractions[job][type] = std::clamp(program.value(column(job, type)), 0.0, 1.0);
    }
  }
  return fractions;
}

double sum_of_rates(const Problem& problem, const Fractions& fractions) {
  double sum = 0;
  for (std::size_t job = 0; job < fractions.size(); ++job) {
    sum += problem.jobs[job].count * effective_rate(problem.jobs[job], fractions[job]);
  }
  return sum;
}

}  // namespace almanac::timeshare
