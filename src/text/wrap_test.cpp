// SPDX-License-Identifier: Apache-2.0
#include "text/wrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::text {
namespace {

using testing::ElementsAre;

TEST(Wrap, BreaksAtBlanks) {
  EXPECT_THAT(wrap("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 13), ElementsAre("one two three"));
}

TEST(Wrap, GivesALongWordALineOfItsOwn) {
  EXPECT_THAT(wrap("a https://example.org/ b", 6), ElementsAre("a", "https://example.org/", "b"));
}

TEST(Wrap, KeepsANumberAndItsUnitOnOneLine) {
  EXPECT_THAT(wrap("waits 7h 27m now", 8), ElementsAre("waits", "7h 27m", "now"));
  EXPECT_THAT(wrap("interval (95 %) of 2", 12), ElementsAre("interval", "(95 %) of 2"));
  EXPECT_THAT(wrap("of 12 % or", 5), ElementsAre("of", "12 %", "or"));
  EXPECT_THAT(wrap("8 30min jobs", 5), ElementsAre("8", "30min", "jobs"));
}

TEST(Wrap, CountsCharactersRatherThanBytes) {
  EXPECT_EQ(width_of("Jürgen"), 6U);
  EXPECT_THAT(wrap("ää öö", 5), ElementsAre("ää öö"));
}

TEST(Wrap, MakesOneEmptyLineOfNothing) { EXPECT_THAT(wrap("", 10), ElementsAre("")); }

}  // namespace
}  // namespace almanac::text
