// SPDX-License-Identifier: Apache-2.0

/// \file
/// What nodes draw in each state, and what that adds up to.
#pragma once

namespace almanac::energy {

/// Watts of one node and what a watt costs beyond it.
///
/// Source   800 W of an idle DGX-1, and cooling at twice the energy of the servers (factor 3): Hu
/// et
///          al., SC'21, section 4.3. 3,500 W busy is the DGX-1's rated maximum; asleep, only the
///          management controller runs; a boot takes 5 minutes (same section).
struct NodePower {
  double busy_w = 3500;
  double idle_w = 800;
  double booting_w = 800;
  double asleep_w = 10;
  double boot_s = 300;
  double facility_factor = 3;  ///< Energy of the facility / energy of the servers (PUE).
};

/// Seconds that nodes spent in each state, summed over nodes.
struct NodeTime {
  double busy_s = 0;
  double idle_s = 0;
  double booting_s = 0;
  double asleep_s = 0;
};

/// kWh of the facility.
double energy_kwh(const NodeTime& time, const NodePower& power);

/// The kWh a year that `nodes` nodes off on average spare when they would have idled and draw
/// nothing asleep: the paper's arithmetic.
double yearly_saving_kwh(double nodes, const NodePower& power);

}  // namespace almanac::energy
