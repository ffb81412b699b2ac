// SPDX-License-Identifier: Apache-2.0
#include "trace/swf_start.h"

#include <gtest/gtest.h>

#include "text/datetime.h"

namespace almanac::trace {
namespace {

/// "2006-02-21 18:44:15", with " zoned" behind it if the date says its zone; "none" = unreadable.
std::string start_of(std::string_view text) {
  const auto start = parse_swf_start(text);
  if (!start) return "none";
  return text::format_datetime(start->time) + (start->has_zone ? " zoned" : "");
}

TEST(SwfStart, ReadsWhatDatePrints) {
  EXPECT_EQ(start_of("Tue Feb 21 18:44:15 IST 2006"), "2006-02-21 18:44:15");
  EXPECT_EQ(start_of("Fri Oct  1 00:00:03 PDT 1993"), "1993-10-01 00:00:03");
  EXPECT_EQ(start_of("Tue Feb 21 18:44:15 2006"), "2006-02-21 18:44:15");
  EXPECT_EQ(start_of("Tue 21 Feb 2006 18:44:15 CET"), "2006-02-21 18:44:15");
  EXPECT_EQ(start_of("2006-02-21 18:44:15"), "2006-02-21 18:44:15");
  EXPECT_EQ(start_of("Feb 21 18:44 2006"), "2006-02-21 18:44:00");
}

TEST(SwfStart, UsesOnlyZonesThatMeanOneOffset) {
  EXPECT_EQ(start_of("Tue Feb 21 18:44:15 UTC 2006"), "2006-02-21 18:44:15 zoned");
  EXPECT_EQ(start_of("Tue Feb 21 18:44:15 +0200 2006"), "2006-02-21 16:44:15 zoned");
  EXPECT_EQ(start_of("Tue Feb 21 18:44:15 -0530 2006"), "2006-02-22 00:14:15 zoned");
  EXPECT_EQ(start_of("2006-02-21T18:44:15+02:00"), "2006-02-21 16:44:15 zoned");
}

TEST(SwfStart, ReadsNothingIntoOtherTexts) {
  for (const char* const text : {"", "unknown", "2006", "Feb 2006", "Tue Feb 30 18:44:15 2006",
                                 "Tue Feb 21 18:44:15 PM IST 2006", "21 22 Feb 18:44:15 2006"}) {
    EXPECT_EQ(start_of(text), "none") << text;
  }
}

}  // namespace
}  // namespace almanac::trace
