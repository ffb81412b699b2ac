// SPDX-License-Identifier: Apache-2.0
#include "report/run_comparison.h"

#include <cmath>
#include <limits>

#include "stats/percentiles.h"

namespace almanac::report {

figure::Figure draw_comparison(const std::vector<PolicyDigest>& policies) {
  using figure::Unit;
  using sim::Summary;
  figure::Figure figure{.id = "run_comparison", .title = "Policies side by side"};
  auto& name = figure.text("policy", "Policy");
  const auto times = [&](const char* column, const char* label, double Summary::*field) {
    auto& values = figure.number(column, label, Unit::seconds);
    for (const PolicyDigest& each : policies) values.add(each.summary.*field);
  };
  const auto numbers = [&](const char* column, const char* label, Unit unit, auto value) {
    auto& values = figure.number(column, label, unit);
    for (const PolicyDigest& each : policies) values.add(value(each.summary));
  };
  for (const PolicyDigest& each : policies) name.add(each.summary.policy);
  times("avg_jct_s", "Completion time, average", &Summary::avg_jct_s);
  times("avg_wait_s", "Wait, average", &Summary::avg_wait_s);
  times("p50_jct_s", "Completion time, median", &Summary::p50_jct_s);
  times("p90_jct_s", "Completion time, 90 %", &Summary::p90_jct_s);
  times("p99_jct_s", "Completion time, 99 %", &Summary::p99_jct_s);
  times("p99_wait_s", "Wait, 99 %", &Summary::p99_wait_s);
  numbers("waited", "Jobs that wait", Unit::fraction, [](const Summary& s) {
    return s.finished > 0 ? static_cast<double>(s.queued_jobs) / static_cast<double>(s.finished)
                          : std::numeric_limits<double>::quiet_NaN();
  });
  numbers("avg_bounded_slowdown", "Slowdown, average", Unit::ratio,
          [](const Summary& s) { return s.avg_bounded_slowdown; });
  times("worst_user_avg_wait_s", "Average wait of the worst user", &Summary::worst_user_avg_wait_s);
  times("worst_vc_avg_wait_s", "Average wait of the worst virtual cluster",
        &Summary::worst_vc_avg_wait_s);
  numbers("jain_user_slowdown", "Fairness among users (Jain)", Unit::none,
          [](const Summary& s) { return s.jain_user_slowdown; });
  numbers("gpu_occupancy", "GPUs taken", Unit::fraction,
          [](const Summary& s) { return s.gpu_occupancy; });
  times("makespan_s", "First submission to last end", &Summary::makespan_s);
  numbers("preemptions", "Stops of running jobs", Unit::none,
          [](const Summary& s) { return static_cast<double>(s.preemptions); });
  numbers("finished", "Jobs that finished", Unit::jobs,
          [](const Summary& s) { return static_cast<double>(s.finished); });
  numbers("never_startable", "Jobs that can never start", Unit::jobs,
          [](const Summary& s) { return static_cast<double>(s.never_startable); });
  figure.n = policies.empty() ? 0 : static_cast<std::int64_t>(policies.front().summary.jobs);
  figure.caption =
      "Completion time is from submission to end; a job waits while it does not run, before its "
      "start and after being stopped. Over the jobs that finished. Slowdown is completion time "
      "over run time, at least 10 s of it.";
  figure.charts.push_back(
      {.kind = "bar", .title = "Averages", .x = "policy", .y = {"avg_jct_s", "avg_wait_s"}});
  figure.charts.push_back({.kind = "bar",
                           .title = "One job in a hundred takes longer",
                           .x = "policy",
                           .y = {"p99_jct_s", "p99_wait_s"}});
  figure.charts.push_back(
      {.kind = "bar", .title = "Share", .x = "policy", .y = {"waited", "gpu_occupancy"}});
  return figure;
}

figure::Figure draw_percentiles(const CurveTitles& titles,
                                const std::vector<PolicyDigest>& policies,
                                std::vector<double> PolicyDigest::*values) {
  figure::Figure figure{.id = titles.id, .title = titles.title};
  auto& policy = figure.text("policy", "Policy");
  auto& value = figure.number(titles.column, titles.label, figure::Unit::seconds);
  auto& share = figure.number("fraction", "Share of the jobs", figure::Unit::fraction);
  std::int64_t finished = 0;
  for (const PolicyDigest& each : policies) {
    finished = std::max(finished, static_cast<std::int64_t>(each.summary.finished));
    for (std::size_t at = 0; at < (each.*values).size(); ++at) {
      policy.add(each.summary.policy);
      value.add(std::round(10 * (each.*values)[at]) / 10);
      share.add(stats::kPercentiles[at] / 100);
    }
  }
  figure.n = finished;
  figure.caption =
      "The share of the jobs that finished with so much or less: 1 % to 99 %, and "
      "99.9 %.";
  figure.charts.push_back(
      {.kind = "line", .x = titles.column, .y = {"fraction"}, .by = "policy", .x_scale = "log"});
  return figure;
}

}  // namespace almanac::report
