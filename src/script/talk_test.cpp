// SPDX-License-Identifier: Apache-2.0
#include "script/talk.h"

#include <array>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

namespace almanac::script {
namespace {

class TalkTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends_.data()), 0); }
  void TearDown() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void says(const std::string& text) {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t now = ::write(ends_[1], text.data() + sent, text.size() - sent);
      ASSERT_GT(now, 0);
      sent += static_cast<std::size_t>(now);
    }
  }
  std::string what_breaks(Talk& talk) {
    try {
      return "nothing: " + talk.hear();
    } catch (const Broken& broken) {
      return broken.error.message;
    }
  }

  std::array<int, 2> ends_{};
};

TEST_F(TalkTest, GivesLineByLine) {
  Talk talk(ends_[0], ends_[1]);
  says("one\ntwo\nthr");
  EXPECT_EQ(talk.hear(), "one");
  EXPECT_EQ(talk.hear(), "two");
  says("ee\n");
  EXPECT_EQ(talk.hear(), "three");
}

TEST_F(TalkTest, TakesNoLineWithoutEnd) {
  Talk talk(ends_[0], ends_[1]);
  std::thread guest([&] {
    says(std::string(Talk::kLongestLine + (1 << 17), 'x'));
    ::close(std::exchange(ends_[1], -1));
  });
  EXPECT_EQ(what_breaks(talk),
            "policy -: the program that decides wrote a line of more than 1048576 bytes");
  std::array<char, 1 << 16> rest;
  while (::read(ends_[0], rest.data(), rest.size()) > 0) {
  }
  guest.join();
}

TEST_F(TalkTest, WaitsForNoSilentProgramForEver) {
  Talk talk(ends_[0], ends_[1], 60ms);
  EXPECT_EQ(what_breaks(talk),
            "policy -: the program that decides has been silent for 0.001 minutes");
  says("half a line");
  EXPECT_EQ(what_breaks(talk),
            "policy -: the program that decides has been silent for 0.001 minutes");
}

TEST_F(TalkTest, WritesToNoProgramForEverThatReadsNothing) {
  Talk talk(ends_[0], ends_[1], 60ms);
  const std::string line(1 << 20, 'x');  // more than a pipe holds
  try {
    talk.say(line);
    ADD_FAILURE() << "it was not told";
  } catch (const Broken& broken) {
    EXPECT_EQ(broken.error.message,
              "policy -: the program that decides has read nothing for 0.001 minutes");
  }
}

}  // namespace
}  // namespace almanac::script
