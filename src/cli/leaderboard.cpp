// SPDX-License-Identifier: Apache-2.0
#include "cli/leaderboard.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/columns.h"
#include "cli/job_words.h"
#include "store/asked_gpus.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using trace::JobState;

double gpu_hours(const store::Job& job, Time now) {
  constexpr double kHour_s = 3600;
  return store::gpus_of(job.asked) * seconds(ran(job, now)) / kHour_s;
}

std::string state_word(const store::Job& job) {
  switch (job.state) {
    case JobState::pending:
      return job.attempts > 0 ? "rests" : "waits";
    case JobState::running:
      return "runs";
    case JobState::completed:
      return "done";
    case JobState::cancelled:
      return job.reason.ends_with("by the policy") ? "stopped" : "cancelled";
    case JobState::timeout:
      return "out of time";
    default:
      return "failed";
  }
}

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

std::string step_text(const live::JobView& view) {
  if (!view.step) return "";
  return view.job.asked->steps > 0 ? fmt::format("{:.15g}/{}", *view.step, view.job.asked->steps)
                                   : fmt::format("{:.15g}", *view.step);
}

/// "lr" of "lr=0.01", and the rest.
std::pair<std::string, std::string> split(const std::string& parameter) {
  const std::size_t equals = parameter.find('=');
  return {parameter.substr(0, equals),
          equals == std::string::npos ? "" : parameter.substr(equals + 1)};
}

/// Of all trials, in the order in which they come up.
std::vector<std::string> parameters_of(const serve::ListedSweep& sweep) {
  std::vector<std::string> names;
  for (const serve::ListedTrial& trial : sweep.trials) {
    for (const std::string& each : trial.job.view.job.asked->parameters) {
      const std::string name = split(each).first;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> values_of(const store::Job& job, const std::vector<std::string>& names) {
  std::vector<std::string> values(names.size());
  for (const std::string& each : job.asked->parameters) {
    const auto [name, value] = split(each);
    values[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())] =
        value;
  }
  return values;
}

std::string summary(const serve::ListedSweep& sweep, Time now) {
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::size_t stopped = 0;
  double hours = 0;
  for (const serve::ListedTrial& trial : sweep.trials) {
    const store::Job& job = trial.job.view.job;
    waiting += job.state == JobState::pending ? 1 : 0;
    running += job.state == JobState::running ? 1 : 0;
    stopped += state_word(job) == "stopped" ? 1 : 0;
    hours += gpu_hours(job, now);
  }
  const std::size_t all = sweep.trials.size();
  return fmt::format("{}: {}, {} running, {} waiting, {} ended ({} by the policy); {:.2f} GPU h",
                     sweep.name, text::counted(all, "trial"), running, waiting,
                     all - running - waiting, stopped, hours);
}

}  // namespace

Result<serve::ListedSweep> look_at_sweep(serve::Client& client, const std::string& name) {
  const auto said = client.get("/v1/sweeps/" + name);
  return said ? serve::read_sweep(said->body) : tl::unexpected(said.error());
}

bool is_over(const serve::ListedSweep& sweep) {
  return std::none_of(sweep.trials.begin(), sweep.trials.end(), [](const auto& trial) {
    const JobState state = trial.job.view.job.state;
    return state == JobState::pending || state == JobState::running;
  });
}

std::vector<std::string> leaderboard(const serve::ListedSweep& sweep, Time now, std::size_t most) {
  std::vector<Column> columns = {{"RANK", true},   {"TRIAL", false}, {"JOB", true},
                                 {"STATE", false}, {"STEP", true},   {"METRIC", true},
                                 {"BEST", true},   {"AT", true},     {"GPU H", true}};
  const std::vector<std::string> names = parameters_of(sweep);
  for (const std::string& name : names) columns.push_back({name, true});
  std::vector<std::vector<std::string>> rows;
  for (const serve::ListedTrial& trial : sweep.trials) {
    if (rows.size() == most) break;
    const live::JobView& view = trial.job.view;
    auto& row = rows.emplace_back(std::vector<std::string>{
        trial.best ? std::to_string(rows.size() + 1) : "", view.job.asked->name, trial.job.id,
        state_word(view.job), step_text(view), shown(view.metric), shown(trial.best),
        shown(trial.best_step), fmt::format("{:.2f}", gpu_hours(view.job, now))});
    for (std::string& each : values_of(view.job, names)) row.push_back(std::move(each));
  }
  std::vector<std::string> lines = column_lines(columns, rows);
  lines.insert(lines.begin(), summary(sweep, now));
  if (rows.size() < sweep.trials.size()) {
    lines.push_back(fmt::format("... and {} more", sweep.trials.size() - rows.size()));
  }
  return lines;
}

void print_leaderboard_csv(const serve::ListedSweep& sweep, Time now) {
  std::vector<std::string> header = {"rank", "trial",  "job",  "state",     "steps",
                                     "step", "metric", "best", "best_step", "gpu_h"};
  const std::vector<std::string> names = parameters_of(sweep);
  header.insert(header.end(), names.begin(), names.end());
  std::vector<std::vector<std::string>> rows;
  const auto plain = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
  };
  for (const serve::ListedTrial& trial : sweep.trials) {
    const live::JobView& view = trial.job.view;
    auto& row = rows.emplace_back(std::vector<std::string>{
        trial.best ? std::to_string(rows.size() + 1) : "", view.job.asked->name, trial.job.id,
        std::string(to_string(view.job.state)), std::to_string(view.job.asked->steps),
        plain(view.step), plain(view.metric), plain(trial.best), plain(trial.best_step),
        fmt::format("{}", gpu_hours(view.job, now))});
    for (std::string& each : values_of(view.job, names)) row.push_back(std::move(each));
  }
  print_csv(header, rows);
}

report::TrialsInput trials_input(const serve::ListedSweep& sweep, Time now) {
  report::TrialsInput made{.name = sweep.name,
                           .smaller_is_better = sweep.smaller_is_better,
                           .parameters = parameters_of(sweep)};
  for (const serve::ListedTrial& trial : sweep.trials) {
    const store::Job& job = trial.job.view.job;
    report::TrialRow& row = made.trials.emplace_back();
    row.name = job.asked->name;
    row.state = state_word(job);
    row.parameters = values_of(job, made.parameters);
    row.best = trial.best;
    row.best_step = trial.best_step;
    row.gpu_h = gpu_hours(job, now);
    for (const std::vector<double>& each : trial.reports) {
      if (each.size() == 2) row.reports.emplace_back(each[0], each[1]);
    }
  }
  return made;
}

std::string best_in_words(const serve::ListedSweep& sweep) {
  if (sweep.trials.empty() || !sweep.trials.front().best) {
    return fmt::format("no trial of {} has reported a metric", sweep.name);
  }
  const serve::ListedTrial& best = sweep.trials.front();
  const store::Submission& asked = best.job.view.job.asked;
  return fmt::format("The best is {}: {} at step {}, with {}", asked.name, shown(best.best),
                     shown(best.best_step), fmt::join(asked.parameters, " "));
}

}  // namespace almanac::cli
