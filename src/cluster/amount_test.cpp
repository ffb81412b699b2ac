// SPDX-License-Identifier: Apache-2.0

/// \file
/// Amounts in whole thousandths.
#include "cluster/amount.h"

#include <gtest/gtest.h>

namespace almanac::cluster {
namespace {

TEST(Amount, CountsTheLeastOfACoreAsSomething) {
  EXPECT_EQ(cpu_milli(0.0004), 1);
  EXPECT_EQ(memory_mb(1e-9), 1);
  EXPECT_EQ(cpu_milli(0), 0);
  EXPECT_EQ(cpu_milli(0.0014), 1);
  EXPECT_EQ(cpu_milli(1e9), kUnbounded);
}

}  // namespace
}  // namespace almanac::cluster
