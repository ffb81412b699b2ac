// SPDX-License-Identifier: Apache-2.0

/// \file
/// Days off: weekends, and a file that says otherwise.
#include "energy/calendar.h"

#include <fstream>

#include <gtest/gtest.h>

#include "text/datetime.h"

namespace almanac::energy {
namespace {

Time day(const char* text) { return text::parse_datetime(text).value(); }

std::string write(const std::string& content) {
  const std::string path = testing::TempDir() + "calendar.csv";
  std::ofstream(path) << content;
  return path;
}

TEST(Calendar, KnowsWeekends) {
  EXPECT_EQ(Calendar::weekday(day("2020-09-07 12:00:00")), 0);  // a Monday
  EXPECT_FALSE(Calendar().is_off(day("2020-09-11 23:59:59")));
  EXPECT_TRUE(Calendar().is_off(day("2020-09-12 00:00:00")));
  EXPECT_TRUE(Calendar().is_off(day("2020-09-13 23:59:59")));
}

TEST(Calendar, TakesHolidaysAndWorkingWeekendsFromAFile) {
  const auto calendar = Calendar::read(write("date,day\n2020-10-01,off\n2020-10-10,work\n"));
  ASSERT_TRUE(calendar) << calendar.error().message;
  EXPECT_TRUE(calendar->is_off(day("2020-10-01 08:00:00")));   // a Thursday
  EXPECT_FALSE(calendar->is_off(day("2020-10-10 08:00:00")));  // a Saturday
  EXPECT_TRUE(calendar->is_off(day("2020-10-11 08:00:00")));
}

TEST(Calendar, NamesTheLineThatSaysSomethingElse) {
  const auto calendar = Calendar::read(write("date,day\n2020-10-01,off\n2020-10-02,maybe\n"));
  ASSERT_FALSE(calendar);
  EXPECT_EQ(calendar.error().where.line, 3);
  EXPECT_FALSE(Calendar::read(write("when,what\n2020-10-01,off\n")));
}

}  // namespace
}  // namespace almanac::energy
