// SPDX-License-Identifier: Apache-2.0
#include "rules/elastic/sweep/hyper_rungs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace almanac::elastic {
namespace {

/// Trials by score, the best first, of equal ones the first.
std::vector<std::size_t> by_score(std::span<const double> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

/// The quantile on the line between the two nearest of `sorted`.
double quantile(const std::vector<double>& sorted, double level) {
  const double at = level * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(below);
  const double low = sorted[below];
  const double high = sorted[std::min(below + 1, sorted.size() - 1)];
  // From the nearer end, so that equal scores give themselves.
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

}  // namespace

HyperRungs::HyperRungs(const RungOptions& options) : options_(options) {
  const double ratio = options.most / options.grace;
  const int last = static_cast<int>(std::floor(std::log(ratio) / std::log(options.reduction))) + 1;
  for (int rung = last; rung >= 0; --rung) {
    milestones_.push_back(options.grace * std::pow(options.reduction, rung));
    rungs_.push_back({.milestone = milestones_.back()});
  }
}

std::optional<double> HyperRungs::cutoff(const Rung& rung) const {
  if (rung.scores.size() < 2) return std::nullopt;
  std::vector<double> sorted;
  for (const auto& [trial, score] : rung.scores) sorted.push_back(score);
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 1 - 1 / options_.reduction);
}

Verdict HyperRungs::report(TrialId trial, double iteration, double score) {
  for (Rung& rung : rungs_) {
    if (iteration < rung.milestone) continue;
    const auto least = cutoff(rung);
    const double kept = rung.scores.try_emplace(trial, score).first->second;
    if (!least || kept >= *least) continue;
    if (!options_.pauses) return Verdict::stop;
    rung.paused.push_back(trial);
    return Verdict::pause;
  }
  return Verdict::go_on;
}

std::vector<TrialId> HyperRungs::resumable() const {
  std::vector<TrialId> made;
  for (const Rung& rung : rungs_) {
    const auto least = cutoff(rung);
    std::vector<double> scores;
    for (const TrialId trial : rung.paused) scores.push_back(rung.scores.at(trial));
    for (const std::size_t at : by_score(scores)) {
      if (least && scores[at] >= *least) made.push_back(rung.paused[at]);
    }
  }
  return made;
}

void HyperRungs::resume(TrialId trial) {
  for (Rung& rung : rungs_) std::erase(rung.paused, trial);
}

std::optional<TrialId> HyperRungs::promote() {
  const std::vector<TrialId> able = resumable();
  if (able.empty()) return std::nullopt;
  resume(able.front());
  return able.front();
}

std::vector<int> deal_units(std::span<const double> scores, int units, Leftovers leftovers,
                            int most_each) {
  const std::size_t trials = scores.size();
  std::vector<int> made(trials, 0);
  for (int& each : made) {
    if (units == 0) break;
    each = 1;
    --units;
  }
  if (units == 0 || trials == 0) return made;
  const std::vector<std::size_t> order = by_score(scores);
  switch (leftovers) {
    case Leftovers::none:
      break;
    case Leftovers::top:
      made[order.front()] += units;
      break;
    case Leftovers::uniform:
      for (std::size_t unit = 0; unit < static_cast<std::size_t>(units); ++unit) {
        for (std::size_t tried = 0; tried < trials; ++tried) {
          int& each = made[order[(unit + tried) % trials]];
          if (each >= most_each) continue;
          ++each;
          break;
        }
      }
      break;
    case Leftovers::softmax: {
      const double best = scores[order.front()];
      double sum = 0;
      for (const double score : scores) sum += std::exp(score - best);
      int left = units;
      for (std::size_t trial = 0; trial < trials; ++trial) {
        const int part =
            static_cast<int>(std::floor(units * (std::exp(scores[trial] - best) / sum)));
        made[trial] += part;
        left -= part;
      }
      for (; left > 0; --left) ++made[order.front()];
      break;
    }
  }
  return made;
}

}  // namespace almanac::elastic
