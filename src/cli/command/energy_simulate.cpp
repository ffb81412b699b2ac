// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy simulate: plans for sleeping nodes over a series of demand, and their costs.
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/demand_options.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "energy/energy_document.h"
#include "energy/frontier.h"
#include "energy/power_file.h"
#include "report/document_directory.h"
#include "text/datetime.h"

namespace almanac::cli {

void register_energy_simulate(Program& program);

namespace {

struct EnergySimulateOptions {
  DemandOptions demand{};
  std::string from;
  std::string profile = "earth";
  std::string power = "helios";
  std::string out;
  ListOptions list;
  energy::StandbyPrices prices{};
};

figure::Listing rows_of(const std::vector<energy::JudgedPlan>& plans) {
  using figure::Decimals;
  using figure::Tier;
  figure::Rows rows(plans);
  const auto of = [](auto field) {
    return [field](const energy::JudgedPlan& each) { return each.figures.*field; };
  };
  using energy::PlanFigures;
  rows.add("plan", of(&PlanFigures::plan));
  rows.add(Tier::wide, "family", &energy::JudgedPlan::family);
  rows.add(Tier::wide, "setting", &energy::JudgedPlan::setting);
  rows.add("nodes_asleep", "asleep", of(&PlanFigures::nodes_asleep), Decimals{1});
  rows.add("wake_ups_a_day", "wake-ups/d", of(&PlanFigures::wake_ups_a_day), Decimals{2});
  rows.add(Tier::wide, "nodes_woken_a_day", "nodes woken/d", of(&PlanFigures::nodes_woken_a_day),
           Decimals{2});
  rows.add("delayed_a_day", "delayed/d", of(&PlanFigures::delayed_a_day), Decimals{2});
  rows.add("delayed_share", "delayed", of(&PlanFigures::delayed_share), figure::Percents{2});
  rows.add("delay_node_h", "delay", of(&PlanFigures::delay_node_h), Decimals{1, "h"});
  rows.add(Tier::wide, "energy_kwh", "energy", of(&PlanFigures::energy_kwh), Decimals{0, "kWh"});
  rows.add(Tier::key, "saved_kwh", "saved", of(&PlanFigures::saved_kwh), Decimals{0, "kWh"});
  return rows;
}

/// The step that begins at or after `from`.
Result<std::size_t> first_step(const energy::Demand& demand, const std::string& from) {
  if (from.empty()) return std::size_t{0};
  const auto time = parse_time_option("--from", from);
  if (!time) return tl::unexpected(time.error());
  if (*time <= demand.start) return std::size_t{0};
  const auto first = static_cast<std::size_t>((*time - demand.start) / demand.step);
  if (first < demand.used.size()) return first;
  return fail(Code::usage, fmt::format("--from {} is after the end of the series", from));
}

Result<int> simulate(const EnergySimulateOptions& options,
                     const std::vector<std::string>& command) {
  if (auto known = options.list.check(rows_of(std::vector<energy::JudgedPlan>{})); !known) {
    return tl::unexpected(known.error());
  }
  const auto ces = energy::ces_profile(options.profile);
  if (!ces) return tl::unexpected(ces.error());
  const auto power = energy::read_power(options.power);
  if (!power) return tl::unexpected(power.error());
  if (!options.out.empty()) {
    const auto opened = report::open_document_directory(options.out, "energy");
    if (!opened) return tl::unexpected(opened.error());
  }
  const auto demand = options.demand.load();
  if (!demand) return tl::unexpected(demand.error());
  const auto first = first_step(*demand, options.from);
  if (!first) return tl::unexpected(first.error());
  energy::FrontierOptions settings{
      .ces = *ces, .power = *power, .prices = options.prices, .first = *first};
  settings.prices.boot = power->boot_s / 3600;
  const auto plans = [&] {
    const ProgressBar bar("planning", [] { return std::nan(""); });
    return energy::compare_plans(*demand, settings);
  }();
  if (!options.out.empty()) {
    figure::Document document = energy::energy_document(*demand, plans, settings);
    document.title = options.demand.path.substr(options.demand.path.rfind('/') + 1);
    document.provenance.trace = options.demand.path;
    document.provenance.version = ALMANAC_VERSION;
    document.provenance.command = fmt::format("{}", fmt::join(command, " "));
    const auto written = report::write_document(options.out, document);
    if (!written) return tl::unexpected(written.error());
    note(fmt::format("the report is in {}", options.out));
  }
  return options.list.print(rows_of(plans));
}

}  // namespace

void register_energy_simulate(Program& program) {
  const auto options = std::make_shared<EnergySimulateOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Forecast demand and plan node power-down")
           .add_subcommand("simulate", "Compare power-down strategies on a demand series");
  options->demand.add_to(command);
  command.add_option("--from", options->from, "Evaluate from this time; earlier data only trains")
      ->type_name("DATE");
  command.add_option("--profile", options->profile, "Constants of the published control loop")
      ->capture_default_str();
  command
      .add_option("--delay-price", options->prices.delayed,
                  "Price of a delayed request, in node-hours")
      ->type_name("NODE-H")
      ->check(number(0))
      ->capture_default_str();
  command
      .add_option("--wake-price", options->prices.wake_up,
                  "Price of waking nodes, however many at once")
      ->type_name("NODE-H")
      ->check(number(0))
      ->capture_default_str();
  command
      .add_option("--power", options->power,
                  "Power model: a name (see almanac energy power) or a TOML file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command.add_option("--out", options->out, "Directory for the report, figures and energy.json")
      ->type_name("DIR")
      ->group(heading(Group::output));
  options->list.add_to(command);
  add_example(command, "almanac energy simulate nodes.csv --out out/energy");
  program.on(command, [options, &program] { return simulate(*options, program.command_line); });
}

}  // namespace almanac::cli
