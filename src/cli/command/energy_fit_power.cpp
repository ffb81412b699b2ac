// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy fit-power: the effect of power limits on GPUs, from measurements.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "cli/option_group.h"
#include "energy/power_file.h"
#include "energy/power_fit.h"
#include "figure/rows_json.h"
#include "table/output_file.h"

namespace almanac::cli {

void register_energy_fit_power(Program& program);

namespace {

struct EnergyFitPowerOptions {
  std::vector<std::string> paths;
  ListOptions list;
  std::string out;
};

struct Fitted {
  energy::PowerModel board;
  energy::PowerFit fit;
  int jobs;
};

/// "summary_power_a40.csv" measures an A40.
std::string type_of(const std::string& path) {
  std::string stem = std::filesystem::path(path).filename().string();
  stem = stem.substr(0, stem.find('.'));
  std::string type = stem.substr(stem.rfind('_') + 1);
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return type;
}

/// Rounds to the digits that a file keeps: the measurements hold no more.
double rounded(double value, double digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

Result<Fitted> fit_file(const std::string& path) {
  const auto profile = energy::read_power_profile(path);
  if (!profile) return tl::unexpected(profile.error());
  if (profile->dropped > 0) {
    note(fmt::format("{}: skipped {} jobs without measurements at {} W and at another limit", path,
                     profile->dropped, profile->limit_w));
  }
  const auto fit = energy::fit_power(*profile);
  if (!fit) {
    Error error = fit.error();
    error.where.file = path;
    return tl::unexpected(error);
  }
  const energy::PowerCurve& curve = fit->curve;
  energy::PowerModel board{.gpu_type = type_of(path),
                           .gpu_limit_w = profile->limit_w,
                           .gpu_least_limit_w = profile->least_limit_w,
                           .gpu_curve = {.idle = rounded(curve.idle, 4),
                                         .full = rounded(curve.full, 4),
                                         .bend = rounded(curve.bend, 3),
                                         .strain = rounded(curve.strain, 3)},
                           .gpu_use = fit->uses};
  for (energy::NetworkUse& use : board.gpu_use) use.use = rounded(use.use, 3);
  return Fitted{std::move(board), *fit, static_cast<int>(profile->jobs.size())};
}

figure::Listing rows_of(const std::vector<Fitted>& all) {
  using figure::Cell;
  using figure::Decimals;
  using figure::Percents;
  using figure::Tier;
  figure::Rows rows(all);
  const auto add_watts = [&](const char* name, const char* label, double energy::PowerCurve::*of,
                             int decimals) {
    rows.add(name, label, [=](const Fitted& each) {
      const double share = each.fit.curve.*of;
      return Cell(share, Decimals{decimals, "W"}(share * each.board.gpu_limit_w));
    });
  };
  const auto add_rounded = [&](const char* name, double energy::PowerCurve::*of) {
    rows.add(name, [=](const Fitted& each) {
      return Cell(each.fit.curve.*of, fmt::format("{}", each.board.gpu_curve.*of));
    });
  };
  const auto fit = [](auto field) {
    return [field](const Fitted& each) { return each.fit.*field; };
  };
  rows.add("type", "GPU", [](const Fitted& each) { return each.board.gpu_type; });
  rows.add(Tier::data, "limit_w", [](const Fitted& each) { return each.board.gpu_limit_w; });
  rows.add(Tier::data, "least_limit_w",
           [](const Fitted& each) { return each.board.gpu_least_limit_w; });
  rows.add("limits",
           [](const Fitted& each) {
             return fmt::format("{}-{}", each.board.gpu_least_limit_w, each.board.gpu_limit_w);
           })
      .right()
      .table_only();
  add_watts("idle", "idle", &energy::PowerCurve::idle, 1);
  add_watts("full", "full", &energy::PowerCurve::full, 0);
  add_rounded("bend", &energy::PowerCurve::bend);
  add_rounded("strain", &energy::PowerCurve::strain);
  rows.add("jobs", &Fitted::jobs);
  rows.add(Tier::data, "networks", fit(&energy::PowerFit::networks));
  rows.add("rows", fit(&energy::PowerFit::rows));
  rows.add(
      "draw_rmse_w", "RMSE", [](const Fitted& each) { return each.fit.errors.draw_w; },
      Decimals{1, "W"});
  rows.add(
      "draw_held_out_rmse_w", "held out",
      [](const Fitted& each) { return each.fit.held_out.draw_w; }, Decimals{1, "W"});
  rows.add(
      "speed_rmse", "RMSE", [](const Fitted& each) { return each.fit.errors.speed; }, Percents{});
  rows.add(
      "speed_held_out_rmse", "held out", [](const Fitted& each) { return each.fit.held_out.speed; },
      Percents{});
  rows.add("speed_by_network_rmse", "network", fit(&energy::PowerFit::speed_by_network),
           Percents{});
  rows.add("speed_unseen_rmse", "unseen", fit(&energy::PowerFit::speed_unseen), Percents{});
  return rows;
}

nlohmann::ordered_json fitted_json(const std::vector<Fitted>& all) {
  nlohmann::ordered_json list = figure::to_array(rows_of(all));
  for (std::size_t at = 0; at < all.size(); ++at) {
    for (const auto& [network, use] : all[at].board.gpu_use) list[at]["use"][network] = use;
  }
  return list;
}

Result<int> fit_power(const EnergyFitPowerOptions& options) {
  if (!options.out.empty() && options.paths.size() > 1) {
    return fail(Code::usage, "--out takes one profile, because a model has one type of GPU");
  }
  std::vector<Fitted> all;
  for (const std::string& path : options.paths) {
    auto fitted = fit_file(path);
    if (!fitted) return tl::unexpected(fitted.error());
    all.push_back(std::move(*fitted));
  }
  if (!options.out.empty()) {
    const auto written = table::write_file(options.out, energy::gpu_to_toml(all.front().board));
    if (!written) return tl::unexpected(written.error());
  }
  if (options.list.wants_document()) {
    fmt::print("{}\n", fitted_json(all).dump(2));
    return kDone;
  }
  return options.list.print(
      rows_of(all),
      "\nErrors of power in watts, then of speed in percent of the unlimited speed. RMSE and held "
      "out apply to\njobs whose unlimited power is known; network: their network was measured; "
      "unseen: neither was.\nHeld out and unseen predict each network's jobs from a fit to the "
      "other networks.\n");
}

}  // namespace

void register_energy_fit_power(Program& program) {
  const auto options = std::make_shared<EnergyFitPowerOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Forecast demand and plan node power-down")
           .add_subcommand("fit-power", "Fit a model of power limits: GPU power and speed");
  command
      .add_option(
          "PROFILE", options->paths,
          "CSV file of time and power at each limit, as published by Zeus; one per type of GPU")
      ->required();
  command.add_option("--out", options->out, "File for the table [gpu] of a power model")
      ->type_name("FILE.toml")
      ->group(heading(Group::output));
  options->list.add_to(command);
  add_example(command, "almanac energy fit-power limits.csv --out power.toml");
  program.on(command, [options] { return fit_power(*options); });
}

}  // namespace almanac::cli
