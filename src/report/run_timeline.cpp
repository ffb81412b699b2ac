// SPDX-License-Identifier: Apache-2.0
#include "report/run_timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "report/run_bins.h"
#include "text/human.h"

namespace almanac::report {
namespace {

LoadBin load_of(const sim::Sample& sample, Duration width) {
  const auto busy = static_cast<double>(sample.gpus_busy);
  const auto gpus = static_cast<double>(sample.gpus_waiting);
  const auto jobs = static_cast<double>(sample.jobs_waiting);
  return {.bin = bin_of(sample.at, width),
          .samples = 1,
          .gpus_total = static_cast<double>(sample.gpus_total),
          .gpus_busy = busy,
          .gpus_waiting = gpus,
          .jobs_waiting = jobs,
          .nodes_asleep = static_cast<double>(sample.nodes_asleep),
          .gpus_computing = sample.gpus_computing,
          .cpus_total = sample.cpus_total,
          .cpus_busy = sample.cpus_busy,
          .gpus_busy_min = busy,
          .gpus_busy_max = busy,
          .gpus_waiting_max = gpus,
          .jobs_waiting_max = jobs};
}

void append(std::vector<LoadBin>& bins, const LoadBin& bin) {
  if (!bins.empty() && bins.back().bin == bin.bin) {
    bins.back().add(bin);
  } else {
    bins.push_back(bin);
  }
}

std::vector<LoadBin> widened(const Timeline& timeline, Duration width) {
  std::vector<LoadBin> bins;
  for (LoadBin bin : timeline.bins) {
    bin.bin = bin_of(begin_of(bin.bin, timeline.width), width);
    append(bins, bin);
  }
  return bins;
}

template <class Is>
bool any_bin(std::span<const Timeline> timelines, Is is) {
  return std::any_of(timelines.begin(), timelines.end(), [&](const Timeline& timeline) {
    return std::any_of(timeline.bins.begin(), timeline.bins.end(), is);
  });
}

}  // namespace

void LoadBin::add(const LoadBin& more) {
  samples += more.samples;
  gpus_total += more.gpus_total;
  gpus_busy += more.gpus_busy;
  gpus_waiting += more.gpus_waiting;
  jobs_waiting += more.jobs_waiting;
  nodes_asleep += more.nodes_asleep;
  gpus_computing += more.gpus_computing;
  cpus_total += more.cpus_total;
  cpus_busy += more.cpus_busy;
  gpus_busy_min = std::min(gpus_busy_min, more.gpus_busy_min);
  gpus_busy_max = std::max(gpus_busy_max, more.gpus_busy_max);
  gpus_waiting_max = std::max(gpus_waiting_max, more.gpus_waiting_max);
  jobs_waiting_max = std::max(jobs_waiting_max, more.jobs_waiting_max);
}

Timeline timeline_of(const std::string& policy, const sim::Schedule& schedule, std::size_t most) {
  Timeline timeline{.policy = policy, .width = 1s, .bins = {}};
  if (schedule.timeline.empty()) return timeline;
  timeline.width = bin_width(schedule.timeline.front().at, schedule.timeline.back().at, most);
  for (const sim::Sample& sample : schedule.timeline) {
    append(timeline.bins, load_of(sample, timeline.width));
  }
  return timeline;
}

figure::Figure draw_timelines(std::span<const Timeline> timelines) {
  Duration width = 1s;
  for (const Timeline& timeline : timelines) width = std::max(width, timeline.width);
  figure::Figure figure{.id = "run_timeline", .title = "Load over time"};
  using figure::Unit;
  auto& policy = figure.text("policy", "Policy");
  auto& at = figure.time("time_s", "Time");
  auto& jobs = figure.number("jobs_waiting", "Pending jobs", Unit::jobs);
  auto& jobs_max = figure.number("jobs_waiting_max", "Pending jobs, maximum", Unit::jobs);
  auto& asked = figure.number("gpus_waiting", "GPUs requested by pending jobs", Unit::gpus);
  auto& asked_max =
      figure.number("gpus_waiting_max", "GPUs requested by pending jobs, maximum", Unit::gpus);
  auto& busy = figure.number("gpus_busy", "Allocated GPUs", Unit::gpus);
  auto& busy_min = figure.number("gpus_busy_min", "Allocated GPUs, minimum", Unit::gpus);
  auto& busy_max = figure.number("gpus_busy_max", "Allocated GPUs, maximum", Unit::gpus);
  auto& total = figure.number("gpus_total", "GPUs in service", Unit::gpus);
  auto& asleep = figure.number("nodes_asleep", "Nodes asleep", Unit::nodes);
  figure::Column* computing = nullptr;
  if (any_bin(timelines, [](const LoadBin& bin) { return std::isfinite(bin.gpus_computing); })) {
    computing = &figure.number("gpus_computing", "Computing GPUs", Unit::gpus);
  }
  figure::Column* cores = nullptr;
  figure::Column* all_cores = nullptr;
  if (any_bin(timelines, [](const LoadBin& bin) { return bin.cpus_total > 0; })) {
    cores = &figure.number("cpus_busy", "Allocated cores");
    all_cores = &figure.number("cpus_total", "Cores in service");
  }
  bool any_asleep = false;
  for (const Timeline& timeline : timelines) {
    for (const LoadBin& bin : widened(timeline, width)) {
      const auto mean = [&](double sum) { return std::round(10 * sum / bin.samples) / 10; };
      policy.add(timeline.policy);
      at.add(seconds(begin_of(bin.bin, width)));
      jobs.add(mean(bin.jobs_waiting));
      jobs_max.add(bin.jobs_waiting_max);
      asked.add(mean(bin.gpus_waiting));
      asked_max.add(bin.gpus_waiting_max);
      busy.add(mean(bin.gpus_busy));
      busy_min.add(bin.gpus_busy_min);
      busy_max.add(bin.gpus_busy_max);
      total.add(mean(bin.gpus_total));
      asleep.add(mean(bin.nodes_asleep));
      any_asleep = any_asleep || bin.nodes_asleep > 0;
      if (computing != nullptr) computing->add(mean(bin.gpus_computing));
      if (cores != nullptr) {
        cores->add(mean(bin.cpus_busy));
        all_cores->add(mean(bin.cpus_total));
      }
    }
  }
  figure.caption = fmt::format(
      "Means over steps of {}; the table has the minimum and maximum of each step. Jobs that can "
      "never start are left out.",
      text::human_time(seconds(width)));
  figure.charts.push_back({.kind = "line",
                           .title = "Pending jobs",
                           .x = "time_s",
                           .y = {"jobs_waiting"},
                           .by = "policy"});
  figure::Chart gpus{.kind = "line",
                     .title = "Allocated GPUs under one policy, with the range within each step",
                     .x = "time_s",
                     .y = {"gpus_busy", "gpus_total"},
                     .choose = {"policy"},
                     .band = {{"gpus_busy_min", "gpus_busy_max"}}};
  if (computing != nullptr) {
    gpus.title = "Allocated and computing GPUs under one policy";
    gpus.y = {"gpus_busy", "gpus_computing", "gpus_total"};
  }
  figure.charts.push_back(std::move(gpus));
  figure.charts.push_back({.kind = "line",
                           .title = "GPUs requested by pending jobs",
                           .x = "time_s",
                           .y = {"gpus_waiting"},
                           .by = "policy"});
  if (computing != nullptr) {
    figure.charts.push_back({.kind = "line",
                             .title = "Computing GPUs",
                             .x = "time_s",
                             .y = {"gpus_computing"},
                             .by = "policy"});
  }
  if (cores != nullptr) {
    figure.charts.push_back({.kind = "line",
                             .title = "Allocated cores under one policy",
                             .x = "time_s",
                             .y = {"cpus_busy", "cpus_total"},
                             .choose = {"policy"}});
  }
  if (any_asleep) {
    figure.charts.push_back({.kind = "line",
                             .title = "Nodes asleep",
                             .x = "time_s",
                             .y = {"nodes_asleep"},
                             .by = "policy"});
  }
  return figure;
}

}  // namespace almanac::report
