// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace almanac::timeshare {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
/// What stands for a rate of 0, as in the published program.
constexpr double kNoRate = 1e-10;

}  // namespace

std::vector<std::size_t> least_cost_matching(std::span<const double> costs, std::size_t rows,
                                             std::size_t columns) {
  ALMANAC_CHECK(rows <= columns, "{} rows for {} columns", rows, columns);
  std::vector<double> row_price(rows, 0.0);
  std::vector<double> column_price(columns, 0.0);
  std::vector<std::size_t> column_of(rows, kNone);
  std::vector<std::size_t> row_of(columns, kNone);
  std::vector<double> distance(columns);
  std::vector<std::size_t> before(columns);
  std::vector<std::size_t> open(columns);
  for (std::size_t start = 0; start < rows; ++start) {
    std::fill(distance.begin(), distance.end(), std::numeric_limits<double>::infinity());
    // From the last to the first, so that where all costs are equal row i gets column i.
    open.resize(columns);
    std::iota(open.rbegin(), open.rend(), std::size_t{0});
    std::vector<std::size_t> reached_rows;
    std::vector<std::size_t> closed;
    std::size_t row = start;
    double length = 0;
    std::size_t end = kNone;
    while (end == kNone) {
      reached_rows.push_back(row);
      std::size_t best = kNone;
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t at = 0; at < open.size(); ++at) {
        const std::size_t column = open[at];
        const double through =
            length + costs[row * columns + column] - row_price[row] - column_price[column];
        if (through < distance[column]) {
          distance[column] = through;
          before[column] = row;
        }
        if (distance[column] < nearest ||
            (distance[column] == nearest && row_of[column] == kNone)) {
          nearest = distance[column];
          best = at;
        }
      }
      ALMANAC_CHECK(best != kNone, "no column is within reach of row {}", start);
      length = nearest;
      const std::size_t column = open[best];
      open[best] = open.back();
      open.pop_back();
      closed.push_back(column);
      if (row_of[column] == kNone) {
        end = column;
      } else {
        row = row_of[column];
      }
    }
    row_price[start] += length;
    for (const std::size_t each : reached_rows) {
      if (each != start) row_price[each] += length - distance[column_of[each]];
    }
    for (const std::size_t column : closed) column_price[column] -= length - distance[column];
    for (std::size_t column = end;;) {
      const std::size_t from = before[column];
      row_of[column] = from;
      std::swap(column_of[from], column);
      if (from == start) break;
    }
  }
  return column_of;
}

Line least_sum_of_times(std::span<const Job> jobs, std::span<const int> free) {
  std::vector<std::size_t> type_of;
  for (std::size_t type = 0; type < free.size(); ++type) {
    type_of.insert(type_of.end(), static_cast<std::size_t>(std::max(free[type], 0)), type);
  }
  Line line{.starts = std::vector<std::optional<std::size_t>>(jobs.size())};
  const std::size_t gpus = type_of.size();
  if (jobs.empty() || gpus == 0) return line;
  const std::size_t columns = gpus * jobs.size();
  std::vector<double> costs(columns * jobs.size());
  auto cost = costs.begin();
  for (const Job& job : jobs) {
    for (std::size_t delays = 1; delays <= jobs.size(); ++delays) {
      const double steps = static_cast<double>(delays) * job.steps_left;
      for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
        *cost++ = steps / std::max(job.rates[type_of[gpu]], kNoRate);
      }
    }
  }
  const std::vector<std::size_t> matched = least_cost_matching(costs, jobs.size(), columns);
  std::vector<std::size_t> first(gpus, kNone);
  for (std::size_t row = 0; row < jobs.size(); ++row) {
    line.sum_of_times_s += costs[row * columns + matched[row]];
    std::size_t& job = first[matched[row] % gpus];
    if (job == kNone || matched[job] < matched[row]) job = row;
  }
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    if (first[gpu] != kNone) line.starts[first[gpu]] = type_of[gpu];
  }
  return line;
}

Fractions allox(const Problem& problem, const Fractions& before, double considered) {
  Fractions fractions(problem.jobs.size(), std::vector<double>(problem.types(), 0.0));
  std::vector<int> free(problem.gpus.begin(), problem.gpus.end());
  std::vector<std::size_t> others;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    const auto whole = std::find(before[job].begin(), before[job].end(), 1.0);
    if (whole != before[job].end()) {
      fractions[job] = before[job];
      free[static_cast<std::size_t>(whole - before[job].begin())] -= 1;
    } else {
      others.push_back(job);
    }
  }
  std::stable_sort(others.begin(), others.end(), [&](std::size_t one, std::size_t other) {
    return problem.jobs[one].age_s > problem.jobs[other].age_s;
  });
  const auto all_free = static_cast<std::size_t>(std::accumulate(free.begin(), free.end(), 0));
  const auto oldest = static_cast<std::size_t>(considered * static_cast<double>(others.size()));
  others.resize(std::min(others.size(), std::max(oldest, all_free)));
  std::vector<Job> jobs;
  for (const std::size_t job : others) jobs.push_back(problem.jobs[job]);
  const Line line = least_sum_of_times(jobs, free);
  for (std::size_t at = 0; at < others.size(); ++at) {
    if (line.starts[at]) fractions[others[at]][*line.starts[at]] = 1;
  }
  return fractions;
}

}  // namespace almanac::timeshare
