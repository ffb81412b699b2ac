// SPDX-License-Identifier: Apache-2.0

/// \file
/// A fleet of replicas, fixed or autoscaled, as a command line describes it, and its simulation.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/inference_options.h"
#include "cli/replica_bounds.h"
#include "inference/fleet.h"
#include "inference/sizing.h"

namespace almanac::cli {

struct FleetOptions {
  std::string replicas = "1";
  std::string scaler = "reactive";
  std::string cold_start = "30s";
  double gpu_hour = 0;  ///< Price.
  std::string spot;
  int instance_gpus = 4;
  std::string grace = "30s";
  std::string spot_rule = "migrate";

  void add_to(CLI::App& command);
  /// Adds --spot and its options, which exclude replicas and their division.
  void add_spot_to(CLI::App& command);
};

using inference::Fleet;
using inference::FleetPlan;

/// Makes a plan of the options. The rules of `composition` ("chunked+least_tokens+mark"; "" = none)
/// replace those of the service. Equal bounds give a fixed fleet. With an objective the rate of a
/// replica is found by trial simulations. Fails with usage for a word that is no batching, routing
/// or scaling rule.
Result<FleetPlan> plan_fleet(const FleetOptions& options, const InferenceCase& told,
                             const std::string& composition);

Result<Fleet> play_fleet(const FleetPlan& plan, const InferenceCase& told);

/// Prints latency and attainment, also by tenant, the resources used and, if the fleet was sized,
/// how.
Result<int> show_fleet(const ListOptions& list, const FleetPlan& plan, const Fleet& fleet,
                       const inference::Size* size = nullptr);

}  // namespace almanac::cli
