// SPDX-License-Identifier: Apache-2.0

/// \file
/// priority_log.csv: each time slurmctld computed a priority, with its factors.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/slurm_check.h"
#include "reproduce/slurm_priorities.h"

namespace almanac::reproduce {

void register_priority_log(SlurmChecks& checks);

namespace priority_log_check {
namespace {

/// Whether `ours` prints as `shown`, up to half a unit of its last digit.
bool prints_as(double ours, double shown, double digit) {
  return std::abs(ours - shown) <= digit * 0.5000001;
}

/// "cpu:62.50 mem:4.69 gres/gpu:625.00", in the order of the resources, without those of 0.
std::string weighted_tres(const slurmctld::Score& score, const PriorityReplay& replay) {
  const site::TresWeights& weights = replay.priorities().scales().settings().weight_tres;
  std::string text;
  for (std::size_t at = 0; at < score.factors.tres.size(); ++at) {
    const double weighted = score.factors.tres[at] * weights[at].weight;
    if (weighted == 0) continue;
    text += fmt::format("{}{}:{:.2f}", text.empty() ? "" : " ",
                        replay.scenario().site.tres[weights[at].tres].name, weighted);
  }
  return text;
}

void check(Bench& bench, const SlurmScenario& scenario) {
  const auto file = find_table(bench, scenario, "priority_log.csv");
  if (!file || scenario.site.config.priority.type != site::PriorityType::multifactor) return;
  PriorityReplay replay(bench, scenario);
  Rows rows(file->path, {"epoch", "job_id", "priority", "tres"});
  RowTally priorities, tres;
  std::array<RowTally, std::size(kFactorColumns)> factors;
  while (rows.next()) {
    const auto number = static_cast<std::uint32_t>(rows.whole("job_id"));
    const std::string what = fmt::format("job {} at {}", number, rows.text("epoch"));
    replay.advance(parse_epoch(rows.text("epoch")));
    const slurmctld::Score* const score = replay.score(number);
    if (score == nullptr) {
      priorities.leave_undecided();
      continue;
    }
    const double shown = rows.number("priority");
    priorities.count(score->priority == static_cast<std::uint32_t>(shown),
                     fmt::format("{}: {}, not {}", what, score->priority, shown));
    const site::PrioritySettings& settings = replay.priorities().scales().settings();
    for (std::size_t at = 0; at < factors.size(); ++at) {
      const FactorColumn& column = kFactorColumns[at];
      const std::uint32_t weight = settings.*column.weight;
      if (weight == 0) continue;
      const double ours = score->factors.*column.factor;
      const std::string name = column.column;
      const double factor = rows.number(name);
      factors[at].count(prints_as(ours, factor, 1e-6) &&
                            prints_as(ours * weight, rows.number(name + "_weighted"), 1e-2),
                        fmt::format("{}: {:.7f}, not {}", what, ours, factor));
    }
    if (!settings.weight_tres.empty()) {
      const std::string ours = weighted_tres(*score, replay);
      tres.count(ours == rows.text("tres"),
                 fmt::format("{}: {}, not {}", what, ours, rows.text("tres")));
    }
  }
  priorities.add_to(bench, scenario, "priorities computed, log", "sacct does not have the job");
  for (std::size_t at = 0; at < factors.size(); ++at) {
    factors[at].add_to(bench, scenario, fmt::format("factor {}, log", kFactorColumns[at].brief));
  }
  tres.add_to(bench, scenario, "factor tres, log");
}

}  // namespace
}  // namespace priority_log_check

void register_priority_log(SlurmChecks& checks) { checks.add(priority_log_check::check); }

}  // namespace almanac::reproduce
