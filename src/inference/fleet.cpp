// SPDX-License-Identifier: Apache-2.0
#include "inference/fleet.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "inference/registry.h"
#include "text/nearest.h"
#include "text/number.h"

namespace almanac::inference {
namespace {

/// Fraction of the requests in time at the rate that one replica can serve.
constexpr double kShareInTime = 0.9;

/// 2 of "2p"; nothing where a word is none of this kind.
std::optional<int> prompts_only(std::string_view word) {
  if (!word.ends_with('p')) return std::nullopt;
  const auto count = text::parse_whole(word.substr(0, word.size() - 1));
  if (!count || *count < 0 || *count > 100'000) return std::nullopt;
  return static_cast<int>(*count);
}

/// What a word of a composition chooses, in the plural; "" if nothing.
std::string kind_of(const std::string& word) {
  const Registry& all = registry();
  if (all.formers.find(word) != nullptr) return "batchers";
  if (all.routers.find(word) != nullptr) return "routers";
  if (all.scalers.find(word) != nullptr) return "scalers";
  if (spot_rule(word)) return "rules for spot instances";
  return prompts_only(word) ? "numbers of prefill replicas" : "";
}

}  // namespace

Result<void> compose(const std::string& composition, FleetPlan& plan) {
  const Registry& all = registry();
  std::map<std::string, std::string> chosen;  // by kind: the word that chose
  for (std::size_t at = 0; at < composition.size();) {
    const std::size_t end = std::min(composition.find('+', at), composition.size());
    const std::string word = composition.substr(at, end - at);
    at = end + 1;
    const std::string kind = kind_of(word);
    const auto [first, is_new] = chosen.try_emplace(kind, word);
    if (!kind.empty() && !is_new) {
      return fail(Code::usage,
                  fmt::format("{} names two {}, {} and {}", composition, kind, first->second, word),
                  {}, "name one of each kind, joined by +, and separate compositions by commas");
    }
    const auto rule = spot_rule(word);
    if (rule && !plan.spot) {
      return fail(Code::usage,
                  fmt::format("{} is a rule for spot instances, and there are none", word), {},
                  "give spot instances with --spot");
    }
    if (all.formers.find(word) != nullptr) {
      plan.service.former = word;
    } else if (all.routers.find(word) != nullptr) {
      plan.service.router = word;
    } else if (all.scalers.find(word) != nullptr) {
      if (plan.spot) {
        return fail(Code::usage,
                    fmt::format("{} cannot be used with --spot: the instances are the fleet, and "
                                "nothing is scaled",
                                composition),
                    {}, "leave out " + word);
      }
      plan.scaling.scaler = word;
    } else if (rule) {
      plan.spot->rule = *rule;
    } else if (const auto prefill = prompts_only(word)) {
      if (plan.spot) {
        return fail(Code::usage,
                    fmt::format("{} cannot be used with --spot: prefill-only replicas cannot be "
                                "combined with spot instances",
                                composition),
                    {}, "leave out " + word);
      }
      plan.service.prefill = *prefill;
    } else {
      std::vector<std::string> names = all.formers.names();
      const std::vector<std::string> rules{"migrate", "restart", "reroute"};
      for (const auto& more : {all.routers.names(), all.scalers.names(), rules}) {
        names.insert(names.end(), more.begin(), more.end());
      }
      return fail(Code::usage,
                  fmt::format("\"{}\" of {} is not a batcher, router, scaler or rule for spot "
                              "instances",
                              word, composition),
                  {}, text::meant_or_known(word, names));
    }
  }
  return {};
}

Result<void> find_rate(FleetPlan& plan, const Requests& requests, const Objective& objective) {
  if (plan.scaling.told.least == plan.scaling.told.most) {
    plan.scaling.scaler = "steady";
    return {};
  }
  if (objective.first_token != kNever || objective.per_token != kNever ||
      objective.end_to_end != kNever) {
    const auto rate = replica_rate(plan.service, requests, objective, kShareInTime);
    const auto* const scaler = registry().scalers.find(plan.scaling.scaler);
    if (!rate && scaler != nullptr && scaler->make.needs_rate) return tl::unexpected(rate.error());
    if (rate) plan.scaling.told.replica_requests_per_s = *rate;
  }
  return {};
}

Result<Fleet> play_fleet(const FleetPlan& plan, const Requests& requests,
                         const Objective& objective) {
  if (plan.spot) {
    auto spot = play_spot(plan.service, requests, *plan.spot);
    if (!spot) return tl::unexpected(spot.error());
    Fleet made{.energy_kwh = std::numeric_limits<double>::quiet_NaN()};
    made.played.outcomes = std::exchange(spot->outcomes, {});
    made.played.busy = spot->busy;
    made.seen = summarize(requests, made.played.outcomes, objective);
    made.seen.span = spot->span;  // also where the last requests are never answered
    made.tenants = by_tenant(requests, made.played.outcomes, objective);
    made.gpu_hours = spot->gpu_s / 3600;
    made.cost = made.gpu_hours * plan.gpu_hour;
    made.spot = *std::move(spot);
    return made;
  }
  auto played = play_scaled(plan.service, requests, plan.scaling);
  if (!played) return tl::unexpected(played.error());
  Fleet made{.played = std::move(*played)};
  made.seen = summarize(requests, made.played.outcomes, objective);
  made.tenants = by_tenant(requests, made.played.outcomes, objective);
  // A fleet that stays is on from the first request to the last token, not to the next look at it.
  if (plan.scaling.told.least == plan.scaling.told.most) {
    made.played.replica_s = plan.service.replicas * made.seen.span / 1e6;
  }
  made.gpu_hours = made.played.replica_s * plan.service.replica_gpus() / 3600;
  made.cost = made.gpu_hours * plan.gpu_hour;
  made.energy_kwh = energy_j(plan.service, made.played.replica_s, made.played.busy) / 3.6e6;
  return made;
}

}  // namespace almanac::inference
