// SPDX-License-Identifier: Apache-2.0
#include "report/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policy/recommended.h"
#include "report/comparison.h"
#include "report/recommendation.h"
#include "stats/percentiles.h"

namespace almanac::report {
namespace {

using experiment::Summary;
using figure::Unit;
using Summaries = std::vector<Summary>;

constexpr const char* kLess = "less";
constexpr const char* kMore = "more";

/// What keeps a policy from being chosen; "" = nothing.
std::string caution_of(const Summary& policy) {
  if (policy.recorded) return "not simulated";
  if (policy.bound) return policy.complete ? "oracle" : "oracle, interrupted";
  return policy.complete ? "" : "interrupted";
}

/// A table with a row for each policy, and its columns.
class PolicyTable {
 public:
  PolicyTable(figure::Figure& figure, const Summaries& policies)
      : figure_(figure), policies_(policies) {
    auto& name = figure_.text("policy", "Policy");
    for (const Summary& each : policies_) name.add(each.policy);
  }
  template <class Value>
  figure::Column& number(const char* column, const char* label, Unit unit, const char* better,
                         Value value) {
    auto& values = figure_.number(column, label, unit);
    values.better = better;
    for (const Summary& each : policies_) values.add(static_cast<double>(value(each)));
    return values;
  }
  figure::Column& time(const char* column, const char* label, double Summary::*field) {
    return number(column, label, Unit::seconds, kLess,
                  [field](const Summary& s) { return s.*field; });
  }
  /// Adds a column if any policy has a value for it.
  void add_known(const char* column, const char* label, Unit unit, const char* better,
                 double Summary::*field, bool is_detail = false) {
    if (!any([field](const Summary& s) { return std::isfinite(s.*field); })) return;
    number(column, label, unit, better, [field](const Summary& s) { return s.*field; }).detail =
        is_detail;
  }
  template <class Has>
  bool any(Has has) const {
    return std::any_of(policies_.begin(), policies_.end(), has);
  }

 private:
  figure::Figure& figure_;
  const Summaries& policies_;
};

double waited(const Summary& s) {
  return s.finished > 0 ? static_cast<double>(s.queued_jobs) / static_cast<double>(s.finished)
                        : std::numeric_limits<double>::quiet_NaN();
}

/// Adds utilization next to allocation, and GPU jobs and CPU jobs separately.
void add_resources(PolicyTable& table) {
  table.add_known("gpu_utilization", "GPU utilization", Unit::fraction, kMore,
                  &Summary::gpu_utilization);
  table.add_known("cpu_allocation", "CPU allocation", Unit::fraction, "", &Summary::cpu_allocation,
                  true);
  if (!table.any([](const Summary& each) { return each.cpu_jobs > 0; })) return;
  table.add_known("avg_gpu_job_jct_s", "Mean completion time of GPU jobs", Unit::seconds, kLess,
                  &Summary::avg_gpu_job_jct_s);
  table.add_known("avg_cpu_job_wait_s", "Mean wait of CPU jobs", Unit::seconds, kLess,
                  &Summary::avg_cpu_job_wait_s);
  table.add_known("p99_cpu_job_wait_s", "p99 wait of CPU jobs", Unit::seconds, kLess,
                  &Summary::p99_cpu_job_wait_s);
}

void add_deadlines(PolicyTable& table) {
  if (!table.any([](const Summary& each) { return std::isfinite(each.guarantee); })) return;
  table.number("guarantee", "Deadlines met", Unit::fraction, kMore,
               [](const Summary& s) { return s.guarantee; });
  table.time("avg_tardiness_s", "Mean tardiness", &Summary::avg_tardiness_s);
  table.time("p99_tardiness_s", "p99 tardiness", &Summary::p99_tardiness_s);
  table.number("value_share", "Value earned, of the possible", Unit::fraction, kMore,
               [](const Summary& s) { return s.value_earned / s.value_possible; });
}

void add_fairness(PolicyTable& table) {
  if (!table.any([](const Summary& s) { return !s.worst_owner.empty(); })) return;
  const bool by_tenant =
      table.any([](const Summary& s) { return s.worst_owner.starts_with("tenant "); });
  table
      .number("share_error", "Unfairly distributed GPU time", Unit::fraction, kLess,
              [](const Summary& s) { return s.share_error; })
      .detail = !by_tenant;
  table
      .number("jain_fair_share", "Jain's fairness index of usage", Unit::none, kMore,
              [](const Summary& s) { return s.jain_fair_share; })
      .detail = true;
  table
      .number("worst_fair_share", "Lowest usage as a fraction of fair share", Unit::fraction, kMore,
              [](const Summary& s) { return s.worst_fair_share; })
      .detail = !by_tenant;
  table
      .number("avg_finish_time_ratio", "Mean finish-time ratio to a cluster of their own",
              Unit::ratio, kLess, [](const Summary& s) { return s.avg_finish_time_ratio; })
      .detail = true;
}

/// Adds why a policy may not be chosen despite its figures, and what each policy needs.
void add_needs(figure::Figure& figure, const Summaries& policies) {
  auto& caution = figure.text("caution", "Caution");
  caution.detail = true;
  for (const Summary& each : policies) caution.add(caution_of(each));
  auto& needs = figure.text("needs", "Requirements");
  for (const Summary& each : policies) {
    needs.add(fmt::format("{}", fmt::join(each.needs, ", ")));
  }
}

/// The columns of `names` that the figure has.
std::vector<std::string> present(const figure::Figure& figure,
                                 std::initializer_list<const char*> names) {
  std::vector<std::string> found;
  for (const char* const name : names) {
    const bool has = std::any_of(figure.columns.begin(), figure.columns.end(),
                                 [&](const figure::Column& column) { return column.name == name; });
    if (has) found.emplace_back(name);
  }
  return found;
}

/// Returns the policy with the lowest mean completion time; "" for none.
std::string fastest(const Summaries& policies) {
  const Summary* best = nullptr;
  for (const Summary& each : policies) {
    if (!each.complete || each.recorded || !std::isfinite(each.avg_jct_s)) continue;
    if (best == nullptr || each.avg_jct_s < best->avg_jct_s) best = &each;
  }
  return best == nullptr ? "" : best->policy;
}

}  // namespace

figure::Compared compared_of(const Summaries& policies) {
  figure::Compared compared;
  for (const Summary& each : policies) compared.policies.push_back({each.policy, caution_of(each)});
  if (!policies.empty()) {
    compared.baseline = policies[policy::baseline_of(policies, &Summary::policy)].policy;
  }
  compared.best = fastest(policies);
  SummaryRows rows;
  for (const Summary& each : policies) rows.push_back(&each);
  if (const auto choice = recommendation(rows)) compared.best_choice = policies[*choice].policy;
  return compared;
}

figure::Figure draw_comparison(const Summaries& policies) {
  figure::Figure figure{.id = "run_comparison", .title = "Policies side by side"};
  figure.compared = "policy";
  PolicyTable table(figure, policies);
  // A screen has room for about eight columns; the others are shown on request.
  table.time("avg_jct_s", "Mean completion time", &Summary::avg_jct_s);
  table.time("avg_wait_s", "Mean wait", &Summary::avg_wait_s);
  table.time("p50_jct_s", "Median completion time", &Summary::p50_jct_s).detail = true;
  table.time("p90_jct_s", "p90 completion time", &Summary::p90_jct_s).detail = true;
  table.time("p99_jct_s", "p99 completion time", &Summary::p99_jct_s).detail = true;
  table.time("p50_wait_s", "Median wait", &Summary::p50_wait_s).detail = true;
  table.time("p90_wait_s", "p90 wait", &Summary::p90_wait_s).detail = true;
  table.time("p99_wait_s", "p99 wait", &Summary::p99_wait_s);
  table.number("waited", "Jobs that waited", Unit::fraction, kLess, waited);
  table
      .number("avg_bounded_slowdown", "Mean slowdown", Unit::ratio, kLess,
              [](const Summary& s) { return s.avg_bounded_slowdown; })
      .detail = true;
  table.time("worst_user_avg_wait_s", "Worst user's mean wait", &Summary::worst_user_avg_wait_s);
  table
      .time("worst_vc_avg_wait_s", "Worst virtual cluster's mean wait",
            &Summary::worst_vc_avg_wait_s)
      .detail = true;
  table
      .number("jain_user_slowdown", "Jain's fairness index of users' slowdowns", Unit::none, kMore,
              [](const Summary& s) { return s.jain_user_slowdown; })
      .detail = true;
  add_fairness(table);
  table.number("gpu_allocation", "GPU allocation", Unit::fraction, "",
               [](const Summary& s) { return s.gpu_allocation; });
  add_resources(table);
  add_deadlines(table);
  table.time("makespan_s", "Makespan", &Summary::makespan_s).detail = true;
  table.number("preemptions", "Preemptions", Unit::none, kLess,
               [](const Summary& s) { return s.preemptions; });
  table
      .number("finished", "Finished jobs", Unit::jobs, kMore,
              [](const Summary& s) { return s.finished; })
      .detail = true;
  table
      .number("never_startable", "Jobs that can never start", Unit::jobs, kLess,
              [](const Summary& s) { return s.never_startable; })
      .detail = true;
  add_needs(figure, policies);
  figure.n = policies.empty() ? 0 : static_cast<std::int64_t>(policies.front().jobs);
  figure.caption =
      "Finished jobs only. Completion time: from submission to end. Wait: time not running, before "
      "the first start and after preemptions. Slowdown: completion time over run time, at least "
      "10 s. Allocation and utilization: until the last submission.";
  const bool any_oracle = table.any([](const Summary& each) { return each.bound; });
  if (any_oracle) figure.caption += fmt::format(" {}", kWhatAnOracleIs);
  return figure;
}

figure::Figure draw_tradeoff(const Summaries& policies) {
  figure::Figure figure{.id = "run_tradeoff", .title = "Waits and what they cost"};
  const figure::Compared compared = compared_of(policies);
  const auto role_of = [&](const Summary& each) {
    if (each.policy == compared.baseline) return "Baseline";
    if (each.recorded) return "As recorded";
    if (each.policy == compared.best_choice) return "Recommended policy";
    return each.bound ? "Oracles" : "Other policies";
  };
  std::vector<const Summary*> rows;
  for (const char* const role :
       {"Baseline", "Recommended policy", "Other policies", "As recorded", "Oracles"}) {
    for (const Summary& each : policies) {
      if (role_of(each) == std::string_view(role) && each.complete) rows.push_back(&each);
    }
  }
  auto& name = figure.text("policy", "Policy");
  auto& role = figure.text("role", "Role");
  auto& oracle = figure.text("oracle", "Oracle");
  auto& wait = figure.number("avg_wait_s", "Mean wait", Unit::seconds);
  auto& worst = figure.number("worst_user_avg_wait_s", "Worst user's mean wait", Unit::seconds);
  auto& stops = figure.number("preemptions", "Preemptions");
  for (const Summary* const each : rows) {
    name.add(each->policy);
    role.add(std::string(role_of(*each)));
    oracle.add(std::string(each->bound ? "oracle" : ""));
    wait.add(each->avg_wait_s);
    worst.add(each->worst_user_avg_wait_s);
    // A log does not say how often its jobs were stopped.
    stops.add(each->recorded ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(each->preemptions));
  }
  figure.n = policies.empty() ? 0 : static_cast<std::int64_t>(policies.front().jobs);
  figure.caption =
      "Each mark is a policy. Bottom left is best: a short mean wait, without users who wait long "
      "and without preemptions.";
  if (std::any_of(rows.begin(), rows.end(), [](const auto* each) { return each->bound; })) {
    figure.caption += fmt::format(" Hollow marks are oracles. {}", kWhatAnOracleIs);
  }
  const auto chart = [&](const char* title, const figure::Column& y) {
    figure.charts.push_back({.kind = "points",
                             .title = title,
                             .x = "avg_wait_s",
                             .y = {y.name},
                             .by = "role",
                             .x_scale = scale_of(wait.numbers),
                             .y_scale = scale_of(y.numbers),
                             .labels = "policy",
                             .hollow = "oracle"});
  };
  chart("Mean wait and the worst user's mean wait", worst);
  if (std::any_of(stops.numbers.begin(), stops.numbers.end(), [](double n) { return n > 0; })) {
    chart("Mean wait and preemptions", stops);
  }
  return figure;
}

figure::Figure draw_bars(const Summaries& policies) {
  figure::Figure figure{.id = "run_bars", .title = "Times and use by policy"};
  PolicyTable table(figure, policies);
  table.time("avg_jct_s", "Mean completion time", &Summary::avg_jct_s);
  table.time("avg_wait_s", "Mean wait", &Summary::avg_wait_s);
  table.time("p99_jct_s", "p99 completion time", &Summary::p99_jct_s);
  table.time("p99_wait_s", "p99 wait", &Summary::p99_wait_s);
  table.number("waited", "Jobs that waited", Unit::fraction, kLess, waited);
  table.number("gpu_allocation", "GPU allocation", Unit::fraction, "",
               [](const Summary& s) { return s.gpu_allocation; });
  add_resources(table);
  add_deadlines(table);
  figure.n = policies.empty() ? 0 : static_cast<std::int64_t>(policies.front().jobs);
  figure.caption = "Finished jobs only. Allocation and utilization: until the last submission.";
  const auto bars = [&](const char* title, std::vector<std::string> y) {
    if (y.empty()) return;
    figure.charts.push_back(
        {.kind = "bar", .title = title, .x = "policy", .y = std::move(y), .sorted = true});
  };
  bars("Mean completion time and wait", {"avg_jct_s", "avg_wait_s"});
  bars("p99 completion time and wait", {"p99_jct_s", "p99_wait_s"});
  bars("Jobs that waited", {"waited"});
  bars("Allocation and utilization",
       present(figure, {"gpu_allocation", "gpu_utilization", "cpu_allocation"}));
  bars("Deadlines met", present(figure, {"guarantee", "value_share"}));
  return figure;
}

figure::Figure draw_percentiles(const CurveTitles& titles,
                                const std::vector<Distribution>& policies) {
  figure::Figure figure{.id = titles.id, .title = titles.title};
  auto& policy = figure.text("policy", "Policy");
  auto& value = figure.number(titles.column, titles.label, figure::Unit::seconds);
  auto& share = figure.number("fraction", "Share of the jobs", figure::Unit::fraction);
  std::int64_t finished = 0;
  for (const Distribution& each : policies) {
    finished = std::max(finished, each.finished);
    for (std::size_t at = 0; at < each.values_s.size(); ++at) {
      policy.add(each.policy);
      value.add(std::round(10 * each.values_s[at]) / 10);
      share.add(stats::kPercentiles[at] / 100);
    }
  }
  figure.n = finished;
  figure.caption = "Cumulative distribution over finished jobs, at 1 % to 99 % and 99.9 %.";
  figure.charts.push_back({.kind = "line",
                           .x = titles.column,
                           .y = {"fraction"},
                           .by = "policy",
                           .x_scale = "log",
                           .zeros = titles.zeros});
  return figure;
}

}  // namespace almanac::report
