// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/problem.h"

#include <map>
#include <numeric>
#include <tuple>

namespace almanac::timeshare {

double effective_rate(const Job& job, const std::vector<double>& row) {
  return std::inner_product(row.begin(), row.end(), job.rates.begin(), 0.0);
}

double proportional_rate(const Problem& problem, const Job& job) {
  const double all = std::accumulate(problem.gpus.begin(), problem.gpus.end(), 0.0);
  return all > 0 ? effective_rate(job, problem.gpus) / all : 0;
}

bool can_be_carried_out(const Problem& problem, const Fractions& fractions) {
  constexpr double kRounding = 1e-6;
  if (fractions.size() != problem.jobs.size()) return false;
  std::vector<double> given(problem.types(), 0.0);
  double all = 0;
  bool any_runs = false;
  for (std::size_t at = 0; at < fractions.size(); ++at) {
    const Job& job = problem.jobs[at];
    double time = 0;
    for (std::size_t type = 0; type < given.size(); ++type) {
      const double part = fractions[at][type];
      if (!(part >= -kRounding)) return false;  // NaN too
      time += part;
      given[type] += part * job.gpus * job.count;
      any_runs = any_runs || (job.rates[type] > 0 && problem.gpus[type] > 0);
    }
    if (time > 1 + kRounding) return false;
    all += time;
  }
  for (std::size_t type = 0; type < given.size(); ++type) {
    if (given[type] > problem.gpus[type] * (1 + kRounding) + kRounding) return false;
  }
  return all > 0 || !any_runs;
}

double number_of_jobs(const Problem& problem) {
  double jobs = 0;
  for (const Job& job : problem.jobs) jobs += job.count;
  return jobs;
}

Kinds kinds_of(const Problem& problem) {
  Kinds kinds{.problem = {.gpus = problem.gpus}, .of = {}};
  std::map<std::tuple<std::vector<double>, int, double>, std::size_t> known;
  for (const Job& job : problem.jobs) {
    const auto [at, is_new] =
        known.try_emplace({job.rates, job.gpus, job.weight}, kinds.problem.jobs.size());
    if (is_new) {
      kinds.problem.jobs.push_back(
          {.rates = job.rates, .gpus = job.gpus, .weight = job.weight, .count = 0});
    }
    kinds.problem.jobs[at->second].count += job.count;
    kinds.of.push_back(at->second);
  }
  return kinds;
}

Fractions of_jobs(const Kinds& kinds, const Fractions& fractions) {
  Fractions all;
  all.reserve(kinds.of.size());
  for (const std::size_t kind : kinds.of) all.push_back(fractions[kind]);
  return all;
}

}  // namespace almanac::timeshare
