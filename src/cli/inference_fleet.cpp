// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_fleet.h"

#include <chrono>

#include <fmt/format.h>

#include "cli/cold_start_option.h"
#include "cli/option_group.h"
#include "cli/value_check.h"
#include "text/duration.h"

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

void FleetOptions::add_spot_to(CLI::App& command) {
  const InGroup group(command, Group::model);
  CLI::Option* const table =
      command
          .add_option("--spot", spot,
                      "CSV file of spot instances: from_s, until_s, in seconds since the first "
                      "request")
          ->type_name("FILE");
  for (const char* other :
       {"--replicas", "--scaler", "--cold-start", "--gpus", "--stages", "--prefill", "--plan"}) {
    table->excludes(command.get_option(other));
  }
  command.add_option("--instance-gpus", instance_gpus, "GPUs of a spot instance")
      ->check(whole_number(1, 1000))
      ->needs(table)
      ->capture_default_str();
  command.add_option("--grace", grace, "Time from the notice until a spot instance is taken away")
      ->type_name("TIME")
      ->check(time_up_to(std::chrono::hours{24}))
      ->needs(table)
      ->capture_default_str();
  command
      .add_option("--spot-rule", spot_rule,
                  "When instances come or go: divide the model again and move weights and KV cache "
                  "(migrate, as SpotServe), divide it again and restart, or reroute to the "
                  "replicas that are left")
      ->type_name("RULE")
      ->check(one_of({"migrate", "restart", "reroute"}))
      ->needs(table)
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
  if (!options.spot.empty()) {
    auto instances = inference::read_spot(options.spot);
    if (!instances) return tl::unexpected(instances.error());
    const Duration grace = text::parse_duration(options.grace).value_or(Duration{0});
    plan.spot = inference::SpotCase{
        .instances = *std::move(instances),
        .gpus = options.instance_gpus,
        .grace = 1e3 * static_cast<double>(grace.count()),
        .rule = inference::spot_rule(options.spot_rule).value_or(inference::SpotRule::migrate)};
  }
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
