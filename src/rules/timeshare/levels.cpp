// SPDX-License-Identifier: Apache-2.0
#include "rules/timeshare/levels.h"

#include <algorithm>
#include <utility>

namespace almanac::timeshare {

using solver::kNoBound;
namespace {

/// What an earlier stage reached is asked for this much lower, or rounding would forbid it.
constexpr double kSlack = 1e-9;
/// A row with less of a price than this may have none.
constexpr double kPriced = 1e-7;

}  // namespace

std::vector<Way> ways_alone(const Problem& problem) {
  std::vector<Way> ways;
  for (std::size_t job = 0; job < problem.jobs.size(); ++job) {
    const Job& each = problem.jobs[job];
    for (std::size_t type = 0; type < problem.types(); ++type) {
      if (each.rates[type] <= 0 || problem.gpus[type] <= 0) continue;
      ways.push_back({.type = type,
                      .gpus = static_cast<double>(each.gpus),
                      .job = job,
                      .rate = each.rates[type]});
    }
  }
  return ways;
}

std::vector<double> fair_needs(const Problem& problem) {
  std::vector<double> needs;
  for (const Job& job : problem.jobs) {
    needs.push_back(proportional_rate(problem, job) * job.weight / job.gpus);
  }
  return needs;
}

Levels::Levels(const Problem& problem, std::vector<Way> ways, std::span<const double> needs)
    : problem_(problem),
      ways_(std::move(ways)),
      fastest_(needs.size(), 0.0),
      needs_(needs.begin(), needs.end()),
      rows_(needs.size(), -1) {
  using Term = solver::LinearProgram::Term;
  for (const Way& way : ways_) {
    fastest_[way.job] = std::max(fastest_[way.job], way.rate);
    if (way.beside) fastest_[*way.beside] = std::max(fastest_[*way.beside], way.rate_beside);
  }
  for (std::size_t job = 0; job < needs_.size(); ++job) {
    needs_[job] = fastest_[job] > 0 ? std::max(needs_[job] / fastest_[job], 0.0) : 0;
    fastest_[job] *= problem.jobs[job].count;
    unit_ = std::max(unit_, needs_[job]);
  }
  std::vector<std::vector<Term>> capacity(problem.types());
  std::vector<std::vector<Term>> time(needs_.size());
  std::vector<std::vector<Term>> rate(needs_.size());
  for (const Way& way : ways_) {
    const int column = program_.add_column(0);
    capacity[way.type].push_back({column, way.gpus});
    if (way.beside == way.job) {
      time[way.job].push_back({column, 2});
      rate[way.job].push_back({column, (way.rate + way.rate_beside) / fastest_[way.job]});
      continue;
    }
    time[way.job].push_back({column, 1});
    rate[way.job].push_back({column, way.rate / fastest_[way.job]});
    if (!way.beside) continue;
    time[*way.beside].push_back({column, 1});
    rate[*way.beside].push_back({column, way.rate_beside / fastest_[*way.beside]});
  }
  rise_ = program_.add_column(1);
  for (std::size_t type = 0; type < problem.types(); ++type) {
    program_.add_row(capacity[type], -kNoBound, problem.gpus[type]);
  }
  for (std::size_t job = 0; job < needs_.size(); ++job) {
    program_.add_row(time[job], -kNoBound, problem.jobs[job].count);
    if (needs_[job] <= 0) continue;
    needs_[job] /= unit_;
    rate[job].push_back({rise_, -needs_[job]});
    rows_[job] = program_.add_row(rate[job], 0, kNoBound);
  }
}

void Levels::set_need(std::size_t job, double need) {
  needs_[job] = need * problem_.jobs[job].count / fastest_[job] / unit_;
  ask(job, 0, 1);
}

void Levels::ask(std::size_t job, double level, double pace) {
  program_.set_term(rows_[job], rise_, -needs_[job] * pace);
  program_.set_row(rows_[job], needs_[job] * level, kNoBound);
}

double Levels::raise_all() {
  if (unit_ <= 0 || !program_.maximise()) return 0;
  return program_.value(rise_) / unit_;
}

double Levels::price(std::size_t job) const {
  if (stays_out(job)) return 0;
  // The prices y of the rows have sum of y * need = 1: rise falls by rise * y for each unit of
  // need.
  const double rise = program_.value(rise_);
  if (rise <= 0) return 0;
  return program_.price(rows_[job]) / rise * problem_.jobs[job].count / fastest_[job];
}

std::vector<double> Levels::fill(std::vector<double> levels) {
  return fill([&](const std::vector<bool>&) { return std::vector<double>(needs_.size(), 1.0); },
              std::move(levels));
}

std::vector<double> Levels::fill(const Paces& paces, std::vector<double> levels) {
  levels.resize(needs_.size(), 0.0);
  for (double& level : levels) level *= unit_;
  std::vector<bool> fixed(needs_.size(), false);
  for (std::size_t job = 0; job < fixed.size(); ++job) fixed[job] = stays_out(job);
  while (std::find(fixed.begin(), fixed.end(), false) != fixed.end()) {
    const std::vector<double> pace = paces(fixed);
    for (std::size_t job = 0; job < fixed.size(); ++job) {
      if (stays_out(job)) continue;
      ask(job, levels[job] * (1 - kSlack), fixed[job] ? 0 : pace[job]);
    }
    if (!program_.maximise()) break;
    const double rise = program_.value(rise_);
    std::size_t dearest = fixed.size();
    for (std::size_t job = 0; job < fixed.size(); ++job) {
      if (fixed[job] || pace[job] <= 0) continue;
      levels[job] += pace[job] * rise;
      const double price = program_.price(rows_[job]) * needs_[job] * pace[job];
      if (price > kPriced) fixed[job] = true;
      if (fixed[job] || dearest == fixed.size()) dearest = job;
    }
    if (dearest == fixed.size()) break;  // none of those left has a pace
    fixed[dearest] = true;
  }
  take_least();
  for (double& level : levels) level /= unit_;
  return levels;
}

void Levels::take_least() {
  std::vector<double> reached(needs_.size(), 0.0);
  for (std::size_t at = 0; at < ways_.size(); ++at) {
    const Way& way = ways_[at];
    const double time = program_.value(static_cast<int>(at));
    reached[way.job] += time * way.rate;
    if (way.beside) reached[*way.beside] += time * way.rate_beside;
    program_.set_worth(static_cast<int>(at), -way.gpus);
  }
  program_.set_worth(rise_, 0);
  for (std::size_t job = 0; job < needs_.size(); ++job) {
    if (!stays_out(job)) ask(job, reached[job] / fastest_[job] / needs_[job] * (1 - kSlack), 0);
  }
  program_.maximise();
}

std::vector<double> Levels::times() const {
  std::vector<double> times;
  for (std::size_t at = 0; at < ways_.size(); ++at) {
    times.push_back(std::max(program_.value(static_cast<int>(at)), 0.0));
  }
  return times;
}

Fractions Levels::fractions() const {
  Fractions all(needs_.size(), std::vector<double>(problem_.types(), 0.0));
  const std::vector<double> spent = times();
  for (std::size_t at = 0; at < ways_.size(); ++at) {
    const Way& way = ways_[at];
    if (stays_out(way.job)) continue;
    all[way.job][way.type] = std::min(spent[at] / problem_.jobs[way.job].count, 1.0);
  }
  return all;
}

Fractions raise_from(const Problem& problem, std::span<const double> rates) {
  const std::vector<double> needs = fair_needs(problem);
  std::vector<double> levels;
  for (std::size_t job = 0; job < needs.size(); ++job) {
    levels.push_back(needs[job] > 0 ? rates[job] / needs[job] : 0);
  }
  Levels surplus(problem, needs);
  surplus.fill(std::move(levels));
  return surplus.fractions();
}

}  // namespace almanac::timeshare
