// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/halving.h"

#include <algorithm>
#include <cmath>

namespace almanac::elastic {

Halving::Halving(const RungOptions& options) : options_(options) {
  for (double rung = options.grace; rung < options.most; rung *= options.reduction) {
    milestones_.push_back(rung);
  }
}

int Halving::kept_of(int trials) const {
  return std::max(1, static_cast<int>(std::floor(trials / options_.reduction + 1e-9)));
}

Verdict Halving::report(TrialId trial, double iteration, double score) {
  if (iteration >= options_.most) return Verdict::stop;
  if (rung_ > 0 && !alive_.contains(trial)) {
    return iteration < milestones_.front() ? Verdict::go_on : Verdict::pause;
  }
  if (rung_ == milestones_.size() || alive_.size() == 1) return Verdict::go_on;
  if (iteration < milestones_[rung_]) return Verdict::go_on;
  scores_.try_emplace(trial, score);
  return Verdict::pause;
}

void Halving::settle() {
  if (scores_.empty()) return;
  std::vector<std::pair<double, TrialId>> best;
  for (const auto& [trial, score] : scores_) best.emplace_back(-score, trial);
  std::sort(best.begin(), best.end());
  best.resize(static_cast<std::size_t>(kept_of(static_cast<int>(best.size()))));
  scores_.clear();
  alive_.clear();
  ++rung_;
  for (const auto& [score, trial] : best) {
    alive_.insert(trial);
    promoted_.push_back(trial);
  }
}

std::optional<TrialId> Halving::promote() {
  if (promoted_.empty()) return std::nullopt;
  const TrialId first = promoted_.front();
  promoted_.pop_front();
  return first;
}

void Halving::gone(TrialId trial) {
  scores_.erase(trial);
  alive_.erase(trial);
  std::erase(promoted_, trial);
}

std::vector<Stage> Halving::ahead(int alive) const {
  std::vector<Stage> made;
  int trials = rung_ > 0 ? static_cast<int>(alive_.size()) : alive;
  double done = rung_ > 0 ? milestones_[rung_ - 1] : 0;
  for (std::size_t rung = rung_; trials > 0; ++rung) {
    const bool is_last = rung == milestones_.size() || (rung > 0 && trials == 1);
    const double until = is_last ? options_.most : milestones_[rung];
    const int there = rung == rung_ ? static_cast<int>(scores_.size()) : 0;
    made.push_back({.trials = trials - there, .steps = until - done});
    if (is_last) break;
    done = until;
    trials = kept_of(trials);
  }
  return made;
}

}  // namespace almanac::elastic
