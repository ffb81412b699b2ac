// SPDX-License-Identifier: Apache-2.0

/// \file
/// TCP connections are encrypted, and the client reaches the intended server or none.
#include "serve/tls.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "serve/answers.h"
#include "serve/client.h"
#include "serve/listener.h"
#include "serve/sockets.h"
#include "support/certificate.h"
#include "support/temporary_folder.h"

namespace almanac::serve {
namespace {

using process::Descriptor;
using testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  void SetUp() override { make_certificate(own_, "IP:127.0.0.1"); }
  void start(const std::string& name, Handler handler) {
    auto tcp = listen_tcp({});
    ASSERT_TRUE(tcp);
    port_ = std::to_string(port_of(*tcp));
    auto tls = Tls::of(name + ".pem", name + ".key");
    ASSERT_TRUE(tls) << to_string(tls.error());
    std::vector<Descriptor> sockets;
    sockets.push_back(std::move(*tcp));
    auto started = Listener::start(std::move(sockets), std::move(handler), {},
                                   std::make_unique<Tls>(*std::move(tls)));
    ASSERT_TRUE(started);
    listener_ = *std::move(started);
  }
  Result<Client::Said> ask(const std::string& scheme, const std::string& ca = {},
                           const std::string& body = "{}") const {
    return Client::to({.url = scheme + "://127.0.0.1:" + port_, .ca = ca})->post("/x", body);
  }
  TemporaryFolder folder_;
  std::string own_ = folder_ / "own";
  std::string port_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(TlsTest, CarriesWhatIsAskedAndAnswered) {
  start(own_, [](const Ask& ask) {
    return Answer{.body = (ask.peer.is_tls ? "safe " : "open ") + ask.body};
  });
  const std::string much(1'500'000, 'x');
  const auto said = ask("https", own_ + ".pem", much);
  ASSERT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(said->body, "safe " + much);
}

TEST_F(TlsTest, IsRefusedByAClientThatMeantAnother) {
  const std::string other = folder_ / "other";
  make_certificate(other, "DNS:gpu.example");
  int asked = 0;
  start(other, [&](const Ask&) {
    ++asked;
    return Answer{};
  });
  for (const std::string& ca : {std::string(), own_ + ".pem", other + ".pem"}) {
    const auto said = ask("https", ca);
    ASSERT_FALSE(said) << ca;
    EXPECT_EQ(said.error().code, Code::unavailable);
  }
  EXPECT_FALSE(ask("http")) << "nor is anything said in the open";
  listener_.reset();
  EXPECT_EQ(asked, 0);
}

TEST_F(TlsTest, TakesACertificateThatWasRenewed) {
  start(own_, [](const Ask&) { return Answer{.body = "here"}; });
  const std::string renewed = folder_ / "renewed";
  make_certificate(renewed, "IP:127.0.0.1");
  ASSERT_FALSE(ask("https", renewed + ".pem"));
  // One file after the other, as an administrator renews them: in between the old pair must work.
  std::filesystem::copy_file(own_ + ".pem", folder_ / "old.pem");
  std::filesystem::rename(renewed + ".pem", own_ + ".pem");
  EXPECT_TRUE(ask("https", folder_ / "old.pem"));
  std::filesystem::rename(renewed + ".key", own_ + ".key");
  EXPECT_TRUE(ask("https", own_ + ".pem"));
  EXPECT_FALSE(ask("https", folder_ / "old.pem"));
}

TEST_F(TlsTest, RefusesAuthoritiesThatAreCutOff) {
  std::ifstream file(own_ + ".pem");
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  const std::string cut = good.substr(0, good.size() / 2);
  const auto refusal = [&](const std::string& text) {
    const std::string path = folder_.write("ca.pem", text);
    const auto client = Client::to({.url = "https://127.0.0.1:1", .ca = path});
    return client ? "" : to_string(client.error());
  };
  EXPECT_EQ(refusal(good + good), "");
  for (const std::string& text : {cut, good + cut}) {
    EXPECT_THAT(refusal(text), HasSubstr("ca.pem: cannot read certificates: expected whole blocks, "
                                         "found one that is damaged or cut off"));
  }
}

TEST_F(TlsTest, AnswersOthersWhileOneDoesNotShakeHands) {
  start(own_, [](const Ask&) { return Answer{.body = "here"}; });
  std::vector<Descriptor> silent;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port_)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(silent.back().get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    ASSERT_EQ(::send(silent.back().get(), "\x16\x03\x01", 3, MSG_NOSIGNAL), 3);
  }
  const auto said = ask("https", own_ + ".pem");
  ASSERT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(said->body, "here");
}

TEST_F(TlsTest, WantsAKeyOfItsOwnThatNobodyElseReads) {
  const std::string other = folder_ / "other";
  make_certificate(other, "DNS:gpu.example");
  const auto mixed = Tls::of(own_ + ".pem", other + ".key");
  ASSERT_FALSE(mixed);
  EXPECT_THAT(to_string(mixed.error()), HasSubstr("cannot use the key"));
  EXPECT_FALSE(Tls::of(folder_ / "none", own_ + ".key"));
  ASSERT_EQ(::chmod((own_ + ".key").c_str(), 0644), 0);
  const auto open = Tls::of(own_ + ".pem", own_ + ".key");
  ASSERT_FALSE(open);
  EXPECT_THAT(to_string(open.error()), HasSubstr("other users may read the certificate's key"));
}

TEST(Client, RefusesAnAddressThatNoServiceCanHave) {
  for (const char* const url :
       {"https://head:99999", "https://head:", "https://head:0", "https://head:https",
        "https://:8443", "http://127.0.0.1:1:2", "http://[::1:80"}) {
    const auto client = Client::to({.url = url});
    ASSERT_FALSE(client) << url;
    EXPECT_EQ(client.error().code, Code::usage) << url;
    EXPECT_THAT(client.error().message, HasSubstr("https://HOST:PORT")) << url;
  }
  for (const char* const url : {"https://head", "https://head:8443/", "http://[::1]:8317"}) {
    EXPECT_TRUE(Client::to({.url = url})) << url;
  }
}

TEST(Client, SendsNoTokenInTheOpenToAnotherMachine) {
  EXPECT_FALSE(Client::to({.url = "http://gpu.example:8317", .token = "alm_0"}));
  EXPECT_FALSE(Client::to({.url = "http://127.0.0.1.evil.example:8317", .token = "alm_0"}));
  EXPECT_TRUE(Client::to({.url = "http://127.0.0.1:8317", .token = "alm_0"}));
  EXPECT_TRUE(Client::to({.url = "https://gpu.example:8443", .token = "alm_0"}));
}

}  // namespace
}  // namespace almanac::serve
