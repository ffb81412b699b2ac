// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a hyper-parameter sweep: leaderboard, reported metric by step, and the progress of
/// each trial, which shows the rungs of the policy that stopped trials.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figure/document.h"

namespace almanac::report {

struct TrialRow {
  std::string name{};
  std::string state{};                    ///< "done" or "stopped"; shown to readers.
  std::vector<std::string> parameters{};  ///< In the order of TrialsInput::parameters.
  std::optional<double> best{};           ///< Best value of the metric.
  std::optional<double> best_step{};
  double gpu_h = 0;
  std::vector<std::pair<double, double>> reports{};  ///< Step and metric, by step.
};

struct TrialsInput {
  std::string name{};
  bool smaller_is_better = false;
  std::vector<std::string> parameters{};  ///< Names.
  std::vector<TrialRow> trials{};         ///< Best first.
};

/// Returns the report. Draws curves of the best eight trials.
figure::Document trials_document(const TrialsInput& input, const std::vector<std::string>& command);

}  // namespace almanac::report
