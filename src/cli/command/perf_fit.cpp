// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac perf fit: speed models from measurements, and how far off they are.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "perf/catalogue_file.h"
#include "perf/fit.h"
#include "perf/measurement.h"
#include "table/output_file.h"

namespace almanac::cli {

void register_perf_fit(Program& program);

namespace {

struct PerfFitOptions {
  std::vector<std::string> paths;
  std::string output = "table";
  std::string out;
};

/// A root mean square as percent, or "-".
std::string percent(double error) {
  return std::isnan(error) ? "-" : fmt::format("{:.1f} %", 100 * error);
}

/// What is known of models in training and inference; nothing where nothing is.
void print_tasks(const perf::Catalogue& catalogue) {
  const auto print = [](const perf::Model& model, const char* what,
                        const std::optional<perf::Genie>& task) {
    if (!task) return;
    const auto& curve = std::get<perf::Saturating>(task->rate.one_gpu.form());
    fmt::print("{:<18} {:<10} {:>8.1f} {:>7.2f} {:>7.3f} {:>7.3f} {:>7}\n", model.name, what,
               curve.a, curve.c, task->rate.comm.gamma, task->rate.comm.lambda,
               percent(task->error.seen));
  };
  const bool any =
      std::any_of(catalogue.models.begin(), catalogue.models.end(),
                  [](const perf::Model& model) { return model.training || model.inference; });
  if (!any) return;
  fmt::print("\n{:<18} {:<10} {:>8} {:>7} {:>7} {:>7} {:>7}\n", "Task", "", "a", "c", "gamma",
             "lambda", "error");
  for (const perf::Model& model : catalogue.models) {
    print(model, "training", model.training);
    print(model, "inference", model.inference);
  }
  if (catalogue.startup_s > 0) fmt::print("startup {:.2f} s\n", catalogue.startup_s);
}

void print_table(const perf::Fit& fit) {
  fmt::print("{:<14} {:>6} {:>6} {:>6} {:>8} {:>7} {:>9} {:>10} {:>9} {:>12}\n", "Cores, memory",
             "cells", "cores", "power", "GB", "error", "held out", "more GPUs", "nearest",
             "insensitive");
  for (const perf::InputTrial& trial : fit.inputs) {
    const perf::Input& input = *fit.catalogue.find(trial.model)->input;
    fmt::print("{:<14} {:>6} {:>6.1f} {:>6.2f} {:>8.1f} {:>7} {:>9} {:>10} {:>9} {:>12}\n",
               trial.model, trial.rows, input.curve.enough_cpus, input.curve.power,
               input.curve.enough_memory_gb(), percent(input.error.seen),
               percent(input.error.held_out), percent(trial.more_gpus), percent(trial.nearest),
               percent(trial.insensitive));
  }
  fmt::print("\n{:<14} {:>6} {:>6} {:>7} {:>7}\n", "Profiled", "runs", "of", "error", "worst");
  for (const perf::InputTrial& trial : fit.inputs) {
    fmt::print("{:<14} {:>6} {:>6} {:>7} {:>7}\n", trial.model, trial.profiled_points,
               trial.grid_points, percent(trial.profiled), percent(trial.profiled_worst));
  }
  std::size_t widest = std::string_view("GPU").size();
  for (const perf::Model& model : fit.catalogue.models) {
    for (const perf::Board& board : model.boards) widest = std::max(widest, board.gpu_type.size());
  }
  fmt::print("\n{:<14} {:<{}} {:<8} {:>5} {:>7} {:>9}   {:>8} {:>8}\n", "Step", "GPU", widest,
             "source", "GPUs", "error", "held out", "2 GPUs", "2 nodes");
  for (const perf::Model& model : fit.catalogue.models) {
    for (const perf::Board& board : model.boards) {
      const double batch = board.usual_batch();
      const double alone = board.step(batch, 1, 1);
      fmt::print("{:<14} {:<{}} {:<8} {:>5} {:>7} {:>9}   {:>8.2f} {:>8.2f}\n", model.name,
                 board.gpu_type, widest, board.source, board.most_gpus, percent(board.error.seen),
                 percent(board.error.held_out), 2 * alone / board.step(batch, 2, 1),
                 2 * alone / board.step(batch, 2, 2));
    }
  }
  print_tasks(fit.catalogue);
  fmt::print("\n{:<14} {:>7} {:>7} {:>9}\n", "GPU type", "speed", "error", "held out");
  for (const perf::GpuClass& gpu : fit.catalogue.gpus) {
    fmt::print("{:<14} {:>7.3f} {:>7} {:>9}\n", gpu.type, gpu.speed, percent(gpu.speed_error.seen),
               percent(gpu.speed_error.held_out));
  }
  fmt::print("\n{:<14} {:>7} {:>7} {:>9} {:>7} {:>7}\n", "Sharing", "pairs", "error", "held out",
             "unseen", "mean");
  for (const perf::SharingTrial& trial : fit.sharings) {
    const perf::GpuClass& gpu = *fit.catalogue.find_gpu(trial.gpu_type);
    fmt::print("{:<14} {:>7} {:>7.3f} {:>9.3f} {:>7.3f} {:>7.3f}\n", trial.gpu_type, trial.pairs,
               gpu.sharing_error.seen, gpu.sharing_error.held_out, gpu.sharing_unseen_error,
               trial.mean);
  }
  fmt::print(
      "\nErrors are root mean squares: of the logarithm of fitted / measured speed, as percent; "
      "of\n"
      "sharing, of the speed relative to alone. docs/perf.md says what was held out.\n");
}

/// NaN is null.
nlohmann::ordered_json known(double value) {
  return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

void print_json(const perf::Fit& fit) {
  nlohmann::ordered_json made;
  for (const perf::InputTrial& trial : fit.inputs) {
    const perf::Input& input = *fit.catalogue.find(trial.model)->input;
    made["inputs"].push_back({{"model", trial.model},
                              {"cells", trial.rows},
                              {"enough_cpus", input.curve.enough_cpus},
                              {"power", input.curve.power},
                              {"enough_memory_gb", input.curve.enough_memory_gb()},
                              {"error", known(input.error.seen)},
                              {"held_out", known(input.error.held_out)},
                              {"more_gpus", known(trial.more_gpus)},
                              {"nearest", known(trial.nearest)},
                              {"insensitive", known(trial.insensitive)},
                              {"profiled_runs", trial.profiled_points},
                              {"full_runs", trial.grid_points},
                              {"profiled_error", known(trial.profiled)},
                              {"profiled_worst", known(trial.profiled_worst)}});
  }
  for (const perf::Model& model : fit.catalogue.models) {
    for (const perf::Board& board : model.boards) {
      made["boards"].push_back({{"model", model.name},
                                {"gpu_type", board.gpu_type},
                                {"source", board.source},
                                {"gpus", board.most_gpus},
                                {"error", known(board.error.seen)},
                                {"held_out", known(board.error.held_out)}});
    }
  }
  for (const perf::Model& model : fit.catalogue.models) {
    const auto add = [&](const char* what, const std::optional<perf::Genie>& task) {
      if (!task) return;
      const auto& curve = std::get<perf::Saturating>(task->rate.one_gpu.form());
      made["tasks"].push_back({{"model", model.name},
                               {"task", what},
                               {"a", curve.a},
                               {"c", curve.c},
                               {"gamma", task->rate.comm.gamma},
                               {"lambda", task->rate.comm.lambda},
                               {"error", known(task->error.seen)}});
    };
    add("training", model.training);
    add("inference", model.inference);
  }
  for (const perf::GpuClass& gpu : fit.catalogue.gpus) {
    made["gpus"].push_back({{"type", gpu.type},
                            {"speed", gpu.speed},
                            {"error", known(gpu.speed_error.seen)},
                            {"held_out", known(gpu.speed_error.held_out)}});
  }
  for (const perf::SharingTrial& trial : fit.sharings) {
    const perf::GpuClass& gpu = *fit.catalogue.find_gpu(trial.gpu_type);
    made["sharing"].push_back({{"gpu_type", trial.gpu_type},
                               {"pairs", trial.pairs},
                               {"error", known(gpu.sharing_error.seen)},
                               {"held_out", known(gpu.sharing_error.held_out)},
                               {"unseen", known(gpu.sharing_unseen_error)},
                               {"mean", known(trial.mean)}});
  }
  fmt::print("{}\n", made.dump(2));
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
  options.output == "json" ? print_json(*fit) : print_table(*fit);
  return kDone;
}

}  // namespace

void register_perf_fit(Program& program) {
  const auto options = std::make_shared<PerfFitOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "perf", "How fast jobs run with what they are given")
           .add_subcommand("fit", "Fit speed models to measurements");
  command
      .add_option("PROFILE", options->paths,
                  "Measurements: our CSV, or files of Synergy, Gavel, AdaptDL, Rubick as published")
      ->required();
  command.add_option("--out", options->out, "Write the models here")->type_name("FILE.toml");
  command.add_option("-o,--output", options->output, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  add_example(command, "almanac perf fit resnet.csv --out speed.toml");
  program.on(command, [options] { return fit_profiles(*options); });
}

}  // namespace almanac::cli
