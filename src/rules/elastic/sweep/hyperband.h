// SPDX-License-Identifier: Apache-2.0

/// \file
/// HyperBand: brackets of trials, each of which is halved at its own rungs once all of its trials
/// are there. The first bracket has the most trials and the earliest rung; the last one has no
/// rung.
///
/// Source   Li et al., JMLR 18, 2018 (Hyperband), Algorithm 1.
/// Differs  Brackets fill in the order in which trials first report, and start again after the last
///          one. The best trial of a bracket always continues.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "rules/elastic/sweep/rungs.h"

namespace almanac::elastic {

class Hyperband final : public Rungs {
 public:
  /// Ignores `pauses`: a trial always waits for the others of its bracket.
  explicit Hyperband(const RungOptions& options);
  /// Returns how many trials each bracket takes, in the order in which they fill.
  const std::vector<std::size_t>& sizes() const { return sizes_; }
  /// Returns the iterations of the rungs of a bracket, ascending.
  std::vector<double> milestones(std::size_t bracket) const;

  Verdict report(TrialId trial, double iteration, double score) override;
  std::optional<TrialId> promote() override;
  void gone(TrialId trial) override;
  void settle() override;

 private:
  struct Bracket {
    std::size_t kind = 0;                               ///< Position in sizes_.
    std::size_t came = 0;                               ///< Trials, including those that left.
    std::size_t rung = 0;                               ///< Rung to reach next.
    std::map<TrialId, std::optional<double>> trials{};  ///< With their scores at that rung.
  };
  Bracket& bracket_of(TrialId trial);
  /// Halves a bracket whose trials have all reached its rung.
  void halve(Bracket& bracket, bool is_full);

  RungOptions options_;
  std::vector<std::size_t> sizes_;
  std::deque<Bracket> brackets_;
  std::map<TrialId, std::size_t> joined_;
  std::deque<TrialId> promoted_;
};

}  // namespace almanac::elastic
