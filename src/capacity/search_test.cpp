// SPDX-License-Identifier: Apache-2.0
#include "capacity/search.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

namespace almanac::capacity {
namespace {

Search searched(int today, int least, const std::function<double(int)>& wait_s) {
  Search search(*parse_goal("mean wait < 100s"), today, least);
  while (const auto nodes = search.next()) search.record(*nodes, wait_s(*nodes));
  return search;
}

TEST(Search, FindsTheSmallestNumberToTheNode) {
  for (const int needed : {1, 5, 37, 50, 99, 100, 101, 137, 200, 317, 1600}) {
    const Search search = searched(100, 1, [&](int nodes) { return nodes >= needed ? 50 : 150; });
    EXPECT_EQ(search.answer(), needed);
    EXPECT_LT(search.tested().size(), 30U);
    EXPECT_TRUE(search.tested().contains(100)) << "today's size is always simulated";
  }
}

TEST(Search, GivesUpAtSixteenTimesToday) {
  const Search search = searched(10, 1, [](int) { return 150; });
  EXPECT_EQ(search.answer(), std::nullopt);
  EXPECT_EQ(search.tested().rbegin()->first, 160);
}

TEST(Search, GoesNoLowerThanTheLargestJob) {
  const Search search = searched(10, 6, [](int) { return 50; });
  EXPECT_EQ(search.answer(), 6);
  EXPECT_EQ(search.tested().begin()->first, 6);
}

TEST(Search, WantsEveryLargerTestedSizeToMeetTheGoal) {
  const Search search = searched(100, 1, [](int nodes) {
    return nodes == 125 ? 150 : nodes >= 80 ? 50 : 150;  // a size that is worse than smaller ones
  });
  EXPECT_EQ(search.answer(), 126);
}

TEST(Search, LeavesOutSizesThatAreHopeless) {
  const Search search =
      searched(100, 1, [](int nodes) { return nodes >= 100 ? 50 : 1001 + 100 - nodes; });
  EXPECT_EQ(search.answer(), 100);
  EXPECT_EQ(search.tested().begin()->first, 90);
}

TEST(Search, ManagesOneNode) {
  EXPECT_EQ(searched(1, 1, [](int) { return 50; }).answer(), 1);
  EXPECT_EQ(searched(1, 1, [](int nodes) { return nodes >= 2 ? 50 : 150; }).answer(), 2);
  EXPECT_EQ(searched(1, 1, [](int) { return std::numeric_limits<double>::infinity(); }).answer(),
            std::nullopt);
}

}  // namespace
}  // namespace almanac::capacity
