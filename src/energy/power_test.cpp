// SPDX-License-Identifier: Apache-2.0
#include "energy/power.h"

#include <gtest/gtest.h>

namespace almanac::energy {
namespace {

/// A node of 2 GPUs; nothing of it is round by chance.
PowerModel small_node() {
  return {.gpus = 2,
          .idle_w = 500,
          .full_w = 1000,
          .booting_w = 600,
          .asleep_w = 10,
          .gpu_limit_w = 200,
          .gpu_least_limit_w = 100,
          .gpu_curve = {.idle = 0.25, .full = 1, .bend = 1, .strain = 2},
          .facility = {.pue = 1.5, .price_per_kwh = 0.2, .currency = "EUR", .kg_co2_per_kwh = 0.4}};
}

TEST(Power, AddsUpByHand) {
  const PowerModel model = small_node();
  // 3 node-hours on, 2 GPU-hours busy, 0.1 kWh booting, 0.1 kWh asleep.
  const Energy energy =
      energy_of({.on_s = 10800, .booting_s = 600, .asleep_s = 36000, .busy_gpu_s = 7200}, model);
  EXPECT_DOUBLE_EQ(energy.on_j, 1.5 * 3.6e6);
  EXPECT_DOUBLE_EQ(energy.gpu_j, 0.5 * 3.6e6);
  EXPECT_DOUBLE_EQ(energy.booting_j, 0.1 * 3.6e6);
  EXPECT_DOUBLE_EQ(energy.asleep_j, 0.1 * 3.6e6);
  const Bill bill = bill_of(energy, model.facility);
  EXPECT_DOUBLE_EQ(bill.nodes_kwh, 2.2);
  EXPECT_DOUBLE_EQ(bill.facility_kwh, 3.3);
  EXPECT_DOUBLE_EQ(bill.cost, 0.66);
  EXPECT_DOUBLE_EQ(bill.kg_co2, 1.32);
}

TEST(Power, AddsEnergies) {
  Energy sum{.on_j = 1, .gpu_j = 2, .booting_j = 3, .asleep_j = 4};
  sum += {.on_j = 10, .gpu_j = 20, .booting_j = 30, .asleep_j = 40};
  EXPECT_EQ(sum.total_j(), 110);
}

TEST(Power, NodeDrawsIdlePlusItsBusyGpus) {
  const PowerModel model = small_node();
  EXPECT_DOUBLE_EQ(model.node_w(0), 500);
  EXPECT_DOUBLE_EQ(model.node_w(1), 750);
  EXPECT_DOUBLE_EQ(model.node_w(2), 1000);
  EXPECT_DOUBLE_EQ(model.gpu_w(0.5), 125);
}

// Full use needs the whole headroom above idle, 150 W. A limit of 150 W leaves 100 W, two thirds: 1
// / (1 + 3/2 - 1) = 2/3 of the draw, 1 - (1/3)^2 = 8/9 of the speed.
TEST(Power, LimitCutsDrawMoreThanSpeed) {
  const PowerModel model = small_node();
  EXPECT_DOUBLE_EQ(model.gpu_w(1, 150), 250.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(model.gpu_speed(1, 150), 8.0 / 9);
  EXPECT_DOUBLE_EQ(model.gpu_w(1, 200), 250);
  EXPECT_DOUBLE_EQ(model.gpu_speed(1, 200), 1);
}

// Hu et al., SC'21, section 4.3: "over 1.65 million kWh" a year (helios_philly.md, section 3.3).
TEST(Power, RepeatsThePapersArithmetic) {
  const PowerModel model{.idle_w = 800, .full_w = 3500, .facility = {.pue = 3}};
  const double nodes = 5.0 + 20.5 + 20.0 + 34.0;
  const Energy year = energy_of({.on_s = nodes * kHoursPerYear * 3600}, model);
  EXPECT_NEAR(bill_of(year, model.facility).facility_kwh, 1'671'408, 1e-6);
}

}  // namespace
}  // namespace almanac::energy
