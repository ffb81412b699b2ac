// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report of a sweep of hyper-parameters: its leaderboard, what trials reported by step, and
/// how far each came, which shows the rungs of the policy that compared them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figure/document.h"

namespace almanac::report {

struct TrialRow {
  std::string name{};
  std::string state{};                    ///< "done", "stopped": a word for readers.
  std::vector<std::string> parameters{};  ///< In the order of TrialsInput::parameters.
  std::optional<double> best{};           ///< Metric.
  std::optional<double> best_step{};
  double gpu_h = 0;
  std::vector<std::pair<double, double>> reports{};  ///< Step and metric, in order of the step.
};

struct TrialsInput {
  std::string name{};
  bool smaller_is_better = false;
  std::vector<std::string> parameters{};  ///< Their names.
  std::vector<TrialRow> trials{};         ///< The best first.
};

/// Lines are drawn of the best eight.
figure::Document trials_document(const TrialsInput& input, const std::vector<std::string>& command);

}  // namespace almanac::report
