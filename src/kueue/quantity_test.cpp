// SPDX-License-Identifier: Apache-2.0
#include "kueue/quantity.h"

#include <gtest/gtest.h>

namespace almanac::kueue {
namespace {

TEST(Quantity, IsInWholeUnitsAndCoresInThousandths) {
  EXPECT_EQ(read_quantity("8", "nvidia.com/gpu"), 8);
  EXPECT_EQ(read_quantity("8", "cpu"), 8'000);
  EXPECT_EQ(read_quantity("1500m", "cpu"), 1'500);
  EXPECT_EQ(read_quantity("0.5", "cpu"), 500);
  EXPECT_EQ(read_quantity("64Gi", "memory"), 64LL << 30);
  EXPECT_EQ(read_quantity("1.5Ki", "memory"), 1'536);
  EXPECT_EQ(read_quantity("2k", "memory"), 2'000);
  EXPECT_EQ(read_quantity("1e3", "memory"), 1'000);
  EXPECT_EQ(read_quantity("12E-1", "memory"), 2);
  EXPECT_EQ(read_quantity("0", "memory"), 0);
}

TEST(Quantity, IsRoundedUp) {
  EXPECT_EQ(read_quantity("1m", "memory"), 1);
  EXPECT_EQ(read_quantity("100u", "cpu"), 1);
  EXPECT_EQ(read_quantity("1001m", "nvidia.com/gpu"), 2);
}

TEST(Quantity, RefusesAllElse) {
  for (const char* const text : {"", ".", "-1", "8 ", "8gpu", "0x10", "1e", "1e+", "1e999", "8E8E",
                                 "9999999999999999999", "8Ei", "1000000E"}) {
    EXPECT_FALSE(read_quantity(text, "memory")) << text;
  }
}

}  // namespace
}  // namespace almanac::kueue
