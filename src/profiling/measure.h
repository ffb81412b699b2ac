// SPDX-License-Identifier: Apache-2.0

/// \file
/// Measures a user's command on this machine, condition by condition.
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

struct Bench {
  CommandLine command;
  std::vector<std::string> neighbour{};  ///< Its words; empty = the command itself.
  double budget_s = 600;
  double run_s = 60;
  double patience_s = 60;
  const ProgressReader* reader = nullptr;
  const Machine* machine = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string&)> note{};  ///< Is told what a user should know, once each.
};

/// A Measure for survey(). It fails with unavailable once the budget is spent or the user
/// interrupts, and on what no other condition would mend: no such program, no lines of progress.
class Bencher {
 public:
  explicit Bencher(Bench bench) : bench_(std::move(bench)) {}

  Result<Measured> operator()(const Condition& condition);
  /// The preset whose lines were read; "" = none so far.
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
