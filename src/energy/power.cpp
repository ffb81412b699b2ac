// SPDX-License-Identifier: Apache-2.0
#include "energy/power.h"

namespace almanac::energy {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kHoursPerYear = 8760;

}  // namespace

double energy_kwh(const NodeTime& time, const NodePower& power) {
  const double joules = time.busy_s * power.busy_w + time.idle_s * power.idle_w +
                        time.booting_s * power.booting_w + time.asleep_s * power.asleep_w;
  return joules * power.facility_factor / kJoulesPerKwh;
}

double yearly_saving_kwh(double nodes, const NodePower& power) {
  return nodes * power.idle_w * power.facility_factor * kHoursPerYear / 1000;
}

}  // namespace almanac::energy
