// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures a user's command on this machine under one condition after another.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiling/condition.h"
#include "profiling/machine.h"
#include "profiling/progress.h"
#include "profiling/survey.h"

namespace almanac::profiling {

/// What to measure, and within which limits.
struct Bench {
  CommandLine command;
  std::vector<std::string> neighbour{};  ///< Command of the neighbor; empty = `command`.
  double budget_s = 600;                 ///< Longest time of all runs together.
  double run_s = 60;                     ///< Longest time of one run.
  double patience_s = 60;                ///< Longest time without progress.
  const ProgressReader* reader = nullptr;
  const Machine* machine = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string&)> note{};  ///< Receives notes for the user.
};

/// A Measure for survey(). A run that crashes, hangs or has too few steps has throughput 0. It
/// fails with unavailable once the budget is used up or the user interrupts, with invalid if the
/// output has no known line of progress, and as watch() does.
class Bencher {
 public:
  explicit Bencher(Bench bench) : bench_(std::move(bench)) {}

  Result<Measured> operator()(const Condition& condition);
  /// Returns the preset that recognized the last lines; "" = none so far.
  const std::string& read_as() const { return read_as_; }

 private:
  process::Command command_for(const Condition& condition, bool neighbour) const;
  tl::unexpected<Error> budget_spent() const;
  Result<Measured> judge(const Condition& condition, const RunResult& run, bool out_of_memory);

  Bench bench_;
  double spent_s_ = 0;
  int runs_ = 0;
  std::string read_as_;
};

}  // namespace almanac::profiling
