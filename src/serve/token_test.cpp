// SPDX-License-Identifier: Apache-2.0
#include "serve/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace almanac::serve {
namespace {

using testing::HasSubstr;

TEST(Token, IsMadeOnceAndKept) {
  const TemporaryFolder folder;
  const auto made = keep_token(folder / "token");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 64U);
  EXPECT_EQ(keep_token(folder / "token").value(), *made);
}

TEST(Token, IsReadByNoOtherUser) {
  const TemporaryFolder folder;
  ASSERT_TRUE(keep_token(folder / "token"));
  ASSERT_EQ(::chmod((folder / "token").c_str(), 0640), 0);
  const auto read = keep_token(folder / "token");
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("others may read the token"));
}

TEST(Token, IsMadeByNoOtherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TemporaryFolder folder;
  ASSERT_TRUE(keep_token(folder / "token"));
  ASSERT_EQ(::chown((folder / "token").c_str(), 4321, 4321), 0);
  const auto read = keep_token(folder / "token");
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("belongs to user 4321"));
}

}  // namespace
}  // namespace almanac::serve
