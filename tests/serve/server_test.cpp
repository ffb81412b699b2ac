// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <array>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "serve/client.h"
#include "serve/sockets.h"
#include "serve/test_service.h"

namespace almanac::serve {
namespace {

TEST(ServerTest, GoesOnBySocketWhereItsPortIsTaken) {
  TestService service;
  const auto taken = listen_tcp({});
  ASSERT_TRUE(taken);
  const auto server =
      Server::start(service.service(), {.listen = Address{.port = port_of(*taken)}});
  ASSERT_TRUE(server) << to_string(server.error());
  EXPECT_FALSE((*server)->port());
  EXPECT_TRUE(Client::to({.socket = (*server)->socket()})->get("/healthz"));
}

TEST(ServerTest, ListensOnIpv6) {
  TestService service;
  const auto server =
      Server::start(service.service(), {.listen = Address{.host = "::1", .port = 0}});
  ASSERT_TRUE(server) << to_string(server.error());
  if (!(*server)->port()) GTEST_SKIP() << "this machine has no ::1";
  const std::string url = "http://[::1]:" + std::to_string(*(*server)->port());
  EXPECT_TRUE(Client::to({.url = url})->get("/healthz"));
  const auto looks = Client::to({.url = url})->get("/v1/jobs");
  EXPECT_TRUE(looks) << "who is on this machine looks without a token";
  const auto changes = Client::to({.url = url})->post("/v1/jobs/1/cancel");
  ASSERT_FALSE(changes);
  EXPECT_NE(changes.error().message.find("token"), std::string::npos) << changes.error().message;
}

TEST(ServerTest, ASubmissionWhoseAnswerWasLostIsSentAgainWithItsKey) {
  const TemporaryFolder folder;
  const auto listening = listen_unix(folder / "socket");
  ASSERT_TRUE(listening);
  std::vector<std::string> keys;
  std::thread server([&] {
    for (const bool answers : {false, true}) {
      pollfd wait{listening->get(), POLLIN, 0};
      ::poll(&wait, 1, 20'000);
      const process::Descriptor client(::accept(listening->get(), nullptr, nullptr));
      std::string heard;
      std::array<char, 4096> part{};
      while (heard.find("\"key\":\"") == std::string::npos) {
        const ssize_t size = ::recv(client.get(), part.data(), part.size(), 0);
        if (size <= 0) break;
        heard.append(part.data(), static_cast<std::size_t>(size));
      }
      keys.push_back(heard.substr(heard.find("\"key\":"), 40));
      if (!answers) continue;
      const std::string said =
          "HTTP/1.1 201 Created\r\nContent-Length: 15\r\n\r\n{\"numbers\":[7]}";
      ::send(client.get(), said.data(), said.size(), MSG_NOSIGNAL);
    }
  });
  auto client = Client::to({.socket = folder / "socket"});
  const auto numbers = client->submit({.argv = {"true"}, .directory = "/"});
  server.join();
  ASSERT_TRUE(numbers) << to_string(numbers.error());
  EXPECT_EQ(numbers->numbers.front(), store::JobNumber{7});
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_GT(keys[0].size(), 20U);
}

}  // namespace
}  // namespace almanac::serve
