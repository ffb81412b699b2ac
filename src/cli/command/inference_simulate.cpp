// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference simulate: what requests would see of a service.
#include <fmt/format.h>

#include "cli/inference_options.h"
#include "cli/program.h"
#include "cli/replica_bounds.h"
#include "inference/scaled.h"
#include "text/duration.h"

namespace almanac::cli {

void register_inference_simulate(Program& program);

namespace {

struct SimulateOptions {
  std::string replicas = "1";
  std::string scaler = "reactive";
  std::string cold_start = "30s";
};

/// The same with as many replicas as a scaler wants.
Result<int> simulate_scaled(const InferenceOptions& options, const SimulateOptions& asked,
                            const ReplicaBounds& bounds, const InferenceCase& told) {
  const auto cold_start = text::parse_duration(asked.cold_start);
  if (!cold_start || *cold_start < Duration{0} || *cold_start == text::kUnlimited) {
    return fail(Code::usage,
                fmt::format("--cold-start: \"{}\" is no length of time", asked.cold_start), {},
                "as 30s");
  }
  inference::Scaling scaling{
      .scaler = asked.scaler,
      .told = {.least = bounds.least,
               .most = bounds.most,
               .cold_start = 1e3 * static_cast<double>(cold_start->count())}};
  if (told.objective.first_token != inference::kNever ||
      told.objective.per_token != inference::kNever) {
    constexpr double kShare = 0.9;
    const auto rate = inference::replica_rate(told.service, told.requests, told.objective, kShare);
    if (rate) scaling.told.replica_requests_per_s = *rate;
  }
  const auto played = inference::play_scaled(told.service, told.requests, scaling);
  if (!played) return tl::unexpected(played.error());
  print_seen(options, told, inference::summarize(told.requests, played->outcomes, told.objective),
             played->replica_s);
  return kDone;
}

Result<int> simulate(const InferenceOptions& options, const SimulateOptions& asked) {
  const auto bounds = read_replica_bounds("--replicas", asked.replicas);
  if (!bounds) return tl::unexpected(bounds.error());
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  if (bounds->least != bounds->most) return simulate_scaled(options, asked, *bounds, *told);
  told->service.replicas = bounds->most;
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
  const auto asked = std::make_shared<SimulateOptions>();
  command
      .add_option("--replicas", asked->replicas,
                  "Copies of the model: 4, or from 1..4 as requests come")
      ->type_name("N|A..B")
      ->capture_default_str();
  command.add_option("--scaler", asked->scaler, "What decides how many, of A..B")
      ->capture_default_str();
  command
      .add_option("--cold-start", asked->cold_start,
                  "Of a replica more: from asking for it until it takes requests")
      ->type_name("TIME")
      ->capture_default_str();
  add_example(command,
              "almanac inference simulate requests.csv --model llama-3.1-8b --replicas 4 --ttft "
              "500ms --tpot 50ms");
  program.on(command, [options, asked] { return simulate(*options, *asked); });
}

}  // namespace almanac::cli
