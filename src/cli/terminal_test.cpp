// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace almanac::cli {
namespace {

TEST(FittedToTerminal, BreaksLongLinesAndContinuesThemBelowTheirText) {
  ::setenv("COLUMNS", "20", 1);
  EXPECT_EQ(fitted_to_terminal("Try easy, because it shortens waits.\n\nshort\n"),
            "Try easy, because it\nshortens waits.\n\nshort\n");
  EXPECT_EQ(fitted_to_terminal("  easy  short jobs fill gaps\n"),
            "  easy  short jobs\n        fill gaps\n");
  EXPECT_EQ(fitted_to_terminal("averylongwordthatdoesnotfit\n"), "averylongwordthatdoesnotfit\n");
  ::unsetenv("COLUMNS");
  EXPECT_EQ(fitted_to_terminal("Try easy, because it shortens waits.\n"),
            "Try easy, because it shortens waits.\n")
      << "not on a terminal";
}

}  // namespace
}  // namespace almanac::cli
