// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "perf/fit_parts.h"
#include "perf/fit_rate.h"
#include "perf/model_name.h"

namespace almanac::perf {
namespace {

/// Root mean square of ln(fitted / measured).
double judge(const GenieRate& rate, std::span<const RatePoint> points) {
  double sum = 0;
  for (const RatePoint& point : points) {
    sum += std::pow(std::log(rate(point.batch, point.shape) / point.rate), 2);
  }
  return root_mean(sum, points.size());
}

/// The points of one model in training or inference.
struct Task {
  std::string model;
  bool trains = true;
  std::vector<RatePoint> alone{};
  std::vector<RatePoint> together{};
  BatchCurve one_gpu{};
};

std::vector<Task> tasks_of(const Profile& source) {
  std::map<std::pair<std::string, bool>, Task> tasks;
  for (const Measurement& row : source.rows) {
    if (row.task == Measurement::Task::not_said || row.throughput <= 0) continue;
    const bool trains = row.task == Measurement::Task::training;
    Task& task = tasks.try_emplace({row.model, trains}, Task{.model = row.model, .trains = trains})
                     .first->second;
    const RatePoint point{.batch = row.batch,
                          .shape = {double(row.nodes), double(row.gpus) / row.nodes},
                          .rate = row.throughput};
    (row.gpus == 1 ? task.alone : task.together).push_back(point);
  }
  std::vector<Task> made;
  for (auto& [key, task] : tasks) made.push_back(std::move(task));
  return made;
}

/// Runs that are alike but for their steps.
std::vector<std::vector<TimedRun>> timed_runs(const Profile& source) {
  using Alike = std::tuple<std::string, Measurement::Task, double, int, int>;
  std::map<Alike, std::vector<TimedRun>> groups;
  for (const Measurement& row : source.rows) {
    if (!(row.seconds > 0)) continue;
    groups[{row.model, row.task, row.batch, row.gpus, row.nodes}].push_back(
        {row.steps, row.seconds});
  }
  std::vector<std::vector<TimedRun>> made;
  for (auto& [key, runs] : groups) {
    const bool differ = std::any_of(
        runs.begin(), runs.end(),
        [&first = runs.front()](const TimedRun& run) { return run.steps != first.steps; });
    if (differ) made.push_back(std::move(runs));
  }
  return made;
}

Model& model_of(Catalogue& catalogue, const std::string& name) {
  auto at = std::find_if(catalogue.models.begin(), catalogue.models.end(),
                         [&](const Model& model) { return model.name >= name; });
  if (at == catalogue.models.end() || at->name != name) {
    at = catalogue.models.insert(at, Model());
    at->name = name;
    at->kind = kind_of(name);
  }
  return *at;
}

}  // namespace

void fit_genie(const Profile& source, Catalogue& catalogue, std::vector<std::string>& notes) {
  std::vector<Task> tasks = tasks_of(source);
  std::vector<CommPoints> all;
  for (Task& task : tasks) {
    if (task.alone.empty()) continue;
    task.one_gpu = fit_curve(CurveForm::saturating, task.alone);
    if (task.trains && !task.together.empty()) all.push_back({&task.one_gpu, task.together});
  }
  const Comm mean = fit_comm(Comm::Form::nodiv, all);
  for (Task& task : tasks) {
    const char* const word = task.trains ? "training" : "inference";
    if (task.alone.empty()) {
      notes.push_back(fmt::format("{}: {} in {} has no run on one GPU; left out", source.source,
                                  task.model, word));
      continue;
    }
    Model& model = model_of(catalogue, task.model);
    auto& into = task.trains ? model.training : model.inference;
    if (into) {
      notes.push_back(fmt::format("{}: {} in {} left out, because an earlier source has it",
                                  source.source, task.model, word));
      continue;
    }
    Genie made{.rate = {.one_gpu = task.one_gpu, .comm = {}}, .source = source.source, .error = {}};
    if (task.trains) {
      const CommPoints own[] = {{&task.one_gpu, task.together}};
      made.rate.comm = task.together.empty() ? mean : fit_comm(Comm::Form::nodiv, own);
    }
    std::vector<RatePoint> points = task.alone;
    made.most_batch = std::max_element(points.begin(), points.end(),
                                       [](const RatePoint& one, const RatePoint& other) {
                                         return one.batch < other.batch;
                                       })
                          ->batch;
    points.insert(points.end(), task.together.begin(), task.together.end());
    made.error = {judge(made.rate, points), kNotSaid};
    into = std::move(made);
  }
  const auto timed = timed_runs(source);
  if (!timed.empty()) catalogue.startup_s = fit_startup(timed);
}

}  // namespace almanac::perf
