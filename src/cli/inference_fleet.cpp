// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_fleet.h"

#include <fmt/format.h>

#include "cli/cold_start_option.h"
#include "cli/option_group.h"
#include "cli/value_check.h"

namespace almanac::cli {

void FleetOptions::add_to(CLI::App& command) {
  const InGroup group(command, Group::model);
  command
      .add_option("--replicas", replicas,
                  "Replicas: a fixed number, or a range such as 1..4 for autoscaling")
      ->type_name("N|A..B")
      ->capture_default_str();
  command.add_option("--scaler", scaler, "Autoscaling rule; see almanac help serving")
      ->capture_default_str();
  command
      .add_option("--cold-start", cold_start,
                  "Time until a new replica serves requests, or where its weights are: disk, "
                  "memory, sleep")
      ->type_name("TIME|TIER")
      ->capture_default_str();
  command.add_option("--gpu-hour", gpu_hour, "Price of one GPU for an hour")
      ->check(number(0))
      ->capture_default_str();
}

Result<FleetPlan> plan_fleet(const FleetOptions& options, const InferenceCase& told,
                             const std::string& composition) {
  const auto bounds = read_replica_bounds("--replicas", options.replicas);
  if (!bounds) return tl::unexpected(bounds.error());
  const auto cold_start = read_cold_start("--cold-start", options.cold_start, told.service);
  if (!cold_start) return tl::unexpected(cold_start.error());
  FleetPlan plan{.service = told.service, .gpu_hour = options.gpu_hour};
  plan.service.replicas = bounds->most;
  plan.scaling = {.scaler = options.scaler,
                  .told = {.least = bounds->least,
                           .most = bounds->most,
                           .cold_start = 1e3 * static_cast<double>(cold_start->count())}};
  if (auto done = inference::compose(composition, plan); !done) return tl::unexpected(done.error());
  if (auto done = inference::find_rate(plan, told.requests, told.objective); !done) {
    return tl::unexpected(done.error());
  }
  return plan;
}

Result<Fleet> play_fleet(const FleetPlan& plan, const InferenceCase& told) {
  return inference::play_fleet(plan, told.requests, told.objective);
}

}  // namespace almanac::cli
