// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which job held which node in the busiest hours of a virtual cluster: the bars of a Gantt chart.
///
/// The hours depend on the job log alone, so they are the same under every policy. They surround
/// the moment with the largest backlog: submitted work minus what the virtual cluster could have
/// done with every GPU busy.
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

/// The hours of one virtual cluster to draw.
struct GanttWindow {
  VcId vc{};
  Time from{};
  Time until{};
  double backlog_s = 0;  ///< Backlog in the middle, as the time that it would keep all GPUs busy.
};

struct GanttLimits {
  std::size_t vcs = 12;
  std::size_t bars = 150;  ///< Per virtual cluster and policy.
};

/// Returns limits that keep the page small for this number of policies and virtual clusters.
GanttLimits gantt_limits(const RunInput& input);

/// Returns the windows of the virtual clusters with the largest backlogs, largest first. O(jobs).
std::vector<GanttWindow> gantt_windows(const RunInput& input, const GanttLimits& limits);

/// A job on a node.
struct GanttBar {
  std::uint32_t window = 0;
  std::uint32_t job = 0;
  NodeId node{};         ///< For a job that was stopped: the first node of its last run.
  int lane = 0;          ///< Jobs on one node are in different lanes, from 0.
  bool stopped = false;  ///< Was stopped, so it held its GPUs for only part of this time.
  Time from{};           ///< Cut off at the window, like `until`.
  Time until{};
  Duration wait{};  ///< Wait before its first start.
};

/// Returns the bars by window, node and lane. If there are too many, keeps the jobs with most GPU
/// time in the window.
std::vector<GanttBar> gantt_of(const RunInput& input, const std::vector<GanttWindow>& windows,
                               const sim::Schedule& schedule, const GanttLimits& limits);

struct Gantt {
  std::string policy{};
  std::vector<GanttBar> bars{};
};

figure::Figure draw_gantt(const RunInput& input, const std::vector<GanttWindow>& windows,
                          std::span<const Gantt> policies, const GanttLimits& limits);

}  // namespace almanac::report
