// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "stats/octaves.h"
#include "stats/quantile.h"
#include "trace/fit_steps.h"

namespace almanac::trace {
namespace {

constexpr std::size_t kMostSizes = 40;
constexpr double kUsualLoad = 0.85;

std::int64_t rounded_up(double value) { return static_cast<std::int64_t>(std::ceil(value)); }

/// The median of `field` a GPU over the jobs that have it, times the GPUs of a node.
template <typename Field>
double per_node(const FitInput& input, std::int64_t gpus, double otherwise, Field field) {
  std::vector<double> each;
  for (const Job* job : input.jobs) {
    const double value = field(job->request);
    if (!std::isnan(value)) each.push_back(value / job->request.gpus);
  }
  return each.empty() ? otherwise : stats::quantile(each, 0.5) * static_cast<double>(gpus);
}

/// The sizes to tell apart: the most frequent ones, ascending.
std::vector<std::int64_t> frequent_sizes(const FitInput& input) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const Job* job : input.jobs) ++counts[job->request.gpus];
  std::vector<std::pair<std::int64_t, std::int64_t>> ranked;
  for (const auto& [gpus, count] : counts) ranked.emplace_back(-count, gpus);
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min(ranked.size(), kMostSizes));
  std::vector<std::int64_t> sizes;
  for (const auto& [count, gpus] : ranked) sizes.push_back(gpus);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

void count_state(JobState state, Workload::Size& size) {
  switch (ending_of(state)) {
    case Ending::completed:
      size.completed += 1;
      return;
    case Ending::cancelled:
      size.cancelled += 1;
      return;
    case Ending::failed:
      size.failed += 1;
      return;
  }
}

/// The VC in which each user has most jobs; the first of equals.
std::map<NameId, std::size_t> homes(const FitInput& input,
                                    const std::map<NameId, std::size_t>& vcs) {
  std::map<NameId, std::map<std::size_t, std::int64_t>> jobs;
  for (const Job* job : input.jobs) {
    if (job->request.user != kNoName) ++jobs[job->request.user][vcs.at(job->request.vc)];
  }
  std::map<NameId, std::size_t> home;
  for (const auto& [user, counts] : jobs) {
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    home[user] = most->first;
  }
  return home;
}

}  // namespace

void fit_span(FitInput& input, Workload& workload) {
  const Time first = std::chrono::floor<std::chrono::seconds>(input.jobs.front()->request.submit);
  const double length = seconds(input.jobs.back()->request.submit - first) + 1;
  workload.span = {
      .start = first, .days = length / 86400, .jobs = static_cast<std::int64_t>(input.jobs.size())};
  Workload::Node& node = workload.node;
  node.cpus = per_node(input, node.gpus, node.cpus, [](const Request& r) { return r.cpus; });
  node.memory_gb =
      per_node(input, node.gpus, node.memory_gb, [](const Request& r) { return r.memory_gb; });
  input.notes.push_back(fmt::format("nodes are assumed to have {} GPUs", node.gpus));
}

void fit_sizes(FitInput& input, Workload& workload) {
  const std::vector<std::int64_t> sizes = frequent_sizes(input);
  for (const std::int64_t gpus : sizes) {
    workload.size.push_back({.gpus = gpus, .jobs = 0, .gpu_time = 0, .completed = 0});
  }
  std::vector<double> runs;
  for (const Job* job : input.jobs) {
    // A rare size counts as the nearest frequent one, in doublings.
    const auto nearest = std::min_element(sizes.begin(), sizes.end(), [&](auto a, auto b) {
      const auto off = [&](std::int64_t gpus) {
        return std::abs(std::log(static_cast<double>(gpus) / job->request.gpus));
      };
      return off(a) < off(b);
    });
    input.size.push_back(static_cast<std::uint32_t>(nearest - sizes.begin()));
    Workload::Size& size = workload.size[input.size.back()];
    runs.push_back(whole_run(*job));
    size.jobs += 1;
    size.gpu_time += runs.back() * static_cast<double>(size.gpus);
    count_state(job->outcome.state, size);
  }
  workload.run.octaves = stats::Octaves::count(runs);
}

void fit_vcs(FitInput& input, Workload& workload) {
  std::map<NameId, std::size_t> vcs;
  for (std::size_t i = 0; i < input.jobs.size(); ++i) {
    const NameId name = input.jobs[i]->request.vc;
    const auto [found, is_new] = vcs.emplace(name, workload.vc.size());
    if (is_new) {
      const std::string text(input.trace.names[name]);
      workload.vc.push_back(
          {.name = text.empty() ? "none" : text, .users = 0, .jobs = 0, .gpu_time = 0});
    }
    Workload::Vc& vc = workload.vc[found->second];
    const Workload::Size& size = workload.size[input.size[i]];
    vc.jobs += 1;
    vc.gpu_time += whole_run(*input.jobs[i]) * static_cast<double>(size.gpus);
    vc.largest = std::max(vc.largest, size.gpus);
  }
  for (const auto& [user, vc] : homes(input, vcs)) ++workload.vc[vc].users;
  if (input.with_user > 0 && input.with_user < workload.span.jobs) {
    input.notes.push_back(
        fmt::format("users are known for {} of {} jobs: user behavior is learned from those",
                    input.with_user, workload.span.jobs));
  }
  for (Workload::Vc& vc : workload.vc) {
    const double busy = vc.gpu_time / (workload.span.days * 86400 * kUsualLoad);
    const double gpus = std::max(busy, static_cast<double>(vc.largest));
    vc.nodes = rounded_up(gpus / static_cast<double>(workload.node.gpus));
    vc.users = std::max(vc.users, std::int64_t{1});
  }
  input.notes.push_back(fmt::format(
      "the number of nodes is chosen for a load of {} and for the largest job", kUsualLoad));
  if (vcs.size() == 1 && vcs.contains(kNoName)) {
    input.notes.emplace_back("the log names no virtual clusters: one is created");
  } else if (vcs.contains(kNoName)) {
    input.notes.emplace_back("jobs without a virtual cluster form one named none");
  }
}

void fit_rhythm(const FitInput& input, Workload& workload) {
  const auto hour_of = [](Time time) {
    return std::chrono::floor<std::chrono::hours>(time.time_since_epoch()).count();
  };
  const auto weekday_of = [](std::int64_t hour) {
    const std::int64_t day = (hour - (hour % 24 + 24) % 24) / 24;
    return static_cast<std::size_t>(((day + 3) % 7 + 7) % 7);  // 1970-01-01 was a Thursday
  };
  const auto of_day = [](std::int64_t hour) {
    return static_cast<std::size_t>((hour % 24 + 24) % 24);
  };
  std::vector<double> hours(24), hour_jobs(24), days(7), day_jobs(7);
  const std::int64_t last = hour_of(input.jobs.back()->request.submit);
  for (std::int64_t hour = hour_of(workload.span.start); hour <= last; ++hour) {
    hours[of_day(hour)] += 1;
    days[weekday_of(hour)] += 1;
  }
  for (const Job* job : input.jobs) {
    const std::int64_t hour = hour_of(job->request.submit);
    hour_jobs[of_day(hour)] += 1;
    day_jobs[weekday_of(hour)] += 1;
  }
  // Jobs an hour; an hour or a day that the span does not have is taken to be average.
  const auto mean = static_cast<double>(input.jobs.size()) /
                    static_cast<double>(last - hour_of(workload.span.start) + 1);
  for (std::size_t i = 0; i < 24; ++i) {
    workload.rhythm.hours[i] = hours[i] > 0 ? hour_jobs[i] / hours[i] : mean;
  }
  for (std::size_t i = 0; i < 7; ++i) {
    workload.rhythm.weekdays[i] = days[i] > 0 ? day_jobs[i] / days[i] : mean;
  }
}

}  // namespace almanac::trace
