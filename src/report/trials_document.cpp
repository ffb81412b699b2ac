// SPDX-License-Identifier: Apache-2.0
#include "report/trials_document.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/shown_command.h"
#include "stats/quantile.h"
#include "text/human.h"

namespace almanac::report {
namespace {

/// A reader cannot tell more lines apart.
constexpr std::int64_t kMostLines = 8;

figure::Figure leaderboard(const TrialsInput& input) {
  figure::Figure made{.id = "trials", .title = "Leaderboard"};
  made.caption = fmt::format("By best reported metric; {} is better.",
                             input.smaller_is_better ? "smaller" : "larger");
  auto& name = made.text("trial", "Trial");
  auto& state = made.text("state", "State");
  auto& step = made.number("step", "Step");
  auto& best = made.number("best", "Best metric");
  auto& at = made.number("best_step", "Step of the best");
  auto& hours = made.number("gpu_h", "GPU-hours");
  std::vector<figure::Column*> parameters;
  for (const std::string& each : input.parameters) {
    parameters.push_back(&made.text("parameter_" + each, each));
  }
  for (const TrialRow& trial : input.trials) {
    name.add(trial.name);
    state.add(trial.state);
    step.add(trial.reports.empty() ? stats::kNaN : trial.reports.back().first);
    best.add(trial.best.value_or(stats::kNaN));
    at.add(trial.best_step.value_or(stats::kNaN));
    hours.add(trial.gpu_h);
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i]->add(trial.parameters[i]);
  }
  return made;
}

figure::Figure by_step(const std::vector<const TrialRow*>& reported) {
  figure::Figure made{.id = "trials_metric", .title = "Metric by step"};
  const auto few = std::min(kMostLines, std::ssize(reported));
  made.caption =
      fmt::format("The best {} of {} with reports.", few, text::counted(reported.size(), "trial"));
  made.n = few;
  auto& trial = made.text("trial", "Trial");
  auto& step = made.number("step", "Step");
  auto& metric = made.number("metric", "Metric");
  for (auto each = reported.begin(); each != reported.begin() + few; ++each) {
    for (const auto& [at, value] : (*each)->reports) {
      trial.add((*each)->name);
      step.add(at);
      metric.add(value);
    }
  }
  made.charts.push_back(
      {.kind = "line", .x = "step", .y = {"metric"}, .by = "trial", .x_scale = "log"});
  return made;
}

figure::Figure rungs(const std::vector<const TrialRow*>& reported) {
  figure::Figure made{.id = "trials_rungs", .title = "Progress of the trials"};
  made.caption =
      "One point for each trial, at its last report. Trials that the policy stopped are at its "
      "rungs.";
  made.n = std::ssize(reported);
  auto& trial = made.text("trial", "Trial");
  auto& state = made.text("state", "State");
  auto& step = made.number("step", "Step");
  auto& metric = made.number("metric", "Metric");
  for (const TrialRow* const each : reported) {
    trial.add(each->name);
    state.add(each->state);
    step.add(each->reports.back().first);
    metric.add(each->reports.back().second);
  }
  figure::Chart chart{
      .kind = "points", .x = "step", .y = {"metric"}, .by = "state", .x_scale = "log"};
  chart.labels = "trial";
  made.charts.push_back(std::move(chart));
  return made;
}

}  // namespace

figure::Document trials_document(const TrialsInput& input,
                                 const std::vector<std::string>& command) {
  std::vector<const TrialRow*> reported;
  double hours = 0;
  for (const TrialRow& trial : input.trials) {
    if (!trial.reports.empty()) reported.push_back(&trial);
    hours += trial.gpu_h;
  }
  figure::Document made{.kind = "trials", .title = input.name};
  made.subtitle = fmt::format("A sweep of {}", text::counted(input.trials.size(), "trial"));
  made.facts = {{"trials", text::grouped(std::ssize(input.trials))},
                {"with reports", text::grouped(std::ssize(reported))},
                {"GPU-hours", fmt::format("{:.2f}", hours)}};
  if (!reported.empty()) {
    const TrialRow& best = *reported.front();
    std::vector<std::string> with;
    for (std::size_t i = 0; i < input.parameters.size(); ++i) {
      with.push_back(input.parameters[i] + "=" + best.parameters[i]);
    }
    made.findings.push_back(
        {.headline =
             fmt::format("Best trial: {}, metric {:.6g}.", best.name, best.best.value_or(0)),
         .detail = fmt::format("At step {:.15g}, with {}.", best.best_step.value_or(0),
                               fmt::join(with, ", ")),
         .figure = "trials"});
  }
  figure::Section section{.id = "trials", .title = "Trials"};
  section.figures.push_back(leaderboard(input));
  if (!reported.empty()) {
    section.figures.push_back(by_step(reported));
    section.figures.push_back(rungs(reported));
  }
  made.sections.push_back(std::move(section));
  made.provenance.version = ALMANAC_VERSION;
  made.provenance.command = shown_command(command);
  return made;
}

}  // namespace almanac::report
