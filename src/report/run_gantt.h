// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which job held which node in the busiest hours of a virtual cluster: the bars of a Gantt chart.
///
/// The hours are chosen from the job log alone, so that they are the same under every policy: those
/// around the moment at which most work had been submitted that the virtual cluster could not have
/// done yet, had it kept every GPU busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "report/run_input.h"
#include "sim/simulation.h"

namespace almanac::report {

/// The hours of one virtual cluster that are drawn.
struct GanttWindow {
  VcId vc{};
  Time from{};
  Time until{};
  double backlog_s = 0;  ///< The work at hand in its middle: so long would all GPUs be busy.
};

struct GanttLimits {
  std::size_t vcs = 12;
  std::size_t bars = 150;  ///< Of a virtual cluster under a policy.
};

/// As many bars as keep the page small with so many policies and virtual clusters.
GanttLimits gantt_limits(const RunInput& input);

/// Of the virtual clusters with the largest backlogs, largest first. O(jobs).
std::vector<GanttWindow> gantt_windows(const RunInput& input, const GanttLimits& limits);

/// A job on a node.
struct GanttBar {
  std::uint32_t window = 0;
  std::uint32_t job = 0;
  NodeId node{};         ///< Of a job that was stopped on the way: the first node of its last run.
  int lane = 0;          ///< Jobs that share a node lie in lanes, from 0.
  bool stopped = false;  ///< Was stopped on the way, so that it held GPUs a part of the time only.
  Time from{};           ///< Cut at the window, as `until`.
  Time until{};
  Duration wait{};  ///< Before its first start.
};

/// By window, node and lane; where there are too many bars, those of the jobs with most GPU time in
/// the window.
std::vector<GanttBar> gantt_of(const RunInput& input, const std::vector<GanttWindow>& windows,
                               const sim::Schedule& schedule, const GanttLimits& limits);

struct Gantt {
  std::string policy{};
  std::vector<GanttBar> bars{};
};

figure::Figure draw_gantt(const RunInput& input, const std::vector<GanttWindow>& windows,
                          std::span<const Gantt> policies, const GanttLimits& limits);

}  // namespace almanac::report
