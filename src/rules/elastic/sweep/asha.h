// SPDX-License-Identifier: Apache-2.0

/// \file
/// Asynchronous successive halving: of the trials that reach a rung, the best continue. Each report
/// decides, without waiting for other trials.
///
/// Source   Li et al., MLSys'20 (ASHA), algorithm 2.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "rules/elastic/sweep/rungs.h"

namespace almanac::elastic {

class Asha final : public Rungs {
 public:
  explicit Asha(const RungOptions& options);
  /// Returns the iterations of the rungs, highest first.
  const std::vector<double>& milestones() const { return milestones_; }
  /// Counts a report at the highest rung reached that does not have the trial yet. A trial that has
  /// made all iterations stops.
  Verdict report(TrialId trial, double iteration, double score) override;
  /// Returns a paused trial that is now among the best of its rung, highest rung first, and
  /// continues it.
  std::optional<TrialId> promote() override;
  /// Returns how many trials each rung has, highest first.
  std::vector<std::size_t> counts() const;

 private:
  struct Rung {
    std::map<TrialId, double> scores{};
    std::vector<TrialId> paused{};
  };
  bool is_top(const Rung& rung, TrialId trial) const;

  RungOptions options_;
  std::vector<double> milestones_;
  std::vector<Rung> rungs_;
};

}  // namespace almanac::elastic
