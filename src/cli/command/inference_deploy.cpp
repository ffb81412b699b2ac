// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference deploy: which variants of networks stand on which parts of GPUs.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/columns.h"
#include "cli/program.h"
#include "inference/deployment_read.h"
#include "inference/deployment_run.h"
#include "inference/registry.h"
#include "text/nearest.h"

namespace almanac::cli {

void register_inference_deploy(Program& program);

namespace {

struct DeployOptions {
  std::string services{}, variants{}, planner = "all", output = "table";
  inference::GpuFleet fleet{};
  std::uint64_t seed = 1;
  double seconds = 60;
};

/// A plan, or why there is none.
struct Tried {
  std::string planner{};
  Result<inference::Deployment> plan;
  inference::Judged judged{};
  inference::DeploymentRun run{};
};

/// By the names that JSON, CSV and the table have.
std::vector<std::pair<const char*, double>> figures_of(const inference::PlanningCase& asked,
                                                       const Tried& tried) {
  double accuracy = 1, spare = 1e9;
  for (std::size_t each = 0; each < asked.services.size(); ++each) {
    accuracy = std::min(accuracy, tried.judged.served[each].accuracy);
    spare = std::min(spare, tried.judged.served[each].rate / asked.services[each].rate);
  }
  return {{"gpus", tried.judged.gpus},
          {"instances", static_cast<double>(tried.plan->instances.size())},
          {"capacity", spare},
          {"in_time", tried.run.worst()},
          {"accuracy", accuracy},
          {"watts", tried.judged.watts},
          {"cost_per_h", tried.judged.price_per_h},
          {"grams_per_h", tried.judged.grams_per_h}};
}

nlohmann::ordered_json instances_of(const inference::PlanningCase& asked,
                                    const inference::Deployment& plan) {
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const inference::Instance& each : plan.instances) {
    nlohmann::ordered_json row{{"gpu", each.gpu}};
    if (asked.fleet.mig) row["slices"] = inference::mig_slices(each.share);
    row["share"] = each.share;
    row["task"] = asked.services[each.service].task;
    row["variant"] = asked.variants[each.variant].name;
    row["batch"] = each.batch;
    if (each.part >= 0) {
      row["part"] = each.part;
      row["duty_ms"] = each.duty_ms;
    }
    made.push_back(std::move(row));
  }
  return made;
}

void print_table(const inference::PlanningCase& asked, const std::vector<Tried>& all, bool csv) {
  std::vector<Column> columns{{"planner"}};
  std::vector<std::string> names{"planner"};
  std::vector<std::vector<std::string>> cells;
  for (const Tried& each : all) {
    if (!each.plan) {
      note(fmt::format("{}: {}", each.planner, to_string(each.plan.error())));
      continue;
    }
    const auto figures = figures_of(asked, each);
    if (cells.empty()) {
      for (const auto& [name, value] : figures) {
        columns.push_back({name, true});
        names.emplace_back(name);
      }
    }
    cells.push_back({each.planner});
    for (const auto& [name, value] : figures) {
      cells.back().push_back(csv ? fmt::format("{:.9g}", value) : fmt::format("{:.5g}", value));
    }
  }
  csv ? print_csv(names, cells) : print_columns(columns, cells);
  if (csv || all.size() != 1) return;
  fmt::print("\n");
  cells.clear();
  for (const inference::Instance& each : all.front().plan->instances) {
    cells.push_back({std::to_string(each.gpu), fmt::format("{:.3g}", each.share),
                     asked.services[each.service].task, asked.variants[each.variant].name,
                     std::to_string(each.batch),
                     each.part < 0 ? "-" : fmt::format("{:.4g}", each.duty_ms)});
  }
  print_columns({{"gpu", true},
                 {"share", true},
                 {"task"},
                 {"variant"},
                 {"batch", true},
                 {"turn each ms", true}},
                cells);
}

Result<int> deploy(const DeployOptions& options) {
  auto variants = inference::read_variants(options.variants);
  if (!variants) return tl::unexpected(variants.error());
  auto services = inference::read_services(options.services, *variants);
  if (!services) return tl::unexpected(services.error());
  const inference::PlanningCase asked{.variants = std::move(*variants),
                                      .services = std::move(*services),
                                      .fleet = options.fleet,
                                      .seed = options.seed};
  const auto& planners = inference::registry().planners;
  const auto arrivals = inference::poisson_arrivals(asked.services, options.seconds, options.seed);
  std::vector<Tried> all;
  for (const auto& each : planners.entries()) {
    if (options.planner != "all" && options.planner != each.name) continue;
    if (each.make.mig != options.fleet.mig) {
      if (options.planner == "all") continue;
      return fail(Code::usage,
                  fmt::format("planner {} plans GPUs that {}", each.name,
                              each.make.mig ? "are cut in instances" : "MPS shares"),
                  {}, each.make.mig ? "give --mig" : "leave out --mig");
    }
    Tried& tried = all.emplace_back(Tried{each.name, each.make.plan(asked)});
    if (!tried.plan) continue;
    tried.judged = inference::judge(asked, *tried.plan);
    tried.run = inference::play_deployment(asked, *tried.plan, arrivals);
  }
  if (all.empty()) {
    return fail(Code::not_found, fmt::format("no planner is called \"{}\"", options.planner), {},
                text::meant_or_known(options.planner, planners.names()));
  }
  if (std::none_of(all.begin(), all.end(),
                   [](const Tried& each) { return each.plan.has_value(); })) {
    return tl::unexpected(all.front().plan.error());
  }
  if (options.output != "json") {
    print_table(asked, all, options.output == "csv");
    return kDone;
  }
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const Tried& each : all) {
    nlohmann::ordered_json row{{"planner", each.planner}};
    if (each.plan) {
      for (const auto& [name, value] : figures_of(asked, each)) row[name] = value;
      row["plan"] = instances_of(asked, *each.plan);
    } else {
      row["error"] = to_string(each.plan.error());
    }
    made.push_back(std::move(row));
  }
  fmt::print("{}\n", made.dump(2));
  return kDone;
}

}  // namespace

void register_inference_deploy(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::choose, "inference", "Services that answer requests with models")
           .add_subcommand("deploy", "Choose variants of networks and parts of GPUs for services");
  const auto options = std::make_shared<DeployOptions>();
  command.add_option("SERVICES", options->services, "Table of task, rate, slo_ms, accuracy, rates")
      ->required();
  command
      .add_option("--variants", options->variants,
                  "Table of variant, task, accuracy, fixed_ms, item_ms, batch, memory_gib, knee, "
                  "load_s, busy_w")
      ->required();
  std::string planners = "Who chooses: all";
  for (const auto& each : inference::registry().planners.names()) planners += ", " + each;
  command.add_option("--planner", options->planner, planners)->capture_default_str();
  inference::GpuFleet& fleet = options->fleet;
  command.add_option("--gpus", fleet.gpus, "GPUs at most")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_flag("--mig", fleet.mig, "GPUs are cut in instances (MIG) instead of shared by MPS");
  command.add_option("--memory", fleet.memory_gib, "GiB of a GPU")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--beside", fleet.beside, "How many times as long a batch takes beside others")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  command.add_option("--idle-w", fleet.idle_w, "Watts of a GPU that waits")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--gpu-hour", fleet.price_per_h, "Price of a GPU for an hour")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--carbon", fleet.grams_per_kwh, "Grams of CO2 of a kWh now")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--usual-carbon", fleet.usual_grams_per_kwh, "Grams of CO2 of a kWh on average")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--seconds", options->seconds,
                  "How long requests are played, which come at random at the services' rates")
      ->check(CLI::Range(1e-3, 1e7))
      ->capture_default_str();
  command.add_option("--seed", options->seed, "Of requests and of planners that search by chance")
      ->capture_default_str();
  command.add_option("-o,--output", options->output, "How to print: table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  add_example(command,
              "almanac inference deploy services.csv --variants variants.csv --gpus 8 --mig");
  program.on(command, [options] { return deploy(*options); });
}

}  // namespace almanac::cli
