// SPDX-License-Identifier: Apache-2.0
#include "text/number.h"

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(Whole, ReadsSignsAndZeroFractions) {
  EXPECT_EQ(parse_whole("42"), 42);
  EXPECT_EQ(parse_whole("-7"), -7);
  EXPECT_EQ(parse_whole("8.0"), 8);
  EXPECT_EQ(parse_whole("8."), 8);
}

TEST(Whole, RefusesWhatIsNotAllOfANumber) {
  for (const char* text : {"", " 1", "1 ", "1.5", "0x10", "1e3", "eight", "9223372036854775808"}) {
    EXPECT_EQ(parse_whole(text), std::nullopt) << text;
  }
}

TEST(Decimal, RefusesWhatIsNotFinite) {
  EXPECT_EQ(parse_decimal("-1.5"), -1.5);
  EXPECT_EQ(parse_decimal("2e3"), 2000);
  for (const char* text : {"", "nan", "inf", "1e999", "1,5", "1.5x"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

TEST(Thousandths, AreExactUpToThreeDecimals) {
  EXPECT_EQ(parse_thousandths("1.5"), 1500);
  EXPECT_EQ(parse_thousandths("-0.001"), -1);
  EXPECT_EQ(parse_thousandths("1585699200"), 1585699200000);
  EXPECT_EQ(parse_thousandths("999999999999.999"), 999999999999999);
  EXPECT_EQ(parse_thousandths(".5"), 500);
}

TEST(Thousandths, RoundWhatIsFiner) {
  EXPECT_EQ(parse_thousandths("0.0005"), 1);
  EXPECT_EQ(parse_thousandths("1.23449"), 1234);
  EXPECT_EQ(parse_thousandths("1e2"), 100000);
}

TEST(Thousandths, CountOtherUnits) { EXPECT_EQ(parse_thousandths("1.5", 60), 90000); }

TEST(Thousandths, RefuseWhatDoesNotFit) {
  for (const char* text : {"", "-", "1e300", "99999999999999999999", "1.2.3", "--1", "."}) {
    EXPECT_EQ(parse_thousandths(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace almanac::text
