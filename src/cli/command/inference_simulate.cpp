// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference simulate: the latencies that requests would see.
#include "cli/elapsed.h"
#include "cli/inference_fleet.h"
#include "cli/inference_placed.h"
#include "cli/program.h"

namespace almanac::cli {

void register_inference_simulate(Program& program);

namespace {

Result<int> simulate(const InferenceOptions& options, const FleetOptions& asked) {
  const auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  if (told->plan) return simulate_placed(*told, asked.gpu_hour, options.list);
  const auto plan = plan_fleet(asked, *told, "");
  if (!plan) return tl::unexpected(plan.error());
  const auto fleet =
      while_showing("simulating", [&](ProgressBar&) { return play_fleet(*plan, *told); });
  if (!fleet) return tl::unexpected(fleet.error());
  return show_fleet(options.list, *plan, *fleet);
}

}  // namespace

void register_inference_simulate(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("simulate", "Simulate a fleet of replicas on a request log");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<FleetOptions>();
  asked->add_to(command);
  add_plan_option(command, *options);
  asked->add_spot_to(command);
  add_example(command,
              "almanac inference simulate requests.csv --model llama-3.1-8b --replicas 4 --ttft "
              "500ms --tpot 50ms");
  add_example(command, "almanac inference simulate requests.csv --plan plan.csv --ttft 500ms");
  add_example(command,
              "almanac inference simulate requests.csv --model llama-3.1-70b --spot spot.csv "
              "--instance-gpus 4");
  program.on(command, [options, asked] { return simulate(*options, *asked); });
}

}  // namespace almanac::cli
