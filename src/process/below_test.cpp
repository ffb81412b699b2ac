// SPDX-License-Identifier: Apache-2.0
#include "process/below.h"

#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace almanac::process {
namespace {

int tell = -1;

void say() { static_cast<void>(::write(tell, "", 1)); }
void hear(int from) {
  char byte = 0;
  while (::read(from, &byte, 1) != 1) {
  }
}
/// As a shell's handler that its child still has: it takes note, and nothing comes of it.
void forget(int) { say(); }

TEST(AskingTest, WhoWasAskedBeforeItsExecIsAskedAgainAfterIt) {
  std::array<int, 2> heard{};
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe(heard.data()) + ::pipe(go.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    tell = heard[1];
    ::signal(SIGTERM, forget);
    say();
    hear(go[0]);
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  hear(heard[0]);  // it has its handler
  Asking asking;
  asking.all();
  hear(heard[0]);  // it was asked
  asking.orphans();
  EXPECT_TRUE(asking.unsure());

  tell = go[1];
  say();
  int status = 0;
  bool ended = false;
  for (int tries = 0; tries < 6000 && !ended; ++tries) {
    asking.orphans();
    ::usleep(10'000);
    ended = ::waitpid(child, &status, WNOHANG) == child;
  }
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_FALSE(asking.unsure());
  if (!ended) ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace almanac::process
