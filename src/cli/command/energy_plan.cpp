// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy plan: how many nodes to keep on now, and when to wake some again.
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/demand_options.h"
#include "cli/figure_rows.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "energy/advice.h"
#include "energy/power_file.h"
#include "text/datetime.h"

namespace almanac::cli {

void register_energy_plan(Program& program);

namespace {

struct EnergyPlanOptions {
  DemandOptions demand{};
  energy::AdviceOptions advice{};
  std::string power = "helios";
  ListOptions list;
};

std::string advice_in_words(const energy::Advice& advice) {
  std::string made = fmt::format("{}: {} of {} nodes are in use.\nKeep {} on; power down {}.\n",
                                 text::format_datetime(advice.now), advice.used, advice.total,
                                 advice.on, advice.total - advice.on);
  for (const energy::Ahead& ahead : advice.ahead) {
    if (ahead.wake == 0) continue;
    made += fmt::format("Wake {} at {}.\n", ahead.wake, text::format_datetime(ahead.wake_at));
  }
  return made + "\n";
}

figure::Listing rows_of(const energy::Advice& advice, double level) {
  using energy::Ahead;
  figure::Rows rows(advice.ahead);
  rows.add("until", [](const Ahead& ahead) { return text::format_datetime(ahead.until); });
  rows.add("median", "median", &Ahead::median, figure::Decimals{0});
  rows.add("enough", fmt::format("{:g} % quantile", 100 * level), &Ahead::enough);
  rows.add(figure::Tier::wide, "wake", &Ahead::wake);
  rows.add(figure::Tier::wide, "wake_at", "wake at",
           [](const Ahead& ahead) { return text::format_datetime(ahead.wake_at); });
  return rows;
}

Result<int> plan(const EnergyPlanOptions& options) {
  if (auto known = options.list.check(rows_of(energy::Advice{}, options.advice.level)); !known) {
    return tl::unexpected(known.error());
  }
  const auto power = energy::read_power(options.power);
  if (!power) return tl::unexpected(power.error());
  const auto demand = options.demand.load();
  if (!demand) return tl::unexpected(demand.error());
  energy::AdviceOptions settings = options.advice;
  settings.boot_s = power->boot_s;
  settings.prices.boot = power->boot_s / 3600;
  const energy::Advice advice = [&] {
    const ProgressBar bar("planning", [] { return std::nan(""); });
    return energy::advise(*demand, settings);
  }();
  return show_sections(options.list,
                       {{"schema", 1},
                        {"now", text::format_datetime(advice.now)},
                        {"used", advice.used},
                        {"total", advice.total},
                        {"on", advice.on},
                        {"asleep", advice.total - advice.on},
                        {"level", settings.level}},
                       {{"ahead", rows_of(advice, settings.level)}}, advice_in_words(advice));
}

}  // namespace

void register_energy_plan(Program& program) {
  const auto options = std::make_shared<EnergyPlanOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Forecast demand and plan node power-down")
           .add_subcommand(
               "plan",
               "Plan which nodes to power down now and when to wake them; the series ends now");
  options->demand.add_to(command);
  command.add_option("--sure", options->advice.level, "Probability that enough nodes are on")
      ->type_name("SHARE")
      ->check(number(0.5, 0.999))
      ->capture_default_str();
  command
      .add_option("--delay-price", options->advice.prices.delayed,
                  "Price of a delayed request, in node-hours")
      ->type_name("NODE-H")
      ->check(number(0))
      ->capture_default_str();
  command
      .add_option("--power", options->power,
                  "Power model: a name (see almanac energy power) or a TOML file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  options->list.add_to(command);
  add_example(command, "almanac energy plan nodes.csv");
  program.on(command, [options] { return plan(*options); });
}

}  // namespace almanac::cli
