// SPDX-License-Identifier: Apache-2.0

/// \file
/// Successive halving of a whole sweep: all of its trials reach a rung, and the best of them
/// continue to the next. The stages ahead are known, so they can be planned (stage_plan.h).
///
/// Source   Jamieson and Talwalkar, AISTATS'16 (successive halving), as used by Misra et al.,
///          EuroSys'21 (RubberBand).
#pragma once

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "rules/elastic/sweep/rungs.h"
#include "rules/elastic/sweep/stage_plan.h"

namespace almanac::elastic {

/// Has rungs at `grace` iterations, `reduction` times as many, and so on below `most`. The best
/// trial always continues; once it is alone, it is no longer compared. A trial that arrives after
/// the first rung was judged pauses there.
class Halving final : public Rungs {
 public:
  /// Ignores `pauses`: a trial always waits for the others.
  explicit Halving(const RungOptions& options);

  Verdict report(TrialId trial, double iteration, double score) override;
  std::optional<TrialId> promote() override;
  void gone(TrialId trial) override;
  /// Judges the current rung, which all trials that can reach it have reached: the best of them
  /// continue.
  void settle() override;

  /// Returns how many rungs have been judged.
  std::size_t stage() const { return rung_; }
  /// Returns the stages from the current one on, for a sweep with `alive` remaining trials. The
  /// current stage counts only trials that have not reached its rung.
  std::vector<Stage> ahead(int alive) const;

 private:
  int kept_of(int trials) const;

  RungOptions options_;
  std::vector<double> milestones_;    // ascending
  std::size_t rung_ = 0;              // rung to reach next
  std::map<TrialId, double> scores_;  // at that rung
  std::set<TrialId> alive_;           // trials that continued from the rung before
  std::deque<TrialId> promoted_;
};

}  // namespace almanac::elastic
