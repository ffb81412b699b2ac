// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy power: a power model in words, or as TOML to edit.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "energy/power_file.h"

namespace almanac::cli {

void register_energy_power(Program& program);

namespace {

struct State {
  std::string name;
  double node_w;
  energy::Bill year;  ///< Of a node that is always so.
};

State state_of(const energy::PowerModel& model, std::string name, double node_w) {
  const energy::Energy year{.on_j = node_w * energy::kHoursPerYear * 3600};
  return {std::move(name), node_w, energy::bill_of(year, model.facility)};
}

std::vector<State> states_of(const energy::PowerModel& model) {
  const double sleeping_w = model.asleep_w;
  return {state_of(model, "asleep", sleeping_w),
          state_of(model, "booting", model.booting_w),
          state_of(model, "idle", model.node_w(0)),
          state_of(model, "half", model.node_w(model.gpus / 2.0)),
          state_of(model, "full", model.node_w(model.gpus)),
          state_of(model, "saved asleep", model.node_w(0) - sleeping_w)};
}

/// A GPU at full use under a limit.
struct Limited {
  double limit_w;
  double board_w;
  double node_w;  ///< All GPUs of the node so.
  double speed;
  double board_energy;  ///< Of a unit of work, relative to no limit.
  double node_energy;
};

std::vector<Limited> limits_of(const energy::PowerModel& model) {
  std::vector<Limited> rows;
  for (int percent = 100; percent >= 10; percent -= 10) {
    const double share = percent / 100.0;
    const double limit_w = share * model.gpu_limit_w;
    if (limit_w < model.gpu_least_limit_w) break;
    Limited row{.limit_w = limit_w,
                .board_w = model.gpu_curve.draw(1, share) * model.gpu_limit_w,
                .node_w = model.idle_w + model.gpus * model.gpu_w(1, limit_w),
                .speed = model.gpu_speed(1, limit_w),
                .board_energy = 0,
                .node_energy = 0};
    const double free_board_w = model.gpu_curve.full * model.gpu_limit_w;
    row.board_energy = row.board_w / free_board_w / row.speed;
    row.node_energy = row.node_w / model.full_w / row.speed;
    rows.push_back(row);
  }
  return rows;
}

void print_table(const energy::PowerModel& model) {
  const energy::Facility& facility = model.facility;
  fmt::print("{}: {} x {} a node; boots in {} s, falls asleep in {} s; PUE {}\n\n", model.name,
             model.gpus, model.gpu_type, model.boot_s, model.suspend_s, facility.pue);
  fmt::print("{:<14} {:>8} {:>14} {:>12} {:>10}\n", "a node", "draw", "facility/year",
             facility.currency.empty() ? "cost" : facility.currency, "CO2");
  for (const State& state : states_of(model)) {
    fmt::print("{:<14} {:>6.0f} W {:>10.0f} kWh {:>12.0f} {:>8.2f} t\n", state.name, state.node_w,
               state.year.facility_kwh, state.year.cost, state.year.kg_co2 / 1000);
  }
  fmt::print("\n{:<14} {:>8} {:>8} {:>8} {:>18} {:>17}\n", "limit of a GPU", "board", "node",
             "speed", "energy/work, board", "energy/work, node");
  for (const Limited& row : limits_of(model)) {
    fmt::print("{:>12.0f} W {:>6.0f} W {:>6.0f} W {:>6.1f} % {:>16.1f} % {:>15.1f} %\n",
               row.limit_w, row.board_w, row.node_w, 100 * row.speed, 100 * row.board_energy,
               100 * row.node_energy);
  }
}

void print_json(const energy::PowerModel& model) {
  nlohmann::ordered_json made{{"name", model.name},
                              {"gpus", model.gpus},
                              {"gpu_type", model.gpu_type},
                              {"boot_s", model.boot_s},
                              {"suspend_s", model.suspend_s},
                              {"pue", model.facility.pue},
                              {"currency", model.facility.currency}};
  for (const State& state : states_of(model)) {
    made["node"].push_back({{"state", state.name},
                            {"draw_w", state.node_w},
                            {"kwh_a_year", state.year.facility_kwh},
                            {"cost_a_year", state.year.cost},
                            {"kg_co2_a_year", state.year.kg_co2}});
  }
  for (const Limited& row : limits_of(model)) {
    made["limits"].push_back({{"limit_w", row.limit_w},
                              {"board_w", row.board_w},
                              {"node_w", row.node_w},
                              {"speed", row.speed},
                              {"board_energy_per_work", row.board_energy},
                              {"node_energy_per_work", row.node_energy}});
  }
  fmt::print("{}\n", made.dump(2));
}

Result<int> show(const std::string& name, const std::string& output) {
  if (name.empty()) {
    for (const text::Preset& preset : energy::presets()) fmt::print("{}\n", preset.name);
    return kDone;
  }
  const auto model = energy::read_power(name);
  if (!model) return tl::unexpected(model.error());
  if (output == "toml") {
    fmt::print("{}", energy::to_toml(*model));
  } else {
    output == "json" ? print_json(*model) : print_table(*model);
  }
  return kDone;
}

}  // namespace

void register_energy_power(Program& program) {
  const auto name = std::make_shared<std::string>();
  const auto output = std::make_shared<std::string>("table");
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Let nodes sleep that are not needed")
           .add_subcommand("power",
                           "Show what nodes draw and cost; without MODEL, list the models");
  command.add_option("MODEL", *name, "The name of a model, or a TOML file");
  command.add_option("-o,--output", *output, "How to print: table, json or toml")
      ->check(CLI::IsMember({"table", "json", "toml"}))
      ->capture_default_str();
  add_example(command, "almanac energy power");
  add_example(command, "almanac energy power helios -o toml > power.toml");
  program.on(command, [name, output] { return show(*name, *output); });
}

}  // namespace almanac::cli
