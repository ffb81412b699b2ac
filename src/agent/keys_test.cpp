// SPDX-License-Identifier: Apache-2.0
#include "agent/keys.h"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.h"

namespace almanac::agent {
namespace {

class KeysTest : public testing::Test {
 protected:
  KeysTest() {
    std::ofstream(path_) << "the secret of the service alone\n";
    ::chmod(path_.c_str(), 0600);
  }
  Keys read() const { return Keys::read(path_).value(); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "secret";
};

TEST_F(KeysTest, AreOfOneNodeEach) {
  const std::string one = read().of("n001").bytes();
  EXPECT_EQ(one, read().of("n001").bytes());
  EXPECT_EQ(one.size(), 64U);
  EXPECT_NE(one, read().of("n002").bytes());
  EXPECT_NE(one, Keys(Secret("another secret of a service")).of("n001").bytes());
}

TEST_F(KeysTest, AreGoodNoMoreWhenTheyAreRevoked) {
  Keys keys = read();
  const std::string first = keys.of("n001").bytes();
  const std::string other = keys.of("n002").bytes();
  ASSERT_TRUE(Keys::revoke(path_, "n001"));
  keys.look();
  EXPECT_NE(keys.of("n001").bytes(), first);
  EXPECT_EQ(keys.of("n002").bytes(), other);
  EXPECT_EQ(keys.number("n001"), 2U);
  EXPECT_EQ(read().number("n001"), 2U) << "also for a service that begins then";
  EXPECT_FALSE(Keys::revoke(path_, "n001 n002"));
}

TEST_F(KeysTest, WantAListThatNoOtherWrites) {
  ASSERT_TRUE(Keys::revoke(path_, "n001"));
  ::chmod((path_ + ".revoked").c_str(), 0666);
  EXPECT_EQ(Keys::read(path_).error().code, Code::invalid);
}

}  // namespace
}  // namespace almanac::agent
