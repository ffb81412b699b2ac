// SPDX-License-Identifier: Apache-2.0
#include "serve/tokens.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Time kNow{1000s};

class TokensTest : public testing::Test {
 protected:
  Tokens open() const { return Tokens::open(path_).value(); }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "tokens";
};

TEST_F(TokensTest, AreKeptAndRevoked) {
  Tokens tokens = open();
  const auto ann = tokens.make({.name = "page", .uid = 7, .expires = kNow + 1h}, kNow).value();
  const auto bob =
      tokens.make({.uid = 8, .scope = Scope::operate, .expires = kNow + 1h}, kNow).value();
  const std::string header = "Bearer " + ann.secret;
  EXPECT_EQ(tokens.shown(header, kNow), ann.token);
  EXPECT_EQ(open().shown(header, kNow), ann.token);
  EXPECT_EQ(open().all(kNow).size(), 2U);
  ASSERT_TRUE(tokens.revoke(ann.token.id));
  EXPECT_FALSE(tokens.revoke(ann.token.id));
  for (const Tokens& each : {open()}) EXPECT_EQ(each.shown(header, kNow), std::nullopt);
  EXPECT_EQ(tokens.shown(header, kNow), std::nullopt);
  EXPECT_EQ(open().shown("Bearer " + bob.secret, kNow), bob.token);
}

TEST_F(TokensTest, Expire) {
  Tokens tokens = open();
  const auto made = tokens.make({.uid = 7, .expires = kNow + 1h}, kNow).value();
  const std::string header = "Bearer " + made.secret;
  EXPECT_TRUE(tokens.shown(header, kNow + 59min));
  EXPECT_FALSE(tokens.shown(header, kNow + 1h));
  EXPECT_TRUE(tokens.all(kNow + 1h).empty());
}

TEST_F(TokensTest, AreNotWrittenDown) {
  Tokens tokens = open();
  const auto made = tokens.make({.uid = 7, .expires = kNow + 1h}, kNow).value();
  std::ifstream file(path_);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr(made.token.id));
  EXPECT_THAT(text, Not(HasSubstr(made.secret.substr(4))));
  struct stat about {};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(TokensTest, AreNoOthersThanThese) {
  Tokens tokens = open();
  const auto made = tokens.make({.uid = 7, .expires = kNow + 1h}, kNow).value();
  const std::string& secret = made.secret;
  for (const std::string& header :
       {std::string(), std::string(secret), std::string("Bearer "), "Bearer " + secret + "0",
        "bearer " + secret, "Bearer " + secret.substr(1), "Basic " + secret,
        "Bearer " + made.token.id}) {
    EXPECT_FALSE(tokens.shown(header, kNow)) << header;
  }
}

TEST_F(TokensTest, OfOneUserAreNotAnyNumber) {
  Tokens tokens = open();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(tokens.make({.uid = 7, .expires = kNow + 1h}, kNow));
  }
  EXPECT_FALSE(tokens.make({.uid = 7, .expires = kNow + 1h}, kNow));
  EXPECT_TRUE(tokens.make({.uid = 8, .expires = kNow + 1h}, kNow));
  EXPECT_TRUE(tokens.make({.uid = 7, .expires = kNow + 3h}, kNow + 2h)) << "the others are over";
}

TEST_F(TokensTest, AreReadByNoOtherUser) {
  ASSERT_TRUE(open().make({.uid = 7, .expires = kNow + 1h}, kNow));
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const auto read = Tokens::open(path_);
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("other users may read the tokens"));
}

TEST_F(TokensTest, AreMadeByNoOtherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_TRUE(open().make({.uid = 7, .expires = kNow + 1h}, kNow));
  ASSERT_EQ(::chown(path_.c_str(), 4321, 4321), 0);
  const auto read = Tokens::open(path_);
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("belong to user 4321"));
}

}  // namespace
}  // namespace almanac::serve
