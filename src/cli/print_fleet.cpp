// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/inference_fleet.h"
#include "cli/inference_tenants.h"

namespace almanac::cli {
namespace {

using Shown = std::pair<const char*, const inference::Spread*>;

std::array<Shown, 4> shown(const inference::Seen& seen) {
  return {Shown{"ttft", &seen.first_token}, Shown{"tpot", &seen.per_token},
          Shown{"longest_gap", &seen.longest_gap}, Shown{"e2e", &seen.end_to_end}};
}

/// Counts and rates, by the names that JSON and CSV have.
std::vector<std::pair<std::string, double>> figures(const FleetPlan& plan, const Fleet& fleet,
                                                    const inference::Size* size) {
  const inference::Seen& seen = fleet.seen;
  const double seconds = seen.span / 1e6;
  const bool stays = plan.scaling.told.least == plan.scaling.told.most;
  const double replicas =
      stays || seconds <= 0 ? plan.service.replicas : fleet.played.replica_s / seconds;
  const auto a_second = [&](auto count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  const double prompts = static_cast<double>(seen.prompt_tokens);
  std::vector<std::pair<std::string, double>> made{
      {"replicas", replicas}, {"prefill_replicas", static_cast<double>(plan.service.prefill)}};
  if (size != nullptr) {
    made.insert(made.end(), {{"replicas_for_log", size->for_log},
                             {"following_logs", size->drawn},
                             {"following_served", size->served}});
  }
  made.insert(made.end(), {{"gpus", replicas * plan.service.replica_gpus()},
                           {"gpu_hours", fleet.gpu_hours},
                           {"cost", fleet.cost},
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
  if (plan.service.adapters > 0) {
    made.emplace_back("adapter_loads", static_cast<double>(fleet.played.busy.adapter_loads));
  }
  return made;
}

}  // namespace

void print_fleet(const std::string& format, const FleetPlan& plan, const Fleet& fleet,
                 const inference::Size* size) {
  if (format == "json") {
    nlohmann::ordered_json made;
    if (size != nullptr) {
      made["holds_for"] = size->holds_for();
      made["doubts"] = size->doubts;
    }
    for (const auto& [name, value] : figures(plan, fleet, size)) made[name] = value;
    for (const auto& [name, spread] : shown(fleet.seen)) {
      made[std::string(name) + "_ms"] = {{"mean", spread->mean / 1e3},
                                         {"p50", spread->p50 / 1e3},
                                         {"p90", spread->p90 / 1e3},
                                         {"p99", spread->p99 / 1e3},
                                         {"max", spread->most / 1e3}};
    }
    if (!fleet.tenants.empty()) {
      made["worst_tenant"] = fleet.tenants.front().tenant;
      made["tenants"] = tenants_json(fleet.tenants);
    }
    fmt::print("{}\n", made.dump(2));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  if (format == "csv") {
    if (size != nullptr) rows.push_back({"holds_for", size->holds_for()});
    for (const auto& [name, value] : figures(plan, fleet, size)) {
      rows.push_back({name, fmt::format("{:.9g}", value)});
    }
    for (const auto& [name, spread] : shown(fleet.seen)) {
      for (const auto& [which, value] :
           {std::pair("mean", spread->mean), std::pair("p50", spread->p50),
            std::pair("p90", spread->p90), std::pair("p99", spread->p99),
            std::pair("max", spread->most)}) {
        rows.push_back({fmt::format("{}_{}_ms", name, which), number_cell(value / 1e3, 9, "")});
      }
    }
    add_tenant_rows(fleet.tenants, rows);
    print_csv({"figure", "value"}, rows);
    return;
  }
  if (size != nullptr) fmt::print("{:20} {}\n", "holds_for", size->holds_for());
  for (const auto& [name, value] : figures(plan, fleet, size)) {
    fmt::print("{:20} {:.6g}\n", name, value);
  }
  fmt::print("\n");
  for (const auto& [name, spread] : shown(fleet.seen)) {
    std::vector<std::string> row{fmt::format("{}_ms", name)};
    for (const double value : {spread->mean, spread->p50, spread->p90, spread->p99, spread->most}) {
      row.push_back(std::isnan(value) ? "-" : fmt::format("{:.2f}", value / 1e3));
    }
    rows.push_back(std::move(row));
  }
  print_columns(
      {{"latency"}, {"mean", true}, {"p50", true}, {"p90", true}, {"p99", true}, {"max", true}},
      rows);
  print_tenants(fleet.tenants);
}

}  // namespace almanac::cli
