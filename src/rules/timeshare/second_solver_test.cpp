// SPDX-License-Identifier: Apache-2.0

/// \file
/// The programs against a second solver: a simplex method on a full tableau that shares nothing
/// with ours, and whose every answer is proved best by its prices (weak duality).
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/timeshare/packed.h"
#include "rules/timeshare/programs.h"

namespace almanac::timeshare {
namespace {

using Row = std::vector<double>;

/// The most of worth x for rows x <= bounds, x >= 0, where no bound is negative. Bland's rule.
double best_worth(const std::vector<Row>& rows, const Row& bounds, const Row& worth) {
  const std::size_t m = rows.size();
  const std::size_t n = worth.size();
  std::vector<Row> tableau(m + 1, Row(n + m + 1, 0.0));
  std::vector<std::size_t> basis(m);
  for (std::size_t row = 0; row < m; ++row) {
    std::copy(rows[row].begin(), rows[row].end(), tableau[row].begin());
    tableau[row][n + row] = 1;
    tableau[row].back() = bounds[row];
    basis[row] = n + row;
  }
  std::transform(worth.begin(), worth.end(), tableau[m].begin(), [](double w) { return -w; });
  for (;;) {
    std::size_t in = 0;
    while (in < n + m && tableau[m][in] > -1e-11) ++in;
    if (in == n + m) break;
    std::size_t out = m;
    for (std::size_t row = 0; row < m; ++row) {
      if (tableau[row][in] <= 1e-11) continue;
      if (out == m) {
        out = row;
        continue;
      }
      const double one = tableau[row].back() / tableau[row][in];
      const double other = tableau[out].back() / tableau[out][in];
      if (one < other || (one == other && basis[row] < basis[out])) out = row;
    }
    RC_ASSERT(out < m);
    const double pivot = tableau[out][in];
    for (double& value : tableau[out]) value /= pivot;
    for (std::size_t row = 0; row <= m; ++row) {
      const double factor = tableau[row][in];
      if (row == out || factor == 0) continue;
      for (std::size_t at = 0; at < n + m + 1; ++at) tableau[row][at] -= factor * tableau[out][at];
    }
    basis[out] = in;
  }
  const double* const prices = tableau[m].data() + n;
  const double value = tableau[m].back();
  for (std::size_t column = 0; column < n; ++column) {
    double price = 0;
    for (std::size_t row = 0; row < m; ++row) price += prices[row] * rows[row][column];
    RC_ASSERT(price >= worth[column] - 1e-8);
  }
  const double bound = std::inner_product(bounds.begin(), bounds.end(), prices, 0.0);
  RC_ASSERT(std::abs(bound - value) <= 1e-8 * std::max(1.0, value));
  return value;
}

/// Time of one job on a type, or of two that share its GPUs.
struct Use {
  std::size_t type;
  std::size_t one;
  double rate;
  std::size_t other;
  double rate_other = 0;
};

std::vector<Use> uses_alone(const Problem& problem) {
  std::vector<Use> uses;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    for (std::size_t type = 0; type < problem.types(); ++type) {
      uses.push_back({type, job, problem.jobs[job].rates[type], job});
    }
  }
  return uses;
}

/// Rows that say that no job has more than its time and no type more than its GPUs. The last
/// column is another's.
void add_limits(const Problem& problem, const std::vector<Use>& uses, std::vector<Row>& rows,
                Row& bounds) {
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    Row& row = rows.emplace_back(uses.size() + 1, 0.0);
    for (std::size_t at = 0; at < uses.size(); ++at) {
      if (uses[at].one == job || uses[at].other == job) row[at] = 1;
    }
    bounds.push_back(1);
  }
  for (std::size_t type = 0; type < problem.types(); ++type) {
    Row& row = rows.emplace_back(uses.size() + 1, 0.0);
    for (std::size_t at = 0; at < uses.size(); ++at) {
      if (uses[at].type == type) row[at] = problem.jobs[uses[at].one].gpus;
    }
    bounds.push_back(problem.gpus[type]);
  }
}

/// The largest level that all jobs reach, of rate / need.
double best_level(const Problem& problem, const std::vector<Use>& uses, const Row& needs) {
  std::vector<Row> rows;
  Row bounds;
  add_limits(problem, uses, rows, bounds);
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    Row& row = rows.emplace_back(uses.size() + 1, 0.0);
    for (std::size_t at = 0; at < uses.size(); ++at) {
      if (uses[at].one == job) row[at] -= uses[at].rate;
      if (uses[at].other == job) row[at] -= uses[at].rate_other;
    }
    row.back() = needs[job];
    bounds.push_back(0);
  }
  Row worth(uses.size() + 1, 0.0);
  worth.back() = 1;
  return best_worth(rows, bounds, worth);
}

Row fair_share(const Problem& problem) {
  Row needs;
  for (const Job& job : problem.jobs) {
    needs.push_back(proportional_rate(problem, job) * job.weight / job.gpus);
  }
  return needs;
}

/// Up to six jobs on up to three types, some of which some jobs cannot use.
Problem drawn_problem() {
  Problem problem;
  const auto types = *rc::gen::inRange(1, 4);
  for (int type = 0; type < types; ++type) {
    problem.gpus.push_back(*rc::gen::inRange(type == 0 ? 1 : 0, 9));
  }
  const auto jobs = *rc::gen::inRange(1, 7);
  for (int at = 0; at < jobs; ++at) {
    Job& job = problem.jobs.emplace_back();
    for (int type = 0; type < types; ++type) {
      job.rates.push_back(*rc::gen::inRange(type == 0 ? 1 : 0, 30) / 10.0);
    }
    job.gpus = 1 << *rc::gen::inRange(0, 3);
    job.weight = *rc::gen::inRange(1, 4);
    job.steps_left = *rc::gen::inRange(1, 1000);
    job.age_s = *rc::gen::inRange(0, 1000);
  }
  return problem;
}

bool near(double one, double other) {
  return std::abs(one - other) <= 1e-6 * std::max({1e-9, std::abs(one), std::abs(other)});
}

RC_GTEST_PROP(SecondSolver, FindsNoBetterProgram, ()) {
  const Problem problem = drawn_problem();
  const std::vector<Use> uses = uses_alone(problem);
  RC_ASSERT(near(least_normalised_rate(problem, max_min_fairness(problem)),
                 best_level(problem, uses, fair_share(problem))));
  Row left;
  for (const Job& job : problem.jobs) left.push_back(job.steps_left);
  RC_ASSERT(near(total_duration_s(problem, min_total_duration(problem)),
                 1 / best_level(problem, uses, left)));

  std::vector<Row> rows;
  Row bounds;
  add_limits(problem, uses, rows, bounds);
  Row worth;
  for (const Use& use : uses) worth.push_back(use.rate);
  worth.push_back(0);
  RC_ASSERT(
      near(sum_of_rates(problem, max_sum_throughput(problem)), best_worth(rows, bounds, worth)));
}

// A ratio can be reached if all jobs reach the rates that it asks. Just below that of ours none
// can be.
RC_GTEST_PROP(SecondSolver, FindsNoBetterFinishTimes, ()) {
  const Problem problem = drawn_problem();
  const Fractions parts = isolated(problem);
  const double ratio = worst_finish_time_ratio(problem, finish_time_fairness(problem));
  const auto level_at = [&](double at) {
    Row needs;
    for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
      const Job& each = problem.jobs[job];
      const double alone_s = each.steps_left / effective_rate(each, parts[job]);
      const double slack_s = at * alone_s - each.age_s;
      if (slack_s <= 0) return 0.0;
      needs.push_back(each.steps_left / slack_s);
    }
    return best_level(problem, uses_alone(problem), needs);
  };
  RC_ASSERT(level_at(ratio * (1 + 1e-6)) >= 1 - 1e-9);
  RC_ASSERT(level_at(ratio * (1 - 1e-6)) < 1);
}

RC_GTEST_PROP(SecondSolver, FindsNoBetterPairs, ()) {
  const Problem problem = drawn_problem();
  const std::size_t jobs = problem.jobs.size();
  const auto kept =
      *rc::gen::container<std::vector<int>>(jobs * jobs * problem.types(), rc::gen::inRange(0, 11));
  const PairRates pair_rates = [&](std::size_t type, std::size_t one, std::size_t other) {
    const auto part = [&](std::size_t job, std::size_t beside) {
      return problem.jobs[job].rates[type] * kept[(job * jobs + beside) * problem.types() + type] /
             10.0;
    };
    return std::array{part(one, other), part(other, one)};
  };
  std::vector<Use> uses = uses_alone(problem);
  for (std::size_t one = 0; one < jobs; ++one) {
    for (std::size_t other = one + 1; other < jobs; ++other) {
      if (problem.jobs[one].gpus != problem.jobs[other].gpus) continue;
      for (std::size_t type = 0; type < problem.types(); ++type) {
        const auto [rate, rate_other] = pair_rates(type, one, other);
        uses.push_back({type, one, rate, other, rate_other});
      }
    }
  }
  const Row needs = fair_share(problem);
  const Row rates =
      effective_rates(problem, packed_max_min_fairness(problem, pair_rates), pair_rates);
  double least = rates[0] / needs[0];
  for (std::size_t job = 0; job < jobs; ++job) least = std::min(least, rates[job] / needs[job]);
  const double best = best_level(problem, uses, needs);
  RC_ASSERT(near(least, best));
  RC_ASSERT(best >= best_level(problem, uses_alone(problem), needs) * (1 - 1e-9));
}

}  // namespace
}  // namespace almanac::timeshare
