// SPDX-License-Identifier: Apache-2.0

/// \file
/// Successive halving of a whole sweep: all of its trials reach a rung, the best part of them goes
/// on to the next. What is ahead is known beforehand, so that it can be planned (stage_plan.h).
///
/// Source   Jamieson and Talwalkar, AISTATS'16 (successive halving), as Misra et al., EuroSys'21
///          (RubberBand), take it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "rules/elastic/sweep/rungs.h"
#include "rules/elastic/sweep/stage_plan.h"

namespace almanac::elastic {

/// Rungs at `grace` iterations, `reduction` times as many, and so on below `most`. The best trial
/// always goes on; once it is alone it is compared no more. A trial that comes after the first rung
/// has been judged rests there.
class Halving final : public Rungs {
 public:
  /// `pauses` is not asked: a trial always waits for the others.
  explicit Halving(const RungOptions& options);

  Verdict report(TrialId trial, double iteration, double score) override;
  std::optional<TrialId> promote() override;
  void gone(TrialId trial) override;
  /// All that will reach the present rung have: the best of them go on.
  void settle() override;

  /// How many rungs have been judged.
  std::size_t stage() const { return rung_; }
  /// The stages from the present one on, of a sweep of which `alive` trials are not gone: of the
  /// present one the trials that have not reached its rung.
  std::vector<Stage> ahead(int alive) const;

 private:
  int kept_of(int trials) const;

  RungOptions options_;
  std::vector<double> milestones_;    // ascending
  std::size_t rung_ = 0;              // that trials are to reach next
  std::map<TrialId, double> scores_;  // there
  std::set<TrialId> alive_;           // that went on from the rung before
  std::deque<TrialId> promoted_;
};

}  // namespace almanac::elastic
