// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <array>
#include <cstdio>
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

TEST(PrintMessage, BreaksLinesOnATerminalOnly) {
  const std::string error = "almanac: log.csv:3: gpus must be a whole number, found \"four\"";
  ::setenv("COLUMNS", "40", 1);
  testing::internal::CaptureStderr();
  print_message(error);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), error + "\n") << "not on a terminal";

  int master = -1;
  int terminal = -1;
  ASSERT_EQ(::openpty(&master, &terminal, nullptr, nullptr, nullptr), 0);
  const int former = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  print_message(error);
  std::fflush(stderr);
  ::dup2(former, STDERR_FILENO);
  ::unsetenv("COLUMNS");
  std::array<char, 200> shown{};
  const ssize_t size = ::read(master, shown.data(), shown.size());
  for (const int each : {former, terminal, master}) ::close(each);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(shown.data(), static_cast<std::size_t>(size)),
            "almanac: log.csv:3: gpus must be a whole\r\nnumber, found \"four\"\r\n");
}

}  // namespace
}  // namespace almanac::cli
