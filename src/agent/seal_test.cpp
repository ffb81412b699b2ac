// SPDX-License-Identifier: Apache-2.0
#include "agent/seal.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace almanac::agent {
namespace {

using testing::HasSubstr;
using Towards = Seal::Towards;

const Secret kSecret("0123456789abcdef0123456789abcdef");
const std::string kOne(32, '1');
const std::string kTwo(32, '2');

Seal seal(Towards towards = Towards::daemon, const Secret& secret = kSecret) {
  return {secret, towards, "n001", kOne, kTwo};
}

/// Without its newline, as it is read.
std::string closed(Seal& seal, std::string_view text) {
  std::string line = seal.close(text);
  line.pop_back();
  return line;
}

TEST(Seal, OpensWhatItClosed) {
  Seal out = seal();
  Seal in = seal();
  for (const char* const text : {"one", "", "three"}) {
    EXPECT_EQ(in.open(closed(out, text)), text);
  }
}

TEST(Seal, RefusesAnotherSecret) {
  Seal out = seal(Towards::daemon, Secret("0123456789abcdef0123456789abcdee"));
  EXPECT_FALSE(seal().open(closed(out, "text")));
}

TEST(Seal, RefusesWhatWasChanged) {
  Seal out = seal();
  std::string line = closed(out, "8 cores");
  line.back() = 'z';
  EXPECT_FALSE(seal().open(line));
}

TEST(Seal, RefusesWhatWasSaidBefore) {
  Seal out = seal();
  Seal in = seal();
  const std::string line = closed(out, "text");
  EXPECT_TRUE(in.open(line));
  EXPECT_FALSE(in.open(line));
}

TEST(Seal, RefusesALineThatCameToEarly) {
  Seal out = seal();
  closed(out, "first");
  EXPECT_FALSE(seal().open(closed(out, "second")));
}

TEST(Seal, RefusesWhatWeSaidOurselves) {
  Seal out = seal(Towards::daemon);
  EXPECT_FALSE(seal(Towards::agent).open(closed(out, "text")));
}

TEST(Seal, RefusesAnotherConversation) {
  Seal out = seal();
  Seal of_another_node(kSecret, Towards::daemon, "n002", kOne, kTwo);
  Seal of_another_time(kSecret, Towards::daemon, "n001", kTwo, kTwo);
  const std::string line = closed(out, "text");
  EXPECT_FALSE(of_another_node.open(line));
  EXPECT_FALSE(of_another_time.open(line));
}

TEST(Seal, RefusesWhatIsNoSealedLine) {
  for (const std::string& line : {std::string(), std::string("text"), std::string(64, 'a'),
                                  std::string(64, 'a') + " text", std::string(65, ' ')}) {
    EXPECT_FALSE(seal().open(line)) << line;
  }
}

TEST(Greeting, TellsTheNonce) {
  std::string line = greeting(kOne);
  line.pop_back();
  EXPECT_EQ(read_greeting(line).value(), kOne);
}

TEST(Greeting, OfAnotherProtocolIsRefusedAsSuch) {
  const auto read = read_greeting("almanac-agents 2 " + kOne);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::unsupported);
  EXPECT_THAT(read.error().message, HasSubstr("protocol 2"));
}

TEST(Greeting, OfSomebodyElseIsRefused) {
  for (const char* const line : {"", "SSH-2.0-OpenSSH_9.2", "almanac-agents", "almanac-agents 1",
                                 "almanac-agents 1 short", "HTTP/1.1 400 Bad Request"}) {
    ASSERT_FALSE(read_greeting(line)) << line;
    EXPECT_EQ(read_greeting(line).error().code, Code::invalid) << line;
  }
}

TEST(Hello, TellsWhoItIs) {
  Seal out = seal();
  const auto read = read_hello(closed(out, to_text(Hello{"n001", kTwo})));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node, "n001");
  EXPECT_EQ(read->nonce, kTwo);
}

TEST(Hello, IsRefusedWithANameThatIsNone) {
  Seal out = seal();
  for (const std::string& node :
       {std::string("a/b"), std::string("../n001"), std::string(300, 'n')}) {
    EXPECT_FALSE(read_hello(closed(out, to_text(Hello{node, kTwo})))) << node;
  }
}

class SecretTest : public testing::Test {
 protected:
  std::string file(const std::string& content, std::filesystem::perms mode) {
    const std::string path = folder_ / "secret";
    std::ofstream(path) << content;
    std::filesystem::permissions(path, mode);
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(SecretTest, IsReadWithoutItsNewline) {
  const std::string text(32, 'x');
  EXPECT_EQ(Secret::read(file(text + "\n", std::filesystem::perms{0600})).value().bytes(), text);
}

TEST_F(SecretTest, OthersMayNotReadIt) {
  const auto read = Secret::read(file(std::string(32, 'x'), std::filesystem::perms{0640}));
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("chmod 600"));
}

TEST_F(SecretTest, IsOfNoOtherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = file(std::string(32, 'x'), std::filesystem::perms{0600});
  ASSERT_EQ(::chown(path.c_str(), 4321, 4321), 0);
  const auto read = Secret::read(path);
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("belongs to user 4321"));
}

TEST_F(SecretTest, IsNotShort) {
  const auto read = Secret::read(file("abc\n", std::filesystem::perms{0600}));
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("16 bytes"));
}

TEST_F(SecretTest, ThatIsNotThereIsMadeBySomebodyElse) {
  const auto read = Secret::read(folder_ / "none");
  ASSERT_FALSE(read);
  EXPECT_THAT(to_string(read.error()), HasSubstr("openssl rand"));
}

}  // namespace
}  // namespace almanac::agent
