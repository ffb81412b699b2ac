// SPDX-License-Identifier: Apache-2.0
#include "study/failure_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "stats/quantile.h"
#include "text/human.h"

namespace almanac::study {
namespace {

/// Trials of one category.
struct ReasonRow {
  std::optional<std::size_t> category{};  ///< Nothing = no signature.
  std::int64_t trials = 0;
  std::set<std::string> jobs{};
  std::set<NameId> users{};
  std::vector<double> runtimes_min{};
  std::array<std::int64_t, 3> demand{};  ///< Trials of 1, 2 to 4, more GPUs.
  double runtime_min = 0;
  double gpu_min = 0;
  std::map<std::size_t, std::int64_t> rules{};
};

double share(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

/// Repetition factor: trials for each job or user that had any (section 4.2.1).
double per(std::int64_t trials, std::size_t owners) {
  return owners == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(trials) / static_cast<double>(owners);
}

std::vector<ReasonRow> count(const FailureTrials& trials, std::span<const failure::JudgedLog> logs,
                             const failure::RuleSet& set, const trace::Trace* trace) {
  std::vector<ReasonRow> rows(set.rules.categories.size() + 1);
  for (std::size_t at = 0; at < set.rules.categories.size(); ++at) rows[at].category = at;
  for (const FailedTrial& trial : trials.trials) {
    const failure::Verdict& verdict = logs[trial.log].verdict;
    ReasonRow& row = verdict.rule ? rows[set.rules.rules[*verdict.rule].category] : rows.back();
    ++row.trials;
    if (verdict.rule) ++row.rules[*verdict.rule];
    if (!trial.job_id.empty()) row.jobs.insert(trial.job_id);
    if (!trial.job) continue;
    const NameId user = trace->jobs[*trial.job].request.user;
    if (user != kNoName) row.users.insert(user);
    if (trial.gpus > 0) ++row.demand[trial.gpus == 1 ? 0 : trial.gpus <= 4 ? 1 : 2];
    if (std::isnan(trial.runtime_s)) continue;
    row.runtimes_min.push_back(trial.runtime_s / 60);
    row.runtime_min += trial.runtime_s / 60;
    row.gpu_min += trial.runtime_s / 60 * trial.gpus;
  }
  std::erase_if(rows, [](const ReasonRow& row) { return row.trials == 0; });
  std::stable_sort(rows.begin(), rows.end(), [](const ReasonRow& a, const ReasonRow& b) {
    if (a.category.has_value() != b.category.has_value()) return a.category.has_value();
    if (a.gpu_min != b.gpu_min) return a.gpu_min > b.gpu_min;
    return a.trials > b.trials;
  });
  return rows;
}

/// Returns the suggestion of the rule that decides most of the row's trials.
std::string suggestion_of(const ReasonRow& row, const failure::Rules& rules) {
  if (row.rules.empty()) return "Read these logs; where they have a pattern, write a rule";
  const auto most = std::max_element(row.rules.begin(), row.rules.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return failure::suggestion_of(rules, rules.rules[most->first]);
}

std::string caption_of(const FailureTrials& trials, const std::vector<ReasonRow>& rows) {
  std::string caption = fmt::format("{} failed attempts in {} logs",
                                    text::grouped(static_cast<std::int64_t>(trials.trials.size())),
                                    text::grouped(trials.logs));
  if (!trials.joined) return caption + ". Without a trace every log counts as one of a failure.";
  caption +=
      fmt::format(", {} of which name a job of the trace", text::grouped(trials.logs_joined));
  std::set<std::string> jobs;
  std::set<NameId> users;
  std::int64_t in_all = 0;
  for (const ReasonRow& row : rows) {
    jobs.insert(row.jobs.begin(), row.jobs.end());
    users.insert(row.users.begin(), row.users.end());
    in_all += row.trials;
  }
  if (!jobs.empty()) caption += fmt::format("; {:.2f} for each job", per(in_all, jobs.size()));
  if (!users.empty()) caption += fmt::format(", {:.1f} for each user", per(in_all, users.size()));
  return fmt::format(
      "{}. Left out: {} attempts that completed, {} that have not ended, {} cancelled without a "
      "sign of failure. RTF is the run time to failure in minutes.",
      caption, text::grouped(trials.succeeded), text::grouped(trials.unended),
      text::grouped(trials.cancelled));
}

void add_findings(Drawing& drawing, const std::vector<ReasonRow>& rows, const failure::Rules& rules,
                  bool joined, double trials, double gpu_min) {
  if (rows.empty() || !rows.front().category) return;
  const ReasonRow& worst = rows.front();
  const std::string& name = rules.categories[*worst.category].name;
  const std::string part = text::human_share(static_cast<double>(worst.trials) / trials);
  figure::Finding finding{.figure = "philly_table7", .advice = suggestion_of(worst, rules)};
  if (joined && gpu_min > 0) {
    finding.headline = fmt::format("{} takes {} of the GPU time of failed attempts", name,
                                   text::human_share(worst.gpu_min / gpu_min));
    finding.detail = fmt::format("{:.0f} GPU-hours in {} attempts, which are {} of those that fail",
                                 worst.gpu_min / 60, text::grouped(worst.trials), part);
  } else {
    finding.headline = fmt::format("{} is behind {} of the failed attempts", name, part);
    finding.detail = fmt::format("{} attempts", text::grouped(worst.trials));
  }
  drawing.findings.push_back(std::move(finding));
}

}  // namespace

Drawing draw_failure_table(const FailureTrials& trials, std::span<const failure::JudgedLog> logs,
                           const failure::RuleSet& set, const trace::Trace* trace) {
  using figure::Unit;
  std::vector<ReasonRow> rows = count(trials, logs, set, trace);
  double runtime_min = 0;
  double gpu_min = 0;
  for (const ReasonRow& row : rows) {
    runtime_min += row.runtime_min;
    gpu_min += row.gpu_min;
  }
  const auto total = static_cast<double>(trials.trials.size());

  Drawing drawing;
  figure::Figure& figure = drawing.figure;
  figure.id = "philly_table7";
  figure.title = "Why jobs fail";
  figure.source = "Jeon et al., ATC'19, Table 7";
  figure.caption = caption_of(trials, rows);
  figure.n = static_cast<std::int64_t>(trials.trials.size());
  auto& category = figure.text("category", "Cause");
  auto& classes = figure.text("class", "Class");
  auto& number = figure.number("trials", "Failed attempts");
  auto& percent = figure.number("trials_percent", "Share of them", Unit::percent);
  for (const ReasonRow& row : rows) {
    const failure::Category* const home =
        row.category ? &set.rules.categories[*row.category] : nullptr;
    category.add(home != nullptr ? home->name : std::string(failure::kNoSignature));
    classes.add(home != nullptr ? failure::join_classes(*home) : std::string());
    number.add(static_cast<double>(row.trials));
    percent.add(share(static_cast<double>(row.trials), total));
  }
  if (trials.joined) {
    const auto column = [&](const char* name, const char* label, Unit unit, auto value) {
      auto& made = figure.number(name, label, unit);
      for (ReasonRow& row : rows) made.add(static_cast<double>(value(row)));
    };
    column("jobs", "Jobs", Unit::jobs, [](ReasonRow& row) { return row.jobs.size(); });
    column("users", "Users", Unit::users, [](ReasonRow& row) { return row.users.size(); });
    for (const auto& [name, label, q] : {std::tuple{"rtf_p50_min", "RTF, median (min)", 0.5},
                                         std::tuple{"rtf_p90_min", "RTF, 90 % (min)", 0.9},
                                         std::tuple{"rtf_p95_min", "RTF, 95 % (min)", 0.95}}) {
      column(name, label, Unit::none,
             [at = q](ReasonRow& row) { return stats::quantile(row.runtimes_min, at); });
    }
    column("rtf_percent", "Share of the RTF", Unit::percent,
           [&](ReasonRow& row) { return share(row.runtime_min, runtime_min); });
    column("demand_1", "On 1 GPU", Unit::none, [](ReasonRow& row) { return row.demand[0]; });
    column("demand_2_4", "On 2-4", Unit::none, [](ReasonRow& row) { return row.demand[1]; });
    column("demand_over_4", "On more", Unit::none, [](ReasonRow& row) { return row.demand[2]; });
    column("rtf_x_demand_gpu_min", "RTF x demand (GPU min)", Unit::none,
           [](ReasonRow& row) { return row.gpu_min; });
    column("rtf_x_demand_percent", "Share of it", Unit::percent,
           [&](ReasonRow& row) { return share(row.gpu_min, gpu_min); });
    column("trials_per_job", "For each job", Unit::none,
           [](ReasonRow& row) { return per(row.trials, row.jobs.size()); });
    column("trials_per_user", "For each user", Unit::none,
           [](ReasonRow& row) { return per(row.trials, row.users.size()); });
  }
  auto& suggestion = figure.text("suggestion", "What to do");
  for (const ReasonRow& row : rows) suggestion.add(suggestion_of(row, set.rules));
  add_findings(drawing, rows, set.rules, trials.joined, total, gpu_min);
  return drawing;
}

}  // namespace almanac::study
