// SPDX-License-Identifier: Apache-2.0

#include "cli/inference_placed.h"

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
#include "cli/inference_tenants.h"
#include "figure/rows_json.h"

namespace almanac::cli {
namespace {

Figures figures_of(int replicas, const inference::Seen& seen) {
  return {{"replicas", replicas},
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

}  // namespace

Result<int> simulate_placed(const InferenceCase& told, double gpu_hour, const ListOptions& list,
                            const std::string& valid_for) {
  const inference::Plan& plan = *told.plan;
  const auto outcomes = inference::play_placed(told.service, told.requests, plan);
  if (!outcomes) return tl::unexpected(outcomes.error());
  const inference::Seen all = inference::summarize(told.requests, *outcomes, told.objective);
  std::vector<NamedFigures> models;
  int replicas = 0;
  for (std::size_t model = 0; model < plan.names.size(); ++model) {
    const auto part = inference::part_of(plan.names[model], told.requests, *outcomes);
    models.push_back(
        {plan.names[model],
         figures_of(plan.replicas_of(model),
                    inference::summarize(part.requests, part.outcomes, told.objective))});
    replicas += plan.replicas_of(model);
  }
  const std::vector<NamedFigures> whole{{"all", figures_of(replicas, all)}};
  const auto tenants = inference::by_tenant(told.requests, *outcomes, told.objective);
  const double gpu_hours = plan.gpus() * all.span / 3.6e9;
  const Figures taken{{"gpus", plan.gpus()},
                      {"gpu_hours", gpu_hours},
                      {"cost", cost_figure(plan.price(gpu_hour) * all.span / 3.6e9)},
                      {"span_s", all.span / 1e6}};
  if (list.wants_document()) {
    nlohmann::ordered_json made;
    if (!valid_for.empty()) made["valid_for"] = valid_for;
    for (const auto& [name, value] : taken) made[name] = value;
    made["all"] = figure::to_array(figure_rows("model", whole)).front();
    made["models"] = figure::to_array(figure_rows("model", models));
    if (!tenants.empty()) {
      made["worst_tenant"] = tenants.front().tenant;
      made["tenants"] = figure::to_array(tenant_rows(tenants));
    }
    fmt::print("{}\n", made.dump(2));
    return kDone;
  }
  if (list.explains()) {
    if (!valid_for.empty()) fmt::print("{:20} {}\n", "valid_for", valid_for);
    for (const auto& [name, value] : taken) fmt::print("{:20} {}\n", name, figure_text(value));
    fmt::print("\n");
  }
  models.push_back(whole.front());
  return list.print(figure_rows("model", models), tenants_table(tenants));
}

}  // namespace almanac::cli
