// SPDX-License-Identifier: Apache-2.0

/// \file
/// Rungs of a sweep with a deadline: which trials continue after a report, and what each of them
/// gets.
///
/// Source   Liaw et al., SoCC'19 (HyperSched), as in the public program.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "rules/elastic/sweep/rungs.h"

namespace almanac::elastic {

/// Rungs that compare a trial, at each of its reports, with all trials that reached them before.
class HyperRungs final : public Rungs {
 public:
  explicit HyperRungs(const RungOptions& options);
  /// Returns the iterations of the rungs, highest first. One is beyond the most iterations.
  const std::vector<double>& milestones() const { return milestones_; }
  /// Keeps the first score of a trial at each rung.
  Verdict report(TrialId trial, double iteration, double score) override;
  /// Returns the paused trials that may continue now, the best of the highest rung first.
  std::vector<TrialId> resumable() const;
  /// Continues a paused trial.
  void resume(TrialId trial);
  /// Continues the first of resumable(), and returns it.
  std::optional<TrialId> promote() override;

 private:
  struct Rung {
    double milestone = 0;
    std::map<TrialId, double> scores{};
    std::vector<TrialId> paused{};  ///< In the order in which they paused.
  };
  std::optional<double> cutoff(const Rung& rung) const;

  RungOptions options_;
  std::vector<double> milestones_;
  std::vector<Rung> rungs_;
};

/// The trials that get the resource units left when each trial has one.
enum class Leftovers {
  uniform,  ///< All in turn, the best first.
  top,      ///< The best, without a limit.
  none,
  softmax  ///< All in proportion to e^score; the rest of rounding down goes to the best.
};

/// Returns the units of each trial, by its score. `most_each` limits only `uniform`. If there are
/// fewer units than trials, the first trials get one each.
std::vector<int> deal_units(std::span<const double> scores, int units, Leftovers leftovers,
                            int most_each);

}  // namespace almanac::elastic
