// SPDX-License-Identifier: Apache-2.0
#include "report/run_gantt.h"

#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::report {
namespace {

/// The moment of the largest backlog of a virtual cluster, as if its GPUs were a fluid.
struct Backlog {
  Time at{};
  double gpu_s = 0;
  Time peak_at{};
  double peak_gpu_s = 0;

  void add(const trace::Job& job, int gpus) {
    const Time now = job.request.submit;
    gpu_s = std::max(0.0, gpu_s - gpus * seconds(now - at));
    at = now;
    gpu_s += job.request.gpus * seconds(job.outcome.run);
    if (gpu_s > peak_gpu_s) {
      peak_gpu_s = gpu_s;
      peak_at = now;
    }
  }
};

/// A job in a window, before bars are made of it.
struct Candidate {
  std::uint32_t window;
  std::uint32_t job;
  Time from;
  Time until;
  double gpu_s;
};

std::vector<Candidate> candidates_of(const RunInput& input, const std::vector<GanttWindow>& windows,
                                     const sim::Schedule& schedule) {
  constexpr std::uint32_t kNoWindow = ~std::uint32_t{0};
  std::vector<std::uint32_t> window_of_vc(input.cluster().vcs.size(), kNoWindow);
  for (std::uint32_t at = 0; at < windows.size(); ++at) window_of_vc[index(windows[at].vc)] = at;
  std::vector<Candidate> found;
  for (std::uint32_t at = 0; at < schedule.jobs.size(); ++at) {
    if (input.vc(at) == kNoVc || window_of_vc[index(input.vc(at))] == kNoWindow) continue;
    const sim::JobResult result = schedule.jobs[at];
    if (result.start == kNoTime) continue;
    const std::uint32_t number = window_of_vc[index(input.vc(at))];
    const Time end = result.end != kNoTime ? result.end : schedule.finish;
    const Time from = std::max(result.start, windows[number].from);
    const Time until = std::min(end, windows[number].until);
    if (from >= until) continue;
    found.push_back(
        {number, at, from, until, input.trace().jobs[at].request.gpus * seconds(until - from)});
  }
  return found;
}

/// Jobs that share a row must not overlap: each takes the first lane that is free. Stopped jobs
/// overlap with those that had their GPUs meanwhile, so they lie in rows of their own.
void lay_out(std::vector<GanttBar>& bars) {
  const auto row = [](const GanttBar& bar) {
    return std::tuple(bar.window, bar.stopped, index(bar.node));
  };
  std::sort(bars.begin(), bars.end(), [&](const GanttBar& a, const GanttBar& b) {
    return std::tuple(row(a), a.from, a.job) < std::tuple(row(b), b.from, b.job);
  });
  std::vector<Time> free_from;
  for (std::size_t at = 0; at < bars.size(); ++at) {
    if (at == 0 || row(bars[at]) != row(bars[at - 1])) free_from.clear();
    const auto lane = std::find_if(free_from.begin(), free_from.end(),
                                   [&](Time free) { return free <= bars[at].from; });
    bars[at].lane = static_cast<int>(lane - free_from.begin());
    if (lane == free_from.end()) {
      free_from.push_back(bars[at].until);
    } else {
      *lane = bars[at].until;
    }
  }
  std::sort(bars.begin(), bars.end(), [&](const GanttBar& a, const GanttBar& b) {
    return std::tuple(row(a), a.lane, a.from) < std::tuple(row(b), b.lane, b.from);
  });
}

std::string row_name(const cluster::Cluster& cluster, const GanttBar& bar) {
  if (bar.stopped) return fmt::format("stopped and resumed {}", bar.lane + 1);
  const std::string node = fmt::format("node {}", cluster.node_label(bar.node));
  return bar.lane == 0 ? node : fmt::format("{} ({})", node, bar.lane + 1);
}

const char* wait_class(Duration wait) {
  if (wait <= Duration{0}) return "did not wait";
  if (wait < 1h) return "waited less than an hour";
  return wait < 24h ? "waited hours" : "waited a day or more";
}

std::string bar_label(const RunInput& input, const GanttBar& bar) {
  const trace::Job& job = input.trace().jobs[bar.job];
  std::string label = fmt::format("job {}", input.trace().id(job.id));
  if (job.request.user != kNoName) {
    label += fmt::format(" of {}", input.trace().names[job.request.user]);
  }
  return label + fmt::format(", {} GPU{}, waited {}", job.request.gpus,
                             job.request.gpus == 1 ? "" : "s", text::human_time(seconds(bar.wait)));
}

}  // namespace

GanttLimits gantt_limits(const RunInput& input) {
  constexpr std::size_t kBars = 8'000;
  GanttLimits limits;
  const std::size_t charts = std::min(limits.vcs, input.cluster().vcs.size()) * input.policies();
  limits.bars = std::clamp(kBars / std::max<std::size_t>(1, charts), std::size_t{20}, limits.bars);
  return limits;
}

std::vector<GanttWindow> gantt_windows(const RunInput& input, const GanttLimits& limits) {
  const cluster::Cluster& cluster = input.cluster();
  std::vector<int> gpus;
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) gpus.push_back(cluster.gpus(VcId{vc}));
  std::vector<Backlog> backlogs(cluster.vcs.size());
  const std::vector<trace::Job>& jobs = input.trace().jobs;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    if (input.vc(at) == kNoVc || jobs[at].request.gpus > gpus[index(input.vc(at))]) continue;
    backlogs[index(input.vc(at))].add(jobs[at], gpus[index(input.vc(at))]);
  }
  std::vector<GanttWindow> windows;
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    const Backlog& backlog = backlogs[vc];
    if (backlog.peak_gpu_s <= 0) continue;
    windows.push_back({VcId{vc}, backlog.peak_at, backlog.peak_at, backlog.peak_gpu_s / gpus[vc]});
  }
  std::stable_sort(windows.begin(), windows.end(), [](const GanttWindow& a, const GanttWindow& b) {
    return a.backlog_s > b.backlog_s;
  });
  if (windows.size() > limits.vcs) windows.resize(limits.vcs);
  // A window with too many jobs to draw is shortened, but not below six hours: a shorter one does
  // not show how a queue grows and shrinks.
  constexpr std::array<Duration, 3> kHalves = {12h, 6h, 3h};
  for (GanttWindow& window : windows) {
    const Time middle = window.from;
    for (const Duration half : kHalves) {
      window.from = std::max(middle - half, jobs.front().request.submit);
      window.until = middle + half;
      std::size_t submitted = 0;
      auto job = std::lower_bound(
          jobs.begin(), jobs.end(), window.from,
          [](const trace::Job& each, Time at) { return each.request.submit < at; });
      for (; job != jobs.end() && job->request.submit < window.until; ++job) {
        const auto at = static_cast<std::size_t>(job - jobs.begin());
        submitted += input.vc(at) == window.vc ? 1 : 0;
      }
      if (submitted <= limits.bars) break;
    }
  }
  return windows;
}

std::vector<GanttBar> gantt_of(const RunInput& input, const std::vector<GanttWindow>& windows,
                               const sim::Schedule& schedule, const GanttLimits& limits) {
  std::vector<Candidate> candidates = candidates_of(input, windows, schedule);
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.window, -a.gpu_s, a.job) < std::tuple(b.window, -b.gpu_s, b.job);
  });
  std::vector<GanttBar> bars;
  std::size_t of_window = 0;
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    const Candidate& each = candidates[at];
    if (at > 0 && candidates[at - 1].window != each.window) of_window = 0;
    const sim::JobResult result = schedule.jobs[each.job];
    const bool stopped = result.preemptions > 0;
    const std::size_t pieces = stopped ? 1 : result.num_grants;
    if (of_window + pieces > limits.bars) continue;
    of_window += pieces;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      bars.push_back(
          {.window = each.window,
           .job = each.job,
           .node = stopped ? NodeId{} : schedule.grants[result.first_grant + piece].node,
           .stopped = stopped,
           .from = each.from,
           .until = each.until,
           .wait = result.start - sim::joined(input.trace().jobs[each.job].request, result)});
    }
  }
  lay_out(bars);
  return bars;
}

figure::Figure draw_gantt(const RunInput& input, const std::vector<GanttWindow>& windows,
                          std::span<const Gantt> policies, const GanttLimits& limits) {
  figure::Figure figure{.id = "run_gantt", .title = "Jobs on nodes in the busiest hours"};
  auto& vc = figure.text("vc", "Virtual cluster");
  auto& policy = figure.text("policy", "Policy");
  auto& row = figure.text("node", "Node");
  auto& job = figure.text("job", "Job");
  auto& wait = figure.text("wait", "Wait");
  auto& from = figure.time("from_s", "From");
  auto& until = figure.time("until_s", "Until");
  for (std::uint32_t at = 0; at < windows.size(); ++at) {
    const std::string name = fmt::format(
        "{}, from {}", input.cluster().vcs[index(windows[at].vc)].name, moment(windows[at].from));
    for (const Gantt& each : policies) {
      for (const GanttBar& bar : each.bars) {
        if (bar.window != at) continue;
        vc.add(name);
        policy.add(each.policy);
        row.add(row_name(input.cluster(), bar));
        job.add(bar_label(input, bar));
        wait.add(wait_class(bar.wait));
        from.add(seconds(bar.from));
        until.add(seconds(bar.until));
      }
    }
  }
  std::string which = " of each virtual cluster";
  if (windows.size() == 1) {
    which = fmt::format(" from {} on", moment(windows.front().from));
  } else if (windows.size() < input.cluster().vcs.size()) {
    which += fmt::format(" (the {} with the largest backlogs of {})", windows.size(),
                         input.cluster().vcs.size());
  }
  figure.caption = fmt::format(
      "Up to a day{}, the same under every policy: the hours around the largest backlog of work. "
      "Jobs that share a node are drawn in lanes below each other. At most {} bars: the jobs with "
      "most GPU time. The simulation keeps only the first start and the end of a preempted job, so "
      "such a job has a row of its own.",
      which, limits.bars);
  figure.charts.push_back({.kind = "gantt",
                           .x = "from_s",
                           .y = {"node"},
                           .by = "wait",
                           .choose = {"vc", "policy"},
                           .labels = "job",
                           .end = "until_s"});
  return figure;
}

}  // namespace almanac::report
