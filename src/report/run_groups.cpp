// SPDX-License-Identifier: Apache-2.0
#include "report/run_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace almanac::report {
namespace {

/// Numbers of the groups that have jobs, as they are shown.
std::vector<std::size_t> shown_of(const GroupTitles& titles, const Grouping& grouping) {
  std::vector<std::size_t> shown(grouping.names.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  std::erase_if(shown, [&](std::size_t group) { return grouping.jobs[group] == 0; });
  if (titles.by_gpu_time) {
    std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
      return grouping.gpu_s[a] > grouping.gpu_s[b];
    });
  }
  if (shown.size() > titles.most) shown.resize(titles.most);
  return shown;
}

}  // namespace

GroupTotals totals_of(const Grouping& grouping, const trace::Trace& trace,
                      const sim::Schedule& schedule) {
  GroupTotals totals(grouping.names.size());
  for (std::size_t at = 0; at < grouping.of_job.size(); ++at) {
    if (grouping.of_job[at] == Grouping::kNone) continue;
    const sim::JobResult result = schedule.jobs[at];
    if (result.phase != policy::Phase::ended) continue;
    const Duration jct = result.end - sim::joined(trace.jobs[at].request, result);
    GroupTotal& total = totals[grouping.of_job[at]];
    ++total.finished;
    total.jct_s += seconds(jct);
    total.wait_s += seconds(jct - result.ran);
  }
  return totals;
}

figure::Figure draw_groups(const GroupTitles& titles, const Grouping& grouping,
                           const std::vector<std::string>& policies,
                           const std::vector<const GroupTotals*>& totals) {
  figure::Figure figure{.id = titles.id, .title = titles.title};
  using figure::Unit;
  auto& name = figure.text(titles.group, titles.label);
  auto& jobs = figure.number("jobs", "GPU jobs", Unit::jobs);
  auto& gpu_s = figure.number("gpu_s", "GPU time in the log", Unit::gpu_seconds);
  std::vector<figure::Column*> waits;
  for (const std::string& policy : policies) {
    waits.push_back(&figure.number("avg_wait_s:" + policy, policy, Unit::seconds));
  }
  const std::vector<std::size_t> shown = shown_of(titles, grouping);
  std::int64_t all = 0;
  for (const std::size_t group : shown) {
    name.add(grouping.names[group]);
    jobs.add(static_cast<double>(grouping.jobs[group]));
    gpu_s.add(std::round(grouping.gpu_s[group]));
    all += grouping.jobs[group];
    for (std::size_t at = 0; at < policies.size(); ++at) {
      waits[at]->add(std::round(10 * (*totals[at])[group].mean_wait_s()) / 10);
    }
  }
  figure.n = all;
  figure.caption = "Mean wait of finished jobs.";
  if (titles.by_gpu_time) {
    const auto there = static_cast<std::size_t>(std::count_if(
        grouping.jobs.begin(), grouping.jobs.end(), [](std::int64_t count) { return count > 0; }));
    figure.caption +=
        there > shown.size()
            ? fmt::format(" The {} of {} with most GPU time, largest first.", shown.size(), there)
            : " Largest GPU time first.";
  }
  figure::Chart chart{.kind = "bar", .title = "Mean wait", .x = titles.group};
  for (const figure::Column* const wait : waits) chart.y.push_back(wait->name);
  figure.charts.push_back(std::move(chart));
  return figure;
}

}  // namespace almanac::report
