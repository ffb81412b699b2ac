// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/shortest_first.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "rules/timeshare/programs.h"

namespace almanac::timeshare {
namespace {

/// Values below this part of the greatest count as it, so that solvers can tell them from nothing.
constexpr double kLeast = 1e-7;
/// A part of its time from which on a job counts as given the type.
constexpr double kWhole = 1 - 1e-6;

std::size_t fastest(const Job& job) {
  return static_cast<std::size_t>(std::max_element(job.rates.begin(), job.rates.end()) -
                                  job.rates.begin());
}

}  // namespace

std::vector<Turn> shortest_first(const Problem& problem) {
  const std::size_t jobs = problem.jobs.size();
  Problem values{.gpus = problem.gpus, .jobs = {}};
  std::vector<double> for_a_gpu(jobs);  // where it is fastest
  double most = 0;
  for (std::size_t at = 0; at < jobs; ++at) {
    const Job& job = problem.jobs[at];
    Job& value = values.jobs.emplace_back(Job{.rates = job.rates, .gpus = job.gpus});
    for (double& rate : value.rates) rate *= job.weight / std::max(job.steps_left, kLeast);
    const double best = value.rates.empty() ? 0 : value.rates[fastest(job)];
    for_a_gpu[at] = best / job.gpus;
    most = std::max(most, best);
  }
  // With one type it is a matter of order alone.
  Fractions parts(jobs, std::vector<double>(problem.types(), 0.0));
  if (problem.types() > 1 && most > 0) {
    for (Job& value : values.jobs) {
      for (double& rate : value.rates) rate = rate > 0 ? std::max(rate / most, kLeast) : 0;
    }
    parts = max_sum_throughput(values);
  }
  std::vector<Turn> line;
  std::vector<double> part;
  for (std::size_t at = 0; at < jobs; ++at) {
    const auto given = std::max_element(parts[at].begin(), parts[at].end());
    const bool any = given != parts[at].end() && *given > 0;
    line.push_back({at, any ? static_cast<std::size_t>(given - parts[at].begin())
                            : fastest(problem.jobs[at])});
    part.push_back(!any ? 0 : *given >= kWhole ? 1 : *given);
  }
  std::stable_sort(line.begin(), line.end(), [&](const Turn& one, const Turn& other) {
    if (part[one.job] != part[other.job]) return part[one.job] > part[other.job];
    return for_a_gpu[one.job] > for_a_gpu[other.job];
  });
  return line;
}

}  // namespace almanac::timeshare
