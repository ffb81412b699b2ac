// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac energy fit-power: what power limits do to GPUs, from measurements.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "energy/power_file.h"
#include "energy/power_fit.h"
#include "table/output_file.h"

namespace almanac::cli {

void register_energy_fit_power(Program& program);

namespace {

struct EnergyFitPowerOptions {
  std::vector<std::string> paths;
  std::string output = "table";
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
    note(fmt::format("{}: {} jobs left out: not measured at {} W, or only there", path,
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

void print_table(const std::vector<Fitted>& all) {
  fmt::print(
      "{:<10} {:>5} {:>8} {:>7} {:>6} {:>6} {:>6} {:>7}   {:>8} {:>8}   {:>8} {:>8} {:>8} {:>8}\n",
      "GPU", "jobs", "limits", "idle", "full", "bend", "strain", "rows", "RMSE", "held out", "RMSE",
      "held out", "network", "unseen");
  for (const Fitted& fitted : all) {
    const energy::PowerModel& board = fitted.board;
    const energy::PowerFit& fit = fitted.fit;
    fmt::print(
        "{:<10} {:>5} {:>4}-{:<3} {:>5.1f} W {:>4.0f} W {:>6} {:>6} {:>7}   {:>6.1f} W {:>6.1f} W  "
        " "
        "{:>6.1f} % {:>6.1f} % {:>6.1f} % {:>6.1f} %\n",
        board.gpu_type, fitted.jobs, board.gpu_least_limit_w, board.gpu_limit_w,
        fit.curve.idle * board.gpu_limit_w, fit.curve.full * board.gpu_limit_w,
        board.gpu_curve.bend, board.gpu_curve.strain, fit.rows, fit.errors.draw_w,
        fit.held_out.draw_w, 100 * fit.errors.speed, 100 * fit.held_out.speed,
        100 * fit.speed_by_network, 100 * fit.speed_unseen);
  }
  fmt::print(
      "\nErrors of draw in watts, then of speed in percent of the unlimited speed. RMSE and held "
      "out are\nwhere it is known what a job draws without a limit; network: where its network is; "
      "unseen: where neither is.\nHeld out and unseen: each network's jobs, from a curve of the "
      "other networks.\n");
}

void print_json(const std::vector<Fitted>& all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Fitted& fitted : all) {
    const energy::PowerModel& board = fitted.board;
    const energy::PowerFit& fit = fitted.fit;
    list.push_back({{"type", board.gpu_type},
                    {"limit_w", board.gpu_limit_w},
                    {"least_limit_w", board.gpu_least_limit_w},
                    {"idle", fit.curve.idle},
                    {"full", fit.curve.full},
                    {"bend", fit.curve.bend},
                    {"strain", fit.curve.strain},
                    {"jobs", fitted.jobs},
                    {"networks", fit.networks},
                    {"rows", fit.rows},
                    {"draw_rmse_w", fit.errors.draw_w},
                    {"draw_held_out_rmse_w", fit.held_out.draw_w},
                    {"speed_rmse", fit.errors.speed},
                    {"speed_held_out_rmse", fit.held_out.speed},
                    {"speed_by_network_rmse", fit.speed_by_network},
                    {"speed_unseen_rmse", fit.speed_unseen}});
    for (const auto& [network, use] : board.gpu_use) list.back()["use"][network] = use;
  }
  fmt::print("{}\n", list.dump(2));
}

Result<int> fit_power(const EnergyFitPowerOptions& options) {
  if (!options.out.empty() && options.paths.size() > 1) {
    return fail(Code::usage, "--out takes one profile, for a model has one type of GPU");
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
  options.output == "json" ? print_json(all) : print_table(all);
  return kDone;
}

}  // namespace

void register_energy_fit_power(Program& program) {
  const auto options = std::make_shared<EnergyFitPowerOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "energy", "Let nodes sleep that are not needed")
           .add_subcommand("fit-power", "Fit what power limits do to a GPU's draw and speed");
  command
      .add_option(
          "PROFILE", options->paths,
          "CSV of time and power at each limit, as Zeus publishes; one for each type of GPU")
      ->required();
  command.add_option("--out", options->out, "Write the table [gpu] of a power model here")
      ->type_name("FILE.toml");
  command.add_option("-o,--output", options->output, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  add_example(command, "almanac energy fit-power limits.csv --out power.toml");
  program.on(command, [options] { return fit_power(*options); });
}

}  // namespace almanac::cli
