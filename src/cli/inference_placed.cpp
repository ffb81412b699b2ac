// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_placed.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/inference_tenants.h"
#include "cli/program.h"

namespace almanac::cli {
namespace {

struct SeenOfModel {
  std::string model;
  int replicas = 0;
  inference::Seen seen{};
};

using Figure = std::pair<const char*, double>;

/// By the names that JSON, CSV and the table have.
std::vector<Figure> figures_of(const SeenOfModel& of) {
  const inference::Seen& seen = of.seen;
  return {{"replicas", of.replicas},
          {"requests", static_cast<double>(seen.requests)},
          {"finished", static_cast<double>(seen.finished)},
          {"attainment", seen.attainment()},
          {"preemptions", static_cast<double>(seen.preemptions)},
          {"ttft_p50_ms", seen.first_token.p50 / 1e3},
          {"ttft_p90_ms", seen.first_token.p90 / 1e3},
          {"ttft_p99_ms", seen.first_token.p99 / 1e3},
          {"tpot_p50_ms", seen.per_token.p50 / 1e3},
          {"tpot_p90_ms", seen.per_token.p90 / 1e3},
          {"tpot_p99_ms", seen.per_token.p99 / 1e3}};
}

nlohmann::ordered_json row_of(const SeenOfModel& of) {
  nlohmann::ordered_json made{{"model", of.model}};
  for (const auto& [name, value] : figures_of(of)) made[name] = value;
  return made;
}

}  // namespace

Result<int> simulate_placed(const InferenceCase& told, double gpu_hour, const std::string& format,
                            const std::string& holds_for) {
  const inference::Plan& plan = *told.plan;
  const auto outcomes = inference::play_placed(told.service, told.requests, plan);
  if (!outcomes) return tl::unexpected(outcomes.error());
  std::vector<SeenOfModel> rows;
  SeenOfModel all{.model = "all",
                  .seen = inference::summarize(told.requests, *outcomes, told.objective)};
  for (std::size_t model = 0; model < plan.names.size(); ++model) {
    const auto part = inference::part_of(plan.names[model], told.requests, *outcomes);
    rows.push_back({plan.names[model], plan.replicas_of(model),
                    inference::summarize(part.requests, part.outcomes, told.objective)});
    all.replicas += rows.back().replicas;
  }
  const auto tenants = inference::by_tenant(told.requests, *outcomes, told.objective);
  const double gpu_hours = plan.gpus() * all.seen.span / 3.6e9;
  const std::vector<Figure> taken{{"gpus", plan.gpus()},
                                  {"gpu_hours", gpu_hours},
                                  {"cost", plan.price(gpu_hour) * all.seen.span / 3.6e9},
                                  {"span_s", all.seen.span / 1e6}};
  if (format == "json") {
    nlohmann::ordered_json made;
    if (!holds_for.empty()) made["holds_for"] = holds_for;
    for (const auto& [name, value] : taken) made[name] = value;
    made["all"] = row_of(all);
    for (const SeenOfModel& each : rows) made["models"].push_back(row_of(each));
    if (!tenants.empty()) {
      made["worst_tenant"] = tenants.front().tenant;
      made["tenants"] = tenants_json(tenants);
    }
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  rows.push_back(std::move(all));
  const bool csv = format == "csv";
  std::vector<Column> columns{{"model"}};
  std::vector<std::string> names{"model"};
  for (const auto& [name, value] : figures_of(rows.front())) {
    columns.push_back({name, true});
    names.emplace_back(name);
  }
  std::vector<std::vector<std::string>> cells;
  for (const SeenOfModel& each : rows) {
    cells.push_back({each.model});
    for (const auto& [name, value] : figures_of(each)) {
      cells.back().push_back(csv ? number_cell(value, 9, "") : number_cell(value, 5));
    }
  }
  if (csv) {
    print_csv(names, cells);
    return kDone;
  }
  if (!holds_for.empty()) fmt::print("{:20} {}\n", "holds_for", holds_for);
  for (const auto& [name, value] : taken) fmt::print("{:20} {:.6g}\n", name, value);
  fmt::print("\n");
  print_columns(columns, cells);
  print_tenants(tenants);
  return kDone;
}

}  // namespace almanac::cli
