// SPDX-License-Identifier: Apache-2.0
#include "text/gauge.h"

#include <cmath>

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(Gauge, HasAPlaceForEachFivePercent) {
  EXPECT_EQ(gauge(0, false), "[                    ]");
  EXPECT_EQ(gauge(0.35, false), "[|||||||             ]");
  EXPECT_EQ(gauge(46.29, false), "[||||||||||||||||||||]") << "more than all is all";
  EXPECT_EQ(gauge(0.001, false), "[|                   ]") << "little is not nothing";
  EXPECT_EQ(gauge(std::nan(""), true), "[                    ]");
}

TEST(Gauge, IsColouredByItsShare) {
  EXPECT_EQ(gauge(0.1, true), "[\x1b[31m||\x1b[0m                  ]");
  EXPECT_EQ(gauge(0.4, true), "[\x1b[33m||||||||\x1b[0m            ]");
  EXPECT_EQ(gauge(0.5, true), "[\x1b[32m||||||||||\x1b[0m          ]");
  EXPECT_EQ(gauge(0, true), "[                    ]");
}

}  // namespace
}  // namespace almanac::text
