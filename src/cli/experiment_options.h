// SPDX-License-Identifier: Apache-2.0

/// \file
/// The options of the commands that simulate.
#pragma once

#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/trace_options.h"
#include "experiment/experiment.h"

namespace almanac::cli {

/// The options as typed; parse() makes an Experiment of them.
struct ExperimentOptions {
  TraceOptions trace{};
  experiment::Experiment experiment{};
  std::string policies = "quick";
  std::string restart = "7,30,60";
  std::string warm_up;
  std::string timeline;

  /// Adds LOG, the reading options, --cluster, --policy, --profile, --power, --speed,
  /// --restart, --warm-up, --seed.
  void add_to(CLI::App& command);
  /// Adds --signal.
  void add_signals_to(CLI::App& command);
  /// Adds --model, --incidents, --signal, --failures, --load and --timeline, for commands that run
  /// each policy once.
  void add_single_run_to(CLI::App& command);
  /// Fails with usage.
  Result<experiment::Experiment> parse() const;
};

}  // namespace almanac::cli
