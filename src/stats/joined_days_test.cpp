// SPDX-License-Identifier: Apache-2.0
#include "stats/joined_days.h"

#include <gtest/gtest.h>

namespace almanac::stats {
namespace {

template <typename Change>
std::map<long long, DaySum> days(int count, Change&& change) {
  std::map<long long, DaySum> made;
  for (int day = 0; day < count; ++day) {
    made[day] = {.jobs = 1, .before = 1000, .after = 1000.0 + change(day)};
  }
  return made;
}

TEST(JoinedDays, AreDaysWhereTheseDifferByChance) {
  const JoinedDays made = join_days(days(20, [](int day) { return day * day * 37 % 101; }));
  EXPECT_EQ(made.days_a_block, 1);
  EXPECT_EQ(made.blocks.size(), 20U);
  EXPECT_TRUE(made.tell);
}

TEST(JoinedDays, AreAsLongAsAQueueLasts) {
  const auto up_and_down = [](int day) { return (day / 8 % 2 == 0 ? 1000 : -1000) + day % 4; };
  const JoinedDays made = join_days(days(64, up_and_down));
  EXPECT_EQ(made.days_a_block, 4);
  EXPECT_EQ(made.blocks.size(), 16U);
  EXPECT_EQ(made.blocks[0].jobs, 4);
  EXPECT_EQ(made.blocks[0].before, 4000);
  EXPECT_EQ(made.blocks[0].change(), 4 * 1000 + 6);
}

TEST(JoinedDays, TellNothingWhereTheyAreFewOrOneQueue) {
  EXPECT_FALSE(join_days(days(5, [](int) { return 5; })).tell);
  EXPECT_TRUE(join_days(days(6, [](int) { return 5; })).tell);
  EXPECT_FALSE(join_days(days(40, [](int day) { return 100 * (day - 20); })).tell);
  EXPECT_FALSE(join_days({}).tell);
}

}  // namespace
}  // namespace almanac::stats
