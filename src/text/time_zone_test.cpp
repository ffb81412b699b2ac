// SPDX-License-Identifier: Apache-2.0
#include "text/time_zone.h"

#include <gtest/gtest.h>

#include "text/datetime.h"

namespace almanac::text {
namespace {

Time at(const char* text) { return parse_datetime(text).value(); }

TEST(TimeZone, ReadsATimeThatAClockShowsOnce) {
  const auto zone = TimeZone::find("Europe/Berlin");
  ASSERT_TRUE(zone) << to_string(zone.error());
  const Moments summer = zone->moments_of(at("2025-07-01 12:00:00"));
  EXPECT_EQ(summer.first, at("2025-07-01 10:00:00"));
  EXPECT_EQ(summer.last, summer.first);
  EXPECT_EQ(zone->moments_of(at("2025-01-01 12:00:00")).first, at("2025-01-01 11:00:00"));
}

TEST(TimeZone, GivesBothMomentsOfAnHourThatComesTwice) {
  const auto berlin = TimeZone::find("Europe/Berlin").value();
  EXPECT_EQ(berlin.moments_of(at("2025-10-26 02:30:00")),
            (Moments{at("2025-10-26 00:30:00"), at("2025-10-26 01:30:00")}));
  EXPECT_EQ(berlin.moments_of(at("2025-10-26 01:59:59")),
            (Moments{at("2025-10-25 23:59:59"), at("2025-10-25 23:59:59")}));
  EXPECT_EQ(berlin.moments_of(at("2025-10-26 03:00:00")),
            (Moments{at("2025-10-26 02:00:00"), at("2025-10-26 02:00:00")}));
  const auto island = TimeZone::find("Australia/Lord_Howe").value();
  EXPECT_EQ(island.moments_of(at("2025-04-06 01:45:00")),
            (Moments{at("2025-04-05 14:45:00"), at("2025-04-05 15:15:00")}))
      << "half an hour";
}

TEST(TimeZone, ReadsATimeThatAClockSkips) {
  const auto zone = TimeZone::find("America/New_York").value();
  const Moments skipped = zone.moments_of(at("2025-03-09 02:30:00"));
  EXPECT_EQ(skipped.first, at("2025-03-09 07:30:00"));
}

TEST(TimeZone, FollowsTheRuleBeyondTheLastChangeOfTheFile) {
  const auto zone = TimeZone::find("America/New_York").value();
  EXPECT_EQ(zone.offset_at(at("2055-07-01 00:00:00")), -4h);
  EXPECT_EQ(zone.offset_at(at("2055-12-01 00:00:00")), -5h);
}

TEST(TimeZone, TakesOffsetsAndRefusesWhatIsNoZone) {
  EXPECT_EQ(TimeZone::find("+05:30").value().offset_at({}), 5h + 30min);
  EXPECT_EQ(TimeZone::find("-0800").value().offset_at({}), -8h);
  EXPECT_EQ(TimeZone::find("UTC").value().offset_at({}), 0h);
  for (const char* const name : {"Europe/Atlantis", "", "../etc/passwd", "/etc/localtime", "+99"}) {
    EXPECT_FALSE(TimeZone::find(name)) << name;
  }
}

}  // namespace
}  // namespace almanac::text
