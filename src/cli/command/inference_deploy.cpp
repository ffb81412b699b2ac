// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference deploy: which variants of networks stand on which parts of GPUs.
#include <algorithm>
#include <memory>
#include <optional>
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
  double share = 0.99;
};

/// A plan and its replay, or why there is none.
struct Tried {
  std::string planner{};
  Result<inference::Replayed> published;
  /// Where the published plan misses the objective: the one that meets it, or why there is none.
  std::optional<Result<inference::Replayed>> corrected{};

  /// The plan that is recommended; null = there is none.
  const inference::Replayed* best() const {
    if (corrected && *corrected) return &**corrected;
    return published ? &*published : nullptr;
  }
};

/// By the names that JSON, CSV and the table have.
std::vector<std::pair<const char*, double>> figures_of(const inference::PlanningCase& asked,
                                                       const inference::Replayed& tried,
                                                       double share) {
  const inference::Judged judged = inference::judge(asked, tried.plan);
  double accuracy = 1, spare = 1e9;
  for (std::size_t each = 0; each < asked.services.size(); ++each) {
    accuracy = std::min(accuracy, judged.served[each].accuracy);
    spare = std::min(spare, judged.served[each].rate / asked.services[each].rate);
  }
  return {{"planned_rates", tried.rates},
          {"gpus", judged.gpus},
          {"instances", static_cast<double>(tried.plan.instances.size())},
          {"capacity", spare},
          {"in_time", tried.run.worst()},
          {"meets", tried.run.worst() >= share ? 1 : 0},
          {"accuracy", accuracy},
          {"watts", judged.watts},
          {"cost_per_h", judged.price_per_h},
          {"grams_per_h", judged.grams_per_h}};
}

/// Says which published plans miss the objective, and what would meet it.
void note_missed(const std::vector<Tried>& all, double share) {
  for (const Tried& each : all) {
    if (!each.published) {
      note(fmt::format("{}: {}", each.planner, to_string(each.published.error())));
      continue;
    }
    if (!each.corrected) continue;
    const std::string missed = fmt::format(
        "{}: the plan as published serves {:.1f} % of the requests in time, less than "
        "{:.4g} %",
        each.planner, 100 * each.published->run.worst(), 100 * share);
    note(*each.corrected
             ? fmt::format("{}; made for {:.1f} times the rates it serves {:.1f} %", missed,
                           (*each.corrected)->rates, 100 * (*each.corrected)->run.worst())
             : fmt::format("{}; {}", missed, to_string(each.corrected->error())));
  }
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

void print_table(const inference::PlanningCase& asked, const std::vector<Tried>& all, double share,
                 bool csv) {
  std::vector<Column> columns{{"planner"}};
  std::vector<std::string> names{"planner"};
  std::vector<std::vector<std::string>> cells;
  const auto add = [&](const std::string& planner, const inference::Replayed& plan) {
    const auto figures = figures_of(asked, plan, share);
    if (cells.empty()) {
      for (const auto& [name, value] : figures) {
        columns.push_back({name, true});
        names.emplace_back(name);
      }
    }
    cells.push_back({planner});
    for (const auto& [name, value] : figures) {
      cells.back().push_back(csv ? fmt::format("{:.9g}", value) : fmt::format("{:.5g}", value));
    }
  };
  for (const Tried& each : all) {
    if (each.published) add(each.planner, *each.published);
    if (each.corrected && *each.corrected) add(each.planner, **each.corrected);
  }
  csv ? print_csv(names, cells) : print_columns(columns, cells);
  if (csv || all.size() != 1) return;
  fmt::print("\n");
  cells.clear();
  for (const inference::Instance& each : all.front().best()->plan.instances) {
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
    Tried& tried =
        all.emplace_back(Tried{each.name, inference::plan_and_replay(each.make, asked, arrivals)});
    if (!tried.published || tried.published->run.worst() >= options.share) continue;
    tried.corrected = inference::plan_in_time(each.make, asked, arrivals, options.share);
  }
  if (all.empty()) {
    return fail(Code::not_found, fmt::format("no planner is called \"{}\"", options.planner), {},
                text::meant_or_known(options.planner, planners.names()));
  }
  if (std::none_of(all.begin(), all.end(),
                   [](const Tried& each) { return each.published.has_value(); })) {
    return tl::unexpected(all.front().published.error());
  }
  note_missed(all, options.share);
  if (options.output != "json") {
    print_table(asked, all, options.share, options.output == "csv");
    return kDone;
  }
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const Tried& each : all) {
    const auto described = [&](const Result<inference::Replayed>& plan) {
      nlohmann::ordered_json row;
      if (!plan) {
        row["error"] = to_string(plan.error());
        return row;
      }
      for (const auto& [name, value] : figures_of(asked, *plan, options.share)) row[name] = value;
      row["plan"] = instances_of(asked, plan->plan);
      return row;
    };
    nlohmann::ordered_json row{{"planner", each.planner}};
    row.update(described(each.published));
    if (each.corrected) row["corrected"] = described(*each.corrected);
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
  command
      .add_option("--share", options->share,
                  "Share of the requests of each service that must be in time in a replay")
      ->check(CLI::Range(0.0, 1.0))
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
