// SPDX-License-Identifier: Apache-2.0
#include "text/duration.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::text {
namespace {

TEST(DurationText, ReadsSlurmsSpellings) {
  EXPECT_EQ(parse_duration("03:04:05"), 3h + 4min + 5s);
  EXPECT_EQ(parse_duration("2-03:04:05"), 51h + 4min + 5s);
  EXPECT_EQ(parse_duration("04:05"), 4min + 5s);
  EXPECT_EQ(parse_duration("2-03"), 51h);
  EXPECT_EQ(parse_duration("2-03:04"), 51h + 4min);
  EXPECT_EQ(parse_duration("100:00:00"), 100h);
  EXPECT_EQ(parse_duration("01:02.345"), 1min + 2s + 345ms);
  EXPECT_EQ(parse_duration("UNLIMITED"), kUnlimited);
}

TEST(DurationText, ReadsWhatPythonPrints) {
  EXPECT_EQ(parse_duration("1 day, 6:00:00"), 30h);
  EXPECT_EQ(parse_duration("12 days, 0:00:01.500000"), 12 * 24h + 1500ms);
  EXPECT_EQ(parse_duration("0 days 06:00:00"), 6h);
  EXPECT_EQ(parse_duration("3 days"), 72h);
  for (const char* text : {"-1 day, 23:59:50", "1 day,", "1 day, 6", "1 day, 6:00", "days, 1:00:00",
                           "1 week, 1:00:00", "1  day, 1:00:00"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, ReadsUnits) {
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("10m"), 10min);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("1d"), 24h);
  EXPECT_EQ(parse_duration("2w"), 14 * 24h);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("0"), 0s);
}

TEST(DurationText, RefusesABareNumberAndNonsense) {
  for (const char* text : {"", "90", "-1s", "1x", "h", "1:2:3:4", "a:b", "1-", "-03:00", "::", "1:",
                           "1-2-3", "1h30m", "Partition_Limit", "INVALID", "99999999999999w"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(DurationText, IsWrittenAsSlurmDoes) {
  EXPECT_EQ(format_duration(5s), "00:00:05");
  EXPECT_EQ(format_duration(51h + 4min + 5s), "2-03:04:05");
  EXPECT_EQ(format_duration(1s + 20ms), "00:00:01.020");
  EXPECT_EQ(format_duration(kUnlimited), "UNLIMITED");
  EXPECT_EQ(format_duration(-90s), "-00:01:30");
}

RC_GTEST_PROP(DurationTextProperty, WhatIsWrittenReadsBackTheSame, ()) {
  const Duration duration(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
  RC_ASSERT(parse_duration(format_duration(duration)) == duration);
}

}  // namespace
}  // namespace almanac::text
