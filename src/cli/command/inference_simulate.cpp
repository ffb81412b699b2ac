// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference simulate: what requests would see of a service.
#include "cli/inference_options.h"
#include "cli/program.h"

namespace almanac::cli {

void register_inference_simulate(Program& program);

namespace {

Result<int> simulate(const InferenceOptions& options, int replicas) {
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  told->service.replicas = replicas;
  const auto outcomes = inference::play(told->service, told->requests);
  if (!outcomes) return tl::unexpected(outcomes.error());
  print_seen(options, *told, inference::summarize(told->requests, *outcomes, told->objective));
  return kDone;
}

}  // namespace

void register_inference_simulate(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand("simulate", "Say what requests would see of a service");
  const auto options = add_inference_options(command);
  const auto replicas = std::make_shared<int>(1);
  command.add_option("--replicas", *replicas, "Copies of the model")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_example(command,
              "almanac inference simulate requests.csv --model llama-3.1-8b --replicas 4 --ttft "
              "500ms --tpot 50ms");
  program.on(command, [options, replicas] { return simulate(*options, *replicas); });
}

}  // namespace almanac::cli
