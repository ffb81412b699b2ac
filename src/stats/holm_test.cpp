// SPDX-License-Identifier: Apache-2.0
#include "stats/holm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

// The least of four counts four times, 0.02 as the least of three is 0.06, and none is adjusted to
// less than the one before it.
TEST(Holm, MultipliesByTheTestsThatAreLeft) {
  EXPECT_THAT(holm(std::vector<double>{0.02, 0.01, 0.9, 0.03}),
              testing::Pointwise(testing::DoubleNear(1e-12), {0.06, 0.04, 0.9, 0.06}));
  EXPECT_EQ(holm(std::vector<double>{0.5, 0.9}), (std::vector<double>{1.0, 1.0}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace almanac::stats
