// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service of which the number of replicas may follow its requests, as a command line describes
/// it, and what playing it gave.
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

  void add_to(CLI::App& command);
};

using inference::Fleet;
using inference::FleetPlan;

/// What the options mean, with the choices of `composition` ("chunked+least_tokens+mark") in place
/// of the service's and the scaler; "" = none. Without bounds apart there is nothing to scale.
/// Finds by trial what a replica can do where an objective is told. Fails with usage for a word
/// that is no batcher, router or scaler.
Result<FleetPlan> plan_fleet(const FleetOptions& options, const InferenceCase& told,
                             const std::string& composition);

Result<Fleet> play_fleet(const FleetPlan& plan, const InferenceCase& told);

/// Prints what requests saw, those of each tenant too, and what it took; and how the fleet was
/// sized, if it was.
Result<int> show_fleet(const ListOptions& list, const FleetPlan& plan, const Fleet& fleet,
                       const inference::Size* size = nullptr);

}  // namespace almanac::cli
