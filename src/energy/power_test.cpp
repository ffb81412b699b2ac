// SPDX-License-Identifier: Apache-2.0
#include "energy/power.h"

#include <gtest/gtest.h>

namespace almanac::energy {
namespace {

TEST(Power, AddsUpByHand) {
  const NodePower power{
      .busy_w = 1000, .idle_w = 500, .booting_w = 600, .asleep_w = 10, .facility_factor = 1.5};
  // 1 kWh busy, 1 kWh idle, 0.1 kWh booting, 0.1 kWh asleep; half as much again for the facility.
  EXPECT_DOUBLE_EQ(
      energy_kwh({.busy_s = 3600, .idle_s = 7200, .booting_s = 600, .asleep_s = 36000}, power),
      1.5 * 2.2);
}

// Hu et al., SC'21, section 4.3: "over 1.65 million kWh" a year (helios_philly.md, section 3.3).
TEST(Power, RepeatsThePapersArithmetic) {
  EXPECT_NEAR(yearly_saving_kwh(5.0 + 20.5 + 20.0 + 34.0, {}), 1'671'408, 1e-3);
}

}  // namespace
}  // namespace almanac::energy
