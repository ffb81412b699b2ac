// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac inference deploy: which variants of networks run on which parts of GPUs.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
#include "cli/inference_options.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/task_requests.h"
#include "cli/value_check.h"
#include "cluster/incidents.h"
#include "deployment/read.h"
#include "deployment/registry.h"
#include "deployment/replan.h"
#include "deployment/replay.h"
#include "figure/rows_json.h"
#include "text/nearest.h"

namespace almanac::cli {

void register_inference_deploy(Program& program);

namespace {

using figure::Cell;

struct DeployOptions {
  std::string services{}, variants{}, requests{}, column_map{};
  std::vector<std::string> planners = {"all"};
  ListOptions list{};
  deployment::GpuFleet fleet{};
  std::optional<double> carbon{};      ///< Its intensity now, in g CO2/kWh.
  std::vector<std::string> signals{};  ///< See cluster::add_signals().
  std::uint64_t seed = 1;
  double seconds = 60;
  double share = 0.99;
  double replan_s = 0;  ///< From one plan to the next; 0 = one plan.
};

/// Returns grams of CO2, which clean power does not have; NaN if no intensity or no power is given.
double grams_figure(const deployment::PlanningCase& asked, const DeployOptions& options,
                    double grams) {
  const bool has_power =
      asked.fleet.idle_w > 0 || std::any_of(asked.variants.begin(), asked.variants.end(),
                                            [](const auto& each) { return each.busy_w > 0; });
  const bool has_intensity = options.carbon || !options.signals.empty();
  return has_power && has_intensity ? grams : std::numeric_limits<double>::quiet_NaN();
}

using NamedPlanner = std::pair<std::string, const deployment::PlannerChoice*>;

/// A plan and its replay, or why there is none.
struct Tried {
  std::string planner{};
  Result<deployment::Replayed> published;
  /// Where the published plan misses the objective: the one that meets it, or why there is none.
  std::optional<Result<deployment::Replayed>> corrected{};

  /// The plan that is recommended; null = there is none.
  const deployment::Replayed* best() const {
    if (corrected && *corrected) return &**corrected;
    return published ? &*published : nullptr;
  }
};

/// A plan of a planner, and its row.
struct PlanRow {
  std::string planner{};
  const deployment::Replayed* tried = nullptr;
  deployment::Judged judged{};
  double capacity = 0, accuracy = 0;  ///< Those of the service with the lowest.
  double watts = 0;                   ///< Mean of the replay.
};

PlanRow row_of(const deployment::PlanningCase& asked, const std::string& planner,
               const deployment::Replayed& tried) {
  PlanRow made{.planner = planner,
               .tried = &tried,
               .judged = deployment::judge(asked, tried.plan),
               .capacity = std::numeric_limits<double>::infinity(),
               .accuracy = 1};
  for (std::size_t each = 0; each < asked.services.size(); ++each) {
    const deployment::Served& served = made.judged.served[each];
    made.accuracy = std::min(made.accuracy, served.accuracy);
    made.capacity = std::min(made.capacity, served.rate / asked.services[each].rate);
  }
  made.watts = asked.fleet.idle_w * made.judged.gpus + tried.run.busy_w();
  return made;
}

std::string three_decimals(double value) { return fmt::format("{:.3f}", value); }

figure::Listing rows_of(const deployment::PlanningCase& asked, const std::vector<PlanRow>& plans,
                        const DeployOptions& options) {
  figure::Rows rows(plans);
  rows.add("planner", &PlanRow::planner);
  rows.add("planned_rates", [](const PlanRow& row) { return row.tried->rates; });
  rows.add("gpus", [](const PlanRow& row) { return row.judged.gpus; });
  rows.add("instances", [](const PlanRow& row) { return row.tried->plan.instances.size(); });
  rows.add("capacity",
           [](const PlanRow& row) { return Cell(row.capacity, three_decimals(row.capacity)); });
  rows.add(
      "in_time", [](const PlanRow& row) { return row.tried->run.worst(); }, figure::Percents{});
  rows.add("meets", [&](const PlanRow& row) { return row.tried->run.worst() >= options.share; });
  rows.add("accuracy",
           [](const PlanRow& row) { return Cell(row.accuracy, three_decimals(row.accuracy)); });
  rows.add(
      "watts", [](const PlanRow& row) { return cost_figure(row.watts); }, figure::Decimals{0});
  rows.add(
      "cost_per_h", [](const PlanRow& row) { return cost_figure(row.judged.price_per_h); },
      figure::Decimals{2});
  rows.add(
      "grams_per_h",
      [&](const PlanRow& row) {
        return grams_figure(asked, options, row.watts / 1000 * asked.fleet.grams_per_kwh);
      },
      figure::Decimals{0});
  return rows;
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
        "{}: the plan as published serves {:.1f} % of the requests within their SLO, less than "
        "{:.4g} %",
        each.planner, 100 * each.published->run.worst(), 100 * share);
    note(*each.corrected
             ? fmt::format("{}; planned for {:.1f} times the rates it serves {:.1f} %", missed,
                           (*each.corrected)->rates, 100 * (*each.corrected)->run.worst())
             : fmt::format("{}; {}", missed, to_string(each.corrected->error())));
  }
}

figure::Listing instances_of(const deployment::PlanningCase& asked,
                             const deployment::Deployment& plan) {
  using deployment::Instance;
  figure::Rows rows(plan.instances);
  rows.add("gpu", &Instance::gpu);
  if (asked.fleet.mig) {
    rows.add(figure::Tier::data, "slices",
             [](const Instance& each) { return deployment::mig_slices(each.share); });
  }
  rows.add("share", [](const Instance& each) {
    return Cell(each.share, fmt::format("{:.3g}", each.share));
  });
  rows.add("task", [&](const Instance& each) { return asked.services[each.service].task; });
  rows.add("variant", [&](const Instance& each) { return asked.variants[each.variant].name; });
  rows.add("batch", &Instance::batch);
  const bool has_parts = std::any_of(plan.instances.begin(), plan.instances.end(),
                                     [](const Instance& each) { return each.part >= 0; });
  if (has_parts) rows.add(figure::Tier::data, "part", &Instance::part);
  auto& turn = rows.add("duty_ms", "switch each, ms", [](const Instance& each) {
    return each.part < 0 ? Cell() : Cell(each.duty_ms, fmt::format("{:.4g}", each.duty_ms));
  });
  if (!has_parts) turn.table_only();
  return rows;
}

/// The plans that were made; of one planner its instances too.
Result<int> show_plans(const deployment::PlanningCase& asked, const std::vector<Tried>& all,
                       const DeployOptions& options) {
  std::vector<PlanRow> plans;
  for (const Tried& each : all) {
    if (each.published) plans.push_back(row_of(asked, each.planner, *each.published));
    if (each.corrected && *each.corrected) {
      plans.push_back(row_of(asked, each.planner, **each.corrected));
    }
  }
  const bool has_instances = all.size() == 1;
  return options.list.print(
      rows_of(asked, plans, options),
      has_instances ? "\n" + instances_of(asked, all.front().best()->plan).table(table_form())
                    : "");
}

figure::Listing replanned_rows(
    const deployment::PlanningCase& asked,
    const std::vector<std::pair<std::string, deployment::Replanned>>& all,
    const DeployOptions& options) {
  using Row = std::pair<std::string, deployment::Replanned>;
  figure::Rows rows(all);
  rows.add("planner", &Row::first);
  rows.add("planned_rates", [](const Row& row) { return row.second.rates; });
  rows.add(
      "gpu_hours", [](const Row& row) { return row.second.gpu_hours; }, figure::Decimals{3});
  rows.add(
      "cost",
      [&](const Row& row) { return cost_figure(row.second.gpu_hours * asked.fleet.price_per_h); },
      figure::Decimals{2});
  rows.add(
      "grams", [&](const Row& row) { return grams_figure(asked, options, row.second.grams); },
      figure::Decimals{1});
  rows.add("most_gpus", [](const Row& row) { return row.second.most_gpus; });
  rows.add(
      "in_time", [](const Row& row) { return row.second.run.worst(); }, figure::Percents{});
  rows.add("meets", [&](const Row& row) { return row.second.run.worst() >= options.share; });
  rows.add("plans", [](const Row& row) { return row.second.plans; });
  rows.add(figure::Tier::data, "tuned", [](const Row& row) { return row.second.tuned; });
  rows.add("loads", [](const Row& row) { return row.second.loads; });
  rows.add("refused", [](const Row& row) { return row.second.refused; });
  rows.add("interrupted", [](const Row& row) { return row.second.interrupted; });
  return rows;
}

/// What comes of planning again and again with each of `planners`.
Result<int> show_replanned(const deployment::PlanningCase& asked,
                           const std::vector<deployment::TaskArrival>& arrivals,
                           const std::vector<NamedPlanner>& planners,
                           const DeployOptions& options) {
  std::vector<std::pair<std::string, deployment::Replanned>> rows;
  std::optional<Error> first_error;
  for (const auto& [name, planner] : planners) {
    const auto published = deployment::plan_over_time(*planner, asked, arrivals, options.replan_s);
    if (!published) {
      if (!first_error) first_error = published.error();
      note(fmt::format("{}: {}", name, to_string(published.error())));
      continue;
    }
    rows.emplace_back(name, *published);
    if (published->run.worst() >= options.share) continue;
    const auto corrected = deployment::plan_over_time_in_time(*planner, asked, arrivals,
                                                              options.replan_s, options.share);
    if (corrected) rows.emplace_back(name, *corrected);
    if (!corrected) note(fmt::format("{}: {}", name, to_string(corrected.error())));
  }
  if (rows.empty()) return tl::unexpected(*first_error);
  return options.list.print(replanned_rows(asked, rows, options));
}

/// The planners that the options name. Fails with not_found, and with usage for one that plans GPUs
/// of the other kind.
Result<std::vector<NamedPlanner>> planners_of(const DeployOptions& options) {
  const auto& planners = deployment::registry().planners;
  const auto names = [&](const std::string& name) {
    return std::find(options.planners.begin(), options.planners.end(), name) !=
           options.planners.end();
  };
  for (const std::string& name : options.planners) {
    if (name != "all" && planners.find(name) == nullptr) {
      return fail(Code::not_found, fmt::format("unknown planner \"{}\"", name), {},
                  text::meant_or_known(name, planners.names()));
    }
  }
  std::vector<NamedPlanner> made;
  for (const auto& each : planners.entries()) {
    if (!names("all") && !names(each.name)) continue;
    if (each.make.mig == options.fleet.mig) {
      made.emplace_back(each.name, &each.make);
    } else if (names(each.name)) {
      return fail(Code::usage,
                  fmt::format("planner {} plans GPUs with {}", each.name,
                              each.make.mig ? "MIG instances" : "MPS shares"),
                  {}, each.make.mig ? "add --mig" : "leave out --mig");
    }
  }
  return made;
}

/// Reads the carbon intensity over the replay, which begins with the first value of the file.
Result<std::vector<deployment::CarbonStep>> carbon_of(const std::vector<std::string>& signals) {
  cluster::Incidents read;
  if (auto added = cluster::add_signals(signals, {}, read); !added) {
    return tl::unexpected(added.error());
  }
  for (const std::string& name : read.signals) {
    if (name == "carbon") continue;
    return fail(Code::usage, fmt::format("--signal: no planner uses the signal {}", name), {},
                "give carbon=FILE");
  }
  std::vector<deployment::CarbonStep> made;
  for (const cluster::Incident& each : read.all) {
    const Duration since = each.at - read.all.front().at;
    made.push_back({.from_ms = static_cast<double>(since.count()), .grams_per_kwh = each.value});
  }
  return made;
}

Result<int> deploy(const DeployOptions& options) {
  auto variants = deployment::read_variants(options.variants);
  if (!variants) return tl::unexpected(variants.error());
  auto services = deployment::read_services(options.services, *variants);
  if (!services) return tl::unexpected(services.error());
  auto carbon = carbon_of(options.signals);
  if (!carbon) return tl::unexpected(carbon.error());
  deployment::PlanningCase asked{.variants = std::move(*variants),
                                 .services = std::move(*services),
                                 .fleet = options.fleet,
                                 .seed = options.seed};
  asked.fleet.grams_per_kwh = options.carbon.value_or(0);
  asked.fleet.carbon = std::move(*carbon);
  const auto planners = planners_of(options);
  if (!planners) return tl::unexpected(planners.error());
  const auto arrivals = options.requests.empty()
                            ? random_requests(asked.services, options.seconds, options.seed)
                            : task_requests(options.requests, options.column_map, asked.services);
  if (!arrivals) return tl::unexpected(arrivals.error());
  const double end_s = arrivals->empty() ? 0 : arrivals->back().at_ms / 1000;
  if (options.replan_s > 0 && options.replan_s >= end_s) {
    return fail(Code::usage,
                fmt::format("--replan: expected less than the length of the replay ({:.0f} s), "
                            "found {:.6g} s",
                            end_s, options.replan_s),
                {},
                options.requests.empty() ? "lower --replan, or raise --seconds" : "lower --replan");
  }
  if (options.replan_s > 0) return show_replanned(asked, *arrivals, *planners, options);
  std::vector<Tried> all;
  for (const auto& [name, planner] : *planners) {
    Tried& tried =
        all.emplace_back(Tried{name, deployment::plan_and_replay(*planner, asked, *arrivals)});
    if (!tried.published || tried.published->run.worst() >= options.share) continue;
    tried.corrected = deployment::plan_in_time(*planner, asked, *arrivals, options.share);
  }
  if (std::none_of(all.begin(), all.end(),
                   [](const Tried& each) { return each.published.has_value(); })) {
    return tl::unexpected(all.front().published.error());
  }
  note_missed(all, options.share);
  if (!options.list.wants_document()) return show_plans(asked, all, options);
  nlohmann::ordered_json made = nlohmann::ordered_json::array();
  for (const Tried& each : all) {
    const auto described = [&](const Result<deployment::Replayed>& plan) {
      nlohmann::ordered_json row{{"planner", each.planner}};
      if (!plan) {
        row["error"] = to_string(plan.error());
        return row;
      }
      row = figure::to_array(rows_of(asked, {row_of(asked, each.planner, *plan)}, options)).front();
      row["plan"] = figure::to_array(instances_of(asked, plan->plan));
      return row;
    };
    nlohmann::ordered_json row = described(each.published);
    if (each.corrected) {
      row["corrected"] = described(*each.corrected);
      row["corrected"].erase("planner");
    }
    made.push_back(std::move(row));
  }
  fmt::print("{}\n", made.dump(2));
  return kDone;
}

}  // namespace

void register_inference_deploy(Program& program) {
  CLI::App& command =
      *program
           .noun(Purpose::simulate, "inference", "Simulate, size and profile LLM inference fleets")
           .add_subcommand("deploy", "Choose model variants and GPU shares for several services");
  const auto options = std::make_shared<DeployOptions>();
  command
      .add_option("SERVICES", options->services,
                  "CSV file of task, rate, slo_ms, accuracy, rates; for stages of a pipeline "
                  "after and per_answer")
      ->required();
  command
      .add_option("--variants", options->variants,
                  "CSV file of variant, task, accuracy, fixed_ms, item_ms, batch, memory_gib, "
                  "knee, load_s, busy_w (watts of a whole busy GPU beyond idle)")
      ->type_name("FILE")
      ->required()
      ->group(heading(Group::input));
  std::vector<std::string> mig, mps;
  for (const auto& each : deployment::registry().planners.entries()) {
    (each.make.mig ? mig : mps).push_back(each.name);
  }
  command
      .add_option("--planner", options->planners,
                  fmt::format("Planners to compare, separated by commas (default: all that plan "
                              "GPUs of this kind): with --mig {}; without {}",
                              fmt::join(mig, ", "), fmt::join(mps, ", ")))
      ->type_name("NAME,...")
      ->delimiter(',');
  deployment::GpuFleet& fleet = options->fleet;
  command.add_option("--gpus", fleet.gpus, "Number of GPUs")
      ->check(whole_number(1, 10'000))
      ->capture_default_str()
      ->group(heading(Group::model));
  command.add_flag("--mig", fleet.mig, "Split GPUs into MIG instances instead of MPS shares")
      ->group(heading(Group::model));
  command.add_option("--memory", fleet.memory_gib, "Memory of a GPU in GiB")
      ->check(positive_number())
      ->capture_default_str();
  command.add_option("--beside", fleet.beside, "Slowdown of a batch by its neighbors on a GPU")
      ->check(number(1.0, 100.0))
      ->capture_default_str();
  command.add_option("--idle-w", fleet.idle_w, "Power of an idle GPU in watts")->check(number(0));
  command.add_option("--gpu-hour", fleet.price_per_h, "Price of a GPU-hour")->check(number(0));
  CLI::Option* const carbon =
      command.add_option("--carbon", options->carbon, "Carbon intensity now, in g CO2/kWh")
          ->check(number(0));
  command
      .add_option("--usual-carbon", fleet.usual_grams_per_kwh,
                  "Mean carbon intensity, in g CO2/kWh")
      ->check(number(0));
  CLI::Option* const log =
      command
          .add_option("--requests", options->requests,
                      "Request log whose column model has the task, instead of --seconds")
          ->group(heading(Group::input));
  log->type_name("REQUESTS");
  add_log_columns(command, options->column_map);
  CLI::Option* const replan =
      command
          .add_option("--replan", options->replan_s,
                      "Plan again at this interval, for the rates that each planner expects")
          ->type_name("SECONDS")
          ->check(number(1, 1e7));
  command
      .add_option(
          "--signal", options->signals,
          "Carbon intensity over the replay, in g CO2/kWh: a CSV file with the columns time "
          "and value; its first time is the start of the replay")
      ->type_name("carbon=FILE")
      ->needs(replan)
      ->excludes(carbon);
  command
      .add_option("--seconds", options->seconds,
                  "Length of the replay, with random arrivals at the services' rates")
      ->check(number(1e-3, 1e7))
      ->excludes(log)
      ->capture_default_str();
  command
      .add_option("--share", options->share,
                  "Share of each service's requests that must meet the SLO in a replay")
      ->check(number(0.0, 1.0))
      ->capture_default_str();
  command
      .add_option("--seed", options->seed,
                  "Random seed of requests and of planners that search at random")
      ->check(seed_number())
      ->capture_default_str();
  options->list.add_to(command);
  add_example(command,
              "almanac inference deploy services.csv --variants variants.csv --gpus 8 --mig");
  add_example(command,
              "almanac inference deploy services.csv --variants variants.csv --gpus 8 --mig "
              "--planner clover --replan 900 --signal carbon=carbon.csv");
  add_example(command,
              "almanac inference deploy services.csv --variants variants.csv --gpus 8 --requests "
              "requests.csv --replan 60");
  options->list.on(program, command, [options] { return deploy(*options); });
}

}  // namespace almanac::cli
