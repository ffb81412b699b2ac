// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
#include "cli/inference_fleet.h"
#include "cli/inference_tenants.h"
#include "figure/rows_json.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using Shown = std::pair<const char*, const inference::Spread*>;

std::array<Shown, 4> shown(const inference::Seen& seen) {
  return {Shown{"ttft", &seen.first_token}, Shown{"tpot", &seen.per_token},
          Shown{"longest_gap", &seen.longest_gap}, Shown{"e2e", &seen.end_to_end}};
}

constexpr std::array<std::pair<const char*, double inference::Spread::*>, 5> kQuantiles{
    {{"mean", &inference::Spread::mean},
     {"p50", &inference::Spread::p50},
     {"p90", &inference::Spread::p90},
     {"p99", &inference::Spread::p99},
     {"max", &inference::Spread::most}}};

/// Counts and rates, by the names that JSON and CSV have.
Figures figures(const FleetPlan& plan, const Fleet& fleet, const inference::Size* size) {
  const inference::Seen& seen = fleet.seen;
  const double seconds = seen.span / 1e6;
  const bool stays = plan.scaling.told.least == plan.scaling.told.most;
  const double replicas =
      stays || seconds <= 0 ? plan.service.replicas : fleet.played.replica_s / seconds;
  const auto a_second = [&](auto count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  const double prompts = static_cast<double>(seen.prompt_tokens);
  Figures made;
  if (!fleet.spot) {
    made = {{"replicas", replicas},
            {"prefill_replicas", static_cast<double>(plan.service.prefill)}};
  }
  if (size != nullptr) {
    made.insert(made.end(), {{"replicas_for_log", size->for_log},
                             {"following_logs", size->drawn},
                             {"following_served", size->served}});
  }
  const double gpus = fleet.spot ? 3600 * fleet.gpu_hours / std::max(seconds, 1e-9)
                                 : replicas * plan.service.replica_gpus();
  made.insert(made.end(), {{"gpus", gpus},
                           {"gpu_hours", fleet.gpu_hours},
                           {"cost", cost_figure(fleet.cost)},
                           {"energy_kwh", fleet.energy_kwh},
                           {"requests", static_cast<double>(seen.requests)},
                           {"finished", static_cast<double>(seen.finished)},
                           {"attainment", seen.attainment()},
                           {"goodput_rps", a_second(seen.attained)},
                           {"throughput_rps", a_second(seen.finished)},
                           {"output_tokens_per_s", a_second(seen.output_tokens)},
                           {"prefix_hit_share",
                            prompts > 0 ? static_cast<double>(seen.hit_tokens) / prompts : 0},
                           {"preemptions", static_cast<double>(seen.preemptions)},
                           {"span_s", seconds}});
  if (fleet.spot) {
    made.insert(made.end(), {{"layout_changes", static_cast<double>(fleet.spot->changes)},
                             {"stopped_s", fleet.spot->stopped_s},
                             {"kv_kept", static_cast<double>(fleet.spot->kept)},
                             {"kv_computed_again", static_cast<double>(fleet.spot->computed)}});
  }
  if (plan.service.adapters > 0) {
    made.emplace_back("adapter_loads", static_cast<double>(fleet.played.busy.adapter_loads));
  }
  return made;
}

figure::Rows<inference::LoadPoint> curve_rows(const std::vector<inference::LoadPoint>& curve) {
  figure::Rows rows{std::span<const inference::LoadPoint>(curve)};
  rows.add("replicas", [](const inference::LoadPoint& each) { return each.replicas; });
  rows.add(
      "load_rps", [](const inference::LoadPoint& each) { return each.requests_per_s; },
      figure::Decimals{2});
  rows.add(
      "times_log", [](const inference::LoadPoint& each) { return each.times_log; },
      figure::Decimals{2});
  return rows;
}

/// "TTFT <= 500 ms and TPOT <= 50 ms"; "none".
std::string objective_of(const inference::Limits& objective) {
  std::vector<std::string> made;
  for (const auto& [name, bound] :
       {std::pair("TTFT", objective.first_token), std::pair("TPOT", objective.per_token),
        std::pair("E2E", objective.end_to_end)}) {
    if (bound != inference::kNever)
      made.push_back(fmt::format("{} <= {:.6g} ms", name, bound / 1e3));
  }
  return made.empty() ? "none" : fmt::format("{}", fmt::join(made, " and "));
}

Answer answer_of(const FleetPlan& plan, const Fleet& fleet, const inference::Size* size) {
  Answer all{{"objective", objective_of(plan.service.limits)},
             {"step_times", inference::basis_of_times(plan.service)}};
  if (size != nullptr) all.emplace_back("valid_for", size->valid_for());
  for (const auto& [name, value] : figures(plan, fleet, size)) all.emplace_back(name, value);
  for (const auto& [name, spread] : shown(fleet.seen)) {
    for (const auto& [which, of] : kQuantiles) {
      all.emplace_back(fmt::format("{}_{}_ms", name, which), spread->*of / 1e3);
    }
  }
  for (const auto& [name, value] : tenant_figures(fleet.tenants)) all.emplace_back(name, value);
  return all;
}

/// The service as the first layout divides it: what is said of its step times is about that one.
FleetPlan as_divided(FleetPlan plan, const inference::SpotRun& spot) {
  if (spot.steps.empty()) return plan;
  plan.service.gpus = spot.steps.front().layout.gpus;
  plan.service.stages = spot.steps.front().layout.stages;
  return plan;
}

/// Why a fleet of spot instances has no replica, a clause.
std::string why_none(const inference::SpotStep& step) {
  if (step.gpus == 0) return "no instance can be used";
  if (step.gpus >= step.needed) return "a replica starts or moves";
  return fmt::format("{} can be used, and a replica needs {}",
                     text::counted(static_cast<std::uint64_t>(step.gpus), "GPU"), step.needed);
}

/// Says which layouts a fleet of spot instances had, and if requests are never answered.
void note_layouts(const inference::SpotRun& spot, std::size_t unanswered) {
  constexpr std::size_t kMost = 10;
  for (std::size_t each = 0; each < std::min(kMost, spot.steps.size()); ++each) {
    const inference::SpotStep& step = spot.steps[each];
    if (step.layout.replicas == 0) {
      note(fmt::format("from {:.1f} s: no replica, because {}", step.at / 1e6, why_none(step)));
      continue;
    }
    note(fmt::format("from {:.1f} s: {} of {} ({} x {})", step.at / 1e6,
                     text::counted(static_cast<std::uint64_t>(step.layout.replicas), "replica"),
                     text::counted(static_cast<std::uint64_t>(step.layout.replica_gpus()), "GPU"),
                     text::counted(static_cast<std::uint64_t>(step.layout.stages), "stage"),
                     step.layout.gpus));
  }
  if (spot.steps.size() > kMost) {
    note(fmt::format("and {} layouts more", spot.steps.size() - kMost));
  }
  if (unanswered == 0 || spot.steps.empty() || spot.steps.back().layout.replicas > 0) return;
  note(fmt::format("from {:.1f} s on no replica serves, and {} never answered",
                   spot.steps.back().at / 1e6,
                   text::counted(unanswered, "request is", "requests are")));
}

}  // namespace

Result<int> show_fleet(const ListOptions& list, const FleetPlan& told, const Fleet& fleet,
                       const inference::Size* size) {
  const FleetPlan plan = fleet.spot ? as_divided(told, *fleet.spot) : told;
  if (fleet.spot) note_layouts(*fleet.spot, fleet.seen.requests - fleet.seen.finished);
  if (list.wants_document()) {
    nlohmann::ordered_json made;
    made["objective"] = objective_of(plan.service.limits);
    made["step_times"] = inference::basis_of_times(plan.service);
    if (size != nullptr) {
      made["valid_for"] = size->valid_for();
      made["doubts"] = size->doubts;
      made["curve"] = figure::to_array(curve_rows(size->curve));
    }
    for (const auto& [name, value] : figures(plan, fleet, size)) made[name] = value;
    for (const auto& [name, spread] : shown(fleet.seen)) {
      for (const auto& [which, of] : kQuantiles) {
        made[std::string(name) + "_ms"][which] = spread->*of / 1e3;
      }
    }
    if (!fleet.tenants.empty()) {
      made["worst_tenant"] = fleet.tenants.front().tenant;
      made["tenants"] = figure::to_array(tenant_rows(fleet.tenants));
    }
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  if (!list.explains()) return list.print(answer_rows(answer_of(plan, fleet, size)));
  fmt::print("{:20} {}\n", "objective", objective_of(plan.service.limits));
  fmt::print("{:20} {}\n", "step_times", inference::basis_of_times(plan.service));
  if (size != nullptr) fmt::print("{:20} {}\n", "valid_for", size->valid_for());
  for (const auto& [name, value] : figures(plan, fleet, size)) {
    fmt::print("{:20} {}\n", name, figure_text(value));
  }
  const auto latencies = shown(fleet.seen);
  figure::Rows rows{std::span<const Shown>(latencies)};
  rows.add("latency", [](const Shown& each) { return fmt::format("{}_ms", each.first); });
  for (const auto& [name, of] : kQuantiles) {
    rows.add(
        name, [of](const Shown& each) { return each.second->*of / 1e3; }, figure::Decimals{2});
  }
  fmt::print("\n{}{}", rows.table(), tenants_table(fleet.tenants));
  if (size != nullptr && !size->curve.empty()) {
    fmt::print("\nload that meets the objective (requests/s, and relative to this log)\n{}",
               curve_rows(size->curve).table());
  }
  return kDone;
}

}  // namespace almanac::cli
