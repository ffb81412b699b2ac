// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/hyperband.h"

#include <algorithm>
#include <cmath>

namespace almanac::elastic {

Hyperband::Hyperband(const RungOptions& options) : options_(options) {
  // Before rounding errors, as for the rungs of ASHA.
  const double rungs = std::log(options.most / options.grace) / std::log(options.reduction);
  const int last = static_cast<int>(std::floor(rungs + 1e-9));
  for (int bracket = last; bracket >= 0; --bracket) {
    const double trials = (last + 1) * std::pow(options.reduction, bracket) / (bracket + 1);
    sizes_.push_back(static_cast<std::size_t>(std::ceil(trials - 1e-9)));
  }
}

std::vector<double> Hyperband::milestones(std::size_t bracket) const {
  std::vector<double> made;
  for (std::size_t left = sizes_.size() - 1 - bracket; left > 0; --left) {
    made.push_back(options_.most * std::pow(options_.reduction, -static_cast<double>(left)));
  }
  return made;
}

Hyperband::Bracket& Hyperband::bracket_of(TrialId trial) {
  const auto known = joined_.find(trial);
  if (known != joined_.end()) return brackets_[known->second];
  if (brackets_.empty() || brackets_.back().came == sizes_[brackets_.back().kind]) {
    brackets_.push_back({.kind = brackets_.size() % sizes_.size()});
  }
  joined_[trial] = brackets_.size() - 1;
  Bracket& bracket = brackets_.back();
  ++bracket.came;
  bracket.trials[trial];
  return bracket;
}

Verdict Hyperband::report(TrialId trial, double iteration, double score) {
  Bracket& bracket = bracket_of(trial);
  if (iteration >= options_.most) return Verdict::stop;
  const std::vector<double> rungs = milestones(bracket.kind);
  const auto own = bracket.trials.find(trial);
  if (own == bracket.trials.end() || bracket.rung == rungs.size() ||
      iteration < rungs[bracket.rung]) {
    return Verdict::go_on;
  }
  own->second = score;
  halve(bracket, bracket.came == sizes_[bracket.kind]);
  return Verdict::pause;
}

void Hyperband::halve(Bracket& bracket, bool is_full) {
  const bool all_there = std::all_of(bracket.trials.begin(), bracket.trials.end(),
                                     [](const auto& each) { return each.second.has_value(); });
  if (!is_full || !all_there || bracket.trials.empty()) return;
  std::vector<std::pair<double, TrialId>> best;
  for (const auto& [trial, score] : bracket.trials) best.emplace_back(-*score, trial);
  std::sort(best.begin(), best.end());
  const double part = std::floor(static_cast<double>(best.size()) / options_.reduction + 1e-9);
  best.resize(std::max<std::size_t>(1, static_cast<std::size_t>(part)));
  bracket.trials.clear();
  ++bracket.rung;
  for (const auto& [score, trial] : best) {
    bracket.trials[trial];
    promoted_.push_back(trial);
  }
}

std::optional<TrialId> Hyperband::promote() {
  if (promoted_.empty()) return std::nullopt;
  const TrialId first = promoted_.front();
  promoted_.pop_front();
  return first;
}

void Hyperband::gone(TrialId trial) {
  const auto known = joined_.find(trial);
  if (known == joined_.end()) return;
  Bracket& bracket = brackets_[known->second];
  bracket.trials.erase(trial);
  std::erase(promoted_, trial);
  halve(bracket, bracket.came == sizes_[bracket.kind]);
}

void Hyperband::settle() {
  for (Bracket& bracket : brackets_) halve(bracket, true);
}

}  // namespace almanac::elastic
