// SPDX-License-Identifier: Apache-2.0

/// \file
/// Which nodes sleep when: strategies, run over a demand series, and their costs.
///
/// Demand is a number of nodes per step. Nodes requested beyond those on are woken at once, and are
/// late by the boot time; they count as delayed requests.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "energy/ces.h"
#include "energy/power.h"

namespace almanac::energy {

/// Nodes in use and nodes that there are, at each step; all known, no outages.
struct Demand {
  Time start{};
  Duration step = 10min;
  std::vector<int> used{};
  std::vector<int> total{};
};

/// Decisions of a strategy at each step.
struct Plan {
  std::vector<int> on;    ///< Nodes on, those woken in the step included; never below those used.
  std::vector<int> late;  ///< Nodes requested while asleep.
};

/// Returns the plan without sleep.
Plan always_on(const Demand& demand);
/// Returns the plan in which unused nodes sleep at once.
Plan follow_load(const Demand& demand);
/// Inputs of the published loop: the expected mean demand of the next steps and of twice as many,
/// at each step from what was known then.
struct Trend {
  std::vector<double> soon;
  std::vector<double> later;
};
Trend forecast_trend(const Demand& demand, const CesSettings& settings);

/// The published loop on forecasts that were made at each step from what was known then.
Plan published_loop(const Demand& demand, const Trend& trend, const CesSettings& settings);

/// Returns the optimum with a known future: it delays no job, and lets a node sleep if that saves
/// energy, that is, if the idle time costs more than the following boot. Requires `power.idle_w`
/// above asleep.
Plan offline_optimum(const Demand& demand, const PowerModel& power);

struct PlanFigures {
  std::string plan;
  double nodes_asleep = 0;    ///< Mean.
  double wake_ups_a_day = 0;  ///< Steps in which nodes were woken.
  double nodes_woken_a_day = 0;
  double delayed_a_day = 0;  ///< Requests for nodes that were asleep.
  double delayed_share = 0;  ///< Of all requests (rises of the demand).
  double delay_node_h = 0;   ///< Delayed requests times the time of a boot.
  double energy_kwh = 0;
  double saved_kwh = 0;  ///< Against always_on().
};

/// Returns the costs of `plan` from step `first` on.
PlanFigures judge_plan(const std::string& name, const Demand& demand, const Plan& plan,
                       const PowerModel& power, std::size_t first);

}  // namespace almanac::energy
