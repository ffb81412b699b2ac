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

TEST(Wrap, CountsCharactersRatherThanBytes) {
  EXPECT_EQ(width_of("Jürgen"), 6U);
  EXPECT_THAT(wrap("ää öö", 5), ElementsAre("ää öö"));
}

TEST(Wrap, MakesOneEmptyLineOfNothing) { EXPECT_THAT(wrap("", 10), ElementsAre("")); }

}  // namespace
}  // namespace almanac::text
