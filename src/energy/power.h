// SPDX-License-Identifier: Apache-2.0

/// \file
/// The power of a node in each state, and its sums: energy, cost, carbon.
///
/// A node is on, booting or asleep. A node that is on draws `idle_w`, and each of its GPUs in use
/// adds to that. Models are files (power_file.h); built-in ones are in presets/power, where each
/// number has its source.
///
/// Differs  In simulations and plans a node falls asleep at once; the minute or so at idle power
///          before that (`suspend_s`) is ignored.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "energy/power_curve.h"

namespace almanac::energy {

/// Price and emissions per kWh at the facility's meter.
struct Facility {
  double pue = 1;  ///< Energy of the facility / energy of the nodes; at least 1.
  double price_per_kwh = 0;
  std::string currency{};
  double kg_co2_per_kwh = 0;
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct PowerModel {
  std::string name{};
  int gpus = 1;          ///< Per node.
  double idle_w = 0;     ///< A node that is on, all its GPUs idle.
  double full_w = 0;     ///< All its GPUs at full use, without a limit.
  double booting_w = 0;  ///< From the wake-up until it accepts jobs.
  double asleep_w = 0;
  double boot_s = 300;   ///< How long it is booting.
  double suspend_s = 0;  ///< How long it takes to fall asleep.

  std::string gpu_type{};
  double gpu_limit_w = 1;        ///< Highest power limit of the board, which applies by default.
  double gpu_least_limit_w = 1;  ///< The lowest limit that was measured.
  PowerCurve gpu_curve{};
  std::vector<NetworkUse> gpu_use{};  ///< Of the networks measured on the board.

  Facility facility{};

  /// Returns what a GPU adds to its node's idle power. Its share of the node (processors, fans,
  /// losses) grows with the board's power. `use` is 0 ... 1; `limit_w` at least gpu_least_limit_w.
  double gpu_w(double use = 1, double limit_w = kNoLimit) const;
  /// How fast a job of this use runs, relative to no limit.
  double gpu_speed(double use, double limit_w) const;
  /// Returns the power of a node that is on, with this many of its GPUs at full use; parts of a GPU
  /// are allowed.
  double node_w(double busy_gpus) const { return idle_w + busy_gpus * gpu_w(); }
  /// An idle gap must be longer for a node to spare energy by sleeping in it: it has to boot in
  /// time, and what the boot draws has to come in. `idle_w` is above `asleep_w`.
  double least_sleep_s() const;
};

/// Seconds that nodes spent in each state, summed over nodes. Exact for whatever is constant
/// between events: the caller adds nodes times seconds.
struct NodeTime {
  double on_s = 0;
  double booting_s = 0;
  double asleep_s = 0;
  double busy_gpu_s = 0;  ///< GPU-seconds of full use, without a limit; half use counts half.
};

/// Joules of the nodes (not of the facility), by what took them. GPUs under a limit are added by
/// `gpu_j += model.gpu_w(use, limit_w) * seconds`.
struct Energy {
  double on_j = 0;   ///< Nodes that are on, as if all their GPUs were idle.
  double gpu_j = 0;  ///< Energy that GPUs in use add to that.
  double booting_j = 0;
  double asleep_j = 0;

  double total_j() const { return on_j + gpu_j + booting_j + asleep_j; }
  Energy& operator+=(const Energy& more);
};

Energy energy_of(const NodeTime& time, const PowerModel& model);

/// What the facility pays for.
struct Bill {
  double nodes_kwh = 0;
  double facility_kwh = 0;
  double cost = 0;  ///< In the facility's currency.
  double kg_co2 = 0;
};

Bill bill_of(const Energy& energy, const Facility& facility);

inline constexpr double kHoursPerYear = 8760;

}  // namespace almanac::energy
