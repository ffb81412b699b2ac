// SPDX-License-Identifier: Apache-2.0
#include "serve/leaderboard.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/asked_gpus.h"
#include "store/run_time.h"
#include "text/human.h"

namespace almanac::serve {
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

std::string step_text(const service::JobView& view) {
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

/// Returns the parameters of all trials, in the order of their first use.
std::vector<std::string> parameters_of(const ListedTuning& tuning) {
  std::vector<std::string> names;
  for (const ListedTrial& trial : tuning.trials) {
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

}  // namespace

std::string summary_of(const ListedTuning& tuning, Time now) {
  std::size_t waiting = 0;
  std::size_t running = 0;
  std::size_t stopped = 0;
  double hours = 0;
  for (const ListedTrial& trial : tuning.trials) {
    const store::Job& job = trial.job.view.job;
    waiting += job.state == JobState::pending ? 1 : 0;
    running += job.state == JobState::running ? 1 : 0;
    stopped += state_word(job) == "stopped" ? 1 : 0;
    hours += gpu_hours(job, now);
  }
  const std::size_t all = tuning.trials.size();
  return fmt::format("{}: {}, {} running, {} waiting, {} ended ({} by the policy); {:.2f} GPU h",
                     tuning.name, text::counted(all, "trial"), running, waiting,
                     all - running - waiting, stopped, hours);
}

Result<ListedTuning> look_at_tuning(Client& client, const std::string& name) {
  const auto said = client.get("/v1/sweeps/" + name);
  return said ? read_tuning(said->body) : tl::unexpected(said.error());
}

bool is_over(const ListedTuning& tuning) {
  return std::none_of(tuning.trials.begin(), tuning.trials.end(), [](const auto& trial) {
    const JobState state = trial.job.view.job.state;
    return state == JobState::pending || state == JobState::running;
  });
}

figure::Listing trial_rows(const ListedTuning& tuning, Time now) {
  using figure::Cell;
  figure::Rows rows(tuning.trials);
  const auto number = [](const std::optional<double>& value) { return Cell(value, shown(value)); };
  rows.add("rank", "RANK", [&](const ListedTrial& each) {
    const auto rank = &each - tuning.trials.data() + 1;
    return each.best ? Cell(rank) : Cell::nothing("");
  });
  rows.add(figure::Tier::key, "trial", "TRIAL",
           [](const ListedTrial& each) { return each.job.view.job.asked->name; });
  rows.add("job", "JOB", [](const ListedTrial& each) { return each.job.id; }).right();
  rows.add("state", "STATE", [](const ListedTrial& each) {
    return Cell(to_string(each.job.view.job.state), state_word(each.job.view.job));
  });
  rows.add(figure::Tier::data, "steps",
           [](const ListedTrial& each) { return each.job.view.job.asked->steps; });
  rows.add("step", "STEP", [](const ListedTrial& each) {
    return Cell(each.job.view.step, step_text(each.job.view));
  });
  rows.add("metric", "METRIC",
           [&](const ListedTrial& each) { return number(each.job.view.metric); });
  rows.add(figure::Tier::key, "best", "BEST",
           [&](const ListedTrial& each) { return number(each.best); });
  rows.add("best_step", "AT", [&](const ListedTrial& each) { return number(each.best_step); });
  rows.add(
      "gpu_h", "GPU H", [&](const ListedTrial& each) { return gpu_hours(each.job.view.job, now); },
      figure::Decimals{2});
  const std::vector<std::string> names = parameters_of(tuning);
  for (std::size_t at = 0; at < names.size(); ++at) {
    rows.add(names[at],
             [&](const ListedTrial& each) { return values_of(each.job.view.job, names)[at]; })
        .right();
  }
  return rows;
}

report::TrialsInput trials_input(const ListedTuning& tuning, Time now) {
  report::TrialsInput made{.name = tuning.name,
                           .smaller_is_better = tuning.smaller_is_better,
                           .parameters = parameters_of(tuning)};
  for (const ListedTrial& trial : tuning.trials) {
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

std::string best_in_words(const ListedTuning& tuning) {
  if (tuning.trials.empty() || !tuning.trials.front().best) {
    return fmt::format("no trial of {} has reported a metric", tuning.name);
  }
  const ListedTrial& best = tuning.trials.front();
  const store::Submission& asked = best.job.view.job.asked;
  return fmt::format("The best is {}: {} at step {}, with {}", asked.name, shown(best.best),
                     shown(best.best_step), fmt::join(asked.parameters, " "));
}

}  // namespace almanac::serve
