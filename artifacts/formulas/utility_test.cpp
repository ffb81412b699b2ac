// SPDX-License-Identifier: Apache-2.0
#include "formulas/utility.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::topology {
namespace {

Machine two_sockets() {
  return {.socket = {0, 0, 1, 1},
          .distance = {{0, 1, 20, 20}, {1, 0, 20, 20}, {20, 20, 0, 1}, {20, 20, 1, 0}},
          .least_communication = {{1, 0.01}, {2, 1}, {3, 41}},
          .most_communication = {{1, 0.01}, {2, 40}, {3, 60}}};
}

const Times kTimes{.alone = [](const Kind&, int, bool) { return 90.0; },
                   .beside = [](const Kind&, int, const Kind&, int) { return 100.0; }};
constexpr Weights kNeutral{1. / 3, 1. / 3, 1. / 3};

TEST(Utility, PrefersASocketWhole) {
  const Utility within = utility(two_sockets(), kTimes, kNeutral, {"a", 1}, {0, 1}, {});
  const Utility across = utility(two_sockets(), kTimes, kNeutral, {"a", 1}, {0, 2}, {});
  EXPECT_DOUBLE_EQ(within.communication, 0.01);
  EXPECT_DOUBLE_EQ(across.communication, 19);
  EXPECT_GT(within.job, across.job);
  EXPECT_GT(within.system, across.system);
  EXPECT_TRUE(std::isnan(within.caused));
}

TEST(Utility, SeesNeighboursOfItsSockets) {
  const std::vector<Resident> residents{{{"b", 1}, {0}}};
  const Utility beside = utility(two_sockets(), kTimes, kNeutral, {"a", 1}, {1}, residents);
  const Utility apart = utility(two_sockets(), kTimes, kNeutral, {"a", 1}, {2}, residents);
  EXPECT_DOUBLE_EQ(beside.suffered, 0.9);
  EXPECT_DOUBLE_EQ(beside.caused, 0.9);
  EXPECT_DOUBLE_EQ(apart.suffered, 0.01);
}

}  // namespace
}  // namespace almanac::topology
