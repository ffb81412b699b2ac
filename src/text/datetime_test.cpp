// SPDX-License-Identifier: Apache-2.0
#include "text/datetime.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::text {
namespace {

Time at(std::int64_t milliseconds) { return Time(Duration(milliseconds)); }

TEST(Datetime, ReadsBothSeparators) {
  EXPECT_EQ(parse_datetime("1970-01-01 00:00:00"), at(0));
  EXPECT_EQ(parse_datetime("2020-05-27 23:58:26"), at(1590623906000));
  EXPECT_EQ(parse_datetime("2020-05-27T23:58:26"), at(1590623906000));
}

TEST(Datetime, ReadsADateAloneAsMidnight) {
  EXPECT_EQ(parse_datetime("2020-05-27"), at(1590537600000));
}

TEST(Datetime, ReadsATimeWithoutSeconds) {
  EXPECT_EQ(parse_datetime("2020-05-27 23:58"), at(1590623880000));
  EXPECT_EQ(parse_datetime("2020-05-27T23:58Z"), at(1590623880000));
  EXPECT_EQ(parse_datetime("2020-05-28T07:58+08:00"), at(1590623880000));
}

TEST(Datetime, ReadsFractionsAndZones) {
  EXPECT_EQ(parse_datetime("2020-05-27T23:58:26.125"), at(1590623906125));
  EXPECT_EQ(parse_datetime("2020-05-27T23:58:26.5Z"), at(1590623906500));
  EXPECT_EQ(parse_datetime("2020-05-27T23:58:26.123456789"), at(1590623906123));
  EXPECT_EQ(parse_datetime("2020-05-28T07:58:26+08:00"), at(1590623906000));
  EXPECT_EQ(parse_datetime("2020-05-27T16:58:26-0700"), at(1590623906000));
}

TEST(Datetime, KnowsLeapYears) {
  EXPECT_TRUE(parse_datetime("2020-02-29 00:00:00"));
  EXPECT_FALSE(parse_datetime("2021-02-29 00:00:00"));
}

TEST(Datetime, RefusesAllElse) {
  for (const char* text :
       {"", "2020", "2020-13-01 00:00:00", "2020-00-01", "2020-05-27 24:00:00",
        "2020-05-27 23:60:00", "2020-05-27 23:5", "2020-05-27 23:58:", "2020-05-27 23:58.5",
        "2020-05-27 23:58:26 ", "2020/05/27 23:58:26", "1590623906", "2020-05-27x23:58:26",
        "2020-05-27 23:58:26.", "20-05-27 00:00:00"}) {
    EXPECT_FALSE(parse_datetime(text)) << text;
  }
}

RC_GTEST_PROP(DatetimeProperty, WhatIsWrittenReadsBackTheSame, ()) {
  // Years 1 to 9999.
  const Time time = at(*rc::gen::inRange<std::int64_t>(-62135596800000, 253402300800000));
  RC_ASSERT(parse_datetime(format_datetime(time)) == time);
}

}  // namespace
}  // namespace almanac::text
