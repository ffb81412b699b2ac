// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/asha.h"

#include <algorithm>
#include <cmath>

namespace almanac::elastic {

Asha::Asha(const RungOptions& options) : options_(options) {
  // Before rounding errors: log(125) / log(5) is a little less than 3.
  const double rungs = std::log(options.most / options.grace) / std::log(options.reduction);
  for (int rung = static_cast<int>(std::floor(rungs + 1e-9)); rung >= 0; --rung) {
    milestones_.push_back(options.grace * std::pow(options.reduction, rung));
  }
  rungs_.resize(milestones_.size());
}

bool Asha::is_top(const Rung& rung, TrialId trial) const {
  const double score = rung.scores.at(trial);
  const auto better = std::count_if(rung.scores.begin(), rung.scores.end(), [&](const auto& each) {
    return each.second > score || (each.second == score && each.first < trial);
  });
  const auto top = std::floor(static_cast<double>(rung.scores.size()) / options_.reduction + 1e-9);
  return static_cast<double>(better) < top;
}

Verdict Asha::report(TrialId trial, double iteration, double score) {
  if (iteration >= options_.most) {
    for (std::size_t at = 0; at < rungs_.size(); ++at) {
      if (iteration < milestones_[at]) continue;
      rungs_[at].scores.try_emplace(trial, score);
      break;
    }
    return Verdict::stop;
  }
  for (std::size_t at = 0; at < rungs_.size(); ++at) {
    if (iteration < milestones_[at]) continue;
    Rung& rung = rungs_[at];
    if (!rung.scores.try_emplace(trial, score).second) return Verdict::go_on;
    if (is_top(rung, trial)) return Verdict::go_on;
    if (!options_.pauses) return Verdict::stop;
    rung.paused.push_back(trial);
    return Verdict::pause;
  }
  return Verdict::go_on;
}

std::optional<TrialId> Asha::promote() {
  for (Rung& rung : rungs_) {
    std::optional<TrialId> best;
    for (const TrialId trial : rung.paused) {
      if (!is_top(rung, trial)) continue;
      if (!best || rung.scores.at(trial) > rung.scores.at(*best)) best = trial;
    }
    if (!best) continue;
    std::erase(rung.paused, *best);
    return best;
  }
  return std::nullopt;
}

std::vector<std::size_t> Asha::counts() const {
  std::vector<std::size_t> made;
  for (const Rung& rung : rungs_) made.push_back(rung.scores.size());
  return made;
}

}  // namespace almanac::elastic
