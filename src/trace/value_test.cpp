// SPDX-License-Identifier: Apache-2.0
#include "trace/value.h"

#include <gtest/gtest.h>

namespace almanac::trace {
namespace {

Request due(Time deadline) {
  Request request;
  request.deadline = deadline;
  return request;
}

TEST(Value, IsLostAtAStrictDeadline) {
  const Request request = due(Time(100s));
  EXPECT_EQ(value_at(request, Time(100s)), 1);
  EXPECT_EQ(value_at(request, Time(100s) + 1ms), 0);
}

TEST(Value, FallsInALineWhereTheDeadlineIsSoft) {
  Request request = due(Time(100s));
  request.value = 8;
  request.worthless_at = Time(140s);
  EXPECT_EQ(value_at(request, Time(99s)), 8);
  EXPECT_EQ(value_at(request, Time(100s)), 8);
  EXPECT_EQ(value_at(request, Time(110s)), 6);
  EXPECT_EQ(value_at(request, Time(120s)), 4);
  EXPECT_EQ(value_at(request, Time(140s)), 0);
  EXPECT_EQ(value_at(request, Time(1000s)), 0);
}

TEST(Value, IsKeptWithoutADeadline) {
  EXPECT_EQ(value_at(Request(), Time(1000h)), 1);
  EXPECT_EQ(tardiness(Request(), Time(1000h)), 0s);
}

TEST(Value, OfATaskThatIsUrgentIsNeverEarned) {
  Request request = due(Time(100s));
  request.submit = Time(100s);
  EXPECT_EQ(value_at(request, Time(101s)), 0);
}

TEST(Tardiness, CountsFromTheDeadline) {
  const Request request = due(Time(100s));
  EXPECT_EQ(tardiness(request, Time(40s)), 0s);
  EXPECT_EQ(tardiness(request, Time(107s)), 7s);
}

}  // namespace
}  // namespace almanac::trace
