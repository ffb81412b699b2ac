// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac perf fit: fits speed models to measurements, and shows their errors.
#include <cmath>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/figure_rows.h"
#include "cli/option_group.h"
#include "perf/catalogue_file.h"
#include "perf/fit.h"
#include "perf/measurement.h"
#include "table/output_file.h"

namespace almanac::cli {

void register_perf_fit(Program& program);

namespace {

using figure::Decimals;
using figure::Tier;

struct PerfFitOptions {
  std::vector<std::string> paths;
  ListOptions list;
  std::string out;
};

/// A root mean square as percent, or "-".
std::string percent(double error) {
  return std::isnan(error) ? "-" : fmt::format("{:.1f} %", 100 * error);
}

figure::Listing inputs_of(const perf::Fit& fit) {
  using perf::InputTrial;
  figure::Rows rows(fit.inputs);
  const auto input = [&](auto get) {
    return [&fit, get](const InputTrial& trial) {
      return get(*fit.catalogue.find(trial.model)->input);
    };
  };
  const auto add_error = [&](const char* name, const char* label, auto get) {
    rows.add(name, label, get, percent);
  };
  rows.add("model", "Cores, memory", &InputTrial::model);
  rows.add("cells", &InputTrial::rows);
  rows.add("enough_cpus", "cores",
           input([](const perf::Input& of) { return of.curve.enough_cpus; }), Decimals{1});
  rows.add("power", input([](const perf::Input& of) { return of.curve.power; }), Decimals{2});
  rows.add("enough_memory_gb", "GB",
           input([](const perf::Input& of) { return of.curve.enough_memory_gb(); }), Decimals{1});
  add_error("error", "error", input([](const perf::Input& of) { return of.error.seen; }));
  add_error("held_out", "held out", input([](const perf::Input& of) { return of.error.held_out; }));
  add_error("more_gpus", "more GPUs", &InputTrial::more_gpus);
  add_error("nearest", "nearest", &InputTrial::nearest);
  add_error("insensitive", "insensitive", &InputTrial::insensitive);
  rows.add(Tier::detail, "profiled_runs", "profiled runs", &InputTrial::profiled_points);
  rows.add(Tier::detail, "full_runs", "of", &InputTrial::grid_points);
  rows.add(Tier::detail, "profiled_error", "error", &InputTrial::profiled, percent);
  rows.add(Tier::detail, "profiled_worst", "worst", &InputTrial::profiled_worst, percent);
  return rows;
}

figure::Listing boards_of(const perf::Catalogue& catalogue) {
  std::vector<std::pair<const perf::Model*, const perf::Board*>> all;
  for (const perf::Model& model : catalogue.models) {
    for (const perf::Board& board : model.boards) all.emplace_back(&model, &board);
  }
  figure::Rows rows(all);
  const auto board = [](auto get) {
    return [get](const auto& each) { return std::invoke(get, *each.second); };
  };
  /// How many times as fast as alone.
  const auto speed = [](int gpus, int nodes) {
    return [=](const auto& each) {
      const double batch = each.second->usual_batch();
      return gpus * each.second->step(batch, 1, 1) / each.second->step(batch, gpus, nodes);
    };
  };
  rows.add("model", "Step", [](const auto& each) { return each.first->name; });
  rows.add("gpu_type", "GPU", board(&perf::Board::gpu_type));
  rows.add("source", board(&perf::Board::source));
  rows.add("gpus", "GPUs", board(&perf::Board::most_gpus));
  rows.add("error", board([](const perf::Board& of) { return of.error.seen; }), percent);
  rows.add("held_out", "held out", board([](const perf::Board& of) { return of.error.held_out; }),
           percent);
  rows.add("speed_2_gpus", "2 GPUs", speed(2, 1), Decimals{2}).table_only();
  rows.add("speed_2_nodes", "2 nodes", speed(2, 2), Decimals{2}).table_only();
  return rows;
}

/// A model in training or inference.
struct Task {
  std::string model;
  const char* what;
  const perf::Genie& task;
};

figure::Listing tasks_of(const perf::Catalogue& catalogue) {
  std::vector<Task> all;
  for (const perf::Model& model : catalogue.models) {
    if (model.training) all.push_back({model.name, "training", *model.training});
    if (model.inference) all.push_back({model.name, "inference", *model.inference});
  }
  figure::Rows rows(all);
  const auto curve = [](double perf::Saturating::*of) {
    return [of](const Task& each) {
      return std::get<perf::Saturating>(each.task.rate.one_gpu.form()).*of;
    };
  };
  rows.add("model", "Task", &Task::model);
  rows.add("task", "", &Task::what);
  rows.add("a", curve(&perf::Saturating::a), Decimals{1});
  rows.add("c", curve(&perf::Saturating::c), Decimals{2});
  rows.add(
      "gamma", [](const Task& each) { return each.task.rate.comm.gamma; }, Decimals{3});
  rows.add(
      "lambda", [](const Task& each) { return each.task.rate.comm.lambda; }, Decimals{3});
  rows.add(
      "error", [](const Task& each) { return each.task.error.seen; }, percent);
  return rows;
}

figure::Listing gpus_of(const perf::Catalogue& catalogue) {
  using perf::GpuClass;
  figure::Rows rows(catalogue.gpus);
  rows.add("type", "GPU type", &GpuClass::type);
  rows.add("speed", &GpuClass::speed, Decimals{3});
  rows.add(
      "error", [](const GpuClass& gpu) { return gpu.speed_error.seen; }, percent);
  rows.add(
      "held_out", "held out", [](const GpuClass& gpu) { return gpu.speed_error.held_out; },
      percent);
  return rows;
}

figure::Listing sharing_of(const perf::Fit& fit) {
  using perf::SharingTrial;
  figure::Rows rows(fit.sharings);
  const auto gpu = [&](auto get) {
    return [&fit, get](const SharingTrial& trial) {
      return get(*fit.catalogue.find_gpu(trial.gpu_type));
    };
  };
  rows.add("gpu_type", "Sharing", &SharingTrial::gpu_type);
  rows.add("pairs", &SharingTrial::pairs);
  rows.add("error", gpu([](const perf::GpuClass& of) { return of.sharing_error.seen; }),
           Decimals{3});
  rows.add("held_out", "held out",
           gpu([](const perf::GpuClass& of) { return of.sharing_error.held_out; }), Decimals{3});
  rows.add("unseen", gpu([](const perf::GpuClass& of) { return of.sharing_unseen_error; }),
           Decimals{3});
  rows.add("mean", &SharingTrial::mean, Decimals{3});
  return rows;
}

Result<int> fit_profiles(const PerfFitOptions& options) {
  std::vector<perf::Profile> profiles;
  for (const std::string& path : options.paths) {
    auto profile = perf::read_profile(path);
    if (!profile) return tl::unexpected(profile.error());
    profiles.push_back(std::move(*profile));
  }
  const auto fit = perf::fit(profiles);
  if (!fit) return tl::unexpected(fit.error());
  for (const std::string& text : fit->notes) note(text);
  if (!options.out.empty()) {
    const auto written = table::write_file(options.out, perf::to_toml(fit->catalogue));
    if (!written) return tl::unexpected(written.error());
  }
  const perf::Catalogue& catalogue = fit->catalogue;
  return show_sections(
      options.list, nlohmann::ordered_json::object(),
      {{"inputs", inputs_of(*fit)},
       {"boards", boards_of(catalogue)},
       {"tasks", tasks_of(catalogue)},
       {"gpus", gpus_of(catalogue)},
       {"sharing", sharing_of(*fit)}},
      "",
      (catalogue.startup_s > 0 ? fmt::format("startup {:.2f} s\n", catalogue.startup_s) : "") +
          "\nErrors are root mean squares: of log(fitted / measured speed), as percent; for "
          "sharing, of the speed\nrelative to running alone. docs/guide/perf.md describes the "
          "held-out data.\n");
}

}  // namespace

void register_perf_fit(Program& program) {
  const auto options = std::make_shared<PerfFitOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "perf", "Model how fast jobs run with their resources")
           .add_subcommand("fit", "Fit speed models to measurements");
  command
      .add_option(
          "PROFILE", options->paths,
          "Measurements: Almanac's CSV, or files as published by Synergy, Gavel, AdaptDL or Rubick")
      ->required();
  command.add_option("--out", options->out, "File for the models")
      ->type_name("FILE.toml")
      ->group(heading(Group::output));
  options->list.add_to(command);
  add_example(command, "almanac perf fit resnet.csv --out speed.toml");
  program.on(command, [options] { return fit_profiles(*options); });
}

}  // namespace almanac::cli
