// SPDX-License-Identifier: Apache-2.0
#include "perf/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "perf/fit_parts.h"
#include "perf/model_name.h"
#include "perf/profile_trial.h"
#include "perf/speed_models.h"

namespace almanac::perf {
namespace {

using Rows = std::vector<Measurement>;

bool feeds(const Measurement& row) {
  return !std::isnan(row.cpus_per_gpu) || !std::isnan(row.memory_gb_per_gpu);
}

/// The rows of each source, in the order of first mention.
std::vector<Profile> by_source(const std::vector<Profile>& profiles) {
  std::vector<Profile> sources;
  for (const Profile& profile : profiles) {
    auto at = std::find_if(sources.begin(), sources.end(),
                           [&](const Profile& made) { return made.source == profile.source; });
    if (at == sources.end()) at = sources.insert(at, Profile{profile.source, {}});
    at->rows.insert(at->rows.end(), profile.rows.begin(), profile.rows.end());
  }
  return sources;
}

/// The curve of a model that needs nothing.
const InputCurve kInsensitive{.enough_cpus = 1e-3, .power = 0.05};

class Fitter {
 public:
  Fit run(const std::vector<Profile>& profiles) {
    for (const Profile& source : by_source(profiles)) add(source);
    Catalogue& catalogue = fit_.catalogue;
    for (auto& [name, model] : models_) {
      std::sort(model.boards.begin(), model.boards.end(),
                [](const Board& a, const Board& b) { return a.gpu_type < b.gpu_type; });
      catalogue.models.push_back(std::move(model));
    }
    for (const auto& [model, rows] : fed_) try_input(model, rows);
    for (const Profile& source : by_source(profiles)) fit_genie(source, catalogue, fit_.notes);
    return std::move(fit_);
  }

 private:
  Model& model(const std::string& name) {
    Model& made = models_[name];
    made.name = name;
    made.kind = kind_of(name);
    return made;
  }

  void add(const Profile& source) {
    std::map<std::pair<std::string, std::string>, Rows> fed;  // by model and type
    std::map<std::pair<std::string, std::string>, Rows> stepped;
    Rows single;
    std::map<std::string, Rows> shared;
    std::size_t stood = 0;
    for (const Measurement& row : source.rows) {
      if (row.task != Measurement::Task::not_said) continue;  // fit_genie()'s
      if (row.neighbour.empty() && row.throughput == 0) {
        ++stood;
      } else if (feeds(row)) {
        fed[{row.model, row.gpu_type}].push_back(row);
      } else {
        if (row.gpus == 1) shared[row.gpu_type].push_back(row);
        if (!row.neighbour.empty()) continue;
        stepped[{row.model, row.gpu_type}].push_back(row);
        if (row.gpus == 1) single.push_back(row);
      }
    }
    if (stood > 0) {
      fit_.notes.push_back(
          fmt::format("{}: {} rows of jobs that did not run left out", source.source, stood));
    }
    for (const auto& [key, rows] : fed) add_input(source.source, key.first, rows);
    for (const auto& [key, rows] : stepped) add_board(source.source, key.first, rows);
    add_gpus(single);
    for (const auto& [type, rows] : shared) add_sharing(source.source, type, rows);
  }

  void twice(const std::string& source, const std::string& what) {
    fit_.notes.push_back(
        fmt::format("{}: {} left out, because an earlier source has it", source, what));
  }

  void add_input(const std::string& source, const std::string& name, const Rows& rows) {
    Model& into = model(name);
    if (into.input && into.input->source == source) {
      fit_.notes.push_back(
          fmt::format("{}: cores and memory of {} on {} left out; those on {} are used", source,
                      name, rows.front().gpu_type, into.input->gpu_type));
      return;
    }
    if (into.input) return twice(source, name + "'s cores and memory");
    into.input = fit_input(rows);
    into.input->source = source;
    fed_[name] = rows;
  }

  void add_board(const std::string& source, const std::string& name, const Rows& rows) {
    Model& into = model(name);
    const std::string& type = rows.front().gpu_type;
    if (into.find(type) != nullptr) return twice(source, name + " on " + type);
    Board board = fit_board(rows);
    board.source = source;
    into.boards.push_back(std::move(board));
  }

  GpuClass& gpu(const std::string& type) {
    auto& gpus = fit_.catalogue.gpus;
    const auto at = std::find_if(gpus.begin(), gpus.end(),
                                 [&](const GpuClass& known) { return known.type == type; });
    return at == gpus.end() ? gpus.emplace_back(GpuClass{.type = type}) : *at;
  }

  /// The types of a source relative to its fastest.
  void add_gpus(const Rows& single) {
    std::set<std::string> types;
    for (const Measurement& row : single) {
      if (!row.gpu_type.empty()) types.insert(row.gpu_type);
    }
    if (types.size() < 2) return;
    const std::vector<GpuClass> known = fit_gpus(single, *types.begin());
    const std::string first =
        std::max_element(known.begin(), known.end(), [](const GpuClass& a, const GpuClass& b) {
          return a.speed < b.speed;
        })->type;
    for (const GpuClass& made : fit_gpus(single, first)) {
      if (fit_.catalogue.find_gpu(made.type) == nullptr) fit_.catalogue.gpus.push_back(made);
    }
  }

  void add_sharing(const std::string& source, const std::string& type, const Rows& rows) {
    const auto found = fit_sharing(rows);
    if (!found) return;
    GpuClass& into = gpu(type);
    if (into.sharing) return twice(source, "sharing of " + type);
    into.sharing = found->unseen;
    into.sharing_error = found->error;
    into.sharing_unseen_error = found->unseen_error;
    for (const auto& [name, sharing] : found->models) {
      for (Board& board : model(name).boards) {
        if (board.gpu_type == type) board.sharing = sharing;
      }
    }
    fit_.sharings.push_back({type, found->pairs, found->mean_error});
  }

  void try_input(const std::string& name, const Rows& rows) {
    const Model& known = *fit_.catalogue.find(name);
    std::map<int, Rows> by_gpus;
    for (const Measurement& row : rows) by_gpus[row.gpus].push_back(row);
    const Rows& fitted = by_gpus.begin()->second;
    InputTrial trial{.model = name, .rows = static_cast<int>(fitted.size())};
    double sum = 0;
    std::size_t count = 0;
    for (const auto& [gpus, others] : by_gpus) {
      if (gpus == by_gpus.begin()->first) continue;
      const double error = judge_input(known.input->curve, others);
      sum += error * error * static_cast<double>(others.size());
      count += others.size();
    }
    trial.more_gpus = root_mean(sum, count);
    const Model* const near = nearest_model(fit_.catalogue, {.kind = known.kind}, &known);
    trial.nearest =
        near != nullptr && near->input ? judge_input(near->input->curve, fitted) : kNotSaid;
    trial.insensitive = judge_input(kInsensitive, fitted);
    const ProfileTrial profiled = try_profile(fitted, known.input->curve);
    trial.profiled_points = profiled.measured;
    trial.grid_points = profiled.grid;
    trial.profiled = profiled.error;
    trial.profiled_worst = profiled.worst;
    fit_.inputs.push_back(trial);
  }

  Fit fit_;
  std::map<std::string, Model> models_;
  std::map<std::string, Rows> fed_;
};

}  // namespace

Result<Fit> fit(const std::vector<Profile>& profiles) {
  Fit made = Fitter().run(profiles);
  if (made.catalogue.models.empty()) {
    return fail(Code::invalid, "no measurement is from a job that ran alone");
  }
  return made;
}

}  // namespace almanac::perf
