// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

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

TEST(TerminalColumns, AreThoseOfTheTerminalBehindADescriptor) {
  ::unsetenv("COLUMNS");
  const winsize size{.ws_row = 24, .ws_col = 90, .ws_xpixel = 0, .ws_ypixel = 0};
  int master = -1;
  int terminal = -1;
  ASSERT_EQ(::openpty(&master, &terminal, nullptr, nullptr, &size), 0);
  EXPECT_EQ(terminal_columns(terminal), 90U);
  ::close(terminal);
  ::close(master);
}

TEST(PrintMessage, StaysOneLineWhereStderrIsNoTerminal) {
  const std::string error = "almanac: log.csv:3: gpus must be a whole number, found \"four\"";
  testing::internal::CaptureStderr();
  print_message(error);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), error + "\n");
  ::setenv("COLUMNS", "40", 1);
  testing::internal::CaptureStderr();
  print_message(error);
  ::unsetenv("COLUMNS");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "almanac: log.csv:3: gpus must be a whole\nnumber, found \"four\"\n");
}

}  // namespace
}  // namespace almanac::cli
