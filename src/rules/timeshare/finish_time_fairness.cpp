// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "rules/timeshare/levels.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {
namespace {

constexpr int kMostSteps = 60;
constexpr double kClose = 1e-10;

/// Time from submission to end that each job would take alone; 0 for one that runs nowhere.
std::vector<double> times_alone(const Problem& problem) {
  const Fractions parts = isolated(problem);
  std::vector<double> times;
  for (std::size_t at = 0; at < problem.jobs.size(); ++at) {
    const Job& job = problem.jobs[at];
    const double rate = effective_rate(job, parts[at]);
    times.push_back(rate > 0 ? job.alone_s + job.steps_left / rate : 0);
  }
  return times;
}

}  // namespace

/// For a ratio r a job must run at steps left / (r * time alone - age). The largest level that all
/// reach is 1 at the best ratio; 1 / level is convex in r and falls, so Newton's steps from below
/// approach it from below.
Fractions finish_time_fairness(const Problem& problem) {
  const std::vector<double> alone = times_alone(problem);
  const auto need = [&](std::size_t at, double ratio) {
    const Job& job = problem.jobs[at];
    return alone[at] > 0 ? job.steps_left / (ratio * alone[at] - job.age_s) : 0;
  };
  double ratio = 0;
  for (std::size_t at = 0; at < alone.size(); ++at) {
    const Job& job = problem.jobs[at];
    if (alone[at] <= 0 || job.steps_left <= 0) continue;
    const double fastest = *std::max_element(job.rates.begin(), job.rates.end());
    ratio = std::max(ratio, (job.age_s + job.steps_left / fastest) / alone[at]);
  }
  std::vector<double> needs(alone.size());
  for (std::size_t at = 0; at < needs.size(); ++at) needs[at] = need(at, ratio);
  Levels levels(problem, needs);
  for (int step = 0; step < kMostSteps; ++step) {
    const double level = levels.raise_all();
    if (level <= 0) break;
    double slope = 0;
    for (std::size_t at = 0; at < needs.size(); ++at) {
      if (needs[at] <= 0) continue;
      const double slack = ratio * alone[at] - problem.jobs[at].age_s;
      slope -= levels.price(at) * problem.jobs[at].steps_left * alone[at] / (slack * slack);
    }
    const double change = (1 - 1 / level) / slope;
    if (!(change > kClose * ratio)) break;
    ratio += change;
    for (std::size_t at = 0; at < needs.size(); ++at) {
      if (needs[at] <= 0) continue;
      needs[at] = need(at, ratio);
      levels.set_need(at, needs[at]);
    }
  }
  return raise_from(problem, needs);
}

double worst_finish_time_ratio(const Problem& problem, const Fractions& fractions) {
  const std::vector<double> alone = times_alone(problem);
  double worst = 0;
  for (std::size_t at = 0; at < alone.size(); ++at) {
    const Job& job = problem.jobs[at];
    if (alone[at] <= 0 || job.steps_left <= 0) continue;
    const double rate = effective_rate(job, fractions[at]);
    worst = std::max(worst, (job.age_s + job.steps_left / rate) / alone[at]);
  }
  return worst;
}

}  // namespace almanac::timeshare
