// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_fleet.h"

#include <optional>

#include <fmt/format.h>

#include "inference/registry.h"
#include "text/duration.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::cli {
namespace {

/// Of the requests, for the rate that a replica is found to serve.
constexpr double kShareInTime = 0.9;

/// 2 of "2p"; nothing where a word is none of this kind.
std::optional<int> prompts_only(std::string_view word) {
  if (!word.ends_with('p')) return std::nullopt;
  const auto count = text::parse_whole(word.substr(0, word.size() - 1));
  if (!count || *count < 0 || *count > 100'000) return std::nullopt;
  return static_cast<int>(*count);
}

Result<void> compose(const std::string& composition, inference::Service& service,
                     std::string& scaler) {
  const inference::Registry& all = inference::registry();
  for (std::size_t at = 0; at < composition.size();) {
    const std::size_t end = std::min(composition.find('+', at), composition.size());
    const std::string word = composition.substr(at, end - at);
    at = end + 1;
    if (all.formers.find(word) != nullptr) {
      service.former = word;
    } else if (all.routers.find(word) != nullptr) {
      service.router = word;
    } else if (all.scalers.find(word) != nullptr) {
      scaler = word;
    } else if (const auto prefill = prompts_only(word)) {
      service.prefill = *prefill;
    } else {
      std::vector<std::string> names = all.formers.names();
      for (const auto& more : {all.routers.names(), all.scalers.names()}) {
        names.insert(names.end(), more.begin(), more.end());
      }
      return fail(Code::usage,
                  fmt::format("\"{}\" of {} is no batcher, router or scaler", word, composition),
                  {}, text::meant_or_known(word, names));
    }
  }
  return {};
}

}  // namespace

void FleetOptions::add_to(CLI::App& command) {
  command
      .add_option("--replicas", replicas, "Copies of the model: 4, or from 1..4 as requests come")
      ->type_name("N|A..B")
      ->capture_default_str();
  command.add_option("--scaler", scaler, "What decides how many, of A..B")->capture_default_str();
  command
      .add_option("--cold-start", cold_start,
                  "Of a replica more: from asking for it until it takes requests")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--gpu-hour", gpu_hour, "Price of a GPU for an hour")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

Result<FleetPlan> plan_fleet(const FleetOptions& options, const InferenceCase& told,
                             const std::string& composition) {
  const auto bounds = read_replica_bounds("--replicas", options.replicas);
  if (!bounds) return tl::unexpected(bounds.error());
  const auto cold_start = text::parse_duration(options.cold_start);
  if (!cold_start || *cold_start < Duration{0} || *cold_start == text::kUnlimited) {
    return fail(Code::usage,
                fmt::format("--cold-start: \"{}\" is no length of time", options.cold_start), {},
                "as 30s");
  }
  FleetPlan plan{.service = told.service, .gpu_hour = options.gpu_hour};
  plan.service.replicas = bounds->most;
  plan.scaling = {.scaler = options.scaler,
                  .told = {.least = bounds->least,
                           .most = bounds->most,
                           .cold_start = 1e3 * static_cast<double>(cold_start->count())}};
  if (auto done = compose(composition, plan.service, plan.scaling.scaler); !done) {
    return tl::unexpected(done.error());
  }
  if (bounds->least == bounds->most) {
    plan.scaling.scaler = "steady";
    return plan;
  }
  if (told.objective.first_token != inference::kNever ||
      told.objective.per_token != inference::kNever) {
    const auto rate =
        inference::replica_rate(plan.service, told.requests, told.objective, kShareInTime);
    const auto* const scaler = inference::registry().scalers.find(plan.scaling.scaler);
    if (!rate && scaler != nullptr && scaler->make.needs_rate) return tl::unexpected(rate.error());
    if (rate) plan.scaling.told.replica_requests_per_s = *rate;
  }
  return plan;
}

Result<Fleet> play_fleet(const FleetPlan& plan, const InferenceCase& told) {
  auto played = inference::play_scaled(plan.service, told.requests, plan.scaling);
  if (!played) return tl::unexpected(played.error());
  Fleet made{.played = std::move(*played)};
  made.seen = inference::summarize(told.requests, made.played.outcomes, told.objective);
  made.tenants = inference::by_tenant(told.requests, made.played.outcomes, told.objective);
  // A fleet that stays is on from the first request to the last token, not to the next look at it.
  if (plan.scaling.told.least == plan.scaling.told.most) {
    made.played.replica_s = plan.service.replicas * made.seen.span / 1e6;
  }
  made.gpu_hours = made.played.replica_s * plan.service.replica_gpus() / 3600;
  made.cost = made.gpu_hours * plan.gpu_hour;
  made.energy_kwh =
      inference::energy_j(plan.service, made.played.replica_s, made.played.busy) / 3.6e6;
  return made;
}

}  // namespace almanac::cli
