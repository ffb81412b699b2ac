// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference compare: the same requests under several compositions of a service.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "cli/elapsed.h"
#include "cli/figure_rows.h"
#include "cli/inference_fleet.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "inference/load_curve.h"
#include "inference/registry.h"
#include "text/human.h"

namespace almanac::cli {

void register_inference_compare(Program& program);

namespace {

struct ComparedServices {
  FleetOptions fleet{};
  bool tells_compositions = false;
  std::vector<std::string> compositions{"chunked+round_robin", "chunked+shortest_queue",
                                        "chunked+least_tokens", "prefill_first+shortest_queue"};
};

/// A row: a composition, a plan, or a plan with a composition.
struct ComparedRow {
  std::string name;
  std::string composition;
  std::optional<inference::Plan> plan{};  ///< In place of the service's model and GPUs.
};

/// Returns the figures of one row, by their names in JSON and CSV.
Figures figures_of(const Fleet& fleet) {
  const inference::Seen& seen = fleet.seen;
  Figures made{{"attainment", seen.attainment()},
               {"finished", static_cast<double>(seen.finished)},
               {"gpu_hours", fleet.gpu_hours},
               {"cost", cost_figure(fleet.cost)}};
  if (!fleet.tenants.empty()) {
    made.emplace_back("worst_tenant_attainment", fleet.tenants.front().seen.attainment());
  }
  if (!std::isnan(fleet.energy_kwh)) made.emplace_back("energy_kwh", fleet.energy_kwh);
  made.insert(made.end(), {{"ttft_p50_ms", seen.first_token.p50 / 1e3},
                           {"ttft_p90_ms", seen.first_token.p90 / 1e3},
                           {"ttft_p99_ms", seen.first_token.p99 / 1e3},
                           {"tpot_p50_ms", seen.per_token.p50 / 1e3},
                           {"tpot_p90_ms", seen.per_token.p90 / 1e3},
                           {"tpot_p99_ms", seen.per_token.p99 / 1e3}});
  return made;
}

/// Every plan with every composition that is told, or the compositions of one service.
Result<std::vector<ComparedRow>> rows_of(const std::string& plans, const ComparedServices& asked) {
  std::vector<ComparedRow> rows;
  if (plans.empty()) {
    for (const std::string& each : asked.compositions) rows.push_back({each, each});
    return rows;
  }
  for (std::size_t at = 0; at <= plans.size();) {
    const std::size_t end = std::min(plans.find(',', at), plans.size());
    const std::string path = plans.substr(at, end - at);
    at = end + 1;
    const auto plan = inference::read_plan(path);
    if (!plan) return tl::unexpected(plan.error());
    if (!asked.tells_compositions) {
      rows.push_back({path, "", *plan});
      continue;
    }
    for (const std::string& each : asked.compositions) {
      rows.push_back({fmt::format("{} {}", path, each), each, *plan});
    }
  }
  return rows;
}

/// Fails where a composition says what the replicas of a plan do not do.
Result<void> goes_with_plan(const std::string& composition, const FleetPlan& made) {
  if (made.service.prefill > 0) {
    return fail(
        Code::usage,
        fmt::format(
            "{} cannot be used with --plan: replicas of a plan compute both prompts and tokens",
            composition),
        {}, "leave out the part that ends with p");
  }
  for (const std::string& scaler : inference::registry().scalers.names()) {
    if (fmt::format("+{}+", composition).find(fmt::format("+{}+", scaler)) == std::string::npos) {
      continue;
    }
    return fail(Code::usage,
                fmt::format("{} cannot be used with --plan: a plan has a fixed set of replicas",
                            composition),
                {}, "leave out " + scaler);
  }
  return {};
}

Result<Fleet> play_plan(const inference::Plan& plan, const FleetPlan& of,
                        const InferenceCase& told) {
  auto outcomes = inference::play_placed(of.service, told.requests, plan);
  if (!outcomes) return tl::unexpected(outcomes.error());
  Fleet made{.energy_kwh = std::numeric_limits<double>::quiet_NaN()};
  made.seen = inference::summarize(told.requests, *outcomes, told.objective);
  made.tenants = inference::by_tenant(told.requests, *outcomes, told.objective);
  made.gpu_hours = plan.gpus() * made.seen.span / 3.6e9;
  made.cost = plan.price(of.gpu_hour) * made.seen.span / 3.6e9;
  return made;
}

/// Says what a perfect autoscaler would use, if there is something to scale.
void note_ideal(const InferenceCase& told, const std::vector<FleetPlan>& plans) {
  const auto scales = std::find_if(plans.begin(), plans.end(), [](const FleetPlan& each) {
    return each.scaling.told.replica_requests_per_s > 0;
  });
  if (told.plan || scales == plans.end()) return;
  const inference::ScalerCase& scaling = scales->scaling.told;
  const auto ideal =
      inference::ideal_fleet(told.requests, scaling.replica_requests_per_s, scaling.least);
  note(
      fmt::format("a perfect autoscaler would use {:.3g} GPU-hours and at most {}, with {:.3g} "
                  "requests/s per replica and a decision each minute",
                  ideal.replica_s * scales->service.replica_gpus() / 3600,
                  text::counted(static_cast<std::uint64_t>(ideal.peak), "replica"),
                  scaling.replica_requests_per_s));
}

Result<int> compare_services(InferenceOptions options, const ComparedServices& asked) {
  const auto rows = rows_of(options.plan, asked);
  if (!rows) return tl::unexpected(rows.error());
  Fleet with_all;
  with_all.tenants.resize(1);
  const std::vector<NamedFigures> columns{{"", figures_of(with_all)}};
  if (auto known = options.list.check(figure_rows("composition", columns)); !known) {
    return tl::unexpected(known.error());
  }
  options.plan = options.plan.substr(0, options.plan.find(','));
  auto told = inference_case(options);
  if (!told) return tl::unexpected(told.error());
  std::vector<FleetPlan> plans;
  for (const ComparedRow& row : *rows) {
    auto plan = plan_fleet(asked.fleet, *told, row.composition);
    if (!plan) return tl::unexpected(plan.error());
    if (row.plan) {
      if (auto goes = goes_with_plan(row.composition, *plan); !goes) {
        return tl::unexpected(goes.error());
      }
    }
    plans.push_back(std::move(*plan));
  }
  std::vector<Result<Fleet>> played(plans.size(), Fleet{});
  while_showing("comparing", [&](ProgressBar&) {
    tbb::parallel_for(std::size_t{0}, plans.size(), [&](std::size_t each) {
      const auto& plan = (*rows)[each].plan;
      played[each] = plan ? play_plan(*plan, plans[each], *told) : play_fleet(plans[each], *told);
    });
  });
  std::vector<NamedFigures> compared;
  for (std::size_t each = 0; each < played.size(); ++each) {
    if (!played[each]) return tl::unexpected(played[each].error());
    compared.push_back({(*rows)[each].name, figures_of(*played[each])});
  }
  note_ideal(*told, plans);
  return options.list.print(figure_rows("composition", compared));
}

}  // namespace

void register_inference_compare(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("compare",
                           "Compare batching, routing and scaling rules on the same requests");
  const auto options = add_inference_options(command);
  const auto asked = std::make_shared<ComparedServices>();
  asked->fleet.add_to(command);
  add_plan_option(command, *options);
  asked->fleet.add_spot_to(command);
  command.get_option("--plan")->type_name("FILE,...");
  CLI::Option& of = *command
                         .add_option("--of", asked->compositions,
                                     "Rules to compare, joined by +; 2p means two prefill replicas "
                                     "(almanac help serving)")
                         ->type_name("NAME+NAME,...")
                         ->delimiter(',')
                         ->capture_default_str()
                         ->group(heading(Group::engine));
  add_example(command,
              "almanac inference compare requests.csv --model llama-3.1-8b --replicas 1..8 --ttft "
              "500ms --of chunked+least_tokens+mark,chunked+least_tokens+reactive");
  add_example(command,
              "almanac inference compare requests.csv --plan together.csv,apart.csv --ttft 500ms");
  options->list.on(program, command, [options, asked, &of] {
    asked->tells_compositions = of.count() > 0;
    return compare_services(*options, *asked);
  });
}

}  // namespace almanac::cli
