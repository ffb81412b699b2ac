// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy power: shows a power model as text, or as TOML to edit.
#include <memory>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
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
          state_of(model, "power saved asleep", model.node_w(0) - sleeping_w)};
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

figure::Listing rows_of(const std::vector<State>& states, const energy::Facility& facility) {
  using figure::Decimals;
  figure::Rows rows(states);
  rows.add("state", "per node", &State::name);
  rows.add("draw_w", "draw", &State::node_w, Decimals{0, "W"});
  rows.add(
      "kwh_a_year", "facility/year", [](const State& each) { return each.year.facility_kwh; },
      Decimals{0, "kWh"});
  rows.add(
      "cost_a_year", facility.currency.empty() ? "cost" : facility.currency,
      [](const State& each) { return each.year.cost; }, Decimals{0});
  rows.add("kg_co2_a_year", "CO2", [](const State& each) {
    return figure::Cell(each.year.kg_co2, Decimals{2, "t"}(each.year.kg_co2 / 1000));
  });
  return rows;
}

figure::Listing rows_of(const std::vector<Limited>& limits) {
  using figure::Decimals;
  using figure::Percents;
  figure::Rows rows(limits);
  rows.add("limit_w", "GPU limit", &Limited::limit_w, Decimals{0, "W"});
  rows.add("board_w", "board", &Limited::board_w, Decimals{0, "W"});
  rows.add("node_w", "node", &Limited::node_w, Decimals{0, "W"});
  rows.add("speed", &Limited::speed, Percents{});
  rows.add("board_energy_per_work", "energy/work, GPU", &Limited::board_energy, Percents{});
  rows.add("node_energy_per_work", "energy/work, node", &Limited::node_energy, Percents{});
  return rows;
}

/// Returns the type of the board on which this model's curve was measured: the model's own, or that
/// of the preset whose curve it borrows. Only measured boards have a utilization by networks.
std::string measured_board(const energy::PowerModel& model) {
  if (!model.gpu_use.empty()) return model.gpu_type;
  const auto numbers = [](const energy::PowerModel& of) {
    const energy::PowerCurve& curve = of.gpu_curve;
    return std::tuple(curve.idle, curve.full, curve.bend, curve.strain);
  };
  for (const text::Preset& preset : energy::presets()) {
    const auto other = energy::read_power(std::string(preset.name));
    if (other && !other->gpu_use.empty() && numbers(*other) == numbers(model)) {
      return other->gpu_type;
    }
  }
  return model.gpu_type;
}

Result<int> show(const std::string& name, const ListOptions& list) {
  if (name.empty()) {
    for (const text::Preset& preset : energy::presets()) fmt::print("{}\n", preset.name);
    return kDone;
  }
  const auto model = energy::read_power(name);
  if (!model) return tl::unexpected(model.error());
  if (list.output == "toml") {
    fmt::print("{}", energy::to_toml(*model));
    return kDone;
  }
  if (const std::string board = measured_board(*model); board != model->gpu_type) {
    note(
        fmt::format("power limits were measured on the {}; the {} is assumed to have the same "
                    "curve, idle power included, as shares of its highest limit",
                    board, model->gpu_type));
  }
  const energy::Facility& facility = model->facility;
  return show_sections(
      list,
      {{"name", model->name},
       {"gpus", model->gpus},
       {"gpu_type", model->gpu_type},
       {"boot_s", model->boot_s},
       {"suspend_s", model->suspend_s},
       {"pue", facility.pue},
       {"currency", facility.currency}},
      {{"node", rows_of(states_of(*model), facility)}, {"limits", rows_of(limits_of(*model))}},
      fmt::format("{}: {} x {} per node; boots in {} s, powers down in {} s; PUE {}\n\n",
                  model->name, model->gpus, model->gpu_type, model->boot_s, model->suspend_s,
                  facility.pue));
}

}  // namespace

void register_energy_power(Program& program) {
  const auto name = std::make_shared<std::string>();
  const auto list = std::make_shared<ListOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Forecast demand and plan node power-down")
           .add_subcommand("power", "Show a power model, or list all models");
  command.add_option("MODEL", *name, "Name of a model, or a TOML file");
  list->add_to(command, {"table", "wide", "json", "csv", "toml"});
  add_example(command, "almanac energy power");
  add_example(command, "almanac energy power helios -o toml > power.toml");
  program.on(command, [name, list] { return show(*name, *list); });
}

}  // namespace almanac::cli
