// SPDX-License-Identifier: Apache-2.0
#include "report/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/comparison.h"
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
  if (policy.recorded) return "no policy: recorded";
  if (policy.bound) return policy.complete ? "a bound" : "a bound, interrupted";
  return policy.complete ? "" : "interrupted";
}

/// What is used beside occupancy, and how GPU jobs and CPU jobs fare apart; what no policy tells is
/// left out.
void add_resources(figure::Figure& figure, const Summaries& policies) {
  const auto add = [&](const char* column, const char* label, Unit unit, const char* better,
                       double Summary::*field) {
    const bool known = std::any_of(policies.begin(), policies.end(),
                                   [&](const auto& each) { return std::isfinite(each.*field); });
    if (!known) return;
    auto& values = figure.number(column, label, unit);
    values.better = better;
    for (const Summary& each : policies) values.add(each.*field);
  };
  add("gpu_utilization", "GPUs compute while jobs arrive", Unit::fraction, kMore,
      &Summary::gpu_utilization);
  add("cpu_allocation", "Cores taken while jobs arrive", Unit::fraction, "",
      &Summary::cpu_allocation);
  const bool has_cpu_jobs = std::any_of(policies.begin(), policies.end(),
                                        [](const auto& each) { return each.cpu_jobs > 0; });
  if (!has_cpu_jobs) return;
  add("avg_gpu_job_jct_s", "Completion time of GPU jobs, average", Unit::seconds, kLess,
      &Summary::avg_gpu_job_jct_s);
  add("avg_cpu_job_wait_s", "Wait of CPU jobs, average", Unit::seconds, kLess,
      &Summary::avg_cpu_job_wait_s);
  add("p99_cpu_job_wait_s", "Wait of CPU jobs, 99 %", Unit::seconds, kLess,
      &Summary::p99_cpu_job_wait_s);
}

/// Whether deadlines were met; nothing where no job has a deadline.
void add_deadlines(figure::Figure& figure, const Summaries& policies) {
  const bool any_has = std::any_of(policies.begin(), policies.end(),
                                   [](const auto& each) { return std::isfinite(each.guarantee); });
  if (!any_has) return;
  const auto add = [&](const char* column, const char* label, Unit unit, const char* better,
                       auto value) {
    auto& values = figure.number(column, label, unit);
    values.better = better;
    for (const Summary& each : policies) values.add(value(each));
  };
  add("guarantee", "Ended by their deadline", Unit::fraction, kMore,
      [](const Summary& s) { return s.guarantee; });
  add("avg_tardiness_s", "Late, average", Unit::seconds, kLess,
      [](const Summary& s) { return s.avg_tardiness_s; });
  add("p99_tardiness_s", "Late, 99 %", Unit::seconds, kLess,
      [](const Summary& s) { return s.p99_tardiness_s; });
  add("value_share", "Value earned of what was possible", Unit::fraction, kMore,
      [](const Summary& s) { return s.value_earned / s.value_possible; });
}

/// What keeps a policy from being chosen by its figures, and what each needs.
void add_needs(figure::Figure& figure, const Summaries& policies) {
  auto& caution = figure.text("caution", "Caution");
  caution.detail = true;
  for (const Summary& each : policies) caution.add(caution_of(each));
  auto& needs = figure.text("needs", "Needs");
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

/// The policy with the least average completion time of those of which `may` holds; "" = none.
template <typename May>
std::string least(const Summaries& policies, May may) {
  const Summary* best = nullptr;
  for (const Summary& each : policies) {
    const bool counts = each.complete && !each.recorded && std::isfinite(each.avg_jct_s);
    if (!counts || !may(each)) continue;
    if (best == nullptr || each.avg_jct_s < best->avg_jct_s) best = &each;
  }
  return best == nullptr ? "" : best->policy;
}

}  // namespace

figure::Compared compared_of(const Summaries& policies) {
  figure::Compared compared;
  for (const Summary& each : policies) compared.policies.push_back({each.policy, caution_of(each)});
  if (!policies.empty()) compared.baseline = policies.front().policy;
  compared.best = least(policies, [](const Summary&) { return true; });
  compared.best_choice = least(policies, [](const Summary& each) { return !each.bound; });
  return compared;
}

figure::Figure draw_comparison(const Summaries& policies) {
  figure::Figure figure{.id = "run_comparison", .title = "Policies side by side"};
  figure.compared = "policy";
  auto& name = figure.text("policy", "Policy");
  const auto numbers = [&](const char* column, const char* label, Unit unit, const char* better,
                           auto value) -> figure::Column& {
    auto& values = figure.number(column, label, unit);
    values.better = better;
    for (const Summary& each : policies) values.add(value(each));
    return values;
  };
  const auto times = [&](const char* column, const char* label,
                         double Summary::*field) -> figure::Column& {
    return numbers(column, label, Unit::seconds, kLess,
                   [field](const Summary& s) { return s.*field; });
  };
  for (const Summary& each : policies) name.add(each.policy);
  times("avg_jct_s", "Completion time, average", &Summary::avg_jct_s);
  times("avg_wait_s", "Wait, average", &Summary::avg_wait_s);
  times("p50_jct_s", "Completion time, median", &Summary::p50_jct_s);
  times("p90_jct_s", "Completion time, 90 %", &Summary::p90_jct_s).detail = true;
  times("p99_jct_s", "Completion time, 99 %", &Summary::p99_jct_s);
  times("p50_wait_s", "Wait, median", &Summary::p50_wait_s);
  times("p90_wait_s", "Wait, 90 %", &Summary::p90_wait_s);
  times("p99_wait_s", "Wait, 99 %", &Summary::p99_wait_s);
  numbers("waited", "Jobs that waited", Unit::fraction, kLess, [](const Summary& s) {
    return s.finished > 0 ? static_cast<double>(s.queued_jobs) / static_cast<double>(s.finished)
                          : std::numeric_limits<double>::quiet_NaN();
  });
  numbers("avg_bounded_slowdown", "Slowdown, average", Unit::ratio, kLess, [](const Summary& s) {
    return s.avg_bounded_slowdown;
  }).detail = true;
  times("worst_user_avg_wait_s", "Worst user's wait, average", &Summary::worst_user_avg_wait_s);
  times("worst_vc_avg_wait_s", "Worst virtual cluster's wait, average",
        &Summary::worst_vc_avg_wait_s)
      .detail = true;
  numbers("jain_user_slowdown", "Fairness among users (Jain)", Unit::none, kMore,
          [](const Summary& s) { return s.jain_user_slowdown; })
      .detail = true;
  if (std::any_of(policies.begin(), policies.end(),
                  [](const Summary& s) { return !s.worst_owner.empty(); })) {
    numbers("share_error", "GPU time that would have to change hands for all to have their due",
            Unit::fraction, kLess, [](const Summary& s) { return s.share_error; });
    numbers("jain_due", "Jain's fairness index of usage against fair share", Unit::none, kMore,
            [](const Summary& s) { return s.jain_due; })
        .detail = true;
    numbers("worst_due", "Lowest usage as a fraction of fair share", Unit::fraction, kMore,
            [](const Summary& s) { return s.worst_due; });
    numbers("avg_finish_time_ratio", "Completion time compared with that in a cluster of one's own",
            Unit::ratio, kLess, [](const Summary& s) { return s.avg_finish_time_ratio; })
        .detail = true;
  }
  numbers("gpu_allocation", "GPUs taken while jobs arrive", Unit::fraction, "",
          [](const Summary& s) { return s.gpu_allocation; });
  add_resources(figure, policies);
  add_deadlines(figure, policies);
  times("makespan_s", "Makespan: first submission to last end", &Summary::makespan_s).detail = true;
  numbers("preemptions", "Preemptions", Unit::none, kLess,
          [](const Summary& s) { return static_cast<double>(s.preemptions); });
  numbers("finished", "Jobs that finished", Unit::jobs, kMore, [](const Summary& s) {
    return static_cast<double>(s.finished);
  }).detail = true;
  numbers("never_startable", "Jobs that can never start", Unit::jobs, kLess, [](const Summary& s) {
    return static_cast<double>(s.never_startable);
  }).detail = true;
  add_needs(figure, policies);
  figure.n = policies.empty() ? 0 : static_cast<std::int64_t>(policies.front().jobs);
  figure.caption =
      "Completion time is from submission to end; a job waits while it does not run, before its "
      "start and after being stopped. Over the jobs that finished. Slowdown is completion time "
      "over run time, at least 10 s of it.";
  const bool any_bound =
      std::any_of(policies.begin(), policies.end(), [](const auto& each) { return each.bound; });
  if (any_bound) figure.caption += fmt::format(" {}", kWhatABoundIs);
  const auto bars = [&](const char* title, std::vector<std::string> y) {
    if (y.empty()) return;
    figure.charts.push_back(
        {.kind = "bar", .title = title, .x = "policy", .y = std::move(y), .sorted = true});
  };
  bars("Average completion time and wait", {"avg_jct_s", "avg_wait_s"});
  bars("Completion time and wait that 99 % of the jobs stay within", {"p99_jct_s", "p99_wait_s"});
  bars("Jobs that waited", {"waited"});
  bars("Used while jobs arrive",
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
  figure.caption =
      "The share of the jobs that finished with so much or less: 1 % to 99 %, and "
      "99.9 %.";
  figure.charts.push_back(
      {.kind = "line", .x = titles.column, .y = {"fraction"}, .by = "policy", .x_scale = "log"});
  return figure;
}

}  // namespace almanac::report
