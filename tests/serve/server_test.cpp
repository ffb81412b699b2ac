// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <gtest/gtest.h>

#include "serve/client.h"
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

}  // namespace
}  // namespace almanac::serve
