// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac perf show: the needs of a model, as text or as JSON.
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/list_options.h"
#include "perf/catalogue_file.h"
#include "perf/speed_models.h"

namespace almanac::cli {

void register_perf_show(Program& program);

namespace {

struct PerfShowOptions {
  std::string model;
  std::string catalogue = perf::kUsualCatalogue;
  ListOptions list;
};

/// Some of what a job may be given; the rate is relative to one GPU with all that it can use.
constexpr std::array kCpus{1, 2, 3, 4, 6, 8, 12, 16, 24};
constexpr std::array kMemories{16, 32, 48, 64, 96, 128, 192, 256};
constexpr std::array<std::pair<int, int>, 7> kPlacements{
    {{2, 1}, {4, 1}, {8, 1}, {2, 2}, {4, 2}, {8, 2}, {16, 2}}};

figure::Listing rows_of(const perf::Catalogue& catalogue) {
  using perf::Model;
  figure::Rows rows(catalogue.models);
  const auto input = [](double (*get)(const perf::InputCurve&)) {
    return
        [get](const Model& model) { return model.input ? get(model.input->curve) : std::nan(""); };
  };
  rows.add("name", "model", &Model::name);
  rows.add("kind", &Model::kind);
  rows.add("enough_cpus", "cores",
           input([](const perf::InputCurve& curve) { return curve.enough_cpus; }),
           figure::Decimals{1});
  rows.add("enough_memory_gb", "memory",
           input([](const perf::InputCurve& curve) { return curve.enough_memory_gb(); }),
           figure::Decimals{0, "GB"});
  rows.add("boards", "measured on (GPUs at most)", [](const Model& model) {
    std::vector<std::string> boards;
    if (model.training) boards.emplace_back("training");
    if (model.inference) boards.emplace_back("inference");
    for (const perf::Board& board : model.boards) {
      boards.push_back(fmt::format("{} ({})", board.gpu_type, board.most_gpus));
    }
    return fmt::format("{}", fmt::join(boards, ", "));
  });
  return rows;
}

std::string off(const perf::FitError& error) {
  if (std::isnan(error.seen)) return "error unknown";
  return std::isnan(error.held_out) ? fmt::format("error {:.0f} %", 100 * error.seen)
                                    : fmt::format("error {:.0f} %, held out {:.0f} %",
                                                  100 * error.seen, 100 * error.held_out);
}

void say_input(const perf::Input& input) {
  const perf::InputCurve& curve = input.curve;
  fmt::print("\ncores and memory per GPU ({}, {})\n", input.source, off(input.error));
  fmt::print("  {:.1f} cores are enough", curve.enough_cpus);
  if (curve.enough_memory_gb() > 0) fmt::print(", with {:.0f} GB", curve.enough_memory_gb());
  fmt::print("\n ");
  for (const int cpus : kCpus) {
    fmt::print(" {}: {:.2f}", cpus, std::min(1.0, input.by_cpus(cpus)));
  }
  fmt::print("\n ");
  for (const int memory_gb : kMemories) {
    fmt::print(" {} GB: {:.2f}", memory_gb, std::min(1.0, input.by_memory(memory_gb)));
  }
  fmt::print("\n");
}

/// A job of one GPU alone, and what changes its rate.
class Shown {
 public:
  Shown(perf::SpeedModels& models, const perf::Board& board, const perf::SpeedModel& speed)
      : models_(&models), type_(models.gpu_type(board.gpu_type)), speed_(&speed) {}

  double rate(int gpus, int nodes) const {
    const perf::Grant alone{.gpus = 1, .type = type_};
    std::vector<perf::Grant> grants(static_cast<std::size_t>(nodes),
                                    perf::Grant{.gpus = gpus / nodes, .type = type_});
    return perf::JobSpeed(*speed_, {&alone, 1}).rate(grants);
  }
  double beside(const std::string& other) const {
    const perf::Grant alone{.gpus = 1, .type = type_};
    const perf::SpeedModel* const neighbour = models_->find({.name = other}).speed;
    return perf::JobSpeed(*speed_, {&alone, 1}).rate({&alone, 1}, {&neighbour, 1});
  }
  double alone() const { return speed_->on(type_).alone; }

 private:
  perf::SpeedModels* models_;
  perf::GpuType type_;
  const perf::SpeedModel* speed_;
};

/// Returns the models of which it is known how they slow `board` next to it.
std::vector<std::string> known_neighbors(const perf::Catalogue& catalogue,
                                         const perf::Board& board) {
  std::vector<std::string> made;
  for (const perf::Model& other : catalogue.models) {
    const perf::Board* const there = other.find(board.gpu_type);
    if (there == nullptr) continue;
    const bool is_known = board.phases ? there->phases.has_value()
                                       : board.sharing.has_value() && there->sharing.has_value();
    if (is_known) made.push_back(other.name);
  }
  return made;
}

void say_board(perf::SpeedModels& models, const perf::Model& model, const perf::Board& board,
               const Shown& shown) {
  fmt::print("\non {} ({}, {}): a step of {:.4g} s at a batch of {:.4g} per GPU\n", board.gpu_type,
             board.source, off(board.error), board.step.compute(board.usual_batch()),
             board.usual_batch());
  const std::string home = perf::home_type(models.catalogue(), model);
  if (shown.alone() != 1) fmt::print("  {:.2f} of the speed on {}\n", shown.alone(), home);
  if (board.most_gpus > 1) {
    fmt::print(" ");
    for (const auto& [gpus, nodes] : kPlacements) {
      if (gpus > board.most_gpus) continue;
      fmt::print(" {} GPUs{}: {:.2f}x", gpus, nodes > 1 ? fmt::format(" on {} nodes", nodes) : "",
                 shown.rate(gpus, nodes));
    }
    fmt::print("\n");
  } else {
    fmt::print("  more GPUs were not measured: assumed to scale linearly\n");
  }
  if (board.phases) {
    fmt::print(
        "  reinforcement learning: {:.4g} s of rollouts, {:.4g} s of training, {:.4g} s to load a "
        "job's state\n",
        board.phases->rollout, board.phases->training, board.phases->switching);
  }
  if (!board.sharing && !board.phases) return;
  fmt::print("  next to");
  for (const std::string& other : known_neighbors(models.catalogue(), board)) {
    fmt::print(" {}: {:.2f}", other, shown.beside(other));
  }
  fmt::print("\n");
}

/// Shapes of a task, nodes and GPUs of each.
constexpr std::array<std::pair<int, int>, 6> kShapes{
    {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 4}, {4, 4}}};

void say_task(const char* what, const perf::Genie& task) {
  fmt::print("\n{}, samples per second at a batch of {:.6g} over all GPUs ({}{})\n ", what,
             task.most_batch, task.source.empty() ? "" : task.source + ", ", off(task.error));
  for (const auto& [nodes, gpus] : kShapes) {
    fmt::print(" {}x{}: {:.4g}", nodes, gpus,
               task.rate(task.most_batch, {double(nodes), double(gpus)}));
  }
  fmt::print("\n");
}

nlohmann::ordered_json known_error(double value) {
  return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

nlohmann::ordered_json json_of(perf::SpeedModels& models, const perf::Model& model,
                               const perf::SpeedModel& speed) {
  nlohmann::ordered_json made{{"name", model.name}, {"kind", model.kind}};
  if (model.input) {
    const perf::InputCurve& curve = model.input->curve;
    made["input"] = {{"source", model.input->source},
                     {"enough_cpus", curve.enough_cpus},
                     {"enough_memory_gb", curve.enough_memory_gb()},
                     {"error", known_error(model.input->error.seen)},
                     {"held_out", known_error(model.input->error.held_out)}};
    for (const int cpus : kCpus) {
      made["input"]["cpus"].push_back(
          {{"cpus_per_gpu", cpus}, {"rate", std::min(1.0, model.input->by_cpus(cpus))}});
    }
    for (const int memory_gb : kMemories) {
      made["input"]["memory"].push_back(
          {{"memory_gb_per_gpu", memory_gb},
           {"rate", std::min(1.0, model.input->by_memory(memory_gb))}});
    }
  }
  for (const perf::Board& board : model.boards) {
    const Shown shown(models, board, speed);
    nlohmann::ordered_json one{{"gpu_type", board.gpu_type},
                               {"source", board.source},
                               {"batch_per_gpu", board.usual_batch()},
                               {"step_s", board.step.compute(board.usual_batch())},
                               {"alone", shown.alone()},
                               {"error", known_error(board.error.seen)},
                               {"held_out", known_error(board.error.held_out)}};
    for (const auto& [gpus, nodes] : kPlacements) {
      if (gpus > board.most_gpus) continue;
      one["placements"].push_back(
          {{"gpus", gpus}, {"nodes", nodes}, {"rate", shown.rate(gpus, nodes)}});
    }
    if (board.phases) {
      one["phases"] = {{"rollout_s", board.phases->rollout},
                       {"training_s", board.phases->training},
                       {"switching_s", board.phases->switching}};
    }
    for (const std::string& other : known_neighbors(models.catalogue(), board)) {
      one["beside"].push_back({{"model", other}, {"rate", shown.beside(other)}});
    }
    made["boards"].push_back(std::move(one));
  }
  const auto add_task = [&](const char* what, const std::optional<perf::Genie>& task) {
    if (!task) return;
    nlohmann::ordered_json& one = made[what];
    one = {{"source", task->source},
           {"batch", task->most_batch},
           {"error", known_error(task->error.seen)}};
    for (const auto& [nodes, gpus] : kShapes) {
      one["shapes"].push_back(
          {{"nodes", nodes},
           {"gpus_per_node", gpus},
           {"samples_per_s", task->rate(task->most_batch, {double(nodes), double(gpus)})}});
    }
  };
  add_task("training", model.training);
  add_task("inference", model.inference);
  return made;
}

Result<int> show(const PerfShowOptions& options) {
  auto catalogue = perf::read_catalogue(options.catalogue);
  if (!catalogue) return tl::unexpected(catalogue.error());
  perf::SpeedModels models(std::move(*catalogue));
  if (options.model.empty() && !options.list.wants_document()) {
    return options.list.print(rows_of(models.catalogue()));
  }
  if (options.model.empty()) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const perf::Model& model : models.catalogue().models) {
      all.push_back(json_of(models, model, *models.find({.name = model.name}).speed));
    }
    fmt::print("{}\n", all.dump(2));
    return kDone;
  }
  const perf::Found found = models.find({.name = options.model});
  if (found.match == perf::Match::none) {
    return fail(Code::not_found, fmt::format("unknown model \"{}\"", options.model), {},
                "almanac perf show lists them");
  }
  if (!found.said.empty()) note(found.said);
  const perf::Model& model = *models.catalogue().find(found.model);
  if (options.list.output == "json") {
    fmt::print("{}\n", json_of(models, model, *found.speed).dump(2));
    return kDone;
  }
  fmt::print("{}{}\n", model.name, model.kind.empty() ? "" : fmt::format(" ({})", model.kind));
  if (model.input) {
    say_input(*model.input);
  } else {
    fmt::print("\ncores and memory were not measured: assumed to have no effect\n");
  }
  for (const perf::Board& board : model.boards) {
    say_board(models, model, board, Shown(models, board, *found.speed));
  }
  if (model.training) say_task("training", *model.training);
  if (model.inference) say_task("inference", *model.inference);
  if (model.boards.empty() && !model.training && !model.inference) {
    fmt::print("\nspread, GPU type and neighbors were not measured\n");
  }
  return kDone;
}

}  // namespace

void register_perf_show(Program& program) {
  const auto options = std::make_shared<PerfShowOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "perf", "Model how fast jobs run with their resources")
           .add_subcommand("show", "Show a speed model, or list all models");
  command.add_option("MODEL", options->model, "Name of a model, or of a job that contains one");
  command.add_option("--models", options->catalogue, "Speed models: a preset or a TOML file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  options->list.add_to(command);
  add_example(command, "almanac perf show");
  add_example(command, "almanac perf show resnet-50");
  program.on(command, [options] { return show(*options); });
}

}  // namespace almanac::cli
