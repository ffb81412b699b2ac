// SPDX-License-Identifier: Apache-2.0
#include "text/utf8.h"

#include <gtest/gtest.h>

namespace almanac::text {
namespace {

TEST(Utf8, TellsHowLongACharacterIs) {
  EXPECT_EQ(character_size("a\xff"), 1U);
  EXPECT_EQ(character_size("\xc3\xbc"), 2U);
  EXPECT_EQ(character_size("\xf0\x9f\x99\x82"), 4U);
  for (const char* const none : {"\xff", "\x80", "\xc3", "\xc3z", "\xc0\xaf", "\xe0\x80\xaf",
                                 "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_EQ(character_size(none), 0U) << none;
  }
}

TEST(Utf8, MendsOnlyWhatIsNone) {
  EXPECT_EQ(mend_utf8("f\xc3\xbcr"), "f\xc3\xbcr");
  EXPECT_EQ(mend_utf8("caf\xe9, \xff\xfe\xc3"),
            "caf\xEF\xBF\xBD, \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(mend_utf8(""), "");
}

}  // namespace
}  // namespace almanac::text
