// SPDX-License-Identifier: Apache-2.0
#include "policy/kit/past_signal.h"

#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

using namespace std::chrono_literals;

Time at(Duration since) { return Time{since}; }

/// A day of 4 hours: 3 in the first two, then 1, then 5.
PastSignal heard_day() {
  PastSignal made(4h);
  made.hear(at(0h), 3);
  made.hear(at(2h), 1);
  made.hear(at(3h), 5);
  return made;
}

TEST(PastSignal, KnowsADayOnceItHasHeardOne) {
  PastSignal signal(4h);
  EXPECT_FALSE(signal.has_value());
  EXPECT_FALSE(signal.knows_day(at(9h)));
  signal.hear(at(1h), 3);
  EXPECT_FALSE(signal.knows_day(at(4h)));
  EXPECT_TRUE(signal.knows_day(at(5h)));
}

TEST(PastSignal, TakesThePastDayForTheNextOnes) {
  PastSignal signal = heard_day();
  signal.hear(at(4h), 3);
  EXPECT_DOUBLE_EQ(signal.expect(at(4h), at(6h), at(4h)), 3);
  EXPECT_DOUBLE_EQ(signal.expect(at(6h), at(8h), at(4h)), 3);  // an hour of 1 and one of 5
  EXPECT_DOUBLE_EQ(signal.expect(at(7h), at(9h), at(4h)), 4);  // 5, and the first hour again
  EXPECT_DOUBLE_EQ(signal.expect(at(14h), at(15h), at(4h)), 1);
  EXPECT_DOUBLE_EQ(signal.expect(at(4h), at(84h), at(4h)), 3);
}

TEST(PastSignal, LastsAsItIsUntilThePastDayChanged) {
  PastSignal signal = heard_day();
  signal.hear(at(4h), 9);
  EXPECT_DOUBLE_EQ(signal.expect(at(4h), at(6h), at(4h)), 9);
  EXPECT_DOUBLE_EQ(signal.expect(at(5h), at(7h), at(4h)), 5);  // 9, then 1
  EXPECT_DOUBLE_EQ(signal.expect(at(6h), at(7h), at(4h)), 1);
}

TEST(PastSignal, ForgetsWhatIsOlderThanADay) {
  PastSignal signal = heard_day();
  signal.hear(at(5h), 7);
  const std::vector<std::pair<double, Duration>> expected{{3, 1h}, {1, 1h}, {5, 2h}};
  EXPECT_EQ(signal.pieces(at(1h), at(5h)), expected);
  signal.hear(at(8h), 2);
  EXPECT_TRUE(signal.pieces(at(0h), at(3h)).empty());
}

}  // namespace
}  // namespace almanac::policy
