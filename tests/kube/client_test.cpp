// SPDX-License-Identifier: Apache-2.0

/// \file
/// The client against an API server: errors, the clock, TLS, certificates of clients.
#include "kube/client.h"

#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <openssl/ec.h>

#include "api_server.h"
#include "kube/access.h"
#include "kube/doctor.h"
#include "objects.h"
#include "support/certificate.h"
#include "support/temporary_folder.h"

namespace almanac::kube {
namespace {

using testing::HasSubstr;

Client client_of(const ApiServer& server, Credential credential = {}) {
  return Client::to({.server = server.url(), .credential = std::move(credential)}).value();
}

TEST(Client, SaysInOneLineWhatTheServerSays) {
  ApiServer server;
  server.set_rights([](const auto&, const auto&, const auto&) { return false; });
  Client client = client_of(server);
  const auto lost = client.get("/apis/batch.example");
  EXPECT_EQ(lost.error().code, Code::not_found);
  EXPECT_EQ(lost.error().message,
            "the API server answered 404 to /apis/batch.example: 404 page not found");
  server.fail_next(1, 503);
  EXPECT_EQ(client.get("/version").error().code, Code::unavailable);
}

TEST(Client, SaysThatNobodyAnswers) {
  int port = 0;
  {
    const ApiServer gone;
    port = gone.port();
  }
  Client client =
      Client::to({.server = fmt::format("http://127.0.0.1:{}", port), .from = "a test"}).value();
  const auto said = client.get("/version");
  EXPECT_EQ(said.error().code, Code::unavailable);
  EXPECT_THAT(to_string(said.error()), HasSubstr("no API server answers at http://127.0.0.1:"));
  EXPECT_THAT(to_string(said.error()), HasSubstr("nothing accepts connections there"));
}

// A proxy's login page is no cluster without Kueue.
TEST(Client, TheDoctorKnowsThatAnotherServerAnswers) {
  httplib::Server page;
  page.Get(".*", [](const httplib::Request&, httplib::Response& said) {
    said.set_content("<html>Sign in</html>", "text/html");
  });
  const int port = page.bind_to_any_port("127.0.0.1");
  std::thread serving([&] { page.listen_after_bind(); });
  while (!page.is_running()) std::this_thread::yield();
  const std::string url = fmt::format("http://127.0.0.1:{}", port);
  Client client = Client::to({.server = url, .from = url}).value();
  const auto found = diagnose(client);
  page.stop();
  serving.join();
  ASSERT_FALSE(found);
  EXPECT_THAT(to_string(found.error()), HasSubstr("another server than Kubernetes answers"));
}

// A quiet watch stands for a server that never completes an answer.
TEST(Client, WaitsNoLongerThanItsPatience) {
  ApiServer server;
  Client client = client_of(server);
  const auto said =
      client.stream(kKueueApi + "/workloads?watch=1", 300ms, [](std::string_view) { return true; });
  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message, HasSubstr("did not complete its answer within 0.3 s"));
}

TEST(Client, RefusesServersThatAreNoUrl) {
  for (const char* const server : {"", "host", "ftp://host", "https://", "https://host:x",
                                   "https://host:99999", "https://[::1"}) {
    const auto made = Client::to({.server = server});
    ASSERT_FALSE(made) << server;
    EXPECT_EQ(made.error().code, Code::usage);
  }
}

// The proxy's password is in no message.
TEST(Client, ShowsNoPassword) {
  const ApiServer server;
  for (const char* const proxy : {"http://ann:secret@127.0.0.1:none", "socks5://ann:secret@host"}) {
    const auto said = Client::to({.server = server.url(), .proxy = proxy})->get("/version");
    ASSERT_FALSE(said);
    EXPECT_THAT(to_string(said.error()), HasSubstr("expected https://HOST:PORT, found"));
    EXPECT_THAT(to_string(said.error()), testing::Not(HasSubstr("secret")));
  }
  const auto named = Client::to({.server = "https://ann:secret@host"});
  EXPECT_THAT(named.error().message, HasSubstr("has the name of a user"));
}

TEST(Client, KeepsThePathOfAServer) {
  ApiServer server;
  Client client = Client::to({.server = server.url() + "/k8s/clusters/c-1/"}).value();
  EXPECT_FALSE(client.get("/version"));
  EXPECT_THAT(server.asked(), testing::ElementsAre("/k8s/clusters/c-1/version"));
}

TEST(Client, SendsNoTokenUnencrypted) {
  ApiServer server;
  Client client = client_of(server, Credential(Identity{.token = "secret"}));
  EXPECT_EQ(client.get("/version").error().code, Code::usage);
  EXPECT_TRUE(server.asked().empty());
}

// The server's clock is an hour ahead of 2001-09-09 01:46:40, whatever ours says.
TEST(Client, ReadsTheServersClock) {
  ApiServer server;
  server.date = "Sun, 09 Sep 2001 01:46:40 GMT";
  Client client = client_of(server);
  EXPECT_FALSE(client.skew());
  ASSERT_TRUE(client.get("/version"));
  ASSERT_TRUE(client.skew());
  EXPECT_LT(*client.skew(), -24h * 365 * 20);
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    make_certificate(folder_ / "server", "IP:127.0.0.1");
    make_certificate(folder_ / "named", "DNS:kube.example");
    make_certificate(folder_ / "user", "DNS:user");
  }
  ServerFiles files(const std::string& name, const std::string& clients = "") const {
    return {.certificate = folder_ / (name + ".pem"),
            .key = folder_ / (name + ".key"),
            .client_authorities = clients.empty() ? "" : folder_ / (clients + ".pem")};
  }
  TemporaryFolder folder_;
};

TEST_F(TlsTest, BelievesTheNamedAuthorityOnly) {
  const ApiServer server(files("server"));
  const std::string own = content(folder_ / "server.pem");
  EXPECT_TRUE(Client::to({.server = server.url(), .authorities = own})->get("/version"));
  EXPECT_TRUE(Client::to({.server = server.url(), .authorities_file = folder_ / "server.pem"})
                  ->get("/version"));
  for (const std::string& other : {std::string(), content(folder_ / "user.pem")}) {
    const auto said = Client::to({.server = server.url(), .authorities = other})->get("/version");
    ASSERT_FALSE(said);
    EXPECT_THAT(said.error().message, HasSubstr("cannot prove its identity"));
  }
  EXPECT_TRUE(Client::to({.server = server.url(), .checks_server = false})->get("/version"));
}

TEST_F(TlsTest, NamesAnAuthorityThatCannotBeRead) {
  const ApiServer server(files("server"));
  const auto said =
      Client::to({.server = server.url(), .authorities_file = "/none/ca.crt"})->get("/version");
  EXPECT_THAT(to_string(said.error()), HasSubstr("/none/ca.crt: "));
  EXPECT_THAT(to_string(said.error()), HasSubstr("expected PEM"));
}

TEST_F(TlsTest, ChecksTheNameThatTheKubeconfigSays) {
  const ApiServer server(files("named"));
  const std::string own = content(folder_ / "named.pem");
  EXPECT_FALSE(Client::to({.server = server.url(), .authorities = own})->get("/version"));
  const auto said =
      Client::to({.server = server.url(), .authorities = own, .server_name = "kube.example"})
          ->get("/version");
  EXPECT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(server.last_host(), fmt::format("127.0.0.1:{}", server.port()))
      << "the name is for the certificate only";
}

// The server listens on one of the addresses that localhost may have, ::1 and 127.0.0.1.
TEST_F(TlsTest, TriesEachAddressOfAName) {
  const ApiServer server(files("named"));
  const auto said = Client::to({.server = fmt::format("https://localhost:{}", server.port()),
                                .authorities = content(folder_ / "named.pem"),
                                .server_name = "kube.example"})
                        ->get("/version");
  EXPECT_TRUE(said) << to_string(said.error());
}

TEST_F(TlsTest, ProvesWhoItIsByACertificate) {
  const ApiServer server(files("server", "user"));
  const std::string own = content(folder_ / "server.pem");
  EXPECT_FALSE(Client::to({.server = server.url(), .authorities = own})->get("/version"));
  const Credential credential =
      Credential::of_files("", folder_ / "user.pem", folder_ / "user.key");
  const auto said =
      Client::to({.server = server.url(), .authorities = own, .credential = credential})
          ->get("/version");
  EXPECT_TRUE(said) << to_string(said.error());
  const Credential wrong = Credential::of_files("", folder_ / "user.pem", folder_ / "server.key");
  const auto refused = Client::to({.server = server.url(), .authorities = own, .credential = wrong})
                           ->get("/version");
  EXPECT_THAT(to_string(refused.error()), HasSubstr("a key without a password that matches"));
}

// The kubelet replaces the token's file; the client reads it again once the old one is rejected.
TEST_F(TlsTest, ReadsARotatedTokenAgain) {
  ApiServer server(files("server"));
  server.set_tokens({{"first", "admin"}});
  folder_.write("token", "first\n");
  folder_.write("ca.crt", content(folder_ / "server.pem"));
  Access access = in_cluster(folder_ / "", "127.0.0.1", std::to_string(server.port()));
  Client client = Client::to(access).value();
  EXPECT_TRUE(client.get("/version"));
  server.set_tokens({{"second", "admin"}});
  const auto rejected = client.get("/version");
  EXPECT_THAT(to_string(rejected.error()), HasSubstr("answered 401"));
  folder_.write("token", "second\n");
  EXPECT_TRUE(client.get("/version"));
}

}  // namespace
}  // namespace almanac::kube
