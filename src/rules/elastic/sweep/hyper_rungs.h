// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which trials of a sweep with a deadline go on after a report, and what each of them gets.
///
/// Source   Liaw et al., SoCC'19 (HyperSched), as the public program does it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "rules/elastic/sweep/rungs.h"

namespace almanac::elastic {

/// Rungs that compare a trial with all that reached them before, at each of its reports.
class HyperRungs final : public Rungs {
 public:
  explicit HyperRungs(const RungOptions& options);
  /// Iterations of the rungs, the highest first. One lies beyond the most iterations.
  const std::vector<double>& milestones() const { return milestones_; }
  /// The first score at a rung stays.
  Verdict report(TrialId trial, double iteration, double score) override;
  /// Paused trials that may go on now, the best of the highest rung first.
  std::vector<TrialId> resumable() const;
  /// A paused trial goes on.
  void resume(TrialId trial);
  /// The first of those, which goes on.
  std::optional<TrialId> promote() override;

 private:
  struct Rung {
    double milestone = 0;
    std::map<TrialId, double> scores{};
    std::vector<TrialId> paused{};  ///< In the order in which they were.
  };
  std::optional<double> cutoff(const Rung& rung) const;

  RungOptions options_;
  std::vector<double> milestones_;
  std::vector<Rung> rungs_;
};

/// Who gets the resource units that are left when each trial has one.
enum class Leftovers {
  uniform,  ///< All in turn, the best first.
  top,      ///< The best, whatever it may have at most.
  none,
  softmax  ///< In proportion to e^score.
};

/// Units of each trial, by its score; at most `most_each` where they go in turn. With fewer units
/// than trials the first trials have one.
std::vector<int> deal_units(std::span<const double> scores, int units, Leftovers leftovers,
                            int most_each);

}  // namespace almanac::elastic
