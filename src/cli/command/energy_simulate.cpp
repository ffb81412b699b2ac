// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy simulate: ways of letting nodes sleep over a series of demand, and their price.
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/trace_options.h"
#include "energy/outage.h"
#include "energy/plan.h"
#include "energy/power_file.h"
#include "energy/series.h"

namespace almanac::cli {

void register_energy_simulate(Program& program);

namespace {

struct Options {
  std::string path;
  std::string column = "active";
  std::string total_column = "total";
  std::string from;
  std::string start;
  std::string profile = "earth";
  std::string output = "table";
  int nodes = 0;
  std::string power = "helios";
};

/// Used and total nodes without outages: those hold the value before.
Result<energy::Demand> read_demand(const Options& options) {
  energy::SeriesOptions reading;
  if (!options.start.empty()) {
    const auto start = parse_time_option("--start", options.start);
    if (!start) return tl::unexpected(start.error());
    reading.start = *start;
    reading.step = energy::kUsualStep;
  }
  std::vector<std::string> columns{options.column};
  if (options.nodes == 0) columns.push_back(options.total_column);
  const auto series = energy::read_series(options.path, columns, reading);
  if (!series) return tl::unexpected(series.error());
  for (const std::string& text : series->notes) note(options.path + ": " + text);
  energy::Demand demand{.start = series->start, .step = series->step};
  energy::OutageFilter filter(static_cast<std::size_t>(24h / series->step));
  double used = 0;
  double total = options.nodes;
  for (std::size_t at = 0; at < series->size(); ++at) {
    const double now = series->columns[0][at];
    if (!filter.is_outage(now)) used = now;
    if (options.nodes == 0 && !std::isnan(series->columns[1][at])) total = series->columns[1][at];
    demand.used.push_back(static_cast<int>(std::lround(std::min(used, total))));
    demand.total.push_back(static_cast<int>(std::lround(total)));
  }
  return demand;
}

std::vector<energy::PlanFigures> judge_all(const energy::Demand& demand,
                                           const energy::CesSettings& ces,
                                           const energy::PowerModel& power, std::size_t first) {
  const auto judge = [&](const std::string& name, const energy::Plan& plan) {
    return energy::judge_plan(name, demand, plan, power, first);
  };
  std::vector<energy::PlanFigures> rows;
  rows.push_back(judge("always-on", energy::always_on(demand)));
  rows.push_back(judge("follow-load", energy::follow_load(demand)));
  for (const double part : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    energy::CesSettings settings = ces;
    settings.buffer = static_cast<int>(std::lround(part * ces.buffer));
    rows.push_back(judge(fmt::format("ces, buffer {}", settings.buffer),
                         energy::published_loop(demand, settings)));
  }
  for (const double level : {0.5, 0.75, 0.9, 0.95, 0.98, 0.99}) {
    rows.push_back(
        judge(fmt::format("quantile {}", level), energy::quantile_plan(demand, {.level = level})));
  }
  rows.push_back(judge("optimum", energy::offline_optimum(demand, power)));
  return rows;
}

void print_table(const std::vector<energy::PlanFigures>& rows) {
  fmt::print("{:<16} {:>7} {:>11} {:>11} {:>12} {:>8} {:>12}\n", "plan", "asleep", "wake-ups/d",
             "delayed/d", "delayed", "delay", "saved");
  for (const energy::PlanFigures& row : rows) {
    fmt::print("{:<16} {:>7.1f} {:>11.2f} {:>11.2f} {:>10.2f} % {:>6.1f} h {:>8.0f} kWh\n",
               row.plan, row.nodes_asleep, row.wake_ups_a_day, row.delayed_a_day,
               100 * row.delayed_share, row.delay_node_h, row.saved_kwh);
  }
}

void print_json(const std::vector<energy::PlanFigures>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const energy::PlanFigures& row : rows) {
    list.push_back({{"plan", row.plan},
                    {"nodes_asleep", row.nodes_asleep},
                    {"wake_ups_a_day", row.wake_ups_a_day},
                    {"nodes_woken_a_day", row.nodes_woken_a_day},
                    {"delayed_a_day", row.delayed_a_day},
                    {"delayed_share", row.delayed_share},
                    {"delay_node_h", row.delay_node_h},
                    {"energy_kwh", row.energy_kwh},
                    {"saved_kwh", row.saved_kwh}});
  }
  fmt::print("{}\n", list.dump(2));
}

Result<int> simulate(const Options& options) {
  const auto ces = energy::ces_profile(options.profile);
  if (!ces) return tl::unexpected(ces.error());
  const auto power = energy::read_power(options.power);
  if (!power) return tl::unexpected(power.error());
  const auto demand = read_demand(options);
  if (!demand) return tl::unexpected(demand.error());
  std::size_t first = 0;
  if (!options.from.empty()) {
    const auto from = parse_time_option("--from", options.from);
    if (!from) return tl::unexpected(from.error());
    first = *from <= demand->start
                ? 0
                : static_cast<std::size_t>((*from - demand->start) / demand->step);
    if (first >= demand->used.size()) {
      return fail(Code::usage,
                  fmt::format("--from {} is after the end of the series", options.from));
    }
  }
  const auto rows = judge_all(*demand, *ces, *power, first);
  options.output == "json" ? print_json(rows) : print_table(rows);
  return kDone;
}

}  // namespace

void register_energy_simulate(Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *program.noun("energy", "Let nodes sleep that are not needed")
           .add_subcommand("simulate",
                           "Compare ways of letting nodes sleep over a series of demand");
  command.add_option("SERIES", options->path, "CSV with a time, used nodes and total nodes")
      ->required();
  command.add_option("--column", options->column, "Nodes in use")->capture_default_str();
  command.add_option("--total", options->total_column, "Nodes that there are")
      ->capture_default_str();
  command.add_option("--nodes", options->nodes, "Nodes that there are, instead of a column")
      ->check(CLI::PositiveNumber);
  command.add_option("--from", options->from, "Count from this time; what is before trains")
      ->type_name("DATE");
  command
      .add_option("--start", options->start,
                  "Time of the first row of a file without times, whose rows are 10 minutes apart")
      ->type_name("DATE");
  command
      .add_option("--profile", options->profile,
                  "Constants of the published loop: venus, earth, saturn, uranus, philly")
      ->capture_default_str();
  command
      .add_option("--power", options->power,
                  "Power model: a name (see energy power) or a TOML file")
      ->capture_default_str();
  command.add_option("-o,--output", options->output, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  program.on(command, [options] { return simulate(*options); });
}

}  // namespace almanac::cli
